package kafka

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

const (
	// attempts bounds how often one request is sent while brokers cannot be
	// reached. With the backoff between them this is a second of waiting: enough
	// to pass to a living broker or to see a connection renewed, short enough
	// that a dead cluster is known as such long before the bound.
	attempts = 5
	// anyAttempts is the most for a request that any broker can answer: each that
	// is known has its turn, so that one that lives is found among many dead.
	anyAttempts = 15
	// oneAttempts is the number for a request that one broker alone can answer:
	// enough for a connection that broke since it was last used.
	oneAttempts  = 3
	firstBackoff = 100 * time.Millisecond
	lastBackoff  = 400 * time.Millisecond
)

// sender is a kmsg.Requestor that retries, counts and classifies.
type sender struct {
	c  *Client
	to kmsg.Requestor
	// attempts is how often it tries.
	attempts int
	// target names in errors whom it asks.
	target string
	// quiet requests are not observed.
	quiet bool
}

// Request implements kmsg.Requestor.
func (s sender) Request(ctx context.Context, req kmsg.Request) (kmsg.Response, error) {
	api := kmsg.NameForKey(req.Key())
	var last error
	for i := range s.attempts {
		if i > 0 && !pause(ctx, min(firstBackoff<<(i-1), lastBackoff)) {
			last = ended(ctx, last)
			break
		}
		start := time.Now()
		resp, err := s.to.Request(ctx, req)
		err = s.c.classify(ctx, err, last)
		if !s.quiet {
			s.c.observe(api, time.Since(start), err)
		}
		if err == nil {
			return resp, nil
		}
		last = err
		if errors.Is(err, ErrUnreachable) || errors.Is(err, ErrTimeout) {
			// The brokers may have moved, or died, while nothing was asked of them.
			s.c.kgo.ForceMetadataRefresh()
		}
		if _, answered := errors.AsType[*Error](err); answered || errors.Is(err, ErrAuthentication) || errors.Is(err, ErrClosed) {
			break
		}
	}
	return nil, fmt.Errorf("kafka request %s to %s: %w", api, s.target, last)
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

// toCluster leaves to franz-go who answers, and how a request is divided.
func (c *Client) toCluster() sender {
	return sender{c: c, to: c.kgo, attempts: attempts, target: c.where()}
}

// toAny sends what any broker answers, or passes on to the active controller
// (KIP-590).
func (c *Client) toAny() sender {
	known := len(c.kgo.DiscoveredBrokers()) + len(c.kgo.SeedBrokers())
	return sender{
		c:        c,
		to:       &anyBroker{c: c, first: c.turn.Add(1)},
		attempts: min(max(attempts, known), anyAttempts),
		target:   c.where(),
	}
}

// anyBroker passes the attempts of one request to the brokers in turn: those
// that the cluster last listed, which it does with living ones only, and then the
// seeds, which may be all that is left of what was listed. A Metadata request
// sent through the client as a whole would be copied into its cache of topics,
// which nothing here reads: ten thousand topics would be held for nothing.
type anyBroker struct {
	c           *Client
	first, step uint64
}

// Request implements kmsg.Requestor.
func (a *anyBroker) Request(ctx context.Context, req kmsg.Request) (kmsg.Response, error) {
	brokers, seeds := a.c.kgo.DiscoveredBrokers(), a.c.kgo.SeedBrokers()
	n := a.step % uint64(len(brokers)+len(seeds))
	a.step++
	if n < uint64(len(brokers)) {
		return brokers[(a.first+n)%uint64(len(brokers))].Request(ctx, req)
	}
	return seeds[(a.first+n)%uint64(len(seeds))].Request(ctx, req)
}

// askOne makes a request that one broker alone can answer. One that is dead, cut
// off or hung must not hold up what is done about the others: it has a fraction
// of a call's bound, after which it is unreachable, and one that the cluster does
// not list as living is not even dialled.
func (c *Client) askOne(ctx context.Context, broker int32, ask func(context.Context, sender) error) error {
	ctx, cancel := c.bound(ctx)
	defer cancel()
	if err := c.discover(ctx, broker); err != nil {
		return err
	}
	ctx, cancel = context.WithTimeoutCause(ctx, c.timeout/6, expired{is: ErrUnreachable, after: c.timeout / 6})
	defer cancel()
	return ask(ctx, sender{
		c:        c,
		to:       oneBroker{c: c, id: broker},
		attempts: oneAttempts,
		target:   fmt.Sprintf("broker %d of %s", broker, c.where()),
	})
}

// oneBroker is a broker by its ID.
type oneBroker struct {
	c  *Client
	id int32
}

// Request implements kmsg.Requestor.
func (o oneBroker) Request(ctx context.Context, req kmsg.Request) (kmsg.Response, error) {
	resp, err := o.c.kgo.Broker(int(o.id)).Request(ctx, req)
	if err != nil && !o.c.discovered(o.id) {
		// The list changed meanwhile, which franz-go has no error for.
		err = fmt.Errorf("%w: %w", errNotListed, err)
	}
	return resp, err
}

// errNotListed tells that the cluster does not list a broker as living.
var errNotListed = fmt.Errorf("%w: the cluster does not list it as living: it is fenced or not registered", ErrUnreachable)

// discover makes sure that franz-go knows a broker. It would find it by itself,
// but within the bound of that one broker and with any dead one in its way.
func (c *Client) discover(ctx context.Context, broker int32) error {
	if c.discovered(broker) {
		return nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, c.timeout/4, expired{is: ErrUnreachable, after: c.timeout / 4})
	defer cancel()
	select {
	case c.discovering <- struct{}{}:
	case <-ctx.Done():
		return fmt.Errorf("finding broker %d of %s: %w", broker, c.where(), ended(ctx, nil))
	}
	defer func() { <-c.discovering }()
	if c.discovered(broker) {
		return nil
	}
	s := c.toCluster()
	s.quiet = true
	if _, err := s.Request(ctx, brokersOnly()); err != nil {
		return fmt.Errorf("finding broker %d: %w", broker, err)
	}
	if !c.discovered(broker) {
		return fmt.Errorf("finding broker %d of %s: %w", broker, c.where(), errNotListed)
	}
	return nil
}

// brokersOnly asks who the brokers are and which cluster they form, and of no topic:
// null would be all topics, and empty is none (version 1 and newer).
func brokersOnly() *kmsg.MetadataRequest {
	req := kmsg.NewPtrMetadataRequest()
	req.Topics = []kmsg.MetadataRequestTopic{}
	return req
}

// discovered compares values since a kgo.Broker does not tell its ID.
func (c *Client) discovered(broker int32) bool {
	wanted := c.kgo.Broker(int(broker))
	return slices.ContainsFunc(c.kgo.DiscoveredBrokers(), func(b *kgo.Broker) bool { return *b == *wanted })
}
