package e2e

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	internalkafka "github.com/sluice-kafka/sluice/internal/kafka"
	"github.com/sluice-kafka/sluice/internal/observed"
	"github.com/sluice-kafka/sluice/test/kafka/mover"
	"github.com/sluice-kafka/sluice/test/kafka/traffic"
)

// createTopic creates a topic in Kafka.
func (c *cluster) createTopic(topic string, partitions int32, factor int16) {
	c.t.Helper()
	c.await(30*time.Second, func(ctx context.Context) error {
		created, err := c.admin.CreateTopics(ctx, []internalkafka.NewTopic{{Name: topic, Partitions: partitions, ReplicationFactor: factor}})
		if err != nil {
			return err
		}
		return created[topic].Err
	})
}

// holdings are how many replicas each broker holds, or is to get, of the topics
// with the prefix.
func (c *cluster) holdings(ctx context.Context, prefix string) (map[int32]int, error) {
	partitions, err := c.admin.Partitions(ctx)
	if err != nil {
		return nil, err
	}
	held := map[int32]int{}
	for _, p := range partitions {
		if strings.HasPrefix(p.Topic, prefix) {
			for _, r := range p.Replicas {
				held[r]++
			}
		}
	}
	return held, nil
}

func (c *cluster) mustHold(prefix string) map[int32]int {
	c.t.Helper()
	var held map[int32]int
	// A topic shows a moment after its creation.
	c.await(30*time.Second, func(ctx context.Context) (err error) {
		if held, err = c.holdings(ctx, prefix); err == nil && len(held) == 0 {
			err = fmt.Errorf("no topic %s* is in Kafka", prefix)
		}
		return err
	})
	return held
}

func (c *cluster) holdsNothingOf(prefix string, brokers ...int32) {
	c.t.Helper()
	held := c.mustHold(prefix)
	for _, b := range brokers {
		if held[b] > 0 {
			c.t.Errorf("broker %d holds %d replicas of %s*: %v", b, held[b], prefix, held)
		}
	}
}

func (c *cluster) holdsSomeOf(prefix string, brokers ...int32) {
	c.t.Helper()
	held := c.mustHold(prefix)
	for _, b := range brokers {
		if held[b] == 0 {
			c.t.Errorf("broker %d holds nothing of %s*: %v", b, prefix, held)
		}
	}
}

// cordoned waits until exactly these brokers report themselves cordoned.
func (c *cluster) cordoned(want ...int32) func(context.Context) error {
	return func(ctx context.Context) error {
		r, err := c.admin.DescribeCluster(ctx)
		if err != nil {
			return err
		}
		var got []int32
		reported := map[int32][]observed.LogDir{}
		for _, b := range r.Brokers {
			if b.Fenced {
				continue
			}
			dirs, err := c.admin.LogDirs(ctx, b.ID)
			if err != nil {
				return err
			}
			reported[b.ID] = dirs
			for _, d := range dirs {
				if d.Cordoned {
					got = append(got, b.ID)
					break
				}
			}
		}
		if !slices.Equal(got, want) {
			return fmt.Errorf("cordoned are %v, want %v; those that are not fenced report %v", got, want, reported)
		}
		return nil
	}
}

// registered waits until exactly these brokers are, and none is fenced.
func (c *cluster) registered(want ...int32) func(context.Context) error {
	return func(ctx context.Context) error {
		r, err := c.admin.DescribeCluster(ctx)
		if err != nil {
			return err
		}
		var got []int32
		for _, b := range r.Brokers {
			if b.Fenced {
				return fmt.Errorf("broker %d is fenced", b.ID)
			}
			got = append(got, b.ID)
		}
		if !slices.Equal(got, want) {
			return fmt.Errorf("registered are %v, want %v", got, want)
		}
		return nil
	}
}

// warns waits for a condition of type Warning with the reason.
func (c *cluster) warns(reason string) func(context.Context) error {
	return func(ctx context.Context) error {
		k, err := c.get(ctx)
		if err != nil {
			return err
		}
		if warning(k, reason) == "" {
			return fmt.Errorf("no warning %s in %+v", reason, k.Status.Conditions)
		}
		return nil
	}
}

// doesNotWarn waits until there is no such condition.
func (c *cluster) doesNotWarn(reason string) func(context.Context) error {
	return func(ctx context.Context) error {
		k, err := c.get(ctx)
		if err != nil {
			return err
		}
		if text := warning(k, reason); text != "" {
			return fmt.Errorf("warning %s: %s", reason, text)
		}
		return nil
	}
}

func warning(k *apiv1.Kafka, reason string) string {
	for _, cond := range k.Status.Conditions {
		if cond.Type == "Warning" && cond.Reason == reason {
			return cond.Message
		}
	}
	return ""
}

// nodeIDsAre waits until those of the pool are.
func (c *cluster) nodeIDsAre(pool string, want ...int64) func(context.Context) error {
	return func(ctx context.Context) error {
		p := &apiv1.KafkaNodePool{}
		if err := c.client.Get(ctx, types.NamespacedName{Namespace: namespace, Name: pool}, p); err != nil {
			return err
		}
		if !slices.Equal(p.Status.NodeIDs, want) {
			return fmt.Errorf("node IDs of pool %s are %v, want %v", pool, p.Status.NodeIDs, want)
		}
		return nil
	}
}

func (c *cluster) hasNodeIDs(pool string, want ...int64) {
	c.t.Helper()
	if err := c.nodeIDsAre(pool, want...)(c.t.Context()); err != nil {
		c.t.Error(err)
	}
}

// pods of the cluster by name.
func (c *cluster) pods(ctx context.Context) (map[string]*corev1.Pod, error) {
	list := &corev1.PodList{}
	err := c.client.List(ctx, list, client.InNamespace(namespace), client.MatchingLabels{apiv1.LabelCluster: name})
	all := map[string]*corev1.Pod{}
	for i := range list.Items {
		all[list.Items[i].Name] = &list.Items[i]
	}
	return all, err
}

// podsAre waits until exactly these are there, and ready.
func (c *cluster) podsAre(want ...string) func(context.Context) error {
	return func(ctx context.Context) error {
		all, err := c.pods(ctx)
		if err != nil {
			return err
		}
		if got := slices.Sorted(maps.Keys(all)); !slices.Equal(got, want) {
			return fmt.Errorf("pods are %v, want %v", got, want)
		}
		for n, p := range all {
			if !isReady(p) {
				return fmt.Errorf("pod %s is not ready", n)
			}
		}
		return nil
	}
}

// processes are the pods' UIDs and their containers' start times: what differs
// was restarted.
type processes map[string]string

// running remembers what runs.
func (c *cluster) running() processes {
	c.t.Helper()
	all, err := c.pods(c.t.Context())
	if err != nil {
		c.t.Fatal(err)
	}
	p := processes{}
	for n, pod := range all {
		p[n] = string(pod.UID)
		for _, s := range pod.Status.ContainerStatuses {
			if s.State.Running != nil {
				p[n] += " started " + s.State.Running.StartedAt.String()
			}
		}
	}
	return p
}

// notRestarted fails for each pod that is still there and was restarted since.
func (c *cluster) notRestarted(since processes) {
	c.t.Helper()
	now := c.running()
	for n, was := range since {
		if is, there := now[n]; there && is != was {
			c.t.Errorf("pod %s was restarted: %s, was %s", n, is, was)
		}
	}
}

// drain moves all replicas off the brokers, to the others that are registered.
func (c *cluster) drain(from ...int32) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), patience*slow)
	defer cancel()
	r, err := c.admin.DescribeCluster(ctx)
	if err != nil {
		c.t.Fatal(err)
	}
	var to []int32
	for _, b := range r.Brokers {
		if !b.Fenced && !slices.Contains(from, b.ID) {
			to = append(to, b.ID)
		}
	}
	if err := (mover.Mover{Client: c.kadm}).Drain(ctx, from, to); err != nil {
		c.t.Fatal(err)
	}
}

// load is records that are written all the time.
type load struct {
	t *testing.T
	*traffic.Traffic
}

func (c *cluster) startLoad(topics ...string) load {
	c.t.Helper()
	tr, err := traffic.Start([]string{bootstrap}, topics...)
	if err != nil {
		c.t.Fatal(err)
	}
	return load{t: c.t, Traffic: tr}
}

// stopAndVerify fails where an acknowledged record is gone.
func (l load) stopAndVerify() traffic.Report {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(l.t.Context(), time.Minute)
	defer cancel()
	r, err := l.Stop(ctx)
	if err != nil {
		l.t.Fatal(err)
	}
	if r.Acknowledged == 0 || r.Lost > 0 {
		l.t.Errorf("of %d acknowledged records %d are gone (%d were refused, the last: %v)", r.Acknowledged, r.Lost, r.Refused, r.Refusal)
	}
	l.t.Logf("%d records acknowledged, the slowest after %s, %d refused", r.Acknowledged, r.Worst.Round(time.Millisecond), r.Refused)
	return r
}
