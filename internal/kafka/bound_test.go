package kafka

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"
)

// Statuses quote such an error, and are written anew where its text is another.
func TestABrokenConnectionIsToldOfAlikeEachTime(t *testing.T) {
	broker, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = broker.Close() }()
	go func() {
		for {
			conn, err := broker.Accept()
			if err != nil {
				return
			}
			_ = conn.(*net.TCPConn).SetLinger(0) // with a reset
			_, _ = conn.Read(make([]byte, 1))
			_ = conn.Close()
		}
	}()
	c, err := New(Config{BootstrapServers: []string{broker.Addr().String()}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var texts []string
	for range 2 {
		_, err := c.CreateTopics(t.Context(), []NewTopic{{Name: "orders"}})
		if !errors.Is(err, ErrUnreachable) {
			t.Fatalf("error %v, want one of a broker that cannot be talked to", err)
		}
		texts = append(texts, err.Error())
	}
	if texts[0] != texts[1] {
		t.Errorf("it is told of as %q", texts)
	}
}

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
