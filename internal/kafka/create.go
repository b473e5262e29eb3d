package kafka

import (
	"context"
	"maps"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// CreateTopics creates topics with one CreateTopics request for as many as
// Kafka takes. Each topic succeeds or fails alone. Names must be unique. After
// a connection that broke while Kafka was at work, a topic that this very call
// created may be answered with ErrTopicExists.
func (c *Client) CreateTopics(ctx context.Context, topics []NewTopic) (map[string]CreatedTopic, error) {
	op := operation{verb: "create", needs: "CREATE on the topic or on the cluster"}
	return batch[NewTopic, CreatedTopic]{
		op:   op,
		name: func(t NewTopic) string { return t.Name },
		// The topic, its partitions, its options; that the broker's default of
		// partitions is above one is found out by a refusal.
		records: func(t NewTopic) int { return 1 + max(1, int(t.Partitions)) + len(t.Config) },
		bytes: func(t NewTopic) int {
			sum := len(t.Name)
			for name, value := range t.Config {
				sum += len(t.Name) + len(name) + len(value) // a record each
			}
			return sum
		},
		send: func(ctx context.Context, topics []NewTopic) (map[string]CreatedTopic, error) {
			return c.createTopics(ctx, op, topics)
		},
		failure: func(err error) CreatedTopic { return CreatedTopic{Err: err} },
		problem: func(t CreatedTopic) error { return t.Err },
	}.run(ctx, c, topics)
}

func (c *Client) createTopics(ctx context.Context, op operation, topics []NewTopic) (map[string]CreatedTopic, error) {
	req := kmsg.NewPtrCreateTopicsRequest()
	req.TimeoutMillis = c.requestMillis()
	req.Topics = make([]kmsg.CreateTopicsRequestTopic, len(topics))
	for i, topic := range topics {
		t := kmsg.NewCreateTopicsRequestTopic()
		t.Topic = topic.Name
		t.NumPartitions = topic.Partitions
		t.ReplicationFactor = topic.ReplicationFactor
		for _, name := range slices.Sorted(maps.Keys(topic.Config)) {
			option := kmsg.NewCreateTopicsRequestTopicConfig()
			option.Name = name
			option.Value = kmsg.StringPtr(topic.Config[name])
			t.Configs = append(t.Configs, option)
		}
		req.Topics[i] = t
	}
	resp, err := req.RequestWith(ctx, c.toCluster())
	if err != nil {
		return nil, err
	}
	out := make(map[string]CreatedTopic, len(resp.Topics))
	for i := range resp.Topics {
		t := &resp.Topics[i]
		a := answer{code: t.ErrorCode, message: t.ErrorMessage, throttleMillis: resp.ThrottleMillis}
		if err := op.topicError(t.Topic, a); err != nil {
			out[t.Topic] = CreatedTopic{Err: err}
			continue
		}
		out[t.Topic] = CreatedTopic{
			ID:                topicID(t.TopicID),
			Partitions:        t.NumPartitions,
			ReplicationFactor: t.ReplicationFactor,
			MinInSync:         createdMinInSync(t.Configs),
		}
	}
	return out, nil
}

func createdMinInSync(configs []kmsg.CreateTopicsResponseTopicConfig) string {
	for i := range configs {
		if configs[i].Name == minInSync && configs[i].Value != nil {
			return *configs[i].Value
		}
	}
	return ""
}

// CreatePartitions raises the number of partitions with one CreatePartitions
// request for as many topics as Kafka takes. Each topic succeeds or fails
// alone. Names must be unique. ErrInvalidPartitions is also the answer where
// the topic has that number already.
func (c *Client) CreatePartitions(ctx context.Context, growth []PartitionGrowth) (map[string]error, error) {
	op := operation{verb: "add partitions to", needs: "ALTER on the topic"}
	return batch[PartitionGrowth, error]{
		op:   op,
		name: func(g PartitionGrowth) string { return g.Name },
		// Only the new partitions are records, but how many those are is not
		// known here: the total is the safe side. It has to be, since Kafka does
		// not refuse here: it answers UNKNOWN_SERVER_ERROR for the topic at
		// which it reached its limit, and keeps the partitions that it had added
		// by then (seen on 4.3.1).
		records: func(g PartitionGrowth) int { return max(1, int(g.Total)) },
		send: func(ctx context.Context, growth []PartitionGrowth) (map[string]error, error) {
			return c.createPartitions(ctx, op, growth)
		},
		failure: itself[error],
		problem: itself[error],
	}.run(ctx, c, growth)
}

func (c *Client) createPartitions(ctx context.Context, op operation, growth []PartitionGrowth) (map[string]error, error) {
	req := kmsg.NewPtrCreatePartitionsRequest()
	req.TimeoutMillis = c.requestMillis()
	req.Topics = make([]kmsg.CreatePartitionsRequestTopic, len(growth))
	for i, g := range growth {
		t := kmsg.NewCreatePartitionsRequestTopic()
		t.Topic = g.Name
		t.Count = g.Total
		req.Topics[i] = t
	}
	resp, err := req.RequestWith(ctx, c.toCluster())
	if err != nil {
		return nil, err
	}
	out := make(map[string]error, len(resp.Topics))
	for i := range resp.Topics {
		t := &resp.Topics[i]
		out[t.Topic] = op.topicError(t.Topic, answer{code: t.ErrorCode, message: t.ErrorMessage, throttleMillis: resp.ThrottleMillis})
	}
	return out, nil
}
