package kafka

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

const (
	// defaultTimeout bounds one call, its retries and its splits included.
	defaultTimeout = 30 * time.Second
	// attempts bounds how often one request is sent while brokers cannot be
	// reached. With the backoff between them this is 1.5 s of waiting: enough
	// to pass to a living broker or to see a connection renewed, short enough
	// that a dead cluster is known as such long before the bound.
	attempts     = 5
	firstBackoff = 100 * time.Millisecond
)

// Config is what a Client needs to know.
type Config struct {
	// BootstrapServers are host:port pairs, at least one.
	BootstrapServers []string
	// Controllers are host:port pairs of the controllers' own listeners; only
	// ClearBrokerConfig needs them.
	Controllers []string
	// Resolve, if set, is asked for the IP address of a host before DNS is. It is
	// called concurrently.
	Resolve func(host string) (ip string, ok bool)
	// ClientID names the client to Kafka, in its logs and quotas; "sluice" if
	// empty.
	ClientID string
	// Timeout bounds each call; 30 s if zero.
	Timeout time.Duration
	// Observe, if set, is told of every request that a call puts on the wire,
	// each retry and each part of a split call included, by the name of its
	// API in Kafka's protocol. What the client does on its own account (finding
	// brokers, negotiating versions) is not told. It is called concurrently.
	Observe func(api string, d time.Duration, err error)
}

// Client makes batch calls to one Kafka cluster. It can be used concurrently.
type Client struct {
	kgo     *kgo.Client
	servers string
	timeout time.Duration
	observe func(api string, d time.Duration, err error)
	turn    atomic.Uint64
}

// New makes a client. It does not connect: that is left to the first call.
func New(cfg Config) (*Client, error) {
	if len(cfg.BootstrapServers) == 0 {
		return nil, errors.New("making a kafka client: no bootstrap servers given; give at least one host:port")
	}
	c := &Client{
		servers: strings.Join(cfg.BootstrapServers, ","),
		timeout: cfg.Timeout,
		observe: cfg.Observe,
	}
	if c.timeout == 0 {
		c.timeout = defaultTimeout
	}
	if c.observe == nil {
		c.observe = func(string, time.Duration, error) {}
	}
	id := cfg.ClientID
	if id == "" {
		id = "sluice"
	}
	client, err := kgo.NewClient(
		kgo.SeedBrokers(cfg.BootstrapServers...),
		kgo.ClientID(id),
		// Retries are made here, where they are counted and bounded.
		kgo.RequestRetries(0),
		kgo.RetryTimeout(c.timeout),
		// With requestTimeout the broker answers, or the connection is given
		// up, before the call's own bound: a paused broker is told from a
		// slow controller, and another broker may still be tried.
		kgo.RequestTimeoutOverhead(c.timeout/3),
		kgo.DialTimeout(c.timeout/6),
		// KIP-714 would add requests that nobody asked for.
		kgo.DisableClientMetrics(),
	)
	if err != nil {
		return nil, fmt.Errorf("making a kafka client for %s: %w", c.servers, err)
	}
	c.kgo = client
	return c, nil
}

// Close ends all calls with ErrClosed.
func (c *Client) Close() { c.kgo.Close() }

// requestMillis is how long the controller may work on a write before it
// answers REQUEST_TIMED_OUT.
func (c *Client) requestMillis() int32 { return int32((c.timeout / 2).Milliseconds()) }

// bound gives a call its bound; bounded tells it from the caller's own.
func (c *Client) bound(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, c.timeout, ErrTimeout)
}

// anyBroker passes the request to the brokers in turn. A Metadata request sent
// through the client as a whole would be copied into its cache of topics,
// which nothing here reads: ten thousand topics would be held for nothing.
type anyBroker struct{ c *Client }

// Request implements kmsg.Requestor.
func (a anyBroker) Request(ctx context.Context, req kmsg.Request) (kmsg.Response, error) {
	brokers := a.c.kgo.DiscoveredBrokers()
	// The seeds stay in the round: they may be all that is left of what was
	// discovered.
	brokers = append(brokers, a.c.kgo.SeedBrokers()...)
	return brokers[a.c.turn.Add(1)%uint64(len(brokers))].Request(ctx, req)
}

// sender is a kmsg.Requestor that retries, counts and classifies.
type sender struct {
	c  *Client
	to kmsg.Requestor
}

// Request implements kmsg.Requestor.
func (s sender) Request(ctx context.Context, req kmsg.Request) (kmsg.Response, error) {
	api := kmsg.NameForKey(req.Key())
	var last error
	for i := range attempts {
		if i > 0 && !pause(ctx, firstBackoff<<(i-1)) {
			break
		}
		start := time.Now()
		resp, err := s.to.Request(ctx, req)
		err = s.c.classify(ctx, err, last)
		s.c.observe(api, time.Since(start), err)
		if err == nil {
			return resp, nil
		}
		last = err
		if errors.Is(err, ErrUnreachable) {
			// The brokers may have moved while nothing was asked of them.
			s.c.kgo.ForceMetadataRefresh()
		}
		if _, answered := errors.AsType[*Error](err); answered || errors.Is(err, ErrClosed) {
			break
		}
	}
	return nil, fmt.Errorf("kafka request %s to the cluster at %s: %w", api, s.c.servers, last)
}

// pause tells whether the context outlived it.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// classify gives a request's failure its sentinel; earlier is what the attempt
// before failed with.
func (c *Client) classify(ctx context.Context, err, earlier error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return c.ended(ctx, earlier)
	}
	if known, ok := errors.AsType[*kerr.Error](err); ok {
		return kafkaError(answer{code: known.Code})
	}
	if errors.Is(err, kgo.ErrClientClosed) {
		return ErrClosed
	}
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op != "dial" && op.Timeout() {
		return fmt.Errorf("%w: the broker did not answer: %w", ErrTimeout, err)
	}
	if unreachable(err) {
		return fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
	return err
}

// ended tells why a call's context ended: by this client's bound or by its
// caller's will.
func (c *Client) ended(ctx context.Context, earlier error) error {
	cause := context.Cause(ctx)
	if !errors.Is(cause, ErrTimeout) {
		return cause
	}
	if earlier != nil {
		return fmt.Errorf("%w after %s, the last attempt with: %w", ErrTimeout, c.timeout, earlier)
	}
	return fmt.Errorf("%w: no answer within %s", ErrTimeout, c.timeout)
}

// unreachable tells the errors of dialling, of name resolution and of broken
// connections from those that a living broker causes. The sort that matters
// beside it, a broken TLS handshake, is none of these.
func unreachable(err error) bool {
	if _, ok := errors.AsType[*net.OpError](err); ok {
		return true
	}
	if _, ok := errors.AsType[*net.DNSError](err); ok {
		return true
	}
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || kgo.IsRetryableBrokerErr(err)
}
