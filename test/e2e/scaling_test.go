package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/scaledown"
)

// TestScaling takes one cluster through changes of mind, under load. Each scene
// begins with the brokers that the one before left.
func TestScaling(t *testing.T) {
	c := startCluster(t, clusterOptions{brokers: 5})
	c.createTopic("orders", 6, 3)
	load := c.startLoad("orders")
	before := c.running()
	c.scene("lowered twice and then raised by one", (*cluster).loweredTwice)
	c.scene("another node is to go while one is drained", (*cluster).anotherOneGoes)
	c.scene("raised beyond what it was while one is drained", (*cluster).raisedWhileDrained)
	c.scene("a topic every 200 ms while two are drained", (*cluster).topicsAllTheTime)
	c.scene("both are empty from the start", (*cluster).emptyFromTheStart)
	c.scene("one is empty long before the other, and the first is gone when it is taken back", (*cluster).oneAfterTheOther)
	for _, pod := range podsOfBrokers(2, 3, 4) {
		delete(before, pod) // these brokers went, and others came with their IDs
	}
	c.notRestarted(before)
	load.stopAndVerify()
}

// loweredTwice: a broker is cordoned once however often the number is lowered,
// and raising it by one lets only one go on.
func (c *cluster) loweredTwice() {
	since := c.ledger()
	c.scale("brokers", 4)
	c.isCordoned(4)
	c.await(time.Minute, c.booked(since, entries{set: 1}))

	c.scale("brokers", 3)
	c.isCordoned(3, 4)
	c.await(time.Minute, c.booked(since, entries{set: 2}))

	c.scale("brokers", 4)
	c.isCordoned(4)
	c.await(time.Minute, c.booked(since, entries{set: 2, lifted: 1}))
	c.await(time.Minute, c.cordonSetTo(3, nil))
	c.createTopic("raised-by-one", 8, 3)
	c.holdsSomeOf("raised-by-one", 0, 1, 2, 3)
	c.holdsNothingOf("raised-by-one", 4)

	c.scale("brokers", 5)
	c.isCordoned()
	c.await(time.Minute, c.doesNotWarn(apiv1.ReasonScaleDownPreventionCheck))
	c.hasNodeIDs("brokers", 0, 1, 2, 3, 4)
	c.nothingMore(since, entries{set: 2, lifted: 2})
	c.await(time.Minute, c.tells(since, "Cordoned: Broker 4", "Cordoned: Broker 3", "Uncordoned: Broker 3", "Uncordoned: Broker 4"))
}

// anotherOneGoes: with the annotation the cordon moves on to another broker.
func (c *cluster) anotherOneGoes() {
	c.createTopic("moving", 2, 2)
	c.putOn("moving", []int32{1, 0}, []int32{1, 3})
	since := c.ledger()
	c.annotatePool("brokers", apiv1.AnnotationRemoveNodeIDs, "[1]")
	c.scale("brokers", 4)
	c.isCordoned(1)
	c.putOn("moving", []int32{2, 0}) // the drain has begun

	c.annotatePool("brokers", apiv1.AnnotationRemoveNodeIDs, "[2]")
	c.isCordoned(2)
	c.await(time.Minute, c.booked(since, entries{set: 2, lifted: 1}))
	c.createTopic("other-node", 8, 3)
	c.holdsSomeOf("other-node", 0, 1, 3, 4)
	c.holdsNothingOf("other-node", 2)

	c.drain(2)
	c.await(2*time.Minute, c.nodeIDsAre("brokers", 0, 1, 3, 4))
	c.await(2*time.Minute, c.registered(0, 1, 3, 4))
	c.annotatePool("brokers", apiv1.AnnotationRemoveNodeIDs, nil)
	c.await(time.Minute, c.isGone(&corev1.PersistentVolumeClaim{}, "data-0-"+podOfBroker(2)))
	c.nothingMore(since, entries{set: 2, lifted: 1, gone: 1})
	c.await(time.Minute, c.tells(since, "Cordoned: Broker 1", "Uncordoned: Broker 1", "Drained: Brokers 2", "BrokerRemoved: Broker 2", "BrokerUnregistered: Broker 2"))
	c.await(time.Minute, c.tells(since, "Cordoned: Broker 2", "BrokerRemoved: Broker 2"))
}

// raisedWhileDrained: the one that was to go stays, and new ones come beside it.
func (c *cluster) raisedWhileDrained() {
	c.putOn("moving", []int32{4, 0}, []int32{4, 1})
	since, before := c.ledger(), c.running()
	c.scale("brokers", 3)
	c.isCordoned(4)
	c.putOn("moving", []int32{3, 0}) // the drain has begun

	c.scale("brokers", 5)
	// 2 had been cordoned in its former life, and starts without anything of it.
	c.await(3*time.Minute, c.nodeIDsAre("brokers", 0, 1, 2, 3, 4))
	c.await(3*time.Minute, c.registered(0, 1, 2, 3, 4))
	c.isCordoned()
	c.await(time.Minute, c.isReady)
	c.createTopic("raised", 10, 3)
	c.holdsSomeOf("raised", 0, 1, 2, 3, 4)
	c.notRestarted(before)
	c.nothingMore(since, entries{set: 1, lifted: 1})
}

// topicsAllTheTime: topics that are created meanwhile land on the others, and the
// drain ends all the same.
func (c *cluster) topicsAllTheTime() {
	since, before := c.ledger(), c.running()
	topics := c.createTopics(200*time.Millisecond, "all-the-time-")
	topics.atLeast(5)
	c.scale("brokers", 3)
	c.isCordoned(3, 4)
	topics.mustNotLandOn(3, 4)
	topics.atLeast(10)
	c.drain(3, 4)
	c.await(3*time.Minute, c.nodeIDsAre("brokers", 0, 1, 2))
	c.await(3*time.Minute, c.registered(0, 1, 2))
	topics.atLeast(5)
	topics.stopAndVerify()
	c.await(time.Minute, c.isReady)
	c.notRestarted(before)
	c.nothingMore(since, entries{set: 2, gone: 2})
	for _, broker := range []string{"Broker 3", "Broker 4"} {
		c.await(time.Minute, c.tells(since, "Cordoned: "+broker, "Drained", "BrokerRemoved: "+broker, "BrokerUnregistered: "+broker))
	}
}

// emptyFromTheStart: brokers that hold nothing are cordoned, and looked at twice
// with that in effect, before they go.
func (c *cluster) emptyFromTheStart() {
	c.await(time.Minute, c.isGone(&corev1.PersistentVolumeClaim{}, "data-0-"+podOfBroker(3)))
	c.await(time.Minute, c.isGone(&corev1.PersistentVolumeClaim{}, "data-0-"+podOfBroker(4)))
	c.scale("brokers", 5)
	c.await(3*time.Minute, c.registered(0, 1, 2, 3, 4))
	c.await(time.Minute, c.isReady)
	since, before := c.ledger(), c.running()
	c.scale("brokers", 3)
	c.await(2*time.Minute, c.nodeIDsAre("brokers", 0, 1, 2))
	c.await(3*time.Minute, c.registered(0, 1, 2))
	c.nothingMore(since, entries{set: 2, gone: 2})
	for _, broker := range []string{"Broker 3", "Broker 4"} {
		c.await(time.Minute, c.tells(since, "Cordoned: "+broker, "BrokerRemoved: "+broker, "BrokerUnregistered: "+broker))
	}
	cordon, removal := c.eventTimes(since, "Cordoned"), c.eventTimes(since, "BrokerRemoved")
	if waited := removal[0].Sub(cordon[len(cordon)-1]); waited < scaledown.DefaultInterval {
		c.t.Errorf("the first broker was removed %s after the last was cordoned, want %s at least", waited, scaledown.DefaultInterval)
	}
	c.notRestarted(before)
}

// oneAfterTheOther: none goes before both are empty; and when the scale-down is
// taken back as one is gone and the other is stopping, neither comes back as it
// was: the ID of the first is free, and that of the second is not.
func (c *cluster) oneAfterTheOther() {
	c.await(time.Minute, c.isGone(&corev1.PersistentVolumeClaim{}, "data-0-"+podOfBroker(3)))
	c.await(time.Minute, c.isGone(&corev1.PersistentVolumeClaim{}, "data-0-"+podOfBroker(4)))
	c.scale("brokers", 5)
	c.await(3*time.Minute, c.registered(0, 1, 2, 3, 4))
	c.await(time.Minute, c.isReady)
	c.createTopic("one-after-the-other", 2, 2)
	c.putOn("one-after-the-other", []int32{3, 0}, []int32{4, 1})
	since, before := c.ledger(), c.running()

	c.scale("brokers", 3)
	c.isCordoned(3, 4)
	c.drainOnto([]int32{0, 1, 2}, 3)
	c.await(time.Minute, c.warnsAbout(apiv1.ReasonScaleDownPreventionCheck, "broker 4 holds "))
	// In that time the first has long shown to be empty.
	c.laterThan(time.Now().Add(3*scaledown.DefaultInterval), func() { c.nothingMore(since, entries{set: 2}) })
	c.hasNodeIDs("brokers", 0, 1, 2, 3, 4)
	if pods, err := c.pods(c.t.Context()); err != nil || len(pods) != 6 {
		c.t.Errorf("there are %d pods, %v", len(pods), err)
	}

	letGo := c.holdBack(podOfBroker(4))
	c.drainOnto([]int32{0, 1, 2}, 4)
	c.await(2*time.Minute, c.nodeIDsAre("brokers", 0, 1, 2))
	c.await(3*time.Minute, c.booked(since, entries{set: 2, gone: 1}))
	c.await(2*time.Minute, c.isGone(&corev1.PersistentVolumeClaim{}, "data-0-"+podOfBroker(3)))
	c.scale("brokers", 5)
	c.await(time.Minute, c.nodeIDsAre("brokers", 0, 1, 2, 3, 6))
	letGo()
	c.await(3*time.Minute, c.registered(0, 1, 2, 3, 6))
	c.await(2*time.Minute, c.isGone(&corev1.PersistentVolumeClaim{}, "data-0-"+podOfBroker(4)))
	c.isCordoned()
	c.await(time.Minute, c.isReady)
	c.createTopic("after-one-was-gone", 10, 3)
	c.holdsSomeOf("after-one-was-gone", 3, 6)
	delete(before, podOfBroker(3)) // it is another one
	c.notRestarted(before)
	c.nothingMore(since, entries{set: 2, gone: 2})
}

// isGone waits until there is no such object.
func (c *cluster) isGone(o client.Object, named string) func(context.Context) error {
	return func(ctx context.Context) error {
		err := c.client.Get(ctx, types.NamespacedName{Namespace: namespace, Name: named}, o)
		if apierrors.IsNotFound(err) {
			return nil
		}
		if err == nil {
			err = fmt.Errorf("%T %s is still there, with %v", o, named, o.GetFinalizers())
		}
		return err
	}
}

// warnsAbout waits for a warning with the reason that names something.
func (c *cluster) warnsAbout(reason, what string) func(context.Context) error {
	return func(ctx context.Context) error {
		k, err := c.get(ctx)
		if err != nil {
			return err
		}
		if text := warning(k, reason); !strings.Contains(text, what) {
			return fmt.Errorf("warning %s says %q, nothing about %s", reason, text, what)
		}
		return nil
	}
}

// eventTimes are when Events with that reason came about, ascending.
func (c *cluster) eventTimes(since ledger, reason string) []time.Time {
	c.t.Helper()
	all, err := c.eventsSince(c.t.Context(), since)
	if err != nil {
		c.t.Fatal(err)
	}
	var times []time.Time
	for _, e := range all {
		if e.Reason == reason {
			times = append(times, e.EventTime.Time)
		}
	}
	if len(times) == 0 {
		c.t.Fatalf("no Event %s", reason)
	}
	return times
}

// laterThan does something again and again, the last time after a time has passed.
func (c *cluster) laterThan(end time.Time, do func()) {
	c.t.Helper()
	for last := false; !last; {
		last = time.Now().After(end)
		do()
	}
}

// holdBack keeps a pod in its termination until the returned function is called.
func (c *cluster) holdBack(pod string) func() {
	c.t.Helper()
	p := &corev1.Pod{}
	p.Namespace, p.Name = namespace, pod
	c.mergeInto(p, map[string]any{"metadata": map[string]any{"finalizers": []string{"example.org/holds"}}})
	return func() {
		c.t.Helper()
		c.mergeInto(p, map[string]any{"metadata": map[string]any{"finalizers": nil}})
	}
}
