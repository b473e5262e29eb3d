package e2e

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	internalkafka "github.com/sluice-kafka/sluice/internal/kafka"
)

// topics are created all the time, and each is given a record at once.
type topics struct {
	*cluster
	prefix   string
	producer *kgo.Client
	stop     context.CancelFunc
	done     sync.WaitGroup

	mu sync.Mutex
	// made topics by name, with how many of their records were acknowledged.
	made map[string]int
	// avoid are brokers on which none may land, from now on.
	avoid []int32
	wrong []string
}

// createTopics creates a topic of three replicas at each interval until
// stopAndVerify.
func (c *cluster) createTopics(interval time.Duration, prefix string) *topics {
	c.t.Helper()
	producer, err := kgo.NewClient(kgo.SeedBrokers(bootstrap), kgo.RequiredAcks(kgo.AllISRAcks()),
		kgo.UnknownTopicRetries(-1), kgo.MetadataMinAge(100*time.Millisecond), kgo.RecordDeliveryTimeout(time.Minute))
	if err != nil {
		c.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(c.t.Context())
	s := &topics{cluster: c, prefix: prefix, producer: producer, stop: cancel, made: map[string]int{}}
	s.done.Go(func() { s.run(ctx, interval) })
	c.t.Cleanup(func() { cancel(); s.done.Wait(); producer.Close() })
	return s
}

func (s *topics) run(ctx context.Context, interval time.Duration) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		s.mu.Lock()
		avoid := slices.Clone(s.avoid)
		s.mu.Unlock()
		topic := fmt.Sprintf("%s%d", s.prefix, n)
		if err := s.create(ctx, topic, avoid); err != nil && ctx.Err() == nil {
			s.complain("creating %s: %v", topic, err)
		}
	}
}

// create creates a topic and looks where it landed; avoid holds since before its
// creation.
func (s *topics) create(ctx context.Context, topic string, avoid []int32) error {
	answer, err := s.admin.CreateTopics(ctx, []internalkafka.NewTopic{{Name: topic, Partitions: 1, ReplicationFactor: 3}})
	if err != nil {
		return err
	}
	if err := answer[topic].Err; err != nil {
		return err
	}
	s.mu.Lock()
	s.made[topic] = 0
	s.mu.Unlock()
	s.producer.Produce(context.WithoutCancel(ctx), &kgo.Record{Topic: topic, Value: []byte(topic)}, func(_ *kgo.Record, err error) {
		if err != nil {
			s.complain("writing to %s: %v", topic, err)
			return
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.made[topic]++
	})
	replicas, err := s.replicas(ctx, topic)
	for _, broker := range avoid {
		if slices.Contains(replicas, broker) {
			s.complain("%s landed on %v", topic, replicas)
		}
	}
	return err
}

// replicas of a topic's only partition, which brokers hear of a moment after its
// creation.
func (s *topics) replicas(ctx context.Context, topic string) ([]int32, error) {
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for {
		list, err := s.kadm.ListTopics(ctx, topic)
		if err != nil {
			return nil, err
		}
		switch t := list[topic]; {
		case t.Err == nil && len(t.Partitions) == 1:
			return t.Partitions[0].Replicas, nil
		case t.Err != nil && !errors.Is(t.Err, kerr.UnknownTopicOrPartition):
			return nil, t.Err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-ticker.C:
		}
	}
}

func (s *topics) complain(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wrong = append(s.wrong, fmt.Sprintf(format, args...))
}

// mustNotLandOn says on which brokers no topic may land that is created from now on.
func (s *topics) mustNotLandOn(brokers ...int32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.avoid = brokers
}

// atLeast waits until so many more topics were created.
func (s *topics) atLeast(more int) {
	s.t.Helper()
	count := func() int {
		s.mu.Lock()
		defer s.mu.Unlock()
		return len(s.made)
	}
	before := count()
	s.await(2*time.Minute, func(context.Context) error {
		if n := count() - before; n < more {
			return fmt.Errorf("%d more topics were created, want %d", n, more)
		}
		return nil
	})
}

// stopAndVerify fails where a topic could not be created or landed where it must
// not, or its record is gone.
func (s *topics) stopAndVerify() {
	s.t.Helper()
	s.stop()
	s.done.Wait()
	ctx, cancel := context.WithTimeout(s.t.Context(), 2*time.Minute)
	defer cancel()
	if err := s.producer.Flush(ctx); err != nil {
		s.t.Fatal(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.wrong) > 0 {
		s.t.Errorf("of %d topics:\n%s", len(s.made), strings.Join(s.wrong, "\n"))
	}
	ends, err := s.kadm.ListEndOffsets(ctx, slices.Collect(maps.Keys(s.made))...)
	if err != nil {
		s.t.Fatal(err)
	}
	for topic, acknowledged := range s.made {
		if end, ok := ends.Lookup(topic, 0); !ok || end.Err != nil || end.Offset < int64(acknowledged) {
			s.t.Errorf("%s ends at %d (%v), and %d records were acknowledged", topic, end.Offset, end.Err, acknowledged)
		}
	}
	s.t.Logf("%d topics were created", len(s.made))
}
