package main

import (
	"context"
	"fmt"
	"sort"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/test/harness"
)

const (
	topics  = 200
	changed = 20
	grown   = 10
	deleted = 10
	// patience bounds the wait for topics; a loaded machine is slow.
	patience = 90 * time.Second
)

func topicName(i int) string { return fmt.Sprintf("demo-%03d", i) }

func (d *demo) createTopics(ctx context.Context) error {
	d.chapter(fmt.Sprintf("%d topics at once", topics))
	before, err := d.operator.Metrics(ctx)
	if err != nil {
		return err
	}
	start := time.Now()
	err = forEach(ctx, topics, func(ctx context.Context, i int) error {
		partitions, replicas := int64(1+i%3), int64(1)
		return d.kubectl.Create(ctx, &apiv1.KafkaTopic{
			ObjectMeta: metav1.ObjectMeta{
				Name: topicName(i), Namespace: namespace,
				Labels: map[string]string{apiv1.LabelCluster: cluster},
			},
			Spec: apiv1.KafkaTopicSpec{Partitions: &partitions, Replicas: &replicas},
		})
	})
	if err != nil {
		return err
	}
	if err := d.waitTopics(ctx, "ready", topics, isReady); err != nil {
		return err
	}
	d.say("Applied and Ready after %s.", time.Since(start).Round(10*time.Millisecond))
	if err := d.showCalls(ctx, before); err != nil {
		return err
	}
	return d.checkKafka(ctx, topics, "Kafka itself lists %d of these topics, each with the partitions asked for", func(ctx context.Context) (right int, err error) {
		details, err := d.inKafka(ctx)
		for i := range topics {
			if len(details[topicName(i)].Partitions) == 1+i%3 {
				right++
			}
		}
		return right, err
	})
}

func (d *demo) changeTopics(ctx context.Context) error {
	d.chapter(fmt.Sprintf("Change %d, grow %d, delete %d", changed, grown, deleted))
	before, err := d.operator.Metrics(ctx)
	if err != nil {
		return err
	}
	err = forEach(ctx, changed+grown+deleted, func(ctx context.Context, i int) error {
		topic := &apiv1.KafkaTopic{ObjectMeta: metav1.ObjectMeta{Name: topicName(i), Namespace: namespace}}
		switch {
		case i < changed:
			return d.kubectl.Patch(ctx, topic, client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"config":{"retention.ms":3600000}}}`)))
		case i < changed+grown:
			return d.kubectl.Patch(ctx, topic, client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"partitions":6}}`)))
		default:
			return d.kubectl.Delete(ctx, topic)
		}
	})
	if err != nil {
		return err
	}
	if err := d.waitTopics(ctx, "ready at their new generation", topics-deleted, isReady); err != nil {
		return err
	}
	if err := d.showCalls(ctx, before); err != nil {
		return err
	}
	return d.checkChanges(ctx)
}

func (d *demo) checkChanges(ctx context.Context) error {
	err := d.checkKafka(ctx, changed, "Kafka has retention.ms=3600000 on %d topics", func(ctx context.Context) (int, error) {
		return d.withRetention(ctx, "3600000")
	})
	if err != nil {
		return err
	}
	err = d.checkKafka(ctx, grown, "Kafka has 6 partitions on %d topics", func(ctx context.Context) (six int, err error) {
		details, err := d.inKafka(ctx)
		for i := changed; i < changed+grown; i++ {
			if len(details[topicName(i)].Partitions) == 6 {
				six++
			}
		}
		return six, err
	})
	if err != nil {
		return err
	}
	return d.checkKafka(ctx, deleted, "%d topics are gone from Kafka", func(ctx context.Context) (gone int, err error) {
		details, err := d.inKafka(ctx)
		for i := changed + grown; i < changed+grown+deleted; i++ {
			if !details.Has(topicName(i)) {
				gone++
			}
		}
		return gone, err
	})
}

// checkKafka counts something in Kafka until it is as many as wanted: a broker's
// metadata follows the controller's writes with a delay.
func (d *demo) checkKafka(ctx context.Context, want int, text string, count func(context.Context) (int, error)) error {
	n := 0
	err := wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		var err error
		n, err = count(ctx)
		return n == want, err
	})
	if err != nil && !wait.Interrupted(err) {
		return err
	}
	return d.check(n == want, text, n)
}

// quiet waits for a resync and shows that it costs two calls a batch and writes
// nothing.
func (d *demo) quiet(ctx context.Context) error {
	d.chapter("With nothing to do, nothing is written")
	d.say("Every %s here (2 minutes by default) all topics are compared with Kafka again.", resync)
	before, err := d.settled(ctx)
	if err != nil {
		return err
	}
	var after harness.Metrics
	err = wait.PollUntilContextTimeout(ctx, time.Second, patience, false, func(ctx context.Context) (bool, error) {
		var err error
		after, err = d.settled(ctx)
		return err == nil && after.Sum(metricReconciled) >= before.Sum(metricReconciled)+topics-deleted, err
	})
	if err != nil {
		return fmt.Errorf("waiting for a resync: %w", err)
	}
	d.say("%s", calls(before, after))
	delta := func(family string) float64 { return after.Sum(family) - before.Sum(family) }
	ok := delta(metricAdminCalls) == 2*delta(metricBatches) && delta(metricWrites) == 0
	if !ok {
		d.say("Writes to Kubernetes before: %v; after: %v", before[metricWrites], after[metricWrites])
	}
	return d.check(ok, "%.0f comparisons of %d topics in %s: two calls to Kafka a batch, %s to Kubernetes",
		delta(metricReconciled), topics-deleted, counted(int(delta(metricBatches)), "batch"), counted(int(delta(metricWrites)), "write"))
}

// settled reads the metrics when no batch is under way: two readings agree.
func (d *demo) settled(ctx context.Context) (harness.Metrics, error) {
	var last harness.Metrics
	err := wait.PollUntilContextTimeout(ctx, 200*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		now, err := d.operator.Metrics(ctx)
		if err != nil {
			return false, err
		}
		same := last != nil
		for _, f := range []string{metricAdminCalls, metricBatches, metricReconciled, metricWrites} {
			same = same && last.Sum(f) == now.Sum(f)
		}
		last = now
		return same, nil
	})
	return last, err
}

// waitTopics waits, with progress, until exactly n topics exist and all are as
// asked.
func (d *demo) waitTopics(ctx context.Context, what string, n int, ok func(*apiv1.KafkaTopic) bool) error {
	shown := time.Now()
	err := wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		var list apiv1.KafkaTopicList
		if err := d.kubectl.List(ctx, &list, client.InNamespace(namespace)); err != nil {
			return false, err
		}
		good := 0
		for i := range list.Items {
			if ok(&list.Items[i]) {
				good++
			}
		}
		if time.Since(shown) > time.Second {
			shown = time.Now()
			d.say("... %d of %d topics %s", good, n, what)
		}
		return good == n && len(list.Items) == n, nil
	})
	if err != nil {
		return fmt.Errorf("waiting for %d topics to be %s: %w", n, what, err)
	}
	return nil
}

func isReady(t *apiv1.KafkaTopic) bool {
	return t.DeletionTimestamp == nil && t.Status.ObservedGeneration == t.Generation &&
		len(t.Status.Conditions) > 0 && t.Status.Conditions[0].Type == apiv1.ConditionReady && t.Status.Conditions[0].Status == "True"
}

// forEach does n things, sixteen at a time.
func forEach(ctx context.Context, n int, do func(context.Context, int) error) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(16)
	for i := range n {
		g.Go(func() error { return do(ctx, i) })
	}
	return g.Wait()
}

// Names of the operator's metrics.
const (
	metricAdminCalls = "sluice_topic_admin_call_duration_seconds"
	metricBatches    = "sluice_topic_batches_total"
	metricReconciled = "sluice_topic_reconciliations_total"
	metricWrites     = "sluice_topic_kubernetes_write_duration_seconds"
)

func (d *demo) showCalls(ctx context.Context, before harness.Metrics) error {
	after, err := d.settled(ctx)
	if err != nil {
		return err
	}
	d.say("%s", calls(before, after))
	return nil
}

// calls tells which Admin calls were made between two readings.
func calls(before, after harness.Metrics) string {
	names := map[string]bool{}
	for _, s := range after[metricAdminCalls].GetMetric() {
		for _, l := range s.Label {
			if l.GetName() == "api" {
				names[l.GetValue()] = true
			}
		}
	}
	var parts []string
	total := 0.0
	for name := range names {
		n := after.Sum(metricAdminCalls, "api="+name) - before.Sum(metricAdminCalls, "api="+name)
		total += n
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%s %.0f", name, n))
		}
	}
	sort.Strings(parts)
	return fmt.Sprintf("%s, %s: %s", counted(int(after.Sum(metricBatches)-before.Sum(metricBatches)), "batch"),
		counted(int(total), "Admin call")+" to Kafka", strings.Join(parts, ", "))
}

// inKafka asks Kafka itself for its topics.
func (d *demo) inKafka(ctx context.Context) (kadm.TopicDetails, error) {
	c, err := kgo.NewClient(kgo.SeedBrokers(d.kafka.Bootstrap()...))
	if err != nil {
		return nil, err
	}
	defer c.Close()
	return kadm.NewClient(c).ListTopics(ctx)
}

// withRetention counts the topics that have this retention.ms in Kafka.
func (d *demo) withRetention(ctx context.Context, want string) (n int, err error) {
	c, err := kgo.NewClient(kgo.SeedBrokers(d.kafka.Bootstrap()...))
	if err != nil {
		return 0, err
	}
	defer c.Close()
	names := make([]string, 0, topics-deleted)
	for i := range topics {
		if i < changed+grown || i >= changed+grown+deleted {
			names = append(names, topicName(i))
		}
	}
	configs, err := kadm.NewClient(c).DescribeTopicConfigs(ctx, names...)
	if err != nil {
		return 0, err
	}
	for _, topic := range configs {
		for _, entry := range topic.Configs {
			if entry.Key == "retention.ms" && entry.Value != nil && *entry.Value == want {
				n++
			}
		}
	}
	return n, nil
}
