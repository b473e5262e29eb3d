package kafka

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// defaultTimeout bounds one call, its retries and its splits included.
const defaultTimeout = 30 * time.Second

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
	// Security of the connections.
	Security Security
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
	kgo *kgo.Client
	// options are those of kgo, without the brokers to begin at.
	options []kgo.Opt
	servers atomic.Pointer[servers]
	// setting is held while the servers are replaced.
	setting sync.Mutex
	timeout time.Duration
	// security is what errors need of it, without secrets.
	security Security
	dialer   dialer
	observe  func(api string, d time.Duration, err error)
	turn     atomic.Uint64
	// discovering is held while the cluster is asked for its brokers.
	discovering chan struct{}
}

// servers are where a cluster is asked.
type servers struct {
	brokers, controllers []string
}

// New makes a client. It does not connect: that is left to the first call.
func New(cfg Config) (*Client, error) {
	at := &servers{brokers: slices.Clone(cfg.BootstrapServers), controllers: slices.Clone(cfg.Controllers)}
	if err := at.check(); err != nil {
		return nil, fmt.Errorf("making a kafka client: %w", err)
	}
	c := &Client{
		timeout:     cmp.Or(cfg.Timeout, defaultTimeout),
		security:    cfg.Security.withoutSecrets(),
		observe:     cfg.Observe,
		discovering: make(chan struct{}, 1),
	}
	c.servers.Store(at)
	if c.observe == nil {
		c.observe = func(string, time.Duration, error) {}
	}
	c.options = []kgo.Opt{
		kgo.ClientID(cmp.Or(cfg.ClientID, "sluice")),
		// Retries are made here, where they are counted and bounded.
		kgo.RequestRetries(0),
		kgo.RetryTimeout(c.timeout),
		// With requestTimeout the broker answers, or the connection is given
		// up, before the call's own bound: a paused broker is told from a
		// slow controller, and another broker may still be tried.
		kgo.RequestTimeoutOverhead(c.timeout / 3),
		// KIP-714 would add requests that nobody asked for.
		kgo.DisableClientMetrics(),
	}
	if err := c.secure(cfg.Security, cfg.Resolve); err != nil {
		return nil, fmt.Errorf("making a kafka client for %s: %w", c.where(), err)
	}
	client, err := kgo.NewClient(append(slices.Clip(c.options), kgo.SeedBrokers(at.brokers...))...)
	if err != nil {
		return nil, fmt.Errorf("making a kafka client for %s: %w", c.where(), err)
	}
	c.kgo = client
	return c, nil
}

// check tells whether there are servers, and all of the right form.
func (s *servers) check() error {
	if len(s.brokers) == 0 {
		return errors.New("no bootstrap servers given; give at least one host:port")
	}
	for _, server := range slices.Concat(s.brokers, s.controllers) {
		_, port, err := net.SplitHostPort(server)
		if err != nil {
			return fmt.Errorf("%q is not host:port: %w", server, err)
		}
		if _, err := strconv.ParseUint(port, 10, 16); err != nil {
			return fmt.Errorf("%q has no port number: %w", server, err)
		}
	}
	return nil
}

// SetServers replaces the brokers to begin at and the controllers as a cluster
// grows and shrinks. Calls under way may see a connection break, and try again.
// The same servers again change nothing. It fails, without effect, where no
// broker is given or one is not host:port.
func (c *Client) SetServers(brokers, controllers []string) error {
	at := &servers{brokers: slices.Clone(brokers), controllers: slices.Clone(controllers)}
	if err := at.check(); err != nil {
		return fmt.Errorf("changing the servers of a kafka client: %w", err)
	}
	c.setting.Lock()
	defer c.setting.Unlock()
	// The same seeds again would cost their connections.
	if !slices.Equal(c.servers.Load().brokers, at.brokers) {
		if err := c.kgo.UpdateSeedBrokers(at.brokers...); err != nil {
			return fmt.Errorf("changing the servers of a kafka client: %w", err)
		}
	}
	c.servers.Store(at)
	return nil
}

// where names the cluster in errors.
func (c *Client) where() string {
	return "the cluster at " + strings.Join(c.servers.Load().brokers, ",")
}

// Close ends all calls with ErrClosed.
func (c *Client) Close() { c.kgo.Close() }

// requestMillis is how long the controller may work on a write before it
// answers REQUEST_TIMED_OUT.
func (c *Client) requestMillis() int32 { return int32((c.timeout / 2).Milliseconds()) }

// bound gives a call its bound; ended tells it from the caller's own.
func (c *Client) bound(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, c.timeout, expired{is: ErrTimeout, after: c.timeout})
}

// expired is why a bound of this package ended a call.
type expired struct {
	is    error
	after time.Duration
}

func (e expired) Error() string { return fmt.Sprintf("%v: no answer within %s", e.is, e.after) }
func (e expired) Unwrap() error { return e.is }

// classify gives a request's failure its sentinel; earlier is what the attempt
// before failed with.
func (c *Client) classify(ctx context.Context, err, earlier error) error {
	if err == nil {
		return nil
	}
	if over(ctx) {
		return ended(ctx, earlier)
	}
	if known, ok := errors.AsType[*kerr.Error](err); ok {
		if login := c.loginError(known, err); login != nil {
			return login
		}
		return kafkaError(answer{code: known.Code})
	}
	if errors.Is(err, kgo.ErrClientClosed) {
		return ErrClosed
	}
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op != "dial" && op.Timeout() {
		return fmt.Errorf("%w: the broker did not answer: %w", ErrTimeout, err)
	}
	return c.connectionError(err)
}

// connectionError classifies what a connection ended with; other errors stay as they
// are.
func (c *Client) connectionError(err error) error {
	first, ok := errors.AsType[*kgo.ErrFirstReadEOF](err)
	if ok && NotConnected(first.Unwrap()) {
		// What was said of it in dialling is more to the point than franz-go's text.
		return first.Unwrap()
	}
	if NotConnected(err) {
		return err
	}
	if alert := c.dialer.alert(err); alert != nil {
		return alert
	}
	if ok {
		return fmt.Errorf("%w: a broker closes new connections (%w); this client connects %s: see that the listener asks for just that",
			ErrUnreachable, first.Unwrap(), c.security)
	}
	if unreachable(err) {
		return fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
	return err
}

// over tells whether a call's context has ended. A connection that is given the
// context's deadline may run into it a moment before the context itself does, and
// would tell of a fault that is our own impatience.
func over(ctx context.Context) bool {
	if deadline, bounded := ctx.Deadline(); bounded && !time.Now().Before(deadline) {
		<-ctx.Done()
	}
	return ctx.Err() != nil
}

// ended tells why a call's context ended: by a bound of this package or by its
// caller's will.
func ended(ctx context.Context, earlier error) error {
	cause := context.Cause(ctx)
	if _, ours := errors.AsType[expired](cause); ours && earlier != nil {
		return fmt.Errorf("%w, the last attempt with: %w", cause, earlier)
	}
	return cause
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
