package cluster

import (
	"fmt"
	"sync"
	"time"

	"github.com/sluice-kafka/sluice/internal/kafka"
)

// settling are the changes of options that Kafka took last, by what they are of. A
// broker hears of one when it replays the metadata log; until then it reports the
// value from before, and to ask for the same again would tell it nothing.
type settling struct {
	mu    sync.Mutex // several brokers are talked to at a time
	taken map[string]taken
}

// taken is a change and when Kafka took it.
type taken struct {
	change string
	at     time.Time
}

func (s *settling) took(of string, ops []kafka.ConfigOp, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.taken == nil {
		s.taken = map[string]taken{}
	}
	s.taken[of] = taken{change: fmt.Sprint(ops), at: at}
}

// settles tells whether the very same change was taken less than a while ago. The
// clock may have been set back: that counts as long ago.
func (s *settling) settles(of string, ops []kafka.ConfigOp, now time.Time, while time.Duration) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	last, ok := s.taken[of]
	since := now.Sub(last.at)
	return ok && last.change == fmt.Sprint(ops) && since >= 0 && since < while
}

// settles tells whether a change is under way, so that it is only waited for.
func (t *turn) settles(of string, ops []kafka.ConfigOp) bool {
	if !t.memory.settling.settles(of, ops, t.opts.Clock.Now(), t.opts.WatchInterval) {
		return false
	}
	t.soon = true
	return true
}

// took remembers a change that Kafka answered with OK.
func (t *turn) took(of string, ops []kafka.ConfigOp) {
	t.memory.settling.took(of, ops, t.opts.Clock.Now())
}

// cordonOf names a broker's cordon, which is changed in calls of its own.
func cordonOf(broker int32) string { return fmt.Sprintf("the cordon of broker %d", broker) }
