package topic

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	kafkav1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/batch"
	"github.com/sluice-kafka/sluice/internal/topicplan"
)

type key = types.NamespacedName

// entry is the newest that is known of a resource. The object is shared with the
// informer and never changed.
type entry struct {
	topic *kafkav1.KafkaTopic
	// leaving marks a resource that is no longer ours.
	leaving bool
	// finalizing marks a resource that was seen to be deleted while it had our
	// finalizer, which is the way that its topic goes.
	finalizing bool
	// state that the resource is counted in.
	state topicplan.State
}

// index holds the resources of one cluster by key and by the name that they
// claim, so that a batch is decided from one snapshot. It is ahead of the
// informer by what this process itself has written.
type index struct {
	mu       sync.Mutex
	entries  map[key]entry
	claims   map[string]map[key]struct{}
	managers map[string]types.UID
	// moved are the resources that came from other clusters and managed nothing here
	// since.
	moved map[key]types.UID
	// gone holds, by key, the resources whose topics are still to be deleted
	// though they are gone, the first to go first.
	gone map[key][]snapshot
	// states counts the resources, so that nobody has to go through all of them.
	states map[topicplan.State]int
}

func newIndex() *index {
	return &index{
		entries:  map[key]entry{},
		claims:   map[string]map[key]struct{}{},
		managers: map[string]types.UID{},
		moved:    map[key]types.UID{},
		gone:     map[key][]snapshot{},
		states:   map[topicplan.State]int{},
	}
}

// put takes an observed resource. It returns what was known before, and whether
// the observation brings anything new.
func (x *index) put(t *kafkav1.KafkaTopic, leaving bool) (entry, bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	old, known := x.entries[keyOf(t)]
	if known && old.leaving == leaving {
		switch age := compareAge(t, old.topic); {
		case age < 0:
			return old, false
		case age == 0:
			// The informer's copy replaces ours, so that only one is held.
			x.set(t, leaving)
			return old, false
		}
	}
	x.set(t, leaving)
	return old, true
}

// wrote takes the answer to an own write, unless the resource went or changed
// meanwhile: the watch may have shown the next one of its name before the answer
// came. The answer to a write that ends a resource, by taking its last
// finalizer off, has the version from before (deleteWithoutFinalizers in
// k8s.io/apiserver's generic registry) and counts all the same.
func (x *index) wrote(t *kafkav1.KafkaTopic) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if old, known := x.entries[keyOf(t)]; known && old.topic.UID == t.UID && compareAge(t, old.topic) >= 0 {
		x.set(t, old.leaving)
	}
}

func (x *index) set(t *kafkav1.KafkaTopic, leaving bool) {
	k, name, state := keyOf(t), t.ClaimedName(), topicplan.StateOf(t)
	if old, known := x.entries[k]; known {
		x.states[old.state]--
		if old.topic.ClaimedName() != name {
			x.drop(k, old.topic.ClaimedName())
		}
	}
	finalizing := t.DeletionTimestamp != nil && hasFinalizer(t)
	if old := x.entries[k]; old.finalizing && old.topic.UID == t.UID {
		finalizing = true
	}
	x.entries[k] = entry{topic: t, leaving: leaving, finalizing: finalizing, state: state}
	x.states[state]++
	if x.claims[name] == nil {
		x.claims[name] = map[key]struct{}{}
	}
	x.claims[name][k] = struct{}{}
}

// remove forgets a resource and returns what was known of it.
func (x *index) remove(k key) (entry, bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.removeLocked(k)
}

// left forgets a resource that was let go, unless it was seen to be ours again
// meanwhile, or another of its name was.
func (x *index) left(t *kafkav1.KafkaTopic) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if e := x.entries[keyOf(t)]; e.leaving && e.topic.UID == t.UID {
		x.removeLocked(keyOf(t))
	}
}

func (x *index) removeLocked(k key) (entry, bool) {
	old, known := x.entries[k]
	if !known {
		return old, false
	}
	name := old.topic.ClaimedName()
	delete(x.entries, k)
	delete(x.moved, k)
	x.states[old.state]--
	x.drop(k, name)
	if x.managers[name] == old.topic.UID {
		delete(x.managers, name)
	}
	return old, true
}

func (x *index) drop(k key, name string) {
	delete(x.claims[name], k)
	if len(x.claims[name]) == 0 {
		delete(x.claims, name)
	}
}

func (x *index) has(k key) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	_, known := x.entries[k]
	return known
}

// nameOf is the name that is worked on for a key: that of a resource that is gone
// comes first. It is empty if nothing is known.
func (x *index) nameOf(k key) string {
	x.mu.Lock()
	defer x.mu.Unlock()
	if gone := x.gone[k]; len(gone) > 0 {
		return gone[0].topic.ClaimedName()
	}
	e, known := x.entries[k]
	if !known {
		return ""
	}
	return e.topic.ClaimedName()
}

// claimants are the resources that claim a name, but for one, in order.
func (x *index) claimants(name string, except key) []key {
	x.mu.Lock()
	defer x.mu.Unlock()
	var others []key
	for k := range x.claims[name] {
		if k != except {
			others = append(others, k)
		}
	}
	slices.SortFunc(others, compareKeys)
	return others
}

// keys are all resources, in order.
func (x *index) keys() []key {
	x.mu.Lock()
	defer x.mu.Unlock()
	return slices.SortedFunc(maps.Keys(x.entries), compareKeys)
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

// subject is a resource of a batch with what is known around it.
type subject struct {
	topicplan.Subject
	priority batch.Priority
	// unsure tells that the deletion of one that is gone was not seen.
	unsure bool
}

// batch is what a batch is decided from, all of one moment. A key stands for the
// first resource of its name that is gone, if any, and else for the one that is
// there. Left out are keys of which nothing is known, and those that came to
// stand for another name than the one that the batch holds.
func (x *index) batch(b batch.Batch[key]) []subject {
	x.mu.Lock()
	defer x.mu.Unlock()
	subjects := make([]subject, 0, len(b.Keys))
	for i, k := range b.Keys {
		s := subject{priority: b.Priorities[i]}
		if gone := x.gone[k]; len(gone) > 0 {
			s.Subject, s.unsure = x.goneSubject(gone[0]), gone[0].unsure
		} else if e, known := x.entries[k]; known {
			s.Subject = x.subject(e)
		}
		if s.Topic != nil && s.Topic.ClaimedName() == b.Locks[i] {
			subjects = append(subjects, s)
		}
	}
	return subjects
}

// all are the resources that are there, in order.
func (x *index) all() []subject {
	keys := x.keys()
	x.mu.Lock()
	defer x.mu.Unlock()
	subjects := make([]subject, 0, len(keys))
	for _, k := range keys {
		if e, known := x.entries[k]; known {
			subjects = append(subjects, subject{Subject: x.subject(e)})
		}
	}
	return subjects
}

func (x *index) subject(e entry) topicplan.Subject {
	return topicplan.Subject{
		Topic: e.topic, Selected: !e.leaving, Moved: x.moved[keyOf(e.topic)] == e.topic.UID, Claims: x.claimsTo(e.topic.ClaimedName()),
	}
}

func (x *index) claimsTo(name string) []topicplan.Claim {
	claims := make([]topicplan.Claim, 0, len(x.claims[name]))
	for k := range x.claims[name] {
		e := x.entries[k]
		if e.leaving {
			continue
		}
		if c, ok := topicplan.ClaimOf(e.topic, x.managers[name]); ok {
			claims = append(claims, c)
		}
	}
	return claims
}

// manages records that a resource manages a name, also where it went since the
// batch began: its topic may be made all the same.
func (x *index) manages(name string, t *kafkav1.KafkaTopic) {
	x.mu.Lock()
	defer x.mu.Unlock()
	k := keyOf(t)
	if e, known := x.entries[k]; known && e.topic.UID == t.UID {
		x.managers[name] = t.UID
		delete(x.moved, k)
	}
	for i, s := range x.gone[k] {
		if s.topic.UID == t.UID {
			x.gone[k][i].recorded = true
		}
	}
}

// arrives records that a resource comes from another cluster.
func (x *index) arrives(t *kafkav1.KafkaTopic) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.moved[keyOf(t)] = t.UID
}

// resigns records that a resource does not manage a name any more.
func (x *index) resigns(name string, uid types.UID) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.managers[name] == uid {
		delete(x.managers, name)
	}
}

func keyOf(t *kafkav1.KafkaTopic) key {
	return key{Namespace: t.Namespace, Name: t.Name}
}

func compareKeys(a, b key) int {
	if c := strings.Compare(a.Namespace, b.Namespace); c != 0 {
		return c
	}
	return strings.Compare(a.Name, b.Name)
}

// compareAge compares two states of a resource; positive if a is the newer. An
// object of another UID is newer than what is known, and so is one whose version
// cannot be compared.
func compareAge(a, b *kafkav1.KafkaTopic) int {
	if a.UID != b.UID {
		return 1
	}
	c, err := resourceversion.CompareResourceVersion(a.ResourceVersion, b.ResourceVersion)
	if err != nil {
		return 1
	}
	return c
}
