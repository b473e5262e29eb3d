package rebalance

import (
	"maps"
	"slices"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/sluice-kafka/sluice/internal/observed"
)

// settle is for how long a broker may be behind what the controller did. One that
// was catching up on 5,000 new topics was for more than half a second.
const settle = 30 * time.Second

// recent is what was begun just now. The reassignments in flight are the
// controller's, which is never behind, but the replicas are a broker's: one that took
// no time is in flight no more and does not show yet, and would be planned again from
// replicas that are not there any more. What is not remembered, as after a restart,
// costs no more than that.
type recent struct {
	clock clock.PassiveClock
	mu    sync.Mutex
	begun map[partition]begun
}

type partition struct {
	topic string
	id    int32
}

// begun is a reassignment that Kafka took.
type begun struct {
	at     time.Time
	factor int
	// before are the replicas as they were shown.
	before []int32
}

// add remembers some, with what their partitions had before, and forgets those that
// are old.
func (r *recent) add(taken []Assignment, before []observed.Partition) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.clock.Now()
	maps.DeleteFunc(r.begun, func(_ partition, b begun) bool { return now.Sub(b.at) >= settle })
	if r.begun == nil {
		r.begun = map[partition]begun{}
	}
	replicas := make(map[partition][]int32, len(before))
	for i := range before {
		replicas[partition{before[i].Topic, before[i].ID}] = before[i].Replicas
	}
	for _, a := range taken {
		key := partition{a.Topic, a.Partition}
		r.begun[key] = begun{at: now, factor: len(a.Replicas), before: replicas[key]}
	}
}

// has tells that a partition still shows the replicas that it had before it was given
// that many.
func (r *recent) has(p *observed.Partition, factor int16) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	b, ok := r.begun[partition{p.Topic, p.ID}]
	return ok && b.factor == int(factor) && slices.Equal(b.before, p.Replicas) && r.clock.Since(b.at) < settle
}
