package batch

import (
	"container/heap"
	"context"
	"time"
)

// Window says when a batch closes.
type Window struct {
	// MaxSize is the number of keys that close a batch at once.
	MaxSize int
	// Linger is how long after its first key a smaller batch closes.
	Linger time.Duration
}

// forever means that only a change of the queue can help.
const forever = time.Duration(-1)

// Next waits for a batch: until MaxSize keys are there, or Linger has passed
// since the first, or the periodic look is among them. It returns early only
// with the error of ctx. The caller owes a Done for what it gets.
func (q *Queue[K]) Next(ctx context.Context, w Window) (Batch[K], error) {
	for {
		if err := ctx.Err(); err != nil {
			return Batch[K]{}, err
		}
		b, wait, changed := q.tryTake(w)
		if len(b.Keys) > 0 {
			return b, nil
		}
		if err := q.sleep(ctx, wait, changed); err != nil {
			return Batch[K]{}, err
		}
	}
}

func (q *Queue[K]) sleep(ctx context.Context, wait time.Duration, changed <-chan struct{}) error {
	var due <-chan time.Time
	if wait != forever {
		t := q.clock.NewTimer(wait)
		defer t.Stop()
		due = t.C()
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-changed:
	case <-due:
	}
	return nil
}

// tryTake returns a batch, or how long to wait for one unless the queue changes
// before.
func (q *Queue[K]) tryTake(w Window) (Batch[K], time.Duration, <-chan struct{}) {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := q.clock.Now()
	if wait := q.pause.until.Sub(now); wait > 0 {
		return Batch[K]{}, wait, q.changed
	}
	q.promote(now)
	for q.ready.Len() > 0 {
		if wait := q.opening(w, now); wait > 0 {
			return Batch[K]{}, wait, q.changed
		}
		if b := q.take(w.MaxSize); len(b.Keys) > 0 {
			return b, 0, nil
		}
	}
	if q.delayed.Len() > 0 {
		return Batch[K]{}, q.delayed.items[0].since.Sub(now), q.changed
	}
	return Batch[K]{}, forever, q.changed
}

// promote makes ready what has waited out its delay.
func (q *Queue[K]) promote(now time.Time) {
	for q.delayed.Len() > 0 && !q.delayed.items[0].since.After(now) {
		it := heap.Pop(&q.delayed).(*item[K])
		q.pushReady(it)
	}
}

// opening is how long the window of the first ready key stays open.
func (q *Queue[K]) opening(w Window, now time.Time) time.Duration {
	if q.ready.Len() >= w.MaxSize || q.resyncs > 0 {
		return 0
	}
	return q.ready.items[0].since.Add(w.Linger).Sub(now)
}

// take hands out up to size ready keys and sets aside those of which the key or
// the lock is in flight.
func (q *Queue[K]) take(size int) Batch[K] {
	var b Batch[K]
	changes := 0
	for q.ready.Len() > 0 && len(b.Keys) < q.room(changes, size) {
		it := heap.Pop(&q.ready).(*item[K])
		if it.priority == Resync {
			q.resyncs--
		}
		lock := q.lockOf(it.key)
		if q.inFlight(it.key, lock) {
			it.place = inAside
			q.aside = append(q.aside, it)
			q.setAside++
			continue
		}
		delete(q.waiting, it.key)
		q.flying[it.key] = lock
		if lock != "" {
			q.locks[lock] = struct{}{}
		}
		if it.priority == Change {
			changes++
		}
		b.Keys = append(b.Keys, it.key)
		b.Priorities = append(b.Priorities, it.priority)
		b.Locks = append(b.Locks, lock)
	}
	if len(b.Keys) > 0 {
		b.SetAside, q.setAside = q.setAside, 0
		b.Left = len(q.waiting)
	}
	return b
}

// shareOfResync is the part of a batch that the periodic look may fill up where
// there is somebody's change in it: enough for the look to go on however many
// changes come, and few enough for the change not to wait for a thousand others.
const shareOfResync = 10

// room is how many keys a batch with so many changes in it may have, if the next
// ready one goes into it.
func (q *Queue[K]) room(changes, size int) int {
	if changes == 0 || q.ready.items[0].priority == Change {
		return size
	}
	return min(size, changes+max(1, size/shareOfResync))
}

func (q *Queue[K]) inFlight(k K, lock string) bool {
	if _, ok := q.flying[k]; ok {
		return true
	}
	_, ok := q.locks[lock]
	return ok && lock != ""
}
