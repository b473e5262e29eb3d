package kafka

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// RefusedOptionsError is the error of a call that Kafka refused for some of a broker's
// options while the rest of them went through.
type RefusedOptionsError struct {
	Broker int32
	// Options that Kafka refused, by name, with its reason.
	Options map[string]error
}

// Error names the options and Kafka's reasons.
func (e *RefusedOptionsError) Error() string {
	var reasons []string
	for _, name := range slices.Sorted(maps.Keys(e.Options)) {
		reasons = append(reasons, name+": "+e.Options[name].Error())
	}
	return fmt.Sprintf("kafka refused to delete %d options of broker %d, the rest is deleted: %s", len(e.Options), e.Broker, strings.Join(reasons, "; "))
}

// Unwrap gives Kafka's reasons.
func (e *RefusedOptionsError) Unwrap() []error { return slices.Collect(maps.Values(e.Options)) }

// ClearBrokerConfig deletes dynamic options of a broker that is stopped and still
// registered, with one IncrementalAlterConfigs request to the active controller's
// own listener (brokers take it for themselves only). Options that are not set do
// no harm.
//
// One option that Kafka refuses fails the whole request; then they are deleted one
// by one, and the error is a *RefusedOptionsError. Not among these are the two that
// Kafka refuses where they cannot be set in the first place: min.insync.replicas
// with eligible leader replicas on (KIP-966; turning them on removes it from the
// brokers), and cordoned.log.dirs below metadata version 4.3-IV0 (KIP-1066).
//
// ErrBrokerNotRegistered tells that nothing can be cleared before the ID registers
// again. ErrNotController tells that none of the controllers was the active one,
// and ErrUnreachable that none answered.
func (c *Client) ClearBrokerConfig(ctx context.Context, broker int32, options []string) error {
	if len(options) == 0 {
		return nil
	}
	ctx, cancel := c.bound(ctx)
	defer cancel()
	active, err := c.controllers()
	if err != nil {
		return fmt.Errorf("clear the configuration of broker %d: %w", broker, err)
	}
	defer active.kgo.Close()
	refused, err := clearOptions(ctx, active.sender(), strconv.Itoa(int(broker)), options)
	if err != nil {
		return fmt.Errorf("clear the configuration of broker %d: %w", broker, err)
	}
	maps.DeleteFunc(refused, func(name string, err error) bool {
		return (name == minInSync || name == "cordoned.log.dirs") && errors.Is(err, ErrInvalidConfig)
	})
	if len(refused) > 0 {
		return &RefusedOptionsError{Broker: broker, Options: refused}
	}
	return nil
}

// clearOptions returns those that were refused.
func clearOptions(ctx context.Context, to kmsg.Requestor, broker string, options []string) (map[string]error, error) {
	ops := make([]ConfigOp, len(options))
	for i, name := range options {
		ops[i] = ConfigOp{Name: name, Delete: true}
	}
	err := alterBroker(ctx, to, broker, ops)
	if err == nil || !refusal(err) {
		return nil, err
	}
	if len(ops) == 1 {
		return map[string]error{ops[0].Name: err}, nil
	}
	refused := make(map[string]error)
	for i := range ops {
		err := alterBroker(ctx, to, broker, ops[i:i+1])
		switch {
		case err == nil:
		case refusal(err):
			refused[ops[i].Name] = err
		default:
			return nil, err
		}
	}
	return refused, nil
}

// refusal tells errors that one option of several may have caused.
func refusal(err error) bool {
	return errors.Is(err, ErrInvalidConfig) || errors.Is(err, ErrInvalidRequest) || errors.Is(err, ErrPolicyViolation)
}

// activeController passes requests to the controllers in turn until the active
// one answers. Controllers serve no Metadata, from which franz-go would learn who
// that is.
type activeController struct {
	c     *Client
	kgo   *kgo.Client
	at    []string
	seeds []*kgo.Broker
	turn  int
}

// controllers makes connections of their own: they are needed once in the life of
// a broker.
func (c *Client) controllers() (*activeController, error) {
	at := c.servers.Load().controllers
	if len(at) == 0 {
		return nil, errors.New("the client knows no controllers; give at least one host:port of a controller's listener")
	}
	client, err := kgo.NewClient(append(slices.Clip(c.options), kgo.SeedBrokers(at...))...)
	if err != nil {
		return nil, fmt.Errorf("making a client for the controllers at %s: %w", strings.Join(at, ","), err)
	}
	return &activeController{c: c, kgo: client, at: at, seeds: client.SeedBrokers()}, nil
}

func (a *activeController) sender() sender {
	return sender{
		c:        a.c,
		to:       a,
		attempts: min(max(attempts, 3*len(a.seeds)), anyAttempts),
		target:   "the controllers at " + strings.Join(a.at, ","),
	}
}

// Request implements kmsg.Requestor for IncrementalAlterConfigs.
func (a *activeController) Request(ctx context.Context, req kmsg.Request) (kmsg.Response, error) {
	i := a.turn % len(a.seeds)
	// One that hangs must leave time for the next.
	within, cancel := context.WithTimeout(ctx, a.c.timeout/6)
	defer cancel()
	resp, err := a.seeds[i].Request(within, req)
	switch {
	case err == nil && passive(resp):
		err = fmt.Errorf("%w: %s is not the active one", ErrNotController, a.at[i])
	case err != nil && ctx.Err() == nil && within.Err() != nil:
		err = fmt.Errorf("%w: no answer from %s within %s", ErrUnreachable, a.at[i], a.c.timeout/6)
	}
	if err != nil {
		a.turn++
		return nil, err
	}
	return resp, nil
}

// passive tells the answer of a controller that is not the active one.
func passive(resp kmsg.Response) bool {
	answer, ok := resp.(*kmsg.IncrementalAlterConfigsResponse)
	return ok && slices.ContainsFunc(answer.Resources, func(r kmsg.IncrementalAlterConfigsResponseResource) bool {
		return r.ErrorCode == kerr.NotController.Code
	})
}
