package e2e

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/sluice-kafka/sluice/test/harness"
)

// slow bounds, on an idle machine, what takes a broker or a removal some ten seconds.
const slow = 2 * time.Minute

// keeper starts the operator again whenever it has ended, as a kubelet does.
type keeper struct {
	c      *cluster
	cancel context.CancelFunc
	done   chan struct{}

	mu      sync.Mutex
	up      chan struct{} // closed while running is ready
	running *harness.Operator
	starts  int
}

// keepOperator keeps the operator of the cluster running until the test's end.
func (c *cluster) keepOperator() *keeper {
	ctx, cancel := context.WithCancel(c.t.Context())
	k := &keeper{c: c, cancel: cancel, done: make(chan struct{}), up: make(chan struct{}), running: c.operator}
	close(k.up)
	go k.keep(ctx)
	c.t.Cleanup(k.stop)
	return k
}

// stop leaves the operator as it is.
func (k *keeper) stop() {
	k.cancel()
	<-k.done
	k.c.operator = k.running
}

func (k *keeper) keep(ctx context.Context) {
	defer close(k.done)
	for op := k.running; ; {
		select {
		case <-ctx.Done():
			return
		case <-op.Ended():
		}
		k.mu.Lock()
		k.up = make(chan struct{})
		k.mu.Unlock()
		for tries := 1; ; tries++ {
			next, err := k.c.chart.StartOperator(ctx, k.c.args...)
			if ctx.Err() != nil {
				if err == nil {
					next.Kill()
				}
				return
			}
			if err == nil {
				op = next
				break
			}
			if tries == 1 {
				k.c.t.Logf("the operator does not start, and is started again and again: %v", err)
			}
			select {
			case <-time.After(time.Second):
			case <-ctx.Done():
			}
		}
		k.mu.Lock()
		k.running = op
		k.starts++
		close(k.up)
		k.mu.Unlock()
	}
}

// current is the operator, once it is ready; nil where that lasts too long.
func (k *keeper) current() *harness.Operator {
	deadline := time.After(patience * slow)
	for {
		k.mu.Lock()
		up, op := k.up, k.running
		k.mu.Unlock()
		select {
		case <-up:
		case <-deadline:
			return nil
		}
		select {
		case <-op.Ended():
			// The keeper is about to hear of it.
			select {
			case <-k.done:
				return nil
			case <-time.After(10 * time.Millisecond):
			}
		default:
			return op
		}
	}
}

// kill ends the operator at once and returns when it has ended.
func (k *keeper) kill() {
	if op := k.current(); op != nil {
		op.Kill()
	}
}

// in is the cluster for a subtest.
func (c *cluster) in(t *testing.T) *cluster {
	d := *c
	d.t = t
	t.Cleanup(func() { c.operator = d.operator })
	return &d
}
