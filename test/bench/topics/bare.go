package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// batchSize is the operator's default.
const batchSize = 1000

// bareLook makes the calls to Kafka that a look at topics cannot avoid, back to
// back.
func (s *stage) bareLook(ctx context.Context, n int) (time.Duration, error) {
	names := make([]string, n)
	for i := range names {
		names[i] = inKafka(ours, "seed", i)
	}
	start := time.Now()
	for part := range slices.Chunk(names, batchSize) {
		if err := bareMetadata(ctx, s.raw, part); err != nil {
			return 0, err
		}
		if err := bareConfigs(ctx, s.raw, part, nil, nil); err != nil {
			return 0, err
		}
	}
	return time.Since(start), nil
}

func bareMetadata(ctx context.Context, c *kgo.Client, names []string) error {
	req := kmsg.NewPtrMetadataRequest()
	for i := range names {
		t := kmsg.NewMetadataRequestTopic()
		t.Topic = &names[i]
		req.Topics = append(req.Topics, t)
	}
	resp, err := req.RequestWith(ctx, c.SeedBrokers()[0])
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
