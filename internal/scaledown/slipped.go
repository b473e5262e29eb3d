package scaledown

import "github.com/sluice-kafka/sluice/internal/observed"

// Departure is what becomes of brokers whose removal is committed. Lists ascend.
type Departure struct {
	// Back are those on which a replica was placed after all: their ID and pod (or
	// their role) have to be put back.
	Back []Verdict
	// Unregister are those that are fenced and empty: their dynamic configuration is
	// to be cleared, and then they are to be unregistered.
	Unregister []int32
	// Gone are those that are not registered (any more) and empty: only what
	// Kubernetes still has of them is left.
	Gone []int32
	// Wait are those on which nothing can be decided yet.
	Wait []Verdict
}

// Verdict is what was decided on a broker, and why.
type Verdict struct {
	ID     int32
	Reason string
}

// Slipped looks again at the brokers of in.Leaving, with the same Input as Decide:
// in.Memory is that of the last look.
func Slipped(in Input) Departure {
	_ = in
	panic("not written yet")
}

// Leftover are the IDs that somebody has to see off, whatever else was forgotten:
// registered, fenced, and either in none of nodeIDs (the status.nodeIds of all
// pools) and without a pod, or with a running pod that has not the role of a
// broker. They ascend. Give them to Slipped in Input.Leaving: whether they hold
// replicas is decided there. It is empty where the registration was not seen.
func Leftover(registration observed.Of[observed.Registration], nodeIDs []int32, pods map[int32]Pod) []int32 {
	_, _, _ = registration, nodeIDs, pods
	panic("not written yet")
}
