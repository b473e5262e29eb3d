// Package traffic writes records to a Kafka cluster without pause and tells
// afterwards whether any that was acknowledged is gone.
package traffic

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// interval between two records of a topic.
const interval = 5 * time.Millisecond

// Traffic is written until Stop.
type Traffic struct {
	bootstrap []string
	topics    []string
	client    *kgo.Client
	cancel    context.CancelFunc
	done      sync.WaitGroup

	acknowledged, failed atomic.Int64
	mu                   sync.Mutex
	written              map[string]map[int64]bool // numbers acknowledged, by topic
	worst                time.Duration
	lastErr              error
}

// Start writes to each topic, with acks=all, until Stop.
func Start(bootstrap []string, topics ...string) (*Traffic, error) {
	client, err := kgo.NewClient(
		kgo.SeedBrokers(bootstrap...),
		kgo.RequiredAcks(kgo.AllISRAcks()),
		kgo.ProducerLinger(0),
		kgo.MetadataMinAge(200*time.Millisecond),
		// A record that Kafka does not take in that time is not acknowledged, and
		// counts as refused.
		kgo.RecordDeliveryTimeout(30*time.Second),
	)
	if err != nil {
		return nil, fmt.Errorf("making a producer: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	t := &Traffic{bootstrap: bootstrap, topics: topics, client: client, cancel: cancel, written: map[string]map[int64]bool{}}
	for _, topic := range topics {
		t.written[topic] = map[int64]bool{}
		t.done.Go(func() { t.write(ctx, topic) })
	}
	return t, nil
}

func (t *Traffic) write(ctx context.Context, topic string) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for n := int64(0); ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		start := time.Now()
		record := &kgo.Record{Topic: topic, Key: strconv.AppendInt(nil, n, 10), Value: make([]byte, 200)}
		// Not with ctx: what is under way at the end is waited for.
		t.client.Produce(context.Background(), record, func(_ *kgo.Record, err error) { t.answered(topic, n, time.Since(start), err) })
	}
}

func (t *Traffic) answered(topic string, n int64, took time.Duration, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err != nil {
		t.failed.Add(1)
		t.lastErr = err
		return
	}
	t.acknowledged.Add(1)
	t.written[topic][n] = true
	t.worst = max(t.worst, took)
}

// Acknowledged is how many records were, up to now.
func (t *Traffic) Acknowledged() int64 { return t.acknowledged.Load() }

// Report is what came of the traffic.
type Report struct {
	// Acknowledged records, and those that Kafka did not take within 30 s.
	Acknowledged, Refused int64
	// Lost are those that were acknowledged and are not there.
	Lost int64
	// Worst is the longest time that an acknowledgement took.
	Worst time.Duration
	// Refusal is why a record was refused last; nil without any.
	Refusal error
}

// Stop ends the writing, waits for what is under way, and looks for every
// acknowledged record. ctx bounds it.
func (t *Traffic) Stop(ctx context.Context) (Report, error) {
	t.cancel()
	t.done.Wait()
	if err := t.client.Flush(ctx); err != nil {
		return Report{}, fmt.Errorf("waiting for the last acknowledgements: %w", err)
	}
	t.client.Close()
	r := Report{Acknowledged: t.acknowledged.Load(), Refused: t.failed.Load(), Worst: t.worst, Refusal: t.lastErr}
	for _, topic := range t.topics {
		there, err := read(ctx, t.bootstrap, topic)
		if err != nil {
			return r, err
		}
		for n := range t.written[topic] {
			if !there[n] {
				r.Lost++
			}
		}
	}
	return r, nil
}

// read returns the numbers of all records in a topic.
func read(ctx context.Context, bootstrap []string, topic string) (map[int64]bool, error) {
	client, err := kgo.NewClient(kgo.SeedBrokers(bootstrap...), kgo.ConsumeTopics(topic),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	if err != nil {
		return nil, fmt.Errorf("making a consumer: %w", err)
	}
	defer client.Close()
	ends, err := kadm.NewClient(client).ListEndOffsets(ctx, topic)
	if err == nil {
		err = ends.Error()
	}
	if err != nil {
		return nil, fmt.Errorf("asking where topic %s ends: %w", topic, err)
	}
	left := map[int32]int64{}
	ends.Each(func(o kadm.ListedOffset) {
		if o.Offset > 0 {
			left[o.Partition] = o.Offset
		}
	})
	there := map[int64]bool{}
	for len(left) > 0 {
		fetches := client.PollFetches(ctx)
		if ctx.Err() != nil {
			return nil, fmt.Errorf("reading topic %s: %w", topic, context.Cause(ctx))
		}
		fetches.EachRecord(func(r *kgo.Record) {
			if n, err := strconv.ParseInt(string(r.Key), 10, 64); err == nil {
				there[n] = true
			}
			if r.Offset+1 >= left[r.Partition] {
				delete(left, r.Partition)
			}
		})
	}
	return there, nil
}
