package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/sluice-kafka/sluice/test/kafka"
	"github.com/sluice-kafka/sluice/test/kafka/mover"
)

// TestMetadataVersionRaisedDuringADrain begins where Kafka could cordon, and its
// metadata version does not let it: the drain goes on without, and as soon as the
// level rises, which the Kafka asks for meanwhile, the brokers are cordoned.
func TestMetadataVersionRaisedDuringADrain(t *testing.T) {
	c := startCluster(t, clusterOptions{brokers: 4, metadata: "4.2-IV1"})
	c.createTopic("orders", 6, 3)
	load := c.startLoad("orders")
	before, done := c.running(), c.tally()

	c.scale("brokers", 3)
	c.await(slow, c.warnsOf("ScaleDownPreventionCheck", "3"))
	c.await(slow, c.warnsOf("CordonAwaitsMetadataVersion", "4.3-IV0"))
	c.looks(2)
	c.did(done, tally{})
	c.createTopic("meanwhile", 8, 3)
	c.holdsSomeOf("meanwhile", 3)
	// The drain is under way: of one topic all has left the broker already.
	c.moveTopic("orders", 3, 0, 1, 2)
	c.holdsNothingOf("orders", 3)

	c.mergePatch(`{"spec":{"kafka":{"metadataVersion":"4.3-IV0"}}}`)
	c.await(slow, c.cordoned(3))
	c.await(slow, c.doesNotWarn("CordonAwaitsMetadataVersion"))
	c.did(done, tally{set: 1, alters: 1})
	c.hasNodeIDs("brokers", 0, 1, 2, 3)
	c.createTopic("afterwards", 8, 3)
	c.holdsNothingOf("afterwards", 3)

	c.drain(3)
	c.await(slow, c.nodeIDsAre("brokers", 0, 1, 2))
	c.await(slow, c.registered(0, 1, 2))
	c.await(slow, c.isReady)
	c.notRestarted(before)
	// The cordon, and what is cleared before the broker is unregistered.
	c.did(done, tally{set: 1, alters: 2, unregistered: 1})
	c.await(slow, c.toldInOrder("ScaleDownHeld", "MetadataVersionRaised", "Cordoned", "Drained", "BrokerRemoved", "BrokerUnregistered"))
	load.stopAndVerify()
}

// TestOtherVersions scales down, and back, with the versions of Kafka that are not
// the default: kafkaVersions says which.
func TestOtherVersions(t *testing.T) {
	for _, version := range kafkaVersions() {
		if version == kafka.DefaultVersion {
			continue
		}
		t.Run(version, func(t *testing.T) {
			c := startCluster(t, clusterOptions{brokers: 4, version: version})
			if strings.HasPrefix(version, "4.2.") {
				c.leavesUncordoned()
				return
			}
			c.leavesAndComesBack()
		})
	}
}

// leavesUncordoned takes a broker away from a Kafka that knows of no cordon.
func (c *cluster) leavesUncordoned() {
	c.createTopic("orders", 6, 3)
	load := c.startLoad("orders")
	before, done := c.running(), c.tally()

	c.scale("brokers", 3)
	c.await(slow, c.warnsOf("ScaleDownPreventionCheck", "3"))
	c.looks(2)
	c.createTopic("meanwhile", 8, 3)
	c.holdsSomeOf("meanwhile", 3)
	if k, err := c.get(c.t.Context()); err != nil || warning(k, "CordonAwaitsMetadataVersion") != "" {
		c.t.Errorf("a version without cordons is told to wait for one: %v, %+v", err, k.Status.Conditions)
	}
	c.configMapLacks(3, cordonOption)
	c.did(done, tally{})

	// Cancelled it is as if nothing had been.
	c.scale("brokers", 4)
	c.await(slow, c.doesNotWarn("ScaleDownPreventionCheck"))
	c.did(done, tally{})

	c.scale("brokers", 3)
	c.await(slow, c.warnsOf("ScaleDownPreventionCheck", "3"))
	c.drain(3)
	empty := time.Now()
	c.await(slow, c.nodeIDsAre("brokers", 0, 1, 2))
	if took := time.Since(empty); took < 30*time.Second {
		c.t.Errorf("the broker went %s after it was empty; without a cordon that takes 30 s", took)
	}
	c.await(slow, c.registered(0, 1, 2))
	c.await(slow, c.isReady)
	c.notRestarted(before)
	// What anybody configured for the broker is cleared before it is unregistered.
	c.did(done, tally{alters: 1, unregistered: 1})
	c.await(slow, c.toldInOrder("ScaleDownHeld", "Drained", "BrokerRemoved", "BrokerUnregistered"))
	load.stopAndVerify()
}

// leavesAndComesBack cancels one scale-down and lets another one end.
func (c *cluster) leavesAndComesBack() {
	c.createTopic("orders", 6, 3)
	load := c.startLoad("orders")
	before, done := c.running(), c.tally()

	c.scale("brokers", 3)
	c.await(slow, c.cordoned(3))
	c.await(slow, c.warnsOf("ScaleDownPreventionCheck", "3"))
	c.createTopic("meanwhile", 8, 3)
	c.holdsNothingOf("meanwhile", 3)
	c.did(done, tally{set: 1, alters: 1})

	c.scale("brokers", 4)
	c.await(slow, c.cordoned())
	c.await(slow, c.doesNotWarn("ScaleDownPreventionCheck"))
	c.did(done, tally{set: 1, lifted: 1, alters: 2})
	c.createTopic("again", 8, 3)
	c.holdsSomeOf("again", 3)

	c.scale("brokers", 3)
	c.await(slow, c.cordoned(3))
	c.drain(3)
	c.await(slow, c.nodeIDsAre("brokers", 0, 1, 2))
	c.await(slow, c.registered(0, 1, 2))
	c.await(slow, c.isReady)
	c.notRestarted(before)
	c.did(done, tally{set: 2, lifted: 1, alters: 4, unregistered: 1})
	c.await(slow, c.toldInOrder("Cordoned", "ScaleDownHeld", "Uncordoned", "Cordoned", "Drained", "BrokerRemoved", "BrokerUnregistered"))
	load.stopAndVerify()
}

// warnsOf waits for a condition of type Warning whose message has the text.
func (c *cluster) warnsOf(reason, text string) func(context.Context) error {
	return func(ctx context.Context) error {
		k, err := c.get(ctx)
		if err != nil {
			return err
		}
		if message := warning(k, reason); !strings.Contains(message, text) || message == "" {
			return fmt.Errorf("no warning %s with %q: %+v", reason, text, k.Status.Conditions)
		}
		return nil
	}
}

// moveTopic moves the replicas of a topic off a broker.
func (c *cluster) moveTopic(topic string, from int32, to ...int32) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), patience*slow)
	defer cancel()
	if err := (mover.Mover{Client: c.kadm, Topics: []string{topic}}).Drain(ctx, []int32{from}, to); err != nil {
		c.t.Fatal(err)
	}
}

// configMapLacks fails where the text is in what a broker's pod starts with.
func (c *cluster) configMapLacks(broker int32, text string) {
	c.t.Helper()
	cm := &corev1.ConfigMap{}
	if err := c.client.Get(c.t.Context(), brokerPod(broker), cm); err != nil {
		c.t.Fatal(err)
	}
	if strings.Contains(cm.Data["server.config"], text) || cm.Data["server.config"] == "" {
		c.t.Errorf("the ConfigMap of broker %d has %s:\n%s", broker, text, cm.Data["server.config"])
	}
}
