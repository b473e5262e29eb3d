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
	resp, err := req.RequestWith(ctx, sender{c: c, to: c.kgo})
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
// Kafka takes. Each topic succeeds or fails alone. After a connection that
// broke while Kafka was at work, a topic that this very call deleted may be
// answered with ErrUnknownTopic.
func (c *Client) DeleteTopics(ctx context.Context, names []string) (map[string]error, error) {
	op := operation{verb: "delete", needs: "DELETE on the topic"}
	return batch[string, error]{
		op:      op,
		name:    itself[string],
		records: func(string) int { return 1 },
		send: func(ctx context.Context, names []string) (map[string]error, error) {
			return c.deleteTopics(ctx, op, names)
		},
		failure: itself[error],
		problem: itself[error],
	}.run(ctx, c, distinct(names))
}

func (c *Client) deleteTopics(ctx context.Context, op operation, names []string) (map[string]error, error) {
	req := kmsg.NewPtrDeleteTopicsRequest()
	req.TimeoutMillis = c.requestMillis()
	// The list before protocol version 6 and the one since.
	req.TopicNames = names
	req.Topics = make([]kmsg.DeleteTopicsRequestTopic, len(names))
	for i := range names {
		req.Topics[i] = kmsg.NewDeleteTopicsRequestTopic()
		req.Topics[i].Topic = &names[i]
	}
	resp, err := req.RequestWith(ctx, sender{c: c, to: c.kgo})
	if err != nil {
		return nil, err
	}
	out := make(map[string]error, len(resp.Topics))
	for i := range resp.Topics {
		t := &resp.Topics[i]
		if t.Topic == nil {
			continue
		}
		out[*t.Topic] = op.topicError(*t.Topic, answer{code: t.ErrorCode, message: t.ErrorMessage, throttleMillis: resp.ThrottleMillis})
	}
	return out, nil
}
