package kafka

import (
	"context"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// AlterTopicConfigs sets and deletes options with one IncrementalAlterConfigs
// request for as many topics as Kafka takes. The options of one topic are
// changed all or none; each topic succeeds or fails alone. Names must be
// unique.
func (c *Client) AlterTopicConfigs(ctx context.Context, changes []TopicConfigChange) (map[string]error, error) {
	op := operation{verb: "alter the configuration of", needs: "ALTER_CONFIGS on the topic"}
	return batch[TopicConfigChange, error]{
		op:      op,
		name:    func(t TopicConfigChange) string { return t.Name },
		records: func(t TopicConfigChange) int { return max(1, len(t.Ops)) },
		bytes: func(t TopicConfigChange) int {
			sum := 0
			for _, op := range t.Ops {
				sum += len(t.Name) + len(op.Name) + len(op.Value) // a record each
			}
			return sum
		},
		send: func(ctx context.Context, changes []TopicConfigChange) (map[string]error, error) {
			return c.alterConfigs(ctx, op, changes)
		},
		failure: itself[error],
		problem: itself[error],
	}.run(ctx, c, changes)
}

func (c *Client) alterConfigs(ctx context.Context, op operation, changes []TopicConfigChange) (map[string]error, error) {
	req := kmsg.NewPtrIncrementalAlterConfigsRequest()
	req.Resources = make([]kmsg.IncrementalAlterConfigsRequestResource, len(changes))
	for i, change := range changes {
		r := kmsg.NewIncrementalAlterConfigsRequestResource()
		r.ResourceType = kmsg.ConfigResourceTypeTopic
		r.ResourceName = change.Name
		r.Configs = make([]kmsg.IncrementalAlterConfigsRequestResourceConfig, len(change.Ops))
		for j := range change.Ops {
			r.Configs[j] = alteration(&change.Ops[j])
		}
		req.Resources[i] = r
	}
	resp, err := req.RequestWith(ctx, c.toCluster())
	if err != nil {
		return nil, err
	}
	out := make(map[string]error, len(resp.Resources))
	for i := range resp.Resources {
		r := &resp.Resources[i]
		out[r.ResourceName] = op.topicError(r.ResourceName, answer{code: r.ErrorCode, message: r.ErrorMessage, throttleMillis: resp.ThrottleMillis})
	}
	return out, nil
}

func alteration(op *ConfigOp) kmsg.IncrementalAlterConfigsRequestResourceConfig {
	c := kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
	c.Name = op.Name
	if op.Delete {
		c.Op = kmsg.IncrementalAlterConfigOpDelete
		return c
	}
	c.Op = kmsg.IncrementalAlterConfigOpSet
	c.Value = &op.Value
	return c
}

// DeleteTopics deletes topics with one DeleteTopics request for as many as
// Kafka takes. Each topic succeeds or fails alone. A topic whose ID is given is
// deleted by it (KIP-516): ErrUnknownTopicID tells that it is gone, and another
// one that has its name by now stays. Of several deletions of one name the first
// counts. After a connection that broke while Kafka was at work, a topic that
// this very call deleted may be answered with ErrUnknownTopic or
// ErrUnknownTopicID.
func (c *Client) DeleteTopics(ctx context.Context, topics []TopicDeletion) (map[string]error, error) {
	op := operation{verb: "delete", needs: "DELETE on the topic"}
	name := func(t TopicDeletion) string { return t.Name }
	return batch[TopicDeletion, error]{
		op:      op,
		name:    name,
		records: func(TopicDeletion) int { return 1 },
		send: func(ctx context.Context, topics []TopicDeletion) (map[string]error, error) {
			return c.deleteTopics(ctx, op, topics)
		},
		failure: itself[error],
		problem: itself[error],
	}.run(ctx, c, distinct(topics, name))
}

func (c *Client) deleteTopics(ctx context.Context, op operation, topics []TopicDeletion) (map[string]error, error) {
	req := kmsg.NewPtrDeleteTopicsRequest()
	req.TimeoutMillis = c.requestMillis()
	req.Topics = make([]kmsg.DeleteTopicsRequestTopic, len(topics))
	names := make(map[[16]byte]string, len(topics))
	for i := range topics {
		t := &topics[i]
		// Protocol versions before 6 know names only.
		req.TopicNames = append(req.TopicNames, t.Name)
		req.Topics[i] = kmsg.NewDeleteTopicsRequestTopic()
		id, ok := parseTopicID(t.ID)
		if !ok {
			req.Topics[i].Topic = &t.Name
			continue
		}
		req.Topics[i].TopicID, names[id] = id, t.Name
	}
	resp, err := req.RequestWith(ctx, c.toCluster())
	if err != nil {
		return nil, err
	}
	out := make(map[string]error, len(resp.Topics))
	for i := range resp.Topics {
		t := &resp.Topics[i]
		// Kafka leaves the name out where it does not know the ID.
		name, asked := names[t.TopicID]
		switch {
		case asked:
		case t.Topic != nil:
			name = *t.Topic
		default:
			continue
		}
		out[name] = op.topicError(name, answer{code: t.ErrorCode, message: t.ErrorMessage, throttleMillis: resp.ThrottleMillis})
	}
	return out, nil
}
