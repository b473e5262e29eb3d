package batch

import (
	"fmt"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// Heartbeat tells whether a loop turns. Waiting for work counts as turning,
// however long it takes.
type Heartbeat struct {
	clock clock.PassiveClock

	mu      sync.Mutex
	working bool
	since   time.Time
}

// NewHeartbeat makes a heartbeat of a loop that waits.
func NewHeartbeat(c clock.PassiveClock) *Heartbeat {
	return &Heartbeat{clock: c}
}

// Wait tells that the loop waits for work.
func (h *Heartbeat) Wait() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.working = false
}

// Beat tells that the loop got on.
func (h *Heartbeat) Beat() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.working, h.since = true, h.clock.Now()
}

// Check returns an error if the loop is at work and last got on longer than
// limit ago.
func (h *Heartbeat) Check(limit time.Duration) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.working {
		return nil
	}
	if age := h.clock.Since(h.since); age > limit {
		return fmt.Errorf("last got on %s ago, more than %s: restart the operator if this persists", age.Round(time.Second), limit)
	}
	return nil
}
