package topic

import (
	"slices"

	"github.com/sluice-kafka/sluice/internal/topicplan"
)

// states counts the resources of an index by state as they change, so that nobody
// has to go through all of them.
type states map[topicplan.State]int

// moved counts a resource that was in one state and is in another; an empty state
// is that of one that is not there.
func (s states) moved(from, to topicplan.State) {
	if from != "" {
		s[from]--
	}
	if to != "" {
		s[to]++
	}
}

// count tells how many resources are in each state.
func (x *index) count() map[string]int {
	x.mu.Lock()
	defer x.mu.Unlock()
	counts := make(map[string]int, len(topicplan.States))
	for _, s := range topicplan.States {
		counts[string(s)] = x.states[s]
	}
	return counts
}

func (x *index) len() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return len(x.entries)
}

// keysByUrgency are all resources in the order in which a full look takes them:
// those that are being deleted, then those with a change that was not seen to,
// then the rest.
func (x *index) keysByUrgency() []key {
	x.mu.Lock()
	defer x.mu.Unlock()
	var byRank [3][]key
	for k, e := range x.entries {
		rank := 2
		switch {
		case e.topic.DeletionTimestamp != nil:
			rank = 0
		case urgent(e.topic):
			rank = 1
		}
		byRank[rank] = append(byRank[rank], k)
	}
	for _, keys := range byRank {
		slices.SortFunc(keys, compareKeys)
	}
	return slices.Concat(byRank[:]...)
}
