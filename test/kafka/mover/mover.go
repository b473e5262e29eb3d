// Package mover empties brokers by reassignments, as an administrator without any
// rebalancer would.
package mover

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"k8s.io/apimachinery/pkg/util/wait"
)

// pollInterval is how often Kafka is asked how far a reassignment has come.
const pollInterval = 200 * time.Millisecond

// Mover moves replicas.
type Mover struct {
	// Client to the cluster.
	Client *kadm.Client
	// Topics whose replicas it moves; those of all if empty.
	Topics []string
}

// Submit asks Kafka to move every replica on the brokers from to those of to, and
// returns how many partitions that are. A partition keeps its number of replicas,
// its order of them, and the replicas that are elsewhere.
func (m Mover) Submit(ctx context.Context, from, to []int32) (int, error) {
	return m.submit(ctx, from, to, map[string]int{})
}

// submit keeps in numbers how many replicas partitions have. Where one has more, a
// broker answered that has not heard of the end of its reassignment: it counts as
// moved, and is left alone.
func (m Mover) submit(ctx context.Context, from, to []int32, numbers map[string]int) (int, error) {
	topics, err := m.Client.ListTopicsWithInternal(ctx)
	if err != nil {
		return 0, fmt.Errorf("listing topics: %w", err)
	}
	var req kadm.AlterPartitionAssignmentsReq
	moved, late := 0, 0
	for _, t := range topics.Sorted() {
		if len(m.Topics) > 0 && !slices.Contains(m.Topics, t.Topic) {
			continue
		}
		for _, p := range t.Partitions.Sorted() {
			name := fmt.Sprintf("%s-%d", t.Topic, p.Partition)
			if n, known := numbers[name]; known && len(p.Replicas) > n {
				late++
				continue
			}
			numbers[name] = len(p.Replicas)
			if replicas, changed := replace(p.Replicas, from, to, moved); changed {
				req.Assign(t.Topic, p.Partition, replicas)
				moved++
			}
		}
	}
	if moved == 0 {
		return late, nil
	}
	answer, err := m.Client.AlterPartitionAssignments(ctx, req)
	if err != nil {
		return 0, fmt.Errorf("submitting reassignments: %w", err)
	}
	return moved + late, answer.Error()
}

// replace puts brokers of to in the place of those of from; turn spreads them.
func replace(replicas, from, to []int32, turn int) (list []int32, changed bool) {
	list = slices.Clone(replicas)
	for i, id := range list {
		if !slices.Contains(from, id) {
			continue
		}
		for n := range to {
			if candidate := to[(turn+n)%len(to)]; !slices.Contains(list, candidate) {
				list[i], changed = candidate, true
				break
			}
		}
	}
	return list, changed
}

// Drain submits, again and again, until no replica is left on the brokers and
// nothing is in flight. ctx bounds it.
func (m Mover) Drain(ctx context.Context, from, to []int32) error {
	var last error
	numbers := map[string]int{}
	err := wait.PollUntilContextCancel(ctx, pollInterval, true, func(ctx context.Context) (bool, error) {
		var flights []kadm.ListPartitionReassignmentsResponse
		if flights, last = m.inFlight(ctx); last != nil {
			return false, nil //nolint:nilerr // tried again until ctx ends
		}
		if n := len(flights); n > 0 {
			last = fmt.Errorf("%d reassignments are in flight", n)
			return false, nil
		}
		var n int
		n, last = m.submit(ctx, from, to, numbers)
		if last == nil && n > 0 {
			last = fmt.Errorf("%d partitions were still there", n)
		}
		return n == 0 && last == nil, nil
	})
	if err != nil {
		return fmt.Errorf("emptying brokers %v: %w", from, errors.Join(err, last))
	}
	return nil
}

// inFlight lists all reassignments in flight. The client asks of topics by name
// alone.
func (m Mover) inFlight(ctx context.Context) ([]kadm.ListPartitionReassignmentsResponse, error) {
	topics, err := m.Client.ListTopicsWithInternal(ctx)
	if err != nil {
		return nil, fmt.Errorf("listing topics: %w", err)
	}
	flights, err := m.Client.ListPartitionReassignments(ctx, topics.TopicsSet())
	if err != nil {
		return nil, fmt.Errorf("listing reassignments: %w", err)
	}
	return flights.Sorted(), nil
}

// Cancel takes back all reassignments in flight and returns how many there were.
func (m Mover) Cancel(ctx context.Context) (int, error) {
	list, err := m.inFlight(ctx)
	if err != nil {
		return 0, err
	}
	var req kadm.AlterPartitionAssignmentsReq
	for _, f := range list {
		req.CancelAssign(f.Topic, f.Partition)
	}
	if len(list) == 0 {
		return 0, nil
	}
	answer, err := m.Client.AlterPartitionAssignments(ctx, req)
	if err != nil {
		return 0, fmt.Errorf("cancelling reassignments: %w", err)
	}
	return len(list), answer.Error()
}
