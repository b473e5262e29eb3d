package topicplan

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	kafkav1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/rebalance"
)

// ChangeInterval is how often a topic is looked at whose replication factor is
// being changed.
const ChangeInterval = 10 * time.Second

// States of a change of the replication factor: those of Strimzi's
// status.replicasChange. Without a change there is no status of one.
const (
	// ChangePending is a change that an engine is still to begin.
	ChangePending = "pending"
	// ChangeOngoing is one that an engine works on, by the session in the status.
	ChangeOngoing = "ongoing"
)

// Session is the one that an engine is to be asked about, by what a status says of a
// change; empty if there is none. Whoever wrote it may have been another operator,
// and one without a session cannot be asked about.
func Session(change *kafkav1.ReplicasChange) string {
	if change == nil || change.State != ChangeOngoing {
		return ""
	}
	return change.SessionID
}

// AsksForReassignments tells whether the reassignments in flight decide what is to be
// done about the number of replicas: where it differs from what is wanted, and where
// it is being changed, since replicas that are added count from the start.
func AsksForReassignments(w Wanted, seen *Seen, was *kafkav1.ReplicasChange, engine bool) bool {
	return seen != nil && (engine && was != nil || len(differing(w.Replicas, seen)) > 0)
}

// ReplicasInput is what is known when a change of the replication factor is decided.
type ReplicasInput struct {
	// Was is what the status says of a change; nil where it says nothing.
	Was *kafkav1.ReplicasChange
	// Wanted number of replicas, or BrokerDefault.
	Wanted int16
	Seen   *Seen
	// Engine tells that there is one, and NoEngine says why not.
	Engine   bool
	NoEngine string
	// Progress of the session in Was, asked for before Seen was; nil if it was not
	// told, and then Fault says why.
	Progress *rebalance.Progress
	Fault    string
}

// Again tells when a topic is to be looked at apart from the resync.
type Again int

// Times of the next look.
const (
	// AtResync leaves it to the resync.
	AtResync Again = iota
	// Soon is after ChangeInterval.
	Soon
	// AfterBackoff is after a time that grows with each look of this kind.
	AfterBackoff
)

// ReplicasPlan is what is done about the number of replicas. It is the zero value
// where nothing differs.
type ReplicasPlan struct {
	// Next is what the status is to say of a change; nil ends it. Where Begin, it
	// depends on the answer: see Begun and NotBegun.
	Next *kafkav1.ReplicasChange
	// Begin asks the engine for Next.TargetReplicas.
	Begin bool
	// Again is when to look again.
	Again Again
	// Problem that no engine will mend.
	Problem *Problem
	// Reason is for the log.
	Reason string
}

// DecideReplicas decides what is done about the number of replicas. The state of a
// change is what the status says and no more, so that an operator can be replaced by
// another at any time.
func DecideReplicas(in ReplicasInput) ReplicasPlan {
	off := differing(in.Wanted, in.Seen)
	switch {
	case in.blind(off):
		// A reassignment may be mending what differs: not known is not absent.
		return in.keep("the reassignments in flight are not known", AfterBackoff)
	case !in.Engine && len(off) == 0:
		return ReplicasPlan{}
	case !in.Engine:
		return ReplicasPlan{Problem: in.unsupported(off), Reason: "there is no engine"}
	case Session(in.Was) != "":
		return in.ongoing(off)
	case len(off) > 0:
		return in.begin("partitions "+ranges(off)+" differ", in.message())
	case in.Was != nil && in.Wanted != BrokerDefault && len(in.Seen.Moving) > 0:
		return in.pending("", "a reassignment in flight mends what differs", Soon)
	default:
		return ReplicasPlan{Reason: "nothing differs"}
	}
}

// blind tells that a decision would hang on reassignments that are not known.
func (in ReplicasInput) blind(off []int) bool {
	pending := in.Engine && in.Was != nil && Session(in.Was) == "" && in.Wanted != BrokerDefault
	return !in.Seen.MovingKnown && (len(off) > 0 || pending)
}

// ongoing decides about a change that an engine was asked for. While it works on
// that, it is let finish even if something else is wanted by now.
func (in ReplicasInput) ongoing(off []int) ReplicasPlan {
	settled := len(off) == 0 && in.Seen.MovingKnown && len(in.Seen.Moving) == 0
	switch {
	case settled && in.Was.TargetReplicas == int64(in.Wanted):
		return ReplicasPlan{Reason: "the goal is met"}
	case in.Progress == nil:
		plan := in.keep("the session was not told of", AfterBackoff)
		if in.Fault != "" {
			plan.Next.Message = in.Fault
		}
		return plan
	case in.Progress.State == rebalance.Running:
		plan := in.keep("the session runs", Soon)
		plan.Next.Message = in.Progress.Message
		return plan
	default:
		return in.over(off)
	}
}

// over decides when a session is over, or nobody knows it any more.
func (in ReplicasInput) over(off []int) ReplicasPlan {
	switch {
	case len(off) == 0 && !in.Seen.MovingKnown && in.Wanted != BrokerDefault:
		// Replicas that are added count from the start: not known is not absent.
		return in.keep("the reassignments in flight are not known", AfterBackoff)
	case len(off) == 0 && len(in.Seen.Moving) == 0:
		return ReplicasPlan{Reason: "the session is over and nothing differs"}
	case len(off) == 0 && in.Wanted == BrokerDefault:
		return ReplicasPlan{Reason: "the session is over and no number is wanted"}
	case len(off) == 0:
		return in.pending("", "a reassignment in flight mends what differs", Soon)
	case in.Progress.State == rebalance.Failed:
		return in.pending(in.Progress.Message, "the session failed", AfterBackoff)
	case in.Progress.State == rebalance.Done:
		// A broker may show the end of a move a little late: begun anew only if the
		// next look says the same.
		return in.pending("", "the session is over and partitions "+ranges(off)+" differ", AfterBackoff)
	default:
		return in.begin("the engine does not know the session", "")
	}
}

func (in ReplicasInput) begin(reason, message string) ReplicasPlan {
	plan := in.pending(message, reason, AfterBackoff)
	plan.Begin = true
	return plan
}

func (in ReplicasInput) pending(message, reason string, again Again) ReplicasPlan {
	return ReplicasPlan{
		Next:   &kafkav1.ReplicasChange{TargetReplicas: int64(in.Wanted), State: ChangePending, Message: message},
		Again:  again,
		Reason: reason,
	}
}

func (in ReplicasInput) keep(reason string, again Again) ReplicasPlan {
	return ReplicasPlan{Next: in.Was.DeepCopy(), Again: again, Reason: reason}
}

// message of the same change, as it was: it stays until there is an answer.
func (in ReplicasInput) message() string {
	if in.Was == nil || in.Was.TargetReplicas != int64(in.Wanted) {
		return ""
	}
	return in.Was.Message
}

// Begun is the plan after the engine began what it asked for; the message is about
// what it left out.
func (p ReplicasPlan) Begun(session, message string) ReplicasPlan {
	p.Next = &kafkav1.ReplicasChange{TargetReplicas: p.Next.TargetReplicas, State: ChangeOngoing, SessionID: session, Message: message}
	p.Begin, p.Again = false, Soon
	return p
}

// NotBegun is the plan after the engine did not begin it. It is tried again. An empty
// message is of a fault that is nobody's to know.
func (p ReplicasPlan) NotBegun(message string) ReplicasPlan {
	p.Begin, p.Again = false, AfterBackoff
	if message != "" {
		p.Next = p.Next.DeepCopy()
		p.Next.Message = message
	}
	return p
}

// differing are the partitions whose number of replicas will not be the wanted one
// once what is known to be in flight is done.
func differing(wanted int16, seen *Seen) []int {
	if wanted == BrokerDefault {
		return nil
	}
	var off []int
	for partition := range seen.Replicas {
		if seen.target(partition) != int(wanted) {
			off = append(off, partition)
		}
	}
	return off
}

func (s *Seen) target(partition int) int {
	if n, moving := s.Moving[int32(partition)]; moving {
		return n
	}
	return int(s.Replicas[partition])
}

func (in ReplicasInput) unsupported(off []int) *Problem {
	why := in.NoEngine
	if why == "" {
		why = "nothing changes replication factors in this cluster"
	}
	return &Problem{kafkav1.ReasonNotSupported, fmt.Sprintf(
		"spec.replicas: the replication factor is %d and not %d on partitions %s, and %s. "+
			"Set spec.replicas back, or reassign the partitions with Kafka's own tools",
		in.Seen.target(off[0]), in.Wanted, ranges(off), why)}
}

// ranges writes sorted numbers as "0-3, 7".
func ranges(numbers []int) string {
	var parts []string
	for i := 0; i < len(numbers); {
		j := i
		for j+1 < len(numbers) && numbers[j+1] == numbers[j]+1 {
			j++
		}
		part := strconv.Itoa(numbers[i])
		if j > i {
			part += "-" + strconv.Itoa(numbers[j])
		}
		parts = append(parts, part)
		i = j + 1
	}
	return strings.Join(parts, ", ")
}
