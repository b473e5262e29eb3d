package topicplan

import kafkav1 "github.com/sluice-kafka/sluice/api/v1"

// State sums up how a resource is, for counting.
type State string

// States; each resource is in one of them.
const (
	// StateDeleting is a resource that is being deleted.
	StateDeleting State = "deleting"
	// StateUnmanaged is one whose topic is left alone.
	StateUnmanaged State = "unmanaged"
	// StatePaused is one whose reconciliation is paused.
	StatePaused State = "paused"
	// StatePending is one whose present generation was not seen to yet.
	StatePending State = "pending"
	// StateReady is one whose topic is as it asks for.
	StateReady State = "ready"
	// StateNotReady is one whose topic is not as it asks for.
	StateNotReady State = "not_ready"
)

// States are all of them, in the order in which the first that fits counts.
var States = []State{StateDeleting, StateUnmanaged, StatePaused, StatePending, StateReady, StateNotReady}

// StateOf reads the state of a resource from what the resource itself says.
func StateOf(t *kafkav1.KafkaTopic) State {
	switch {
	case t.DeletionTimestamp != nil:
		return StateDeleting
	case !t.Managed():
		return StateUnmanaged
	case paused(t):
		return StatePaused
	case t.Status.ObservedGeneration != t.Generation:
		return StatePending
	case ReadyNow(t):
		return StateReady
	default:
		return StateNotReady
	}
}
