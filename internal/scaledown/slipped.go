package scaledown

import (
	"fmt"
	"slices"

	"github.com/sluice-kafka/sluice/internal/observed"
)

// Departure is what becomes of brokers whose removal is committed. Lists ascend;
// each of them stands in exactly one.
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
// in.Memory is that of the last look. Once the pod is gone (or runs without the
// role), a replica seen on a broker brings it back, fenced or not: that is the safe
// way always. It is unregistered only if an earlier look saw it fenced already, so
// that the partitions of this one were read afterwards.
//
// With in.Skip a broker goes with what it holds.
func Slipped(in Input) Departure {
	var d Departure
	leaving := sorted(in.Leaving)
	if len(leaving) == 0 {
		return d
	}
	partitions, _ := in.Seen.Partitions.Get()
	held := holdings(slices.Values(partitions), leaving)
	v := in.view()
	for _, id := range leaving {
		pod, exists := in.Pods[id]
		_, registered := v.registered[id]
		switch wait := in.unsure(v, id); {
		case exists && pod.Broker:
			d.Wait = append(d.Wait, Verdict{id, "its pod is still there"})
		case !in.Skip && !held[id].empty():
			d.Back = append(d.Back, Verdict{id, slippedText(held[id])})
		case wait != "":
			d.Wait = append(d.Wait, Verdict{id, wait})
		case registered:
			d.Unregister = append(d.Unregister, id)
		default:
			d.Gone = append(d.Gone, id)
		}
	}
	return d
}

// unsure is what has to be known of a stopped broker before it goes, and is not.
func (in Input) unsure(v view, id int32) string {
	broker, registered := v.registered[id]
	was := in.Memory.brokers[id]
	switch {
	case !v.seen:
		return fmt.Sprintf("whether it is registered could not be seen (%v)", in.Seen.Registration.Err())
	case registered && !broker.Fenced:
		return "it has stopped, and the controller has not fenced it yet"
	case in.Skip:
		return ""
	case !in.Seen.Partitions.Seen():
		return fmt.Sprintf("whether it holds replicas could not be seen (%v)", in.Seen.Partitions.Err())
	case was.mode != fenced || !was.at.Before(in.Seen.At):
		return "it has just been seen fenced; its partitions have to be looked at after that"
	}
	return ""
}

func slippedText(h holding) string {
	what := counted(h.replicas+h.targets, "replica")
	return fmt.Sprintf("%s slipped onto it after it was last seen empty, among them %s", what, h.example)
}

// Leftover are the IDs that somebody has to see off, whatever else was forgotten:
// registered, fenced, and either in none of nodeIDs (the status.nodeIds of all
// pools) and without a pod, or with a running pod that has not the role of a
// broker. They ascend. Give them to Decide and Slipped in Input.Leaving: whether
// they hold replicas is decided there. It is empty where the registration was not
// seen.
func Leftover(registration observed.Of[observed.Registration], nodeIDs []int32, pods map[int32]Pod) []int32 {
	seen, _ := registration.Get()
	var left []int32
	for _, b := range seen.Brokers {
		pod, exists := pods[b.ID]
		switch {
		case !b.Fenced:
		case exists && !pod.Broker, !exists && !slices.Contains(nodeIDs, b.ID):
			left = append(left, b.ID)
		}
	}
	return sorted(left)
}
