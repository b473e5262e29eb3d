package kafka

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/sluice-kafka/sluice/internal/observed"
)

// Partitions reads the partitions of all topics, internal ones included, with one
// Metadata request to any broker, and the reassignments in flight, with one
// ListPartitionReassignments request that goes to the active controller. They are
// sorted by topic and ID. Kafka leaves out, without a word, topics that the
// operator's principal may not describe: it needs DESCRIBE on all of them.
//
// The broker's metadata may be a little behind. Where a reassignment is in flight
// the replicas are the controller's, which is asked second and knows it first.
func (c *Client) Partitions(ctx context.Context) ([]observed.Partition, error) {
	ctx, cancel := c.bound(ctx)
	defer cancel()
	seen, err := c.allPartitions(ctx)
	if err != nil {
		return nil, fmt.Errorf("read all partitions: %w", err)
	}
	moving, err := c.reassignments(ctx)
	if err != nil {
		return nil, err
	}
	return merge(seen, moving), nil
}

func (c *Client) allPartitions(ctx context.Context) ([]observed.Partition, error) {
	op := operation{verb: "describe", needs: "DESCRIBE on the topic"}
	req := kmsg.NewPtrMetadataRequest()
	req.AllowAutoTopicCreation = false
	req.Topics = nil // all
	resp, err := req.RequestWith(ctx, c.toAny())
	if err != nil {
		return nil, err
	}
	if resp.ErrorCode != 0 {
		return nil, kafkaError(answer{code: resp.ErrorCode})
	}
	number, ids := 0, 0
	for i := range resp.Topics {
		number += len(resp.Topics[i].Partitions)
		for j := range resp.Topics[i].Partitions {
			ids += len(resp.Topics[i].Partitions[j].Replicas) + len(resp.Topics[i].Partitions[j].ISR)
		}
	}
	out, all := make([]observed.Partition, 0, number), make(pool, 0, ids)
	for i := range resp.Topics {
		t := &resp.Topics[i]
		if t.Topic == nil {
			return nil, fmt.Errorf("%w: a topic has no name", ErrNotAnswered)
		}
		// A topic that was not seen may hold what a removal would lose.
		if err := op.topicError(*t.Topic, answer{code: t.ErrorCode}); err != nil {
			return nil, err
		}
		// An error of a partition tells that it has no leader, which shows, or that
		// a replica is offline.
		for j := range t.Partitions {
			p := &t.Partitions[j]
			out = append(out, observed.Partition{Topic: *t.Topic, ID: p.Partition, Leader: p.Leader, Replicas: all.copy(p.Replicas), InSync: all.copy(p.ISR)})
		}
	}
	return out, nil
}

// pool copies many short lists into one allocation.
type pool []int32

func (p *pool) copy(ids []int32) []int32 {
	start := len(*p)
	*p = append(*p, ids...)
	return (*p)[start:len(*p):len(*p)]
}

// Reassignments lists the reassignments in flight of topics, with one
// ListPartitionReassignments request that goes to the active controller, whose
// answer is never behind its own writes. A topic without any is not in the answer;
// of the others the partitions that are being reassigned are, sorted by ID, without
// leader and in-sync replicas. What a partition will have is Replicas without
// Removing: those that are added are among them from the start (KIP-455).
//
// All that the cluster has in flight is asked for: a request can name a topic only
// with the numbers of all of its partitions. Without topics nothing is sent.
func (c *Client) Reassignments(ctx context.Context, topics []string) (map[string][]observed.Partition, error) {
	out := map[string][]observed.Partition{}
	if len(topics) == 0 {
		return out, nil
	}
	ctx, cancel := c.bound(ctx)
	defer cancel()
	moving, err := c.reassignments(ctx)
	if err != nil {
		return nil, err
	}
	asked := make(map[string]bool, len(topics))
	for _, topic := range topics {
		asked[topic] = true
	}
	for _, p := range moving {
		if asked[p.Topic] {
			out[p.Topic] = append(out[p.Topic], p)
		}
	}
	for _, partitions := range out {
		slices.SortFunc(partitions, byName)
	}
	return out, nil
}

// reassignments are partitions without leader and in-sync replicas.
func (c *Client) reassignments(ctx context.Context) ([]observed.Partition, error) {
	const subject = "the reassignments in flight"
	op := operation{verb: "list", needs: "DESCRIBE on the cluster"}
	req := kmsg.NewPtrListPartitionReassignmentsRequest()
	req.TimeoutMillis = c.requestMillis()
	req.Topics = nil // all
	resp, err := req.RequestWith(ctx, c.toAny())
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", op.verb, subject, err)
	}
	if err := op.errorOf(subject, answer{code: resp.ErrorCode, message: resp.ErrorMessage}); err != nil {
		return nil, err
	}
	var out []observed.Partition
	for i := range resp.Topics {
		t := &resp.Topics[i]
		for j := range t.Partitions {
			p := &t.Partitions[j]
			out = append(out, observed.Partition{
				Topic: t.Topic, ID: p.Partition, Leader: -1, Replicas: p.Replicas, Adding: p.AddingReplicas, Removing: p.RemovingReplicas,
			})
		}
	}
	return out, nil
}

// merge adds the reassignments in flight to the partitions. One of a partition
// that the broker did not show, new or just deleted, stands alone: a broker that
// it names is not empty.
func merge(seen, moving []observed.Partition) []observed.Partition {
	slices.SortFunc(seen, byName)
	sorted := len(seen)
	for _, m := range moving {
		i, ok := slices.BinarySearchFunc(seen[:sorted], m, byName)
		if !ok {
			seen = append(seen, m)
			continue
		}
		seen[i].Replicas, seen[i].Adding, seen[i].Removing = m.Replicas, m.Adding, m.Removing
	}
	if len(seen) > sorted {
		slices.SortFunc(seen, byName)
	}
	return seen
}

func byName(a, b observed.Partition) int {
	return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.ID, b.ID))
}
