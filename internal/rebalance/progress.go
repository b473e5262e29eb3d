package rebalance

import (
	"fmt"
	"maps"
	"slices"

	"github.com/sluice-kafka/sluice/internal/observed"
)

// progress is how the session stands by what is seen of its topic.
func (s session) progress(topic observed.Topic, earlier *recent) Progress {
	if topic.ID != s.topicID {
		return Progress{State: Unknown, Message: "the topic was deleted and created anew"}
	}
	moving, done, settling := 0, 0, 0
	behind := map[int32]bool{}
	for i := range topic.Partitions {
		p := &topic.Partitions[i]
		switch {
		case inFlight(p):
			moving++
			for _, id := range target(p) {
				if !slices.Contains(p.InSync, id) {
					behind[id] = true
				}
			}
		case len(p.Replicas) == int(s.factor):
			done++
		case earlier.has(p, s.factor):
			settling++
		}
	}
	total := len(topic.Partitions)
	message := fmt.Sprintf("%d of %d partitions have %d replicas (%d %%)", done, total, s.factor, 100*done/max(total, 1))
	switch {
	case moving > 0:
		message += fmt.Sprintf(", %d in flight", moving)
		if ids := slices.Sorted(maps.Keys(behind)); len(ids) > 0 {
			message += " until the replicas on " + listed("broker", ids) + " are in sync"
		}
		return Progress{State: Running, Message: message}
	case settling > 0:
		return Progress{State: Running, Message: fmt.Sprintf("%s, %d were reassigned just now, which the brokers do not show yet", message, settling)}
	case total > 0 && done == total:
		return Progress{State: Done, Message: message}
	default:
		return Progress{State: Unknown, Message: message + ", and no reassignment is in flight"}
	}
}
