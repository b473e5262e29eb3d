package rebalance

import (
	"fmt"
	"maps"
	"slices"

	"github.com/sluice-kafka/sluice/internal/observed"
)

// tally counts the partitions of a topic on their way to a factor.
type tally struct {
	total, moving, done, settling int
	// behind are the brokers whose replicas a reassignment waits for.
	behind map[int32]bool
}

func (s session) tally(topic observed.Topic, earlier *recent) tally {
	t := tally{total: len(topic.Partitions), behind: map[int32]bool{}}
	for i := range topic.Partitions {
		p := &topic.Partitions[i]
		switch {
		case inFlight(p):
			t.moving++
			for _, id := range target(p) {
				if !slices.Contains(p.InSync, id) {
					t.behind[id] = true
				}
			}
		case len(p.Replicas) == int(s.factor):
			t.done++
		case earlier.has(p, s.factor):
			t.settling++
		}
	}
	return t
}

// progress is how the session stands by what is seen of its topic.
func (s session) progress(topic observed.Topic, earlier *recent) Progress {
	if topic.ID != s.topicID {
		return Progress{State: Unknown, Message: "the topic was deleted and created anew"}
	}
	t := s.tally(topic, earlier)
	message := fmt.Sprintf("%d of %d partitions have %d replicas (%d %%)", t.done, t.total, s.factor, 100*t.done/max(t.total, 1))
	switch {
	case t.moving > 0:
		message += fmt.Sprintf(", %d in flight", t.moving)
		if ids := slices.Sorted(maps.Keys(t.behind)); len(ids) > 0 {
			message += " until the replicas on " + listed("broker", ids) + " are in sync"
		}
		return Progress{State: Running, Message: message}
	case t.settling > 0:
		return Progress{State: Running, Message: fmt.Sprintf("%s, %d were reassigned just now, which the brokers do not show yet", message, t.settling)}
	case t.total > 0 && t.done == t.total:
		return Progress{State: Done, Message: message}
	default:
		return Progress{State: Unknown, Message: message + ", and no reassignment is in flight"}
	}
}
