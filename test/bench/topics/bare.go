package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"k8s.io/apimachinery/pkg/util/wait"
)

// batchSize is the operator's default.
const batchSize = 1000

// bareLook makes the calls to Kafka that a look at topics cannot avoid, back to
// back.
func (s *stage) bareLook(ctx context.Context, n int) (time.Duration, error) {
	all := names(ours, "seed", n)
	// In turn, as the operator asks: one broker may be slower than another.
	brokers := s.raw.DiscoveredBrokers()
	start := time.Now()
	for part := range slices.Chunk(all, batchSize) {
		s.turn++
		if err := bareMetadata(ctx, brokers[s.turn%len(brokers)], part); err != nil {
			return 0, err
		}
		if err := bareConfigs(ctx, s.raw, part, nil, nil); err != nil {
			return 0, err
		}
	}
	return time.Since(start), nil
}

// shown waits until the brokers show topics of a round: they learn of new ones
// with a delay, which is not what is measured of their changes or of a start.
func (s *stage) shown(ctx context.Context, of side, round string, n int) error {
	var last error
	err := wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		for _, b := range s.raw.DiscoveredBrokers() {
			if last = bareMetadata(ctx, b, names(of, round, n)); last != nil {
				return false, nil //nolint:nilerr // it is told of in the end
			}
		}
		return true, nil
	})
	if err != nil {
		return fmt.Errorf("waiting until all brokers show %d topics: %w", n, errors.Join(err, last))
	}
	return nil
}

func names(of side, round string, n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = inKafka(of, round, i)
	}
	return all
}

func bareMetadata(ctx context.Context, to kmsg.Requestor, names []string) error {
	req := kmsg.NewPtrMetadataRequest()
	for i := range names {
		t := kmsg.NewMetadataRequestTopic()
		t.Topic = &names[i]
		req.Topics = append(req.Topics, t)
	}
	resp, err := req.RequestWith(ctx, to)
	if err != nil {
		return err
	}
	for _, t := range resp.Topics {
		if err := kerr.ErrorForCode(t.ErrorCode); err != nil || len(t.Partitions) != partitions {
			return fmt.Errorf("describing topic %s: %d partitions, error %w", *t.Topic, len(t.Partitions), err)
		}
	}
	return nil
}

// bareConfigs reads options, all where none are named, and shows them to see.
func bareConfigs(ctx context.Context, c *kgo.Client, names, options []string, see func(option, value string)) error {
	req := kmsg.NewPtrDescribeConfigsRequest()
	for _, name := range names {
		r := kmsg.NewDescribeConfigsRequestResource()
		r.ResourceType, r.ResourceName, r.ConfigNames = kmsg.ConfigResourceTypeTopic, name, options
		req.Resources = append(req.Resources, r)
	}
	resp, err := req.RequestWith(ctx, c)
	if err != nil {
		return err
	}
	for _, r := range resp.Resources {
		if err := kerr.ErrorForCode(r.ErrorCode); err != nil {
			return fmt.Errorf("describing the options of topic %s: %w", r.ResourceName, err)
		}
		for _, o := range r.Configs {
			if see != nil && o.Value != nil {
				see(o.Name, *o.Value)
			}
		}
	}
	return nil
}
