package gate

import (
	"context"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
)

// Relay is a way to one broker that tells its clients to come by it: one that
// advertises the relay's address.
type Relay struct {
	gate     *Gate
	listener net.Listener
	to       atomic.Pointer[string]
	ctx      context.Context
	cancel   context.CancelFunc
	running  sync.WaitGroup
}

// NewRelay listens on loopback, at a port that the kernel chooses. Connections are
// closed at once until To was called.
func NewRelay(g *Gate) (*Relay, error) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listening for connections to a broker: %w", err)
	}
	r := &Relay{gate: g, listener: l}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	r.running.Go(r.accept)
	return r, nil
}

// Address is where it listens.
func (r *Relay) Address() string { return r.listener.Addr().String() }

// To says where the broker listens itself.
func (r *Relay) To(address string) { r.to.Store(&address) }

// Close ends all connections.
func (r *Relay) Close() {
	r.cancel()
	_ = r.listener.Close()
	r.running.Wait()
}

func (r *Relay) accept() {
	for {
		client, err := r.listener.Accept()
		if err != nil {
			return // closed
		}
		r.running.Go(func() {
			defer func() { _ = client.Close() }()
			to := r.to.Load()
			if to == nil {
				return
			}
			dialer := net.Dialer{Timeout: dialTimeout}
			broker, err := dialer.DialContext(r.ctx, "tcp4", *to)
			if err != nil {
				return
			}
			join(r.ctx, r.gate, client, broker)
		})
	}
}
