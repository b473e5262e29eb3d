// Package rebalance moves replicas. A planner decides, purely, which replicas go
// where; an engine has Kafka carry that out, and tells how far it is.
package rebalance

import (
	"fmt"
	"strconv"
	"strings"
)

// Started is an engine's answer to the wish for another replication factor of one
// topic.
type Started struct {
	// Session names the change, for the engine that began it to tell how it stands.
	// It is never empty where Err is nil.
	Session string
	// Message says, for people, what of the change was left out for now, and why;
	// empty where nothing was.
	Message string
	// Err is why the change could not be begun. It may be begun later.
	Err error
}

// Progress is how a session stands.
type Progress struct {
	State State
	// Message says, for people, how far it is or what went wrong.
	Message string
}

// State of a session.
type State int

// States of a session.
const (
	// Unknown tells that the engine knows nothing of the session, as after a
	// restart: it has to be begun anew.
	Unknown State = iota
	// Running tells that replicas are still being moved.
	Running
	// Done tells that nothing moves any more on behalf of the session. Whether the
	// goal is met shows in Kafka.
	Done
	// Failed tells that the session came to nothing.
	Failed
)

// session is all that a change of a replication factor is: how it stands can be
// told from Kafka whoever began it.
type session struct {
	topicID string
	factor  int16
}

// sessionPrefix tells the sessions of Builtin from those of other engines.
const sessionPrefix = "builtin:"

func (s session) String() string {
	return fmt.Sprintf("%s%s:%d", sessionPrefix, s.topicID, s.factor)
}

// parseSession reads what String wrote; false for anything else.
func parseSession(text string) (session, bool) {
	rest, ours := strings.CutPrefix(text, sessionPrefix)
	id, factor, both := strings.Cut(rest, ":")
	n, err := strconv.ParseInt(factor, 10, 16)
	return session{topicID: id, factor: int16(n)}, ours && both && err == nil
}
