// Package batch gathers keys into batches. A key waits once however often it
// changes, so memory is bounded by the number of keys and there is no limit
// that could stop the operator.
//
// The work queues of client-go and controller-runtime hand out one key at a
// time and know one lock, the key itself. Here a batch opens a window and
// closes at a size or a time, and two keys that stand for the same thing (two
// resources of one topic) must not be in flight together. Both need a look at
// what waits, which those queues do not allow.
package batch

import (
	"container/heap"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// Priority orders keys that wait.
type Priority int

// Priorities, the most urgent first.
const (
	// Change is somebody's change; it opens a window that lingers.
	Change Priority = iota
	// Resync is the periodic look; it never makes a batch linger.
	Resync
)

// Backoff of keys and of a whole queue: it doubles from MinBackoff to
// MaxBackoff.
const (
	MinBackoff = time.Second
	MaxBackoff = time.Minute
)

// Batch is a set of keys that are worked on together.
type Batch[K comparable] struct {
	// Keys in the order in which they are to be worked on.
	Keys []K
	// Priorities of the keys, by index.
	Priorities []Priority
	// Locks are the names that the keys hold, by index; empty for none.
	Locks []string
	// SetAside counts the keys that had to wait for another in flight since the
	// batch before.
	SetAside int
	// Left is how many keys wait on, those with a delay among them.
	Left int
}

// Queue holds keys until a batch takes them. Its methods may be called from any
// goroutine; it starts none itself.
type Queue[K comparable] struct {
	clock  clock.Clock
	lockOf func(K) string

	mu       sync.Mutex
	seq      uint64
	waiting  map[K]*item[K]
	ready    itemHeap[K]
	delayed  itemHeap[K]
	aside    []*item[K]
	setAside int // since the last batch
	resyncs  int // of the items in ready
	flying   map[K]string
	locks    map[string]struct{}
	failing  map[K]failing
	pause    pause
	changed  chan struct{}
}

// failing is a row of failures of a key.
type failing struct {
	since time.Time
	count int
}

type pause struct {
	until time.Time
	count int
}

// NewQueue makes a queue. Keys for which lockOf answers the same non-empty name
// are never in flight together; it is asked when a batch closes, under the
// queue's lock, and must not call the queue.
func NewQueue[K comparable](c clock.Clock, lockOf func(K) string) *Queue[K] {
	return &Queue[K]{
		clock:   c,
		lockOf:  lockOf,
		waiting: map[K]*item[K]{},
		ready:   itemHeap[K]{before: byPriority[K]},
		delayed: itemHeap[K]{before: byDue[K]},
		flying:  map[K]string{},
		locks:   map[string]struct{}{},
		failing: map[K]failing{},
		changed: make(chan struct{}),
	}
}

// Add queues keys. One that waits already keeps its place, unless p is more
// urgent than what it waits with; a Change also ends a delay. A key in flight
// is handed out again after its batch is done.
func (q *Queue[K]) Add(p Priority, keys ...K) {
	if len(keys) == 0 {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	now := q.clock.Now()
	for _, k := range keys {
		q.add(k, p, now)
	}
	q.signal()
}

func (q *Queue[K]) add(k K, p Priority, now time.Time) {
	it, ok := q.waiting[k]
	if !ok {
		it = &item[K]{key: k, priority: p, since: now}
		q.waiting[k] = it
		q.pushReady(it)
		return
	}
	if p >= it.priority && it.place != inDelayed {
		return
	}
	switch it.place {
	case inDelayed:
		// A delay is a backoff: the periodic look must not cut it short.
		if p == Resync {
			return
		}
		heap.Remove(&q.delayed, it.index)
		it.priority, it.since = p, now
		q.pushReady(it)
	case inReady:
		heap.Remove(&q.ready, it.index)
		q.resyncs--
		it.priority, it.since = p, now
		q.pushReady(it)
	case inAside:
		it.priority, it.since = p, now
	}
}

// AddAfter queues a key once d has passed, unless it waits already: then the
// earlier of the two holds.
func (q *Queue[K]) AddAfter(k K, p Priority, d time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.addAfter(k, p, d)
	q.signal()
}

func (q *Queue[K]) addAfter(k K, p Priority, d time.Duration) {
	due := q.clock.Now().Add(d)
	it, ok := q.waiting[k]
	if !ok {
		it = &item[K]{key: k, priority: p, since: due}
		q.waiting[k] = it
		it.place = inDelayed
		it.seq = q.next()
		heap.Push(&q.delayed, it)
		return
	}
	if it.place == inDelayed && due.Before(it.since) {
		it.since = due
		heap.Fix(&q.delayed, it.index)
	}
}

// Retry queues a key again after its backoff, but not before atLeast has
// passed, and returns the delay. Forget resets the backoff.
func (q *Queue[K]) Retry(k K, p Priority, atLeast time.Duration) time.Duration {
	q.mu.Lock()
	defer q.mu.Unlock()
	row := q.failing[k]
	if row.count == 0 {
		row.since = q.clock.Now()
	}
	d := max(Backoff(row.count), atLeast)
	row.count++
	q.failing[k] = row
	q.addAfter(k, p, d)
	q.signal()
	return d
}

// Forget resets the backoff of a key.
func (q *Queue[K]) Forget(k K) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.failing, k)
}

// Failing is how long ago the first of the retries in a row was that a key has had
// since it was last forgotten; 0 if it had none.
func (q *Queue[K]) Failing(k K) time.Duration {
	q.mu.Lock()
	defer q.mu.Unlock()
	row, ok := q.failing[k]
	if !ok {
		return 0
	}
	return q.clock.Since(row.since)
}

// Pause hands out nothing until a backoff that grows with every Pause since the
// last Resume has passed, and returns that backoff.
func (q *Queue[K]) Pause() time.Duration {
	q.mu.Lock()
	defer q.mu.Unlock()
	d := Backoff(q.pause.count)
	q.pause.count++
	q.pause.until = q.clock.Now().Add(d)
	q.signal()
	return d
}

// Resume ends a pause and resets its backoff.
func (q *Queue[K]) Resume() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.pause.count == 0 {
		return
	}
	q.pause = pause{}
	q.signal()
}

// Done tells that a batch was worked on, and lets go what waited for it.
func (q *Queue[K]) Done(b Batch[K]) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, k := range b.Keys {
		delete(q.locks, q.flying[k])
		delete(q.flying, k)
	}
	for _, it := range q.aside {
		q.putReady(it)
	}
	q.aside = nil
	q.signal()
}

// Len is the number of keys that wait, those with a delay among them.
func (q *Queue[K]) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.waiting)
}

// Standing is how many keys are where, at one moment. A key that is queued again
// from a batch is never in none of the three.
type Standing struct {
	// Waiting keys could be worked on now, or as soon as what they wait for is
	// no longer in flight.
	Waiting int
	// Delayed keys wait for a time to come.
	Delayed int
	// InFlight keys were handed out and are not done.
	InFlight int
}

// Standing counts the keys.
func (q *Queue[K]) Standing() Standing {
	q.mu.Lock()
	defer q.mu.Unlock()
	return Standing{Waiting: len(q.waiting) - q.delayed.Len(), Delayed: q.delayed.Len(), InFlight: len(q.flying)}
}

// OldestAge is how long the oldest key that could be worked on has waited; 0
// when none waits.
func (q *Queue[K]) OldestAge() time.Duration {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := q.clock.Now()
	oldest := now
	for _, it := range q.waiting {
		if it.since.Before(oldest) {
			oldest = it.since
		}
	}
	return now.Sub(oldest)
}

func (q *Queue[K]) pushReady(it *item[K]) {
	it.seq = q.next()
	q.putReady(it)
}

// putReady keeps the item's number in the line, so that what was set aside
// returns to its old place.
func (q *Queue[K]) putReady(it *item[K]) {
	it.place = inReady
	if it.priority == Resync {
		q.resyncs++
	}
	heap.Push(&q.ready, it)
}

func (q *Queue[K]) next() uint64 {
	q.seq++
	return q.seq
}

// signal wakes every Next.
func (q *Queue[K]) signal() {
	close(q.changed)
	q.changed = make(chan struct{})
}

// Backoff is the delay after a number of failures in a row.
func Backoff(failures int) time.Duration {
	d := MinBackoff
	for range failures {
		if d >= MaxBackoff {
			return MaxBackoff
		}
		d *= 2
	}
	return min(d, MaxBackoff)
}
