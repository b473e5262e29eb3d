package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
)

// TestRack has brokers tell Kafka the zone of the node that they run on, and a
// pool that only nodes without one are left for.
func TestRack(t *testing.T) {
	c := startCluster(t, clusterOptions{
		brokers: 2, nodes: map[string]map[string]string{
			"node-a": {corev1.LabelTopologyZone: "a", corev1.LabelHostname: "node-a"},
			"node-b": {corev1.LabelTopologyZone: "b", corev1.LabelHostname: "node-b"},
			"node-c": {corev1.LabelHostname: "node-c"},
		},
		kafka: func(k *apiv1.Kafka) {
			twoReplicas(k)
			fromYAML("topologyKey: "+corev1.LabelTopologyZone, &k.Spec.Kafka.Rack)
		},
	})
	pods, err := c.pods(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c.await(time.Minute, func(ctx context.Context) error {
		r, err := c.admin.DescribeCluster(ctx)
		if err != nil {
			return err
		}
		seen := map[string]bool{}
		for id := range int32(2) {
			b, ok := r.Broker(id)
			want := strings.TrimPrefix(pods[podOf("brokers", id)].Spec.NodeName, "node-")
			if !ok || b.Rack != want {
				return fmt.Errorf("broker %d is in rack %q, and its pod on node %s", id, b.Rack, pods[podOf("brokers", id)].Spec.NodeName)
			}
			seen[b.Rack] = true
		}
		if len(seen) != 2 {
			return fmt.Errorf("both brokers are in one rack: %v", seen)
		}
		return nil
	})
	before := c.running()

	bare := newPool("bare", 1, apiv1.RoleBroker)
	only := map[string]any{"nodeSelectorTerms": []any{map[string]any{"matchExpressions": []any{
		map[string]any{"key": corev1.LabelHostname, "operator": "In", "values": []any{"node-c"}},
	}}}}
	affinity := map[string]any{"nodeAffinity": map[string]any{"requiredDuringSchedulingIgnoredDuringExecution": only}}
	if err := unstructured.SetNestedMap(bare.Object, affinity, "spec", "template", "pod", "affinity"); err != nil {
		t.Fatal(err)
	}
	create(t, c.client, bare)
	c.await(time.Minute, func(ctx context.Context) error {
		k, err := c.get(ctx)
		if err != nil {
			return err
		}
		for _, cond := range k.Status.Conditions {
			if cond.Type == "NotReady" && strings.Contains(cond.Message, podOf("bare", 3)) && strings.Contains(cond.Message, corev1.LabelTopologyZone) {
				return nil
			}
		}
		return fmt.Errorf("no condition tells that no node with a zone is left for pod %s: %+v", podOf("bare", 3), k.Status.Conditions)
	})
	c.notRestarted(before)
}
