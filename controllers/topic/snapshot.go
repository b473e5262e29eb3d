package topic

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	kafkav1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/topicplan"
)

// snapshot is the last state of a resource that went without our finalizer. It is
// all there is to delete the topic by, and is kept in memory until that is done.
type snapshot struct {
	topic *kafkav1.KafkaTopic
	// recorded tells that this process saw the resource manage its topic.
	recorded bool
	// moved tells that it came from another cluster and managed nothing here.
	moved bool
	// unsure tells that the deletion itself was not seen.
	unsure bool
}

// bury takes a resource that is gone out of the index and, unless it went the way
// of our finalizer, keeps its last state. It returns what was known of it, and
// whether the state was kept.
func (x *index) bury(final *kafkav1.KafkaTopic, unsure bool) (old entry, known, kept bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	k := keyOf(final)
	// Of one that its last finalizer held the event shows the state before that
	// was taken off.
	finalizing := final.DeletionTimestamp != nil && hasFinalizer(final)
	recorded := false
	if old, known = x.entries[k]; known && old.topic.UID == final.UID {
		finalizing = finalizing || old.finalizing
		recorded = x.managers[old.topic.ClaimedName()] == final.UID
		if compareAge(final, old.topic) < 0 {
			// An own write came back before the watch did, and with it the name
			// that is managed.
			final = old.topic
		}
	}
	moved := x.moved[k] == final.UID
	x.removeLocked(k)
	if finalizing {
		return old, known, false
	}
	x.gone[k] = append(x.gone[k], snapshot{topic: final, recorded: recorded, moved: moved, unsure: unsure})
	return old, known, true
}

// forgetGone drops the snapshot of a resource.
func (x *index) forgetGone(k key, uid types.UID) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.gone[k] = slices.DeleteFunc(x.gone[k], func(s snapshot) bool { return s.topic.UID == uid })
	if len(x.gone[k]) == 0 {
		delete(x.gone, k)
	}
}

// confirmGone notes that a resource is known not to exist.
func (x *index) confirmGone(k key, uid types.UID) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for i, s := range x.gone[k] {
		if s.topic.UID == uid {
			x.gone[k][i].unsure = false
		}
	}
}

// inherit records that a resource manages a name from now on, unless it is gone
// or lets go of the name itself.
func (x *index) inherit(name string, k key) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	e, known := x.entries[k]
	if claimed, claims := e.claim(); !known || !claims || claimed != name {
		return false
	}
	x.managers[name] = e.topic.UID
	return true
}

// get is the newest that is known of a resource.
func (x *index) get(k key) (*kafkav1.KafkaTopic, bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	e, known := x.entries[k]
	return e.topic, known
}

// goneSubject leaves out the claim of a later resource of the same name: that is
// created after the topic was deleted.
func (x *index) goneSubject(s snapshot) topicplan.Subject {
	k := keyOf(s.topic)
	claims := slices.DeleteFunc(x.claimsTo(s.topic.ClaimedName()), func(c topicplan.Claim) bool { return c.Resource == k })
	if c, ok := topicplan.ClaimOf(s.topic, ""); ok {
		c.Recorded, c.Deleting = s.recorded, true
		claims = append(claims, c)
	}
	// It was selected when it went.
	return topicplan.Subject{Topic: s.topic, Selected: true, Gone: true, Moved: s.moved, Claims: claims}
}

// goneTopics are the last states of the resources that are gone and whose topics
// are still to be deleted, in order.
func (x *index) goneTopics() []*kafkav1.KafkaTopic {
	x.mu.Lock()
	defer x.mu.Unlock()
	var topics []*kafkav1.KafkaTopic
	for _, k := range slices.SortedFunc(maps.Keys(x.gone), compareKeys) {
		for _, s := range x.gone[k] {
			topics = append(topics, s.topic)
		}
	}
	return topics
}
