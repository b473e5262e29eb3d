package kafka

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// BrokerOptions reads options in effect at a broker, of all those that live the one
// with the lowest ID that answers, each by its name. An option that this version of
// Kafka does not have is not in the answer. Unlike DescribeCluster it needs nothing
// that a Kafka older than 4.0 could not tell.
//
// It is for a look now and then: its requests are not observed, since what is
// observed is the work on topics.
func (c *Client) BrokerOptions(ctx context.Context, names []string) (map[string]string, error) {
	ctx, cancel := c.bound(ctx)
	defer cancel()
	brokers, err := c.living(ctx)
	if err != nil {
		return nil, fmt.Errorf("read options of a broker: %w", err)
	}
	for _, broker := range brokers {
		var options map[string]string
		err = c.askOne(ctx, broker, func(ctx context.Context, to sender) error {
			to.quiet = true
			options, err = brokerOptions(ctx, to, strconv.Itoa(int(broker)), names)
			return err
		})
		if err == nil {
			return options, nil
		}
		if !errors.Is(err, ErrUnreachable) {
			break // another would say the same
		}
	}
	return nil, fmt.Errorf("read options of a broker: %w", cmp.Or(err, ErrNotAnswered))
}

// living are the IDs of the brokers that the cluster lists, in order. It lists those
// alone that are not fenced (kafka.server.KRaftMetadataCache), and to everybody.
func (c *Client) living(ctx context.Context) ([]int32, error) {
	// Through the client as a whole, which learns by it where the brokers are.
	to := c.toCluster()
	to.quiet = true
	resp, err := brokersOnly().RequestWith(ctx, to)
	if err != nil {
		return nil, err
	}
	ids := make([]int32, len(resp.Brokers))
	for i := range resp.Brokers {
		ids[i] = resp.Brokers[i].NodeID
	}
	slices.Sort(ids)
	return ids, nil
}

func brokerOptions(ctx context.Context, to sender, broker string, names []string) (map[string]string, error) {
	resource := kmsg.NewDescribeConfigsRequestResource()
	resource.ResourceType, resource.ResourceName, resource.ConfigNames = kmsg.ConfigResourceTypeBroker, broker, names
	described, err := describeBrokerResource(ctx, to, resource, false)
	if err != nil {
		return nil, err
	}
	out := make(map[string]string, len(described))
	for i := range described {
		if described[i].Value != nil && !described[i].IsSensitive {
			out[described[i].Name] = *described[i].Value
		}
	}
	return out, nil
}
