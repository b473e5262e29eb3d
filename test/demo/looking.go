package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	eventsv1 "k8s.io/api/events/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/kafka"
)

const (
	lookInterval     = 250 * time.Millisecond
	progressInterval = 3 * time.Second
	// clusterPatience bounds each wait; a loaded machine is slow.
	clusterPatience = 4 * time.Minute
)

// await looks until there is no error, and shows now and then what is missing.
func (d *runningDemo) await(ctx context.Context, look func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, clusterPatience)
	defer cancel()
	ticker := time.NewTicker(lookInterval)
	defer ticker.Stop()
	told, said := time.Now(), ""
	for {
		err := look(ctx)
		if err == nil {
			return nil
		}
		if text := err.Error(); text != said && time.Since(told) >= progressInterval {
			told, said = time.Now(), text
			d.say("... %s", text)
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return fmt.Errorf("waited in vain: %w", err)
		}
	}
}

func (d *runningDemo) resource(ctx context.Context) (*apiv1.Kafka, error) {
	k := &apiv1.Kafka{}
	return k, d.kubectl.Get(ctx, client.ObjectKey{Namespace: namespace, Name: cluster}, k)
}

func (d *runningDemo) clusterReady(ctx context.Context) error {
	k, err := d.resource(ctx)
	if err != nil {
		return err
	}
	missing := "the operator has not said anything yet"
	for _, c := range k.Status.Conditions {
		if c.Type == "Ready" && c.Status == "True" && k.Status.ObservedGeneration == k.Generation {
			return nil
		}
		if c.Type == "NotReady" || c.Type == "Ready" {
			missing = c.Message
		}
	}
	return fmt.Errorf("not ready: %s", missing)
}

func (d *runningDemo) warned(reason string) func(context.Context) error {
	return func(ctx context.Context) error {
		k, err := d.resource(ctx)
		if err != nil {
			return err
		}
		for _, c := range k.Status.Conditions {
			if c.Type == "Warning" && c.Reason == reason {
				d.command("kubectl get kafka %s -n %s -o jsonpath='{.status.conditions[?(@.reason==%q)].message}'", cluster, namespace, reason)
				d.answer(c.Message)
				return nil
			}
		}
		return fmt.Errorf("no condition with reason %s yet", reason)
	}
}

// cordonedAre looks whether exactly these brokers report themselves cordoned.
func (d *runningDemo) cordonedAre(want []int32) func(context.Context) error {
	return func(ctx context.Context) error {
		r, err := d.admin.DescribeCluster(ctx)
		if err != nil {
			return err
		}
		var got []int32
		for _, b := range r.Brokers {
			dirs, err := d.admin.LogDirs(ctx, b.ID)
			if err != nil {
				return err
			}
			if len(dirs) > 0 && dirs[0].Cordoned {
				got = append(got, b.ID)
			}
		}
		if !slices.Equal(got, want) {
			return fmt.Errorf("brokers that report themselves cordoned: %v", got)
		}
		return nil
	}
}

// brokersAre looks whether exactly these are registered.
func (d *runningDemo) brokersAre(want []int32) func(context.Context) error {
	return func(ctx context.Context) error {
		r, err := d.admin.DescribeCluster(ctx)
		if err != nil {
			return err
		}
		var got []int32
		for _, b := range r.Brokers {
			got = append(got, b.ID)
		}
		if !slices.Equal(got, want) {
			return fmt.Errorf("registered brokers: %v", got)
		}
		return nil
	}
}

// createTopic creates a topic with three replicas of each partition and waits
// until Kafka shows it.
func (d *runningDemo) createTopic(ctx context.Context, name string, partitions int32) error {
	created, err := d.admin.CreateTopics(ctx, []kafka.NewTopic{{Name: name, Partitions: partitions, ReplicationFactor: 3}})
	if err == nil {
		err = created[name].Err
	}
	// A broker that stops takes its answer with it: the client asked again then.
	if err != nil && !errors.Is(err, kafka.ErrTopicExists) {
		return fmt.Errorf("creating topic %s: %w", name, err)
	}
	return d.await(ctx, func(ctx context.Context) error {
		held, err := d.placement(ctx, name)
		if err == nil && len(held) == 0 {
			err = fmt.Errorf("topic %s does not show yet", name)
		}
		return err
	})
}

// placement is how many replicas each broker holds, or is to get, of the topics
// with the prefix.
func (d *runningDemo) placement(ctx context.Context, prefix string) (map[int32]int, error) {
	partitions, err := d.admin.Partitions(ctx)
	if err != nil {
		return nil, err
	}
	held := map[int32]int{}
	for _, p := range partitions {
		if strings.HasPrefix(p.Topic, prefix) {
			for _, id := range p.Replicas {
				held[id]++
			}
		}
	}
	return held, nil
}

// showEvents shows those of the Kafka that were not shown yet, the oldest first.
func (d *runningDemo) showEvents(ctx context.Context) error {
	list := &eventsv1.EventList{}
	if err := d.kubectl.List(ctx, list, client.InNamespace(namespace)); err != nil {
		return err
	}
	slices.SortStableFunc(list.Items, func(a, b eventsv1.Event) int { return a.EventTime.Compare(b.EventTime.Time) })
	d.command("kubectl describe kafka %s -n %s   # its newest Events", cluster, namespace)
	for _, e := range list.Items {
		if e.Regarding.Kind != apiv1.KindKafka || d.shown[e.Name] {
			continue
		}
		d.shown[e.Name] = true
		d.answer(fmt.Sprintf("%-7s  %-18s  %s", e.Type, e.Reason, e.Note))
	}
	return nil
}
