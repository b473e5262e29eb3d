package kafka

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// DescribeTopics reads partitions and replicas of the topics with one Metadata
// request, answered by any broker from what it knows: a broker learns of
// writes with a delay, also of those made through this client.
func (c *Client) DescribeTopics(ctx context.Context, names []string) (map[string]TopicDescription, error) {
	op := operation{verb: "describe", needs: "DESCRIBE on the topic"}
	return batch[string, TopicDescription]{
		op:   op,
		name: itself[string],
		send: func(ctx context.Context, names []string) (map[string]TopicDescription, error) {
			return c.metadata(ctx, op, names)
		},
		failure: func(err error) TopicDescription { return TopicDescription{Err: err} },
		problem: func(d TopicDescription) error { return d.Err },
	}.run(ctx, c, distinct(names, itself[string]))
}

func (c *Client) metadata(ctx context.Context, op operation, names []string) (map[string]TopicDescription, error) {
	out := make(map[string]TopicDescription, len(names))
	err := c.eachTopic(ctx, op, names, func(name string, topic *kmsg.MetadataResponseTopic, err error) {
		if err != nil {
			out[name] = TopicDescription{Err: err}
			return
		}
		out[name] = TopicDescription{ID: topicID(topic.TopicID), Partitions: partitions(topic.Partitions)}
	})
	return out, err
}

// eachTopic makes one Metadata request and hands over what is answered of each
// topic, or why it could not be described.
func (c *Client) eachTopic(ctx context.Context, op operation, names []string, take func(name string, topic *kmsg.MetadataResponseTopic, err error)) error {
	req := kmsg.NewPtrMetadataRequest()
	// Describing a topic must never create it.
	req.AllowAutoTopicCreation = false
	req.Topics = make([]kmsg.MetadataRequestTopic, len(names))
	for i := range names {
		req.Topics[i] = kmsg.NewMetadataRequestTopic()
		req.Topics[i].Topic = &names[i]
	}
	resp, err := req.RequestWith(ctx, c.toAny())
	if err != nil {
		return err
	}
	if resp.ErrorCode != 0 {
		return kafkaError(answer{code: resp.ErrorCode})
	}
	for i := range resp.Topics {
		if topic := &resp.Topics[i]; topic.Topic != nil {
			take(*topic.Topic, topic, op.topicError(*topic.Topic, answer{code: topic.ErrorCode}))
		}
	}
	return nil
}

// partitions copies what is needed into two allocations, however many
// partitions there are. An error of a partition (no leader, say) does not make
// its replicas wrong.
func partitions(in []kmsg.MetadataResponseTopicPartition) []Partition {
	total := 0
	for i := range in {
		total += len(in[i].Replicas)
	}
	all := make([]int32, 0, total)
	out := make([]Partition, len(in))
	for i := range in {
		start := len(all)
		all = append(all, in[i].Replicas...)
		out[i] = Partition{ID: in[i].Partition, Replicas: all[start:len(all):len(all)]}
	}
	slices.SortFunc(out, func(a, b Partition) int { return cmp.Compare(a.ID, b.ID) })
	return out
}

// topicID is in the form of Kafka's org.apache.kafka.common.Uuid.toString,
// empty for Uuid.ZERO_UUID.
func topicID(id [16]byte) string {
	if id == ([16]byte{}) {
		return ""
	}
	return base64.RawURLEncoding.EncodeToString(id[:])
}

// parseTopicID reads what topicID wrote; false for anything else.
func parseTopicID(s string) (id [16]byte, ok bool) {
	raw, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil || len(raw) != len(id) {
		return id, false
	}
	copy(id[:], raw)
	return id, id != [16]byte{}
}

// DescribeTopicConfigs reads the configuration of the topics with one
// DescribeConfigs request, without synonyms and documentation. Where options are
// named, the answer has only those and what is set on each topic: a topic has more
// than thirty options, and of most nobody wants to know.
//
// The request asks for all of them nevertheless: what is set on a topic can only be
// found out by asking for everything (DescribeConfigsRequest in Kafka's protocol
// knows names, but no sources).
func (c *Client) DescribeTopicConfigs(ctx context.Context, names []string, options ...string) (map[string]TopicConfig, error) {
	return c.topicConfigs(ctx, names, nil, wantedOptions(options))
}

// wantedOptions tells which of the options that are not set on a topic are kept.
func wantedOptions(options []string) func(string) bool {
	if len(options) == 0 {
		return func(string) bool { return true }
	}
	wanted := make(map[string]struct{}, len(options))
	for _, o := range options {
		wanted[o] = struct{}{}
	}
	return func(name string) bool {
		_, ok := wanted[name]
		return ok
	}
}

// topicConfigs asks for some options of the topics, or for all where none are
// named, and keeps those that are wanted or set on the topic.
func (c *Client) topicConfigs(ctx context.Context, names, options []string, wanted func(string) bool) (map[string]TopicConfig, error) {
	op := operation{verb: "describe the configuration of", needs: "DESCRIBE_CONFIGS on the topic"}
	return batch[string, TopicConfig]{
		op:   op,
		name: itself[string],
		send: func(ctx context.Context, names []string) (map[string]TopicConfig, error) {
			return c.describeConfigs(ctx, op, names, options, wanted)
		},
		failure: func(err error) TopicConfig { return TopicConfig{Err: err} },
		problem: func(t TopicConfig) error { return t.Err },
	}.run(ctx, c, distinct(names, itself[string]))
}

func (c *Client) describeConfigs(ctx context.Context, op operation, names, options []string, wanted func(string) bool) (map[string]TopicConfig, error) {
	req := kmsg.NewPtrDescribeConfigsRequest()
	req.Resources = make([]kmsg.DescribeConfigsRequestResource, len(names))
	for i, name := range names {
		req.Resources[i] = kmsg.NewDescribeConfigsRequestResource()
		req.Resources[i].ResourceType = kmsg.ConfigResourceTypeTopic
		req.Resources[i].ResourceName = name
		req.Resources[i].ConfigNames = options
	}
	resp, err := req.RequestWith(ctx, c.toCluster())
	if err != nil {
		return nil, err
	}
	out := make(map[string]TopicConfig, len(resp.Resources))
	for i := range resp.Resources {
		r := &resp.Resources[i]
		if err := op.topicError(r.ResourceName, answer{code: r.ErrorCode, message: r.ErrorMessage}); err != nil {
			out[r.ResourceName] = TopicConfig{Err: err}
			continue
		}
		out[r.ResourceName] = TopicConfig{Entries: entries(r.Configs, wanted)}
	}
	return out, nil
}

// minInSync is the name of the option.
const minInSync = "min.insync.replicas"

// MinInSyncReplicas reads the min.insync.replicas in effect of topics, with one
// DescribeConfigs request: their own, else the brokers' default, as Kafka reports
// it. A topic that does not exist is not in the answer. Where others could not be
// read, the answer has the rest all the same, and the error tells of the first.
func (c *Client) MinInSyncReplicas(ctx context.Context, topics []string) (map[string]int, error) {
	configs, err := c.topicConfigs(ctx, topics, []string{minInSync}, wantedOptions(nil))
	if err != nil {
		return nil, fmt.Errorf("read %s of %d topics: %w", minInSync, len(topics), err)
	}
	out := make(map[string]int, len(configs))
	failed, first := 0, error(nil)
	for _, topic := range slices.Sorted(maps.Keys(configs)) {
		config := configs[topic]
		if errors.Is(config.Err, ErrUnknownTopic) {
			continue
		}
		n, err := strconv.Atoi(config.Entries[minInSync].Value)
		switch {
		case config.Err != nil:
			err = config.Err
		case err != nil:
			err = fmt.Errorf("topic %q: %w: %s is %q", topic, ErrNotAnswered, minInSync, config.Entries[minInSync].Value)
		default:
			out[topic] = n
			continue
		}
		if failed++; first == nil {
			first = err
		}
	}
	if failed > 0 {
		return out, fmt.Errorf("read %s: %d of %d topics failed, the first with: %w", minInSync, failed, len(topics), first)
	}
	return out, nil
}

func entries(in []kmsg.DescribeConfigsResponseResourceConfig, wanted func(string) bool) map[string]ConfigEntry {
	out := map[string]ConfigEntry{}
	for i := range in {
		dynamic := in[i].Source == kmsg.ConfigSourceDynamicTopicConfig
		if !dynamic && !wanted(in[i].Name) {
			continue
		}
		entry := ConfigEntry{
			Type:      ConfigType(in[i].ConfigType),
			Dynamic:   dynamic,
			ReadOnly:  in[i].ReadOnly,
			Sensitive: in[i].IsSensitive,
		}
		if in[i].Value != nil && !entry.Sensitive {
			entry.Value = *in[i].Value
		}
		out[in[i].Name] = entry
	}
	return out
}
