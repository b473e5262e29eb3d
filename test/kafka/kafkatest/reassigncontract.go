package kafkatest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	client "github.com/sluice-kafka/sluice/internal/kafka"
	"github.com/sluice-kafka/sluice/internal/observed"
)

// Reassigner is what an engine that moves replicas asks of Kafka about topics.
type Reassigner interface {
	TopicPartitions(ctx context.Context, topics []string) (map[string]observed.Of[observed.Topic], error)
	Reassign(ctx context.Context, replicas map[string]map[int32][]int32) (map[string]map[int32]error, error)
}

// Moved is a cluster for ReassignContract, of the brokers 0, 1 and 2.
type Moved struct {
	Reassigner
	// Create makes a topic whose partitions have these replicas.
	Create func(ctx context.Context, topic string, replicas ...[]int32) error
	// Go on with what is in flight, where the cluster does not by itself.
	Go func(topic string)
}

// ReassignContract checks what an engine that moves replicas relies on.
func ReassignContract(t *testing.T, moved Moved) {
	m := &reassignContract{moved}
	t.Run("each partition is answered alone", m.alone)
	t.Run("replicas are added after those that are there", m.added)
	t.Run("the same list again changes nothing", m.again)
	t.Run("replicas are taken away", m.taken)
	t.Run("lists that cannot be are refused", m.impossible)
	t.Run("what is not there is told from what is", m.absent)
	t.Run("nothing asked is nothing done", m.nothing)
}

type reassignContract struct{ Moved }

func (m *reassignContract) create(t *testing.T, topic string, replicas ...[]int32) {
	t.Helper()
	if err := m.Create(t.Context(), topic, replicas...); err != nil {
		t.Fatal(err)
	}
	m.settles(t, topic, replicas...)
}

// reassign fails the test unless one partition is answered so.
func (m *reassignContract) reassign(t *testing.T, topic string, partition int32, replicas []int32, want error) {
	t.Helper()
	answers, err := m.Reassign(t.Context(), map[string]map[int32][]int32{topic: {partition: replicas}})
	if err != nil {
		t.Fatal(err)
	}
	wantRefusals(t, answers, map[string]map[int32]error{topic: {partition: want}})
}

func wantRefusals(t *testing.T, got, want map[string]map[int32]error) {
	t.Helper()
	for topic, partitions := range want {
		if len(got[topic]) != len(partitions) {
			t.Errorf("%s: %d answers, want %d: %v", topic, len(got[topic]), len(partitions), got[topic])
		}
		for id, w := range partitions {
			if g, answered := got[topic][id]; !answered || !errors.Is(g, w) {
				t.Errorf("%s-%d: got %v (answered: %t), want %v", topic, id, g, answered, w)
			}
		}
	}
}

// settles waits until the partitions of a topic have these replicas, all in sync, and
// none is in flight.
func (m *reassignContract) settles(t *testing.T, topic string, want ...[]int32) {
	t.Helper()
	Eventually(t, func(ctx context.Context) error {
		m.Go(topic)
		topics, err := m.TopicPartitions(ctx, []string{topic})
		if err != nil {
			return err
		}
		seen, ok := topics[topic].Get()
		if !ok || seen.ID == "" {
			return fmt.Errorf("%s is not seen: %w", topic, topics[topic].Err())
		}
		var got [][]int32
		for _, p := range seen.Partitions {
			if len(p.Adding)+len(p.Removing) > 0 || p.Leader < 0 || !slices.Equal(slices.Sorted(slices.Values(p.InSync)), slices.Sorted(slices.Values(p.Replicas))) {
				return fmt.Errorf("not settled: %+v", p)
			}
			got = append(got, p.Replicas)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			return fmt.Errorf("replicas (-want +got):\n%s", diff)
		}
		return nil
	})
}

func (m *reassignContract) alone(t *testing.T) {
	m.create(t, "moved-a", []int32{0}, []int32{1})
	m.create(t, "moved-b", []int32{2})
	answers, err := m.Reassign(t.Context(), map[string]map[int32][]int32{
		"moved-a":    {0: {0, 1}, 1: {1, 99}, 7: {1, 2}},
		"moved-b":    {0: {2, 0, 1}},
		"moved-none": {0: {0, 1}},
	})
	if err != nil {
		t.Fatal(err)
	}
	wantRefusals(t, answers, map[string]map[int32]error{
		"moved-a":    {0: nil, 1: client.ErrInvalidReplicaAssignment, 7: client.ErrUnknownTopic},
		"moved-b":    {0: nil},
		"moved-none": {0: client.ErrUnknownTopic},
	})
	m.settles(t, "moved-a", []int32{0, 1}, []int32{1})
	m.settles(t, "moved-b", []int32{2, 0, 1})
}

func (m *reassignContract) added(t *testing.T) {
	m.create(t, "moved-up", []int32{2, 0})
	m.reassign(t, "moved-up", 0, []int32{2, 0, 1}, nil)
	m.settles(t, "moved-up", []int32{2, 0, 1})
}

func (m *reassignContract) again(t *testing.T) {
	m.create(t, "moved-again", []int32{1})
	for range 3 {
		m.reassign(t, "moved-again", 0, []int32{1, 0}, nil)
	}
	m.settles(t, "moved-again", []int32{1, 0})
	m.reassign(t, "moved-again", 0, []int32{1, 0}, nil)
	m.settles(t, "moved-again", []int32{1, 0})
}

func (m *reassignContract) taken(t *testing.T) {
	m.create(t, "moved-down", []int32{0, 1, 2}, []int32{0, 1, 2})
	m.reassign(t, "moved-down", 0, []int32{0, 2}, nil)
	m.reassign(t, "moved-down", 1, []int32{1}, nil) // not its leader
	m.settles(t, "moved-down", []int32{0, 2}, []int32{1})
}

func (m *reassignContract) impossible(t *testing.T) {
	m.create(t, "moved-not", []int32{0})
	for what, list := range map[string][]int32{"none": nil, "no replica": {}, "one twice": {0, 1, 1}} {
		t.Run(what, func(t *testing.T) {
			m.reassign(t, "moved-not", 0, list, client.ErrInvalidReplicaAssignment)
		})
	}
	m.settles(t, "moved-not", []int32{0})
}

func (m *reassignContract) absent(t *testing.T) {
	m.create(t, "moved-there", []int32{0})
	topics, err := m.TopicPartitions(t.Context(), []string{"moved-there", "moved-absent"})
	if err != nil {
		t.Fatal(err)
	}
	if _, there := topics["moved-absent"]; there || len(topics) != 1 {
		t.Errorf("got %v", topics)
	}
}

func (m *reassignContract) nothing(t *testing.T) {
	topics, err1 := m.TopicPartitions(t.Context(), nil)
	answers, err2 := m.Reassign(t.Context(), nil)
	if err := errors.Join(err1, err2); err != nil || len(topics)+len(answers) > 0 {
		t.Errorf("got %v and %v, %v", topics, answers, err)
	}
}
