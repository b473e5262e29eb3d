// Package rebalance moves replicas. A planner decides, purely, which replicas go
// where; an engine has Kafka carry that out, and tells how far it is.
package rebalance

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
