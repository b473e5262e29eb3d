package e2e

import (
	"maps"
	"slices"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
)

// TestRoleLoss takes the broker role from nodes that have both, under load: they
// are emptied first, stay controllers, and are brokers no more.
func TestRoleLoss(t *testing.T) {
	c := startCluster(t, clusterOptions{kafka: twoReplicas, pools: []client.Object{
		newPool("mixed", 3, apiv1.RoleController, apiv1.RoleBroker), newPool("only", 2, apiv1.RoleBroker),
	}})
	// The lowest numbers go to the first pool by name.
	mixed := []int32{0, 1, 2}
	c.createTopic("orders", 10, 2)
	c.holdsSomeOf("orders", mixed...)
	load := c.startLoad("orders")
	before, counted := c.running(), c.read()

	c.patchPool("mixed", map[string]any{"spec": map[string]any{"roles": []string{apiv1.RoleController}}})
	c.await(time.Minute, c.cordoned(mixed...))
	c.await(time.Minute, c.warns("ScaleDownPreventionCheck"))
	c.createTopic("meanwhile", 6, 2)
	c.holdsNothingOf("meanwhile", mixed...)
	c.look(2)
	c.notRestarted(before)

	restarts := c.watchRestarts()
	c.drain(mixed...)
	order := c.oneByOne(restarts, 3, 5*time.Minute)
	want := []string{podOf("mixed", 0), podOf("mixed", 1), podOf("mixed", 2)}
	if !slices.Equal(slices.Sorted(slices.Values(order)), want) {
		t.Errorf("restarted were %v, want each of %v", order, want)
	}
	c.await(2*time.Minute, c.registered(3, 4))
	c.await(time.Minute, c.isReady)
	c.await(time.Minute, c.doesNotWarn("ScaleDownPreventionCheck"))
	c.hasNodeIDs("mixed", 0, 1, 2)
	c.hasNodeIDs("only", 3, 4)
	if q, err := c.admin.Quorum(t.Context()); err != nil || len(q.Voters) != 3 {
		t.Errorf("the quorum: %+v, %v", q, err)
	}
	pods, err := c.pods(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, pod := range want {
		if l := pods[pod].Labels; l[apiv1.LabelBrokerRole] != "false" || l[apiv1.LabelControllerRole] != "true" {
			t.Errorf("labels of %s: %v", pod, l)
		}
		delete(before, pod)
	}
	c.notRestarted(before)
	did := c.read().since(counted)
	if did.calls["UnregisterBroker"] != 3 || !maps.Equal(did.cordons, map[string]int{"set": 3}) {
		t.Errorf("three were to be cordoned once, and unregistered once: %v, cordons %v", did.calls, did.cordons)
	}
	load.stopAndVerify()
	c.isQuiet(2)
}
