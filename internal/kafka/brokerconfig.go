package kafka

import (
	"context"
	"fmt"
	"strconv"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/sluice-kafka/sluice/internal/observed"
)

// BrokerConfig asks a broker for its configuration with synonyms, with one
// DescribeConfigs request. Only the broker itself can answer: ErrUnreachable comes
// within half of a call's bound, and mostly at once for one that is fenced.
func (c *Client) BrokerConfig(ctx context.Context, broker int32) (config observed.Config, err error) {
	err = c.askOne(ctx, broker, func(ctx context.Context, to sender) error {
		config, err = describeBroker(ctx, to, strconv.Itoa(int(broker)))
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the configuration of broker %d: %w", broker, err)
	}
	return config, nil
}

// DefaultConfig reads what is set dynamically for all brokers, and nothing else,
// with one DescribeConfigs request. Any broker answers.
func (c *Client) DefaultConfig(ctx context.Context) (observed.Config, error) {
	ctx, cancel := c.bound(ctx)
	defer cancel()
	config, err := describeBroker(ctx, c.toAny(), "")
	if err != nil {
		return nil, fmt.Errorf("read the dynamic configuration of all brokers: %w", err)
	}
	return config, nil
}

func describeBroker(ctx context.Context, to sender, name string) (observed.Config, error) {
	resource := kmsg.NewDescribeConfigsRequestResource()
	resource.ResourceType, resource.ResourceName = kmsg.ConfigResourceTypeBroker, name
	described, err := describeBrokerResource(ctx, to, resource, true)
	if err != nil {
		return nil, err
	}
	return brokerEntries(described), nil
}

func describeBrokerResource(ctx context.Context, to sender, resource kmsg.DescribeConfigsRequestResource, synonyms bool) ([]kmsg.DescribeConfigsResponseResourceConfig, error) {
	op := operation{verb: "describe the configuration of", needs: "DESCRIBE_CONFIGS on the cluster"}
	req := kmsg.NewPtrDescribeConfigsRequest()
	req.IncludeSynonyms = synonyms
	req.Resources = append(req.Resources, resource)
	resp, err := req.RequestWith(ctx, to)
	if err != nil {
		return nil, err
	}
	if len(resp.Resources) != 1 || resp.Resources[0].ResourceName != resource.ResourceName {
		return nil, ErrNotAnswered
	}
	r := &resp.Resources[0]
	if err := op.errorOf(brokerResource(resource.ResourceName), answer{code: r.ErrorCode, message: r.ErrorMessage}); err != nil {
		return nil, err
	}
	return r.Configs, nil
}

func brokerEntries(in []kmsg.DescribeConfigsResponseResourceConfig) observed.Config {
	out := make(observed.Config, len(in))
	// A synonym mostly repeats the option's own name and value.
	seen := interner{}
	for i := range in {
		entry := observed.ConfigEntry{Sensitive: in[i].IsSensitive, ReadOnly: in[i].ReadOnly}
		if !entry.Sensitive {
			entry.Value = seen.optional(in[i].Value)
		}
		for j := range in[i].ConfigSynonyms {
			s := &in[i].ConfigSynonyms[j]
			entry.Synonyms = append(entry.Synonyms, observed.ConfigSynonym{
				Name: seen.one(s.Name), Value: seen.optional(s.Value), Source: observed.ConfigSource(s.Source),
			})
		}
		out[seen.one(in[i].Name)] = entry
	}
	return out
}

func (n interner) optional(s *string) string {
	if s == nil {
		return ""
	}
	return n.one(*s)
}

// AlterBrokerConfig changes options of one broker, all or none, with one
// IncrementalAlterConfigs request to that very broker, which Kafka demands. OK is
// not yet in effect: the broker learns of it from the metadata log. Without
// options nothing is sent.
func (c *Client) AlterBrokerConfig(ctx context.Context, broker int32, ops []ConfigOp) error {
	if len(ops) == 0 {
		return nil
	}
	err := c.askOne(ctx, broker, func(ctx context.Context, to sender) error {
		return alterBroker(ctx, to, strconv.Itoa(int(broker)), ops)
	})
	if err != nil {
		return fmt.Errorf("change %d options of broker %d: %w", len(ops), broker, err)
	}
	return nil
}

// AlterDefaultConfig changes options that are set for all brokers, all or none,
// with one IncrementalAlterConfigs request to any broker. Without options nothing
// is sent.
func (c *Client) AlterDefaultConfig(ctx context.Context, ops []ConfigOp) error {
	if len(ops) == 0 {
		return nil
	}
	ctx, cancel := c.bound(ctx)
	defer cancel()
	if err := alterBroker(ctx, c.toAny(), "", ops); err != nil {
		return fmt.Errorf("change %d options of all brokers: %w", len(ops), err)
	}
	return nil
}

func alterBroker(ctx context.Context, to kmsg.Requestor, name string, ops []ConfigOp) error {
	op := operation{verb: "alter the configuration of", needs: "ALTER_CONFIGS on the cluster"}
	resource := kmsg.NewIncrementalAlterConfigsRequestResource()
	resource.ResourceType, resource.ResourceName = kmsg.ConfigResourceTypeBroker, name
	for i := range ops {
		resource.Configs = append(resource.Configs, alteration(&ops[i]))
	}
	req := kmsg.NewPtrIncrementalAlterConfigsRequest()
	req.Resources = append(req.Resources, resource)
	resp, err := req.RequestWith(ctx, to)
	if err != nil {
		return err
	}
	if len(resp.Resources) != 1 || resp.Resources[0].ResourceName != name {
		return ErrNotAnswered
	}
	r := &resp.Resources[0]
	return op.errorOf(brokerResource(name), answer{code: r.ErrorCode, message: r.ErrorMessage, throttleMillis: resp.ThrottleMillis})
}

func brokerResource(name string) string {
	if name == "" {
		return "all brokers"
	}
	return "broker " + name
}

// interner keeps one copy of strings that repeat.
type interner map[string]string

func (n interner) one(s string) string {
	if kept, ok := n[s]; ok {
		return kept
	}
	n[s] = s
	return s
}
