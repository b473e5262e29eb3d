package e2e

import (
	"context"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluice-kafka/sluice/test/kafka/mover"
)

// TestRollback takes a scale-down back while replicas are moving.
func TestRollback(t *testing.T) {
	c := startCluster(t, clusterOptions{brokers: 5})
	c.createTopic("orders", 10, 3)
	c.createTopic("bulk", 2, 2)
	c.putOn("bulk", []int32{3, 4}, []int32{4, 3})
	c.fill("bulk", 2, 6<<20)
	load := c.startLoad("orders")
	before, since := c.running(), c.ledger()

	c.scale("brokers", 3)
	c.isCordoned(3, 4)
	c.await(time.Minute, c.warns("ScaleDownPreventionCheck"))
	c.await(time.Minute, c.gauge("sluice_cluster_draining_brokers", 2))
	c.await(time.Minute, c.booked(since, entries{set: 2}))
	c.throttle("bulk", 1, 0, 1, 2)
	m := mover.Mover{Client: c.kadm}
	if moving, err := m.Submit(t.Context(), []int32{3, 4}, []int32{0, 1, 2}); err != nil || moving == 0 {
		t.Fatalf("moving %d partitions: %v", moving, err)
	}
	// Kafka is moving them: no further call.
	c.nothingMore(since, entries{set: 2})

	c.scale("brokers", 5)
	c.await(time.Minute, c.gauge("sluice_cluster_draining_brokers", 0))
	if cancelled, err := m.Cancel(t.Context()); err != nil || cancelled == 0 {
		t.Fatalf("nothing was moving any more when the scale-down was taken back (%d reassignments, %v)", cancelled, err)
	}
	c.isCordoned()
	for _, broker := range []int32{3, 4} {
		c.await(time.Minute, c.cordonSetTo(broker, nil))
	}
	c.await(time.Minute, c.doesNotWarn("ScaleDownPreventionCheck"))
	c.await(time.Minute, c.isReady)
	c.holdsSomeOf("bulk", 3, 4)
	c.createTopic("afterwards", 10, 3)
	c.holdsSomeOf("afterwards", 3, 4)

	c.nothingMore(since, entries{set: 2, lifted: 2})
	for _, broker := range []string{"Broker 3", "Broker 4"} {
		c.await(time.Minute, c.tells(since, "Cordoned: "+broker, "ScaleDownHeld", "Uncordoned: "+broker))
	}
	c.hasNodeIDs("brokers", 0, 1, 2, 3, 4)
	c.notRestarted(before)
	load.stopAndVerify()
}

// fill writes that many bytes to each partition of a topic.
func (c *cluster) fill(topic string, partitions int32, bytes int) {
	c.t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(bootstrap), kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.ProducerBatchCompression(kgo.NoCompression()))
	if err != nil {
		c.t.Fatal(err)
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(c.t.Context(), 2*time.Minute)
	defer cancel()
	const size = 100_000
	var records []*kgo.Record
	for p := range partitions {
		for range bytes/size + 1 {
			records = append(records, &kgo.Record{Topic: topic, Partition: p, Value: make([]byte, size)})
		}
	}
	if err := client.ProduceSync(ctx, records...).FirstErr(); err != nil {
		c.t.Fatal(err)
	}
}

// throttle bounds how many bytes a second of a topic brokers copy that are not in
// sync with it.
func (c *cluster) throttle(topic string, bytesPerSecond int, brokers ...int32) {
	c.t.Helper()
	set := func(key, value string) kadm.AlterConfig {
		return kadm.AlterConfig{Op: kadm.SetConfig, Name: key, Value: &value}
	}
	answers, err := c.kadm.AlterTopicConfigs(c.t.Context(), []kadm.AlterConfig{set("follower.replication.throttled.replicas", "*")}, topic)
	if err != nil || len(answers) != 1 || answers[0].Err != nil {
		c.t.Fatalf("throttling %s: %+v, %v", topic, answers, err)
	}
	for _, broker := range brokers {
		answers, err := c.kadm.AlterBrokerConfigs(c.t.Context(),
			[]kadm.AlterConfig{set("follower.replication.throttled.rate", strconv.Itoa(bytesPerSecond))}, broker)
		if err != nil || len(answers) != 1 || answers[0].Err != nil {
			c.t.Fatalf("throttling broker %d: %+v, %v", broker, answers, err)
		}
	}
	c.await(time.Minute, func(ctx context.Context) error {
		for _, broker := range brokers {
			config, err := c.admin.BrokerConfig(ctx, broker)
			if err != nil {
				return err
			}
			if got := config["follower.replication.throttled.rate"].Value; got != strconv.Itoa(bytesPerSecond) {
				return fmt.Errorf("the rate of broker %d is %s", broker, got)
			}
		}
		return nil
	})
}
