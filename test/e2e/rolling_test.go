package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sluice-kafka/sluice/test/kafka/traffic"
)

// TestRolling restarts the nodes of a cluster for several reasons, under load.
func TestRolling(t *testing.T) {
	c := startCluster(t, clusterOptions{brokers: 3, controllers: 3})
	c.scene("a static option changes", underLoad("orders", (*cluster).staticOption))
	c.scene("templated volumes change", underLoad("invoices", (*cluster).templatedVolumes))
}

// underLoad is a scene while records of a new topic are written and read, which
// sees to it that nobody noticed anything.
func underLoad(topic string, play func(*cluster)) func(*cluster) {
	return func(c *cluster) {
		c.t.Helper()
		c.createTopic(topic, 6, 3)
		load := c.startLoad(topic)
		reader, err := traffic.StartReader([]string{bootstrap}, "readers-of-"+topic, topic)
		if err != nil {
			c.t.Fatal(err)
		}
		defer reader.Stop()
		poll := c.pollInSync(topic, 2)
		play(c)
		poll()
		ctx, cancel := context.WithTimeout(c.t.Context(), time.Minute)
		defer cancel()
		if err := reader.Await(ctx, load.Traffic); err != nil {
			c.t.Error(err)
		}
		if r := load.stopAndVerify(); r.Refused > 0 {
			c.t.Errorf("%d records were refused, the last: %v", r.Refused, r.Refusal)
		}
	}
}

// pollInSync looks at a topic's partitions all the time until the returned
// function is called, which fails where any had fewer in-sync replicas.
func (c *cluster) pollInSync(topic string, minimum int) func() {
	ctx, cancel := context.WithCancel(c.t.Context())
	var (
		done  sync.WaitGroup
		under []string
		looks int
	)
	done.Go(func() {
		ticker := time.NewTicker(50 * time.Millisecond)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
			case <-ctx.Done():
				return
			}
			topics, err := c.kadm.ListTopics(ctx, topic)
			if err != nil || topics[topic].Err != nil {
				continue // the broker that was asked is the one that restarts
			}
			looks++
			for _, p := range topics[topic].Partitions.Sorted() {
				if len(p.ISR) < minimum {
					under = append(under, fmt.Sprintf("%s-%d: %v of %v", topic, p.Partition, p.ISR, p.Replicas))
				}
			}
		}
	})
	return func() {
		c.t.Helper()
		cancel()
		done.Wait()
		c.t.Logf("looked at the in-sync replicas %d times", looks)
		if looks < 10 || len(under) > 0 {
			c.t.Errorf("in %d looks partitions were under their minimum: %v", looks, under)
		}
	}
}

// podOf is the name of a node's pod.
func podOf(pool string, id int32) string { return fmt.Sprintf("%s-%s-%d", name, pool, id) }

func (c *cluster) staticOption() {
	c.t.Helper()
	var active int32
	c.await(30*time.Second, func(ctx context.Context) error {
		q, err := c.admin.Quorum(ctx)
		active = q.Leader
		return err
	})
	before := c.read()
	r := c.watchRestarts()
	c.configure(map[string]any{"queued.max.requests": 400})
	order := c.oneByOne(r, 6, 5*time.Minute)

	isController := func(pod string) bool { return strings.Contains(pod, "-controllers-") }
	for i, pod := range order {
		if isController(pod) != (i < 3) {
			c.t.Errorf("controllers come before brokers: %v", order)
			break
		}
	}
	if order[2] != podOf("controllers", active) {
		c.t.Errorf("the active controller, %d, comes last of the controllers: %v", active, order)
	}
	for id := range int32(3) {
		config, err := c.admin.BrokerConfig(c.t.Context(), id)
		if err != nil || config["queued.max.requests"].Value != "400" {
			c.t.Errorf("broker %d runs with queued.max.requests %q (%v)", id, config["queued.max.requests"].Value, err)
		}
	}
	if did := c.read().since(before); did.calls["IncrementalAlterConfigs"] > 0 {
		c.t.Errorf("a static option was set: %v", did.calls)
	}
}

func (c *cluster) templatedVolumes() {
	c.t.Helper()
	for id := range 3 {
		create(c.t, c.client, &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: fmt.Sprintf("app-%d", id)},
			StringData: map[string]string{"token": fmt.Sprintf("the token of %d", id)},
		})
	}
	r := c.watchRestarts()
	c.patchPool("brokers", map[string]any{"spec": map[string]any{"template": map[string]any{
		"pod": map[string]any{"templatedVolumes": []any{
			map[string]any{"name": "app", "secret": map[string]any{"secretName": "app-{nodeId}"}},
		}},
		"kafkaContainer": map[string]any{"volumeMounts": []any{map[string]any{"name": "app", "mountPath": "/mnt/app"}}},
	}}})
	order := c.oneByOne(r, 3, 5*time.Minute)
	if want := []string{podOf("brokers", 0), podOf("brokers", 1), podOf("brokers", 2)}; !slices.Equal(slices.Sorted(slices.Values(order)), want) {
		c.t.Errorf("restarted were %v, want each of %v once", order, want)
	}
	pods, err := c.pods(c.t.Context())
	if err != nil {
		c.t.Fatal(err)
	}
	for id := range int32(3) {
		// As the broker's process sees it.
		file := filepath.Join("/proc", fmt.Sprint(process(c.t, pods[podOf("brokers", id)])), "root/mnt/app/token")
		raw, err := os.ReadFile(file)
		if want := fmt.Sprintf("the token of %d", id); err != nil || string(raw) != want {
			c.t.Errorf("broker %d sees %q, want %q (%v)", id, raw, want, err)
		}
	}
}
