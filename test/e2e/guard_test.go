package e2e

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
)

// TestGuard takes one cluster of three brokers through what others do to it: an
// administrator, an autoscaler, evictions, a deletion. Each scene begins with the
// brokers 0, 1 and 2.
func TestGuard(t *testing.T) {
	c := startCluster(t, clusterOptions{brokers: 3, kafka: func(k *apiv1.Kafka) {
		fromYAML(`
spec:
  kafka:
    config:
      default.replication.factor: 2
      min.insync.replicas: 1
      offsets.topic.replication.factor: 2
      transaction.state.log.replication.factor: 2
      transaction.state.log.min.isr: 1
`, k)
	}})
	c.createTopic("orders", 6, 2)
	load := c.startLoad("orders")
	before := c.running()
	c.scene("cordoned by hand, and to be removed besides", (*cluster).cordonedByHand)
	c.scene("an autoscaler writes the scale", (*cluster).autoscaled)
	c.scene("a pool is deleted whose broker is in use", (*cluster).poolDeleted)
	c.notRestarted(before)
	c.scene("pods are evicted while a broker is held", (*cluster).evicted)
	c.scene("the check is skipped", (*cluster).skipped)
	load.stopAndVerify()
}

// cordonedByHand: what is cordoned is what the annotation says and what is to go,
// together.
func (c *cluster) cordonedByHand() {
	since := c.ledger()
	c.annotateKafka(apiv1.AnnotationCordon, "1")
	c.isCordoned(1)
	c.await(time.Minute, c.booked(since, entries{set: 1}))
	c.await(time.Minute, c.cordonSetTo(1, new("*")))
	c.createTopic("by-hand", 6, 2)
	c.holdsNothingOf("by-hand", 1)
	if err := c.doesNotWarn(apiv1.ReasonScaleDownPreventionCheck)(c.t.Context()); err != nil {
		c.t.Error(err)
	}

	c.scale("brokers", 2)
	c.isCordoned(1, 2)
	c.await(time.Minute, c.booked(since, entries{set: 2}))
	c.annotateKafka(apiv1.AnnotationCordon, "1,2") // for two reasons now
	c.nothingMore(since, entries{set: 2})
	c.annotateKafka(apiv1.AnnotationCordon, nil)
	c.isCordoned(2)
	c.nothingMore(since, entries{set: 2, lifted: 1})

	c.scale("brokers", 3)
	c.isCordoned()
	c.nothingMore(since, entries{set: 2, lifted: 2})
	for _, broker := range []int32{1, 2} {
		c.await(time.Minute, c.cordonSetTo(broker, nil))
	}
	c.await(time.Minute, c.tells(since, "Cordoned: Broker 1", "Cordoned: Broker 2", "Uncordoned: Broker 1", "Uncordoned: Broker 2"))
	c.hasNodeIDs("brokers", 0, 1, 2)
}

// autoscaled: a number that an autoscaler writes is guarded like a user's.
func (c *cluster) autoscaled() {
	since, before := c.ledger(), c.running()
	c.writeScale("brokers", 2)
	c.isCordoned(2)
	c.await(time.Minute, c.warnsAbout(apiv1.ReasonScaleDownPreventionCheck, "broker 2 holds "))
	c.nothingMore(since, entries{set: 1})
	c.hasNodeIDs("brokers", 0, 1, 2)
	if s := c.readScale("brokers"); s.Spec.Replicas != 2 || s.Status.Replicas != 3 || s.Status.Selector == "" {
		c.t.Errorf("the autoscaler sees %+v", s)
	}
	c.writeScale("brokers", 3)
	c.isCordoned()
	c.await(time.Minute, c.doesNotWarn(apiv1.ReasonScaleDownPreventionCheck))
	c.nothingMore(since, entries{set: 1, lifted: 1})
	c.notRestarted(before)
}

func (c *cluster) readScale(pool string) *autoscalingv1.Scale {
	c.t.Helper()
	s := &autoscalingv1.Scale{}
	if err := c.client.SubResource("scale").Get(c.t.Context(), poolNamed(pool), s); err != nil {
		c.t.Fatal(err)
	}
	return s
}

func (c *cluster) writeScale(pool string, replicas int32) {
	c.t.Helper()
	// The operator writes to the pool too: an autoscaler would try again as well.
	c.await(time.Minute, func(ctx context.Context) error {
		s := c.readScale(pool)
		s.Spec.Replicas = replicas
		return c.client.SubResource("scale").Update(ctx, poolNamed(pool), client.WithSubResourceBody(s))
	})
}

func poolNamed(pool string) *apiv1.KafkaNodePool {
	p := &apiv1.KafkaNodePool{}
	p.Namespace, p.Name = namespace, pool
	return p
}

// poolDeleted: it is refused; and where nobody refuses it the pool stays until its
// brokers are empty.
func (c *cluster) poolDeleted() {
	create(c.t, c.client, newPool("extra", 1, apiv1.RoleBroker))
	c.await(3*time.Minute, c.registered(0, 1, 2, 4))
	c.await(time.Minute, c.isReady)
	c.createTopic("extra", 2, 2)
	c.putOn("extra", []int32{4, 0}, []int32{1, 4})
	since, before := c.ledger(), c.running()

	// What admission knows of Kafka is what the operator saw last.
	c.await(3*time.Minute, func(ctx context.Context) error {
		c.oneLook()
		err := c.client.Delete(ctx, poolNamed("extra"), client.DryRunAll)
		if err == nil {
			return errors.New("it is not refused")
		}
		return onlyRefusal(err)
	})
	if err := c.client.Delete(c.t.Context(), poolNamed("extra")); onlyRefusal(err) != nil || err == nil {
		c.t.Fatalf("deleting a pool whose broker is in use: %v", err)
	}

	c.admission("disabled")
	c.await(time.Minute, func(ctx context.Context) error { return c.client.Delete(ctx, poolNamed("extra")) })
	c.await(time.Minute, c.cordoned(4))
	c.await(time.Minute, c.warnsAbout(apiv1.ReasonScaleDownPreventionCheck, "broker 4 holds "))
	c.nothingMore(since, entries{set: 1})
	c.hasNodeIDs("extra", 4)
	if pods, err := c.pods(c.t.Context()); err != nil || pods[name+"-extra-4"] == nil || !isReady(pods[name+"-extra-4"]) {
		c.t.Errorf("the pod of the deleted pool: %v", err)
	}
	c.drain(4)
	c.await(3*time.Minute, c.isGone(&apiv1.KafkaNodePool{}, "extra"))
	c.await(time.Minute, c.registered(0, 1, 2))
	c.await(time.Minute, c.isGone(&corev1.Pod{}, name+"-extra-4"))
	c.await(time.Minute, c.isGone(&corev1.PersistentVolumeClaim{}, "data-0-"+name+"-extra-4"))
	c.admission("")
	c.notRestarted(before)
	c.nothingMore(since, entries{set: 1, gone: 1})
	c.await(time.Minute, c.tells(since, "Cordoned: Broker 4", "ScaleDownHeld", "Drained: Brokers 4", "BrokerRemoved: Broker 4", "BrokerUnregistered: Broker 4"))
}

// onlyRefusal lets no other error pass than that of a webhook's rules.
func onlyRefusal(err error) error {
	if apierrors.IsInvalid(err) {
		return nil
	}
	return err
}

// admission sets the label of the namespace that switches admission off.
func (c *cluster) admission(value string) {
	c.t.Helper()
	ns := &corev1.Namespace{}
	ns.Name = namespace
	var label any
	if value != "" {
		label = value
	}
	c.mergeInto(ns, map[string]any{"metadata": map[string]any{"labels": map[string]any{apiv1.LabelAdmission: label}}})
}

// evicted: of all pods one at a time may be evicted, though fewer are wanted than
// there are; and the held broker comes back.
func (c *cluster) evicted() {
	since, before := c.ledger(), c.running()
	c.scale("brokers", 2)
	c.isCordoned(2)
	c.await(time.Minute, c.warns(apiv1.ReasonScaleDownPreventionCheck))
	c.await(time.Minute, func(ctx context.Context) error {
		b := &policyv1.PodDisruptionBudget{}
		if err := c.client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name + "-kafka"}, b); err != nil {
			return err
		}
		if b.Status.DisruptionsAllowed != 1 || b.Status.ExpectedPods != 4 || b.Status.ObservedGeneration != b.Generation {
			return fmt.Errorf("the budget is %+v", b.Status)
		}
		return nil
	})
	if err := c.evict(podOfBroker(2)); err != nil {
		c.t.Fatalf("evicting the first pod: %v", err)
	}
	for _, second := range []string{podOfBroker(0), podOfBroker(1), name + "-controllers-3"} {
		if err := c.evict(second); !apierrors.IsTooManyRequests(err) {
			c.t.Errorf("evicting %s as a second one: %v", second, err)
		}
	}
	c.await(3*time.Minute, func(ctx context.Context) error {
		pods, err := c.pods(ctx)
		if err != nil {
			return err
		}
		if p := pods[podOfBroker(2)]; p == nil || p.DeletionTimestamp != nil || !isReady(p) {
			return errors.New("the evicted pod is not back")
		}
		return nil
	})
	c.await(time.Minute, c.registered(0, 1, 2))
	// Whatever it says of its directories: it was started with the cordon in its file.
	c.await(time.Minute, c.filesCordon(2))
	c.createTopic("evicted", 6, 2)
	c.holdsNothingOf("evicted", 2)
	c.await(time.Minute, c.warnsAbout(apiv1.ReasonScaleDownPreventionCheck, "broker 2 holds "))
	c.hasNodeIDs("brokers", 0, 1, 2)
	c.nothingMore(since, entries{set: 1})
	if after := c.running(); after[podOfBroker(2)] == before[podOfBroker(2)] {
		c.t.Error("the evicted pod runs on")
	}

	// Over what it read from its file only an empty value helps.
	c.scale("brokers", 3)
	c.await(time.Minute, c.cordonSetTo(2, new("")))
	c.isCordoned()
	c.createTopic("not-evicted", 6, 2)
	c.holdsSomeOf("not-evicted", 2)
	c.nothingMore(since, entries{set: 1, lifted: 1})
	delete(before, podOfBroker(2))
	c.notRestarted(before)
}

func (c *cluster) evict(pod string) error {
	p := &corev1.Pod{}
	p.Namespace, p.Name = namespace, pod
	return c.client.SubResource("eviction").Create(c.t.Context(), p, &policyv1.Eviction{})
}

// skipped: the broker goes at once with what it holds, is not cordoned, and is
// cleaned up after all the same.
func (c *cluster) skipped() {
	c.createTopic("skipped", 2, 2)
	c.putOn("skipped", []int32{2, 0}, []int32{1, 2})
	c.await(time.Minute, c.inSync)
	since, before := c.ledger(), c.running()
	c.annotateKafka(apiv1.AnnotationSkipScaleDownCheck, "true")
	c.scale("brokers", 2)
	c.await(time.Minute, c.nodeIDsAre("brokers", 0, 1))
	c.await(3*time.Minute, c.registered(0, 1))
	c.await(2*time.Minute, c.isGone(&corev1.PersistentVolumeClaim{}, "data-0-"+podOfBroker(2)))
	c.nothingMore(since, entries{gone: 1})
	c.holdsSomeOf("skipped", 2) // replicas that nobody has
	c.await(time.Minute, c.tells(since, "BrokerRemoved: Broker 2", "BrokerUnregistered: Broker 2"))
	c.annotateKafka(apiv1.AnnotationSkipScaleDownCheck, nil)

	c.scale("brokers", 3)
	c.await(3*time.Minute, c.registered(0, 1, 2))
	c.await(3*time.Minute, c.inSync)
	c.await(time.Minute, c.isReady)
	delete(before, podOfBroker(2))
	c.notRestarted(before)
	c.nothingMore(since, entries{gone: 1})
}

// inSync waits until all replicas are.
func (c *cluster) inSync(ctx context.Context) error {
	all, err := c.admin.Partitions(ctx)
	if err != nil {
		return err
	}
	for _, p := range all {
		if len(p.InSync) < len(p.Replicas) {
			return fmt.Errorf("of %v of %s-%d only %v are in sync", p.Replicas, p.Topic, p.ID, slices.Sorted(slices.Values(p.InSync)))
		}
	}
	return nil
}
