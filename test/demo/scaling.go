package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluice-kafka/sluice/test/kafka/mover"
	"github.com/sluice-kafka/sluice/test/kafka/traffic"
)

const (
	// loaded records of loadedBytes are there before anything is scaled.
	loaded, loadedBytes = 20_000, 1000
	// topicInterval lies between two topics that are created all the time.
	topicInterval = 500 * time.Millisecond
	// drainPatience bounds the moving of all replicas of two brokers.
	drainPatience = 3 * time.Minute
)

// going are the brokers that a scale-down takes away, staying the others.
var staying, going = []int32{0, 1, 2}, []int32{3, 4}

func (d *runningDemo) fill(ctx context.Context) error {
	d.chapter("Topics with data, and records that go on being written")
	for topic, partitions := range map[string]int32{"orders": 12, "payments": 6} {
		if err := d.createTopic(ctx, topic, partitions); err != nil {
			return err
		}
	}
	producer, err := kgo.NewClient(kgo.SeedBrokers(bootstrap), kgo.DefaultProduceTopic("orders"))
	if err != nil {
		return err
	}
	defer producer.Close()
	var once sync.Once
	for range loaded {
		value := make([]byte, loadedBytes)
		_, _ = rand.Read(value) // what does not compress; it never fails
		producer.Produce(ctx, &kgo.Record{Value: value}, func(_ *kgo.Record, produceErr error) {
			if produceErr != nil {
				once.Do(func() { err = produceErr })
			}
		})
	}
	if flushErr := producer.Flush(ctx); flushErr != nil {
		return flushErr
	}
	if err != nil {
		return fmt.Errorf("loading topics: %w", err)
	}
	d.say("%d records of %d bytes are in topic orders.", loaded, loadedBytes)
	if d.traffic, err = traffic.Start([]string{bootstrap}, "orders", "payments"); err != nil {
		return err
	}
	d.say("From now on both topics are written to with acks=all, and every acknowledgement is remembered.")
	return d.showPlacement(ctx, "")
}

// cancelled scales down and takes it back.
func (d *runningDemo) cancelled(ctx context.Context) error {
	d.chapter("Scale to three, and change one's mind")
	if err := d.kubectl.scale(ctx, "brokers", 3); err != nil {
		return err
	}
	if err := d.await(ctx, d.cordonedAre(going)); err != nil {
		return err
	}
	if err := d.check(true, "brokers 3 and 4 report that they take no new replicas, and still run"); err != nil {
		return err
	}
	if err := d.await(ctx, d.warned("ScaleDownPreventionCheck")); err != nil {
		return err
	}
	if err := d.showEvents(ctx); err != nil {
		return err
	}
	if err := d.createTopic(ctx, "meanwhile", 6); err != nil {
		return err
	}
	if err := d.landed(ctx, "meanwhile", staying, "a topic that is created meanwhile lands on brokers 0 to 2 alone"); err != nil {
		return err
	}
	if err := d.kubectl.scale(ctx, "brokers", 5); err != nil {
		return err
	}
	if err := d.await(ctx, d.cordonedAre(nil)); err != nil {
		return err
	}
	if err := d.createTopic(ctx, "afterwards", 10); err != nil {
		return err
	}
	if err := d.showEvents(ctx); err != nil {
		return err
	}
	return d.landed(ctx, "afterwards", slices.Concat(staying, going), "they are uncordoned: the next topic lands on all five")
}

// scaleDown scales down for good, while topics are created.
func (d *runningDemo) scaleDown(ctx context.Context) error {
	d.chapter("Scale to three")
	if err := d.kubectl.scale(ctx, "brokers", 3); err != nil {
		return err
	}
	if err := d.await(ctx, d.cordonedAre(going)); err != nil {
		return err
	}
	stopCreating := d.keepCreating(ctx)
	err := d.drain(ctx)
	if err == nil {
		err = d.await(ctx, d.brokersAre(staying))
	}
	created, createErr := stopCreating()
	if err != nil {
		return err
	}
	if createErr != nil {
		return fmt.Errorf("creating topics all the while: %w", createErr)
	}
	if err := d.await(ctx, d.clusterReady); err != nil {
		return err
	}
	if err := d.showEvents(ctx); err != nil {
		return err
	}
	if err := d.kubectl.show(ctx, "kafkanodepools"); err != nil {
		return err
	}
	if err := d.landed(ctx, "created-", staying, fmt.Sprintf("all of the %d topics that were created meanwhile are on brokers 0 to 2", created)); err != nil {
		return err
	}
	return d.check(true, "brokers 3 and 4 were emptied, stopped and unregistered, and their disks are gone with them")
}

// drain moves the replicas, as long as Sluice has no rebalancer of its own.
func (d *runningDemo) drain(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, drainPatience)
	defer cancel()
	moved := make(chan error, 1)
	go func() { moved <- mover.Mover{Client: d.kafka}.Drain(ctx, going, staying) }()
	ticker := time.NewTicker(progressInterval)
	defer ticker.Stop()
	for {
		select {
		case err := <-moved:
			if err == nil {
				err = d.check(true, "no replica is left on brokers 3 and 4")
			}
			return err
		case <-ticker.C:
			if held, err := d.placement(ctx, ""); err == nil {
				d.say("... %d replicas are left on broker 3, %d on broker 4", held[3], held[4])
			}
		}
	}
}

// keepCreating creates topics until the function that it returns is called.
func (d *runningDemo) keepCreating(ctx context.Context) func() (int, error) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	created, failure := 0, error(nil)
	go func() {
		defer close(done)
		ticker := time.NewTicker(topicInterval)
		defer ticker.Stop()
		for failure == nil {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
			// Not with ctx: what is asked for is to be there.
			failure = d.createTopic(context.WithoutCancel(ctx), fmt.Sprintf("created-%d", created), 1)
			if failure == nil {
				created++
			}
		}
	}()
	return func() (int, error) {
		cancel()
		<-done
		return created, failure
	}
}

func (d *runningDemo) verify(ctx context.Context) error {
	d.chapter("Every acknowledged record is still there")
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	r, err := d.traffic.Stop(ctx)
	if err != nil {
		return err
	}
	d.say("%d records were acknowledged; the slowest took %s.", r.Acknowledged, r.Worst.Round(time.Millisecond))
	if r.Refused > 0 {
		d.say("%d were not taken within 30 s, the last: %v", r.Refused, r.Refusal)
	}
	return d.check(r.Acknowledged > 0 && r.Lost == 0, "of %d acknowledged records %d are gone", r.Acknowledged, r.Lost)
}

// landed checks that replicas of the topics with the prefix are on exactly these
// brokers.
func (d *runningDemo) landed(ctx context.Context, prefix string, brokers []int32, what string) error {
	held, err := d.placement(ctx, prefix)
	if err != nil {
		return err
	}
	d.say("Replicas of %s by broker: %s", strings.TrimSuffix(prefix, "-")+strings.Repeat("-*", strings.Count(prefix, "-")), counts(held))
	var on []int32
	for id, n := range held {
		if n > 0 {
			on = append(on, id)
		}
	}
	slices.Sort(on)
	return d.check(slices.Equal(on, brokers), "%s", what)
}

func (d *runningDemo) showPlacement(ctx context.Context, prefix string) error {
	held, err := d.placement(ctx, prefix)
	if err == nil {
		d.say("Replicas by broker: %s", counts(held))
	}
	return err
}

func counts(held map[int32]int) string {
	var texts []string
	for _, id := range slices.Concat(staying, going) {
		texts = append(texts, fmt.Sprintf("%d: %d", id, held[id]))
	}
	return strings.Join(texts, ", ")
}
