package kafka

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/sluice-kafka/sluice/internal/observed"
)

// TopicPartitions is Partitions for some topics: one Metadata request to any
// broker, then one ListPartitionReassignments request that goes to the active
// controller. A topic that does not exist, as far as the broker knows, is not in the
// answer; one that could not be read is unseen. Without topics nothing is sent.
func (c *Client) TopicPartitions(ctx context.Context, topics []string) (map[string]observed.Of[observed.Topic], error) {
	op := operation{verb: "describe", needs: "DESCRIBE on the topic"}
	seen, err := batch[string, observed.Of[observed.Topic]]{
		op:   op,
		name: itself[string],
		send: func(ctx context.Context, names []string) (map[string]observed.Of[observed.Topic], error) {
			return c.topicPartitions(ctx, op, names)
		},
		failure: observed.Unseen[observed.Topic],
		problem: observed.Of[observed.Topic].Err,
	}.run(ctx, c, distinct(topics, itself[string]))
	if err != nil {
		return nil, fmt.Errorf("read the partitions of %d topics: %w", len(topics), err)
	}
	maps.DeleteFunc(seen, func(_ string, t observed.Of[observed.Topic]) bool { return errors.Is(t.Err(), ErrUnknownTopic) })
	moving, err := c.Reassignments(ctx, slices.Sorted(maps.Keys(seen)))
	if err != nil {
		return nil, fmt.Errorf("read the partitions of %d topics: %w", len(topics), err)
	}
	for name, partitions := range moving {
		if topic, ok := seen[name].Get(); ok {
			topic.Partitions = merge(topic.Partitions, partitions)
			seen[name] = observed.Seen(topic)
		}
	}
	return seen, nil
}

func (c *Client) topicPartitions(ctx context.Context, op operation, names []string) (map[string]observed.Of[observed.Topic], error) {
	out := make(map[string]observed.Of[observed.Topic], len(names))
	err := c.eachTopic(ctx, op, names, func(name string, t *kmsg.MetadataResponseTopic, err error) {
		if err != nil {
			out[name] = observed.Unseen[observed.Topic](err)
			return
		}
		topic := observed.Topic{ID: topicID(t.TopicID), Partitions: make([]observed.Partition, len(t.Partitions))}
		for i := range t.Partitions {
			p := &t.Partitions[i]
			topic.Partitions[i] = observed.Partition{Topic: name, ID: p.Partition, Leader: p.Leader, Replicas: p.Replicas, InSync: p.ISR}
		}
		slices.SortFunc(topic.Partitions, byName)
		out[name] = observed.Seen(topic)
	})
	return out, err
}

// assignment is what one partition is to be held by.
type assignment struct {
	topic     string
	partition int32
	replicas  []int32
}

// name is in the form of Kafka's org.apache.kafka.common.TopicPartition.toString.
func (a assignment) name() string { return partitionName(a.topic, a.partition) }

func partitionName(topic string, partition int32) string {
	return topic + "-" + strconv.Itoa(int(partition))
}

// Reassign begins to give partitions other replicas, by topic and partition, with
// one AlterPartitionReassignments request for as many as Kafka takes (each causes a
// metadata record at most: alterPartitionReassignments in its
// ReplicationControlManager). OK tells that it has begun, or that there was nothing
// to do; Reassignments tells what still moves. One that is in flight for a partition
// is replaced by the new one.
//
// Every partition is answered, and succeeds or fails alone:
// ErrInvalidReplicaAssignment where its list cannot be. An empty list is refused by
// Kafka and never cancels.
func (c *Client) Reassign(ctx context.Context, replicas map[string]map[int32][]int32) (map[string]map[int32]error, error) {
	op := operation{verb: "reassign", noun: "partition", needs: "ALTER on the cluster"}
	var items []assignment
	for _, topic := range slices.Sorted(maps.Keys(replicas)) {
		for _, partition := range slices.Sorted(maps.Keys(replicas[topic])) {
			items = append(items, assignment{topic: topic, partition: partition, replicas: replicas[topic][partition]})
		}
	}
	answers, err := batch[assignment, error]{
		op:      op,
		name:    assignment.name,
		records: func(assignment) int { return 1 },
		send: func(ctx context.Context, items []assignment) (map[string]error, error) {
			return c.reassign(ctx, op, items)
		},
		failure: itself[error],
		problem: itself[error],
	}.run(ctx, c, items)
	if err != nil {
		return nil, fmt.Errorf("reassign %d partitions: %w", len(items), err)
	}
	out := make(map[string]map[int32]error, len(replicas))
	for _, item := range items {
		if out[item.topic] == nil {
			out[item.topic] = make(map[int32]error, len(replicas[item.topic]))
		}
		out[item.topic][item.partition] = answers[item.name()]
	}
	return out, nil
}

func (c *Client) reassign(ctx context.Context, op operation, items []assignment) (map[string]error, error) {
	req := kmsg.NewPtrAlterPartitionAssignmentsRequest()
	req.TimeoutMillis = c.requestMillis()
	for _, item := range items {
		if n := len(req.Topics); n == 0 || req.Topics[n-1].Topic != item.topic {
			topic := kmsg.NewAlterPartitionAssignmentsRequestTopic()
			topic.Topic = item.topic
			req.Topics = append(req.Topics, topic)
		}
		topic := &req.Topics[len(req.Topics)-1]
		p := kmsg.NewAlterPartitionAssignmentsRequestTopicPartition()
		p.Partition = item.partition
		// No list at all would cancel what is in flight.
		p.Replicas = append([]int32{}, item.replicas...)
		topic.Partitions = append(topic.Partitions, p)
	}
	resp, err := req.RequestWith(ctx, c.toAny())
	if err != nil {
		return nil, err
	}
	if err := op.errorOf("partitions", answer{code: resp.ErrorCode, message: resp.ErrorMessage, throttleMillis: resp.ThrottleMillis}); err != nil {
		return nil, err
	}
	out := make(map[string]error, len(items))
	for i := range resp.Topics {
		t := &resp.Topics[i]
		for j := range t.Partitions {
			p := &t.Partitions[j]
			name := partitionName(t.Topic, p.Partition)
			out[name] = op.topicError(name, answer{code: p.ErrorCode, message: p.ErrorMessage, throttleMillis: resp.ThrottleMillis})
		}
	}
	return out, nil
}
