package e2e

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/observed"
)

// TestOptions changes dynamic options of a running cluster, one that was formatted
// with eligible leader replicas (KIP-966) and one without.
func TestOptions(t *testing.T) {
	for name, metadata := range map[string]string{
		"with eligible leader replicas":    "4.3-IV0",
		"without eligible leader replicas": "4.0-IV3",
	} {
		t.Run(name, func(t *testing.T) {
			// Nodes that are controllers alone would be restarted: no broker passes
			// options on to them.
			c := startCluster(t, clusterOptions{metadata: metadata, kafka: twoReplicas, pools: twoBrokers()})
			features, err := c.admin.Features(t.Context())
			if err != nil || features.EligibleLeaderReplicas != (metadata == "4.3-IV0") {
				t.Fatalf("features %+v, %v", features, err)
			}
			before := c.running()
			quiet := func(c *cluster) { c.isQuiet(2) }
			c.scene("nothing is to be done", quiet)
			c.scene("options come, change and go", (*cluster).dynamicOptions)
			c.scene("threads change in steps", (*cluster).threadPools)
			c.scene("one option is refused", (*cluster).refusedOption)
			c.scene("nothing is left to be done", quiet)
			c.notRestarted(before)
		})
	}
}

// twoBrokers are broker 0 and node 1, which is a controller too.
func twoBrokers() []client.Object {
	return []client.Object{newPool("brokers", 1, apiv1.RoleBroker), newPool("mixed", 1, apiv1.RoleController, apiv1.RoleBroker)}
}

// twoReplicas is for clusters of two brokers.
func twoReplicas(k *apiv1.Kafka) {
	fromYAML(`
default.replication.factor: 2
min.insync.replicas: 1
offsets.topic.replication.factor: 2
transaction.state.log.replication.factor: 2
transaction.state.log.min.isr: 1
`, &k.Spec.Kafka.Config)
}

// optionStep changes options in the Kafka.
type optionStep struct {
	// change of spec.kafka.config; nil takes an option away.
	change map[string]any
	// want is what both brokers go by afterwards.
	want map[string]string
	// calls are how many change it in Kafka: one for all brokers, and one for each.
	calls int
}

func (c *cluster) dynamicOptions() {
	c.t.Helper()
	const all, one = "log.retention.ms", "ssl.protocol"
	for _, s := range []optionStep{
		{change: map[string]any{all: 7200000}, want: map[string]string{all: "7200000"}, calls: 1},
		{change: map[string]any{one: "TLSv1.2"}, want: map[string]string{one: "TLSv1.2"}, calls: 2},
		{change: map[string]any{all: 7300000, "log.cleaner.min.cleanable.ratio": 0.25, "log.cleanup.policy": "compact, delete"},
			want: map[string]string{all: "7300000", "log.cleaner.min.cleanable.ratio": "0.25", "log.cleanup.policy": "compact,delete"}, calls: 1},
		{change: map[string]any{"min.insync.replicas": 2}, want: map[string]string{"min.insync.replicas": "2"}, calls: 1},
		{change: map[string]any{all: nil, one: nil, "log.cleaner.min.cleanable.ratio": nil, "log.cleanup.policy": nil},
			want: map[string]string{all: "", one: "TLSv1.3", "log.cleaner.min.cleanable.ratio": "0.5", "log.cleanup.policy": "delete"}, calls: 3},
		// With eligible leader replicas it cannot be unset, and the brokers have read
		// it from their files: it is set to Kafka's default.
		{change: map[string]any{"min.insync.replicas": nil}, want: map[string]string{"min.insync.replicas": "1"}, calls: 1},
	} {
		before := c.read()
		c.configure(s.change)
		c.await(time.Minute, c.effective(s.want))
		c.await(time.Minute, c.isReady)
		c.look(2)
		if got := c.read().since(before).calls["IncrementalAlterConfigs"]; got != s.calls {
			c.t.Errorf("%v: %d calls, want %d", s.change, got, s.calls)
		}
	}
}

// effective waits until both brokers go by these values.
func (c *cluster) effective(want map[string]string) func(context.Context) error {
	return func(ctx context.Context) error {
		var failed []error
		for id := range int32(2) {
			config, err := c.admin.BrokerConfig(ctx, id)
			if err != nil {
				return err
			}
			for name, value := range want {
				if config[name].Value != value {
					failed = append(failed, fmt.Errorf("broker %d has %s=%s, want %s", id, name, config[name].Value, value))
				}
			}
		}
		return errors.Join(failed...)
	}
}

// threadPools: Kafka lets a pool of threads at most double or halve at a time.
func (c *cluster) threadPools() {
	c.t.Helper()
	before := c.read()
	c.configure(map[string]any{"num.io.threads": 40})
	c.await(2*time.Minute, c.effective(map[string]string{"num.io.threads": "40"}))
	c.look(2)
	if got := c.read().since(before).calls["IncrementalAlterConfigs"]; got != 3 {
		c.t.Errorf("from 8 threads to 40: %d calls, want 3: to 16, 32 and 40", got)
	}
	c.configure(map[string]any{"num.io.threads": nil})
	c.await(2*time.Minute, c.effective(map[string]string{"num.io.threads": "8"}))
}

// refusedOption sets one that every broker refuses, for there is no such class,
// and another beside it.
func (c *cluster) refusedOption() {
	c.t.Helper()
	const bad, good = "metric.reporters", "log.segment.bytes"
	c.configure(map[string]any{bad: "org.example.NoSuchReporter", good: 536870912})
	c.await(time.Minute, c.effective(map[string]string{good: "536870912"}))
	c.await(time.Minute, c.warns("InvalidConfig"))
	k, err := c.get(c.t.Context())
	if err != nil {
		c.t.Fatal(err)
	}
	if text := warning(k, "InvalidConfig"); !strings.Contains(text, bad) || strings.Contains(text, good) {
		c.t.Errorf("the condition should name %s alone: %s", bad, text)
	}
	c.await(time.Minute, c.told("OptionRefused", bad))
	c.configure(map[string]any{bad: nil, good: nil})
	c.await(time.Minute, c.doesNotWarn("InvalidConfig"))
	c.await(time.Minute, func(ctx context.Context) error {
		config, err := c.admin.DefaultConfig(ctx)
		if err != nil {
			return err
		}
		if value, set := config[good].Synonym(good, observed.SourceDefault); set {
			return fmt.Errorf("%s is still set to %s", good, value)
		}
		return nil
	})
}
