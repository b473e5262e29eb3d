package kafka

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"
)

// late is a context whose deadline has passed, which it notices when it is waited
// for.
type late struct {
	context.Context
	notice context.CancelCauseFunc
}

func newLate(t *testing.T, cause error) late {
	ctx, cancel := context.WithCancelCause(t.Context())
	return late{ctx, func(error) { cancel(cause) }}
}

func (l late) Deadline() (time.Time, bool) { return time.Now(), true }

func (l late) Done() <-chan struct{} {
	l.notice(nil)
	return l.Context.Done()
}

func TestWhatOurOwnBoundCutsOffIsNoFaultOfTheBroker(t *testing.T) {
	c := &Client{timeout: time.Minute}
	ctx := newLate(t, expired{is: ErrTimeout, after: c.timeout})
	cut := &net.OpError{Op: "dial", Err: context.DeadlineExceeded}
	err := c.classify(ctx, cut, errors.New("it did not answer the TLS handshake"))
	if !errors.Is(err, ErrTimeout) || !strings.Contains(err.Error(), "TLS handshake") || strings.Contains(err.Error(), "dial") {
		t.Errorf("got %v, want what the attempt before failed with", err)
	}
}
