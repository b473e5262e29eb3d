package traffic

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"k8s.io/apimachinery/pkg/util/wait"
)

// Reader reads as a member of a consumer group until Stop, and commits.
type Reader struct {
	client *kgo.Client
	cancel context.CancelFunc
	done   sync.WaitGroup

	mu   sync.Mutex
	seen map[string]map[int64]bool // numbers, by topic
}

// StartReader reads topics from their start, alone in a group.
func StartReader(bootstrap []string, group string, topics ...string) (*Reader, error) {
	client, err := kgo.NewClient(
		kgo.SeedBrokers(bootstrap...), kgo.ConsumerGroup(group), kgo.ConsumeTopics(topics...),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.AutoCommitInterval(time.Second),
		kgo.MetadataMinAge(200*time.Millisecond),
	)
	if err != nil {
		return nil, fmt.Errorf("making a consumer: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	r := &Reader{client: client, cancel: cancel, seen: map[string]map[int64]bool{}}
	r.done.Go(func() {
		for ctx.Err() == nil {
			// What fails is tried again by the client itself.
			client.PollFetches(ctx).EachRecord(r.read)
		}
	})
	return r, nil
}

func (r *Reader) read(record *kgo.Record) {
	n, err := strconv.ParseInt(string(record.Key), 10, 64)
	if err != nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.seen[record.Topic] == nil {
		r.seen[record.Topic] = map[int64]bool{}
	}
	r.seen[record.Topic][n] = true
}

// Await waits until every record was read that was acknowledged until it was
// called. ctx bounds it.
func (r *Reader) Await(ctx context.Context, t *Traffic) error {
	t.mu.Lock()
	wanted := map[string][]int64{}
	for topic, numbers := range t.written {
		for n := range numbers {
			wanted[topic] = append(wanted[topic], n)
		}
	}
	t.mu.Unlock()
	missing := 0
	err := wait.PollUntilContextCancel(ctx, 100*time.Millisecond, true, func(context.Context) (bool, error) {
		missing = r.missing(wanted)
		return missing == 0, nil
	})
	if err != nil {
		return fmt.Errorf("%d acknowledged records were not read: %w", missing, err)
	}
	return nil
}

func (r *Reader) missing(wanted map[string][]int64) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	missing := 0
	for topic, numbers := range wanted {
		for _, n := range numbers {
			if !r.seen[topic][n] {
				missing++
			}
		}
	}
	return missing
}

// Stop leaves the group.
func (r *Reader) Stop() {
	r.cancel()
	r.done.Wait()
	r.client.Close()
}
