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
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/facts"
)

// TestLifecycle follows one cluster: its Events tell of a scale-down in order, it
// is left alone where it is somebody else's, and everything goes with its Kafka.
func TestLifecycle(t *testing.T) {
	brokers := newPool("brokers", 2, apiv1.RoleBroker)
	keep := []any{map[string]any{"id": int64(0), "type": "persistent-claim", "size": "1Gi", "deleteClaim": false}}
	if err := unstructured.SetNestedSlice(brokers.Object, keep, "spec", "storage", "volumes"); err != nil {
		t.Fatal(err)
	}
	c := startCluster(t, clusterOptions{kafka: twoReplicas, pools: []client.Object{newPool("mixed", 1, apiv1.RoleController, apiv1.RoleBroker), brokers}})
	c.createTopic("orders", 6, 2)
	c.scene("a scale-down is told in order", (*cluster).scaleDownIsTold)
	c.scene("admission goes by what was seen", (*cluster).deletionIsRefused)
	c.scene("somebody else's clusters are left alone", (*cluster).othersAreLeftAlone)
	c.scene("everything goes with the Kafka", (*cluster).goesWithItsKafka)
	c.scene("everything goes with the namespace, without the operator", (*cluster).goesWithoutOperator)
}

func (c *cluster) scaleDownIsTold() {
	c.t.Helper()
	before, running := c.read(), c.running()
	c.scale("brokers", 1)
	c.await(time.Minute, c.cordoned(1))
	c.await(time.Minute, c.told("ScaleDownHeld", "replica"))
	c.drain(1)
	c.await(2*time.Minute, c.registered(0, 2))
	c.await(time.Minute, c.told("BrokerUnregistered", "1"))
	c.await(time.Minute, c.isReady)
	c.notRestarted(running)
	// The Events come a moment after what they tell of.
	c.await(time.Minute, func(ctx context.Context) error {
		story, notes, err := c.story(ctx)
		want := []string{"ClusterCreated", "Cordoned", "ScaleDownHeld", "Drained", "BrokerRemoved", "BrokerUnregistered"}
		if err == nil && !slices.Equal(story, want) {
			err = fmt.Errorf("the Events tell %s, want %v", strings.Join(notes, "\n"), want)
		}
		return err
	})
	did := c.read().since(before)
	if did.calls["IncrementalAlterConfigs"] != 2 || did.calls["UnregisterBroker"] != 1 || !maps.Equal(did.cordons, map[string]int{"set": 1}) {
		c.t.Errorf("one SET, a clearing and an unregistration were to be: %v, cordons %v", did.calls, did.cordons)
	}
}

// deletionIsRefused: the facts say how many replicas the pool's brokers hold.
func (c *cluster) deletionIsRefused() {
	c.t.Helper()
	var held int64
	c.await(time.Minute, func(ctx context.Context) error {
		cm := &corev1.ConfigMap{}
		if err := c.client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: facts.Name(name)}, cm); err != nil {
			return err
		}
		f, err := facts.Decode(cm)
		if err != nil {
			return err
		}
		partitions, err := c.admin.Partitions(ctx)
		if err != nil {
			return err
		}
		want := map[int32]int64{}
		for _, p := range partitions {
			for _, id := range p.Replicas {
				want[id]++
			}
		}
		got := map[int32]int64{}
		for _, b := range f.Brokers {
			if b.Replicas == nil || b.Cordoned == nil || len(b.Volumes) != 1 {
				return fmt.Errorf("broker %d in the facts: %+v", b.ID, b)
			}
			got[b.ID] = *b.Replicas
		}
		held = got[0]
		if !maps.Equal(got, want) {
			return fmt.Errorf("the facts have the brokers hold %v replicas, and they hold %v", got, want)
		}
		return nil
	})
	p := &apiv1.KafkaNodePool{}
	p.Namespace, p.Name = namespace, "brokers"
	// Admission hears of the facts a moment later.
	c.await(30*time.Second, func(ctx context.Context) error {
		err := c.client.Delete(ctx, p, client.DryRunAll)
		if want := fmt.Sprintf("%d replicas", held); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "broker 0") {
			return fmt.Errorf("deleting the pool should be refused and name broker 0 with %s: %w", want, err)
		}
		return nil
	})
}

func (c *cluster) othersAreLeftAlone() {
	c.t.Helper()
	other := newKafka(clusterOptions{version: "4.3.1"})
	other.Name, other.Annotations = "not-ours", nil
	pool := newPool("not-ours", 1, apiv1.RoleController, apiv1.RoleBroker)
	pool.SetLabels(map[string]string{apiv1.LabelCluster: "not-ours"})
	create(c.t, c.client, other, pool)

	c.annotate(map[string]any{apiv1.AnnotationPauseReconciliation: "true"})
	c.await(time.Minute, c.hasCondition(apiv1.ConditionReconciliationPaused, ""))
	c.isUntouched()
	c.annotate(map[string]any{apiv1.AnnotationPauseReconciliation: nil})
	c.await(time.Minute, c.isReady)

	set := c.podSet()
	c.look(1)
	c.await(time.Minute, c.hasCondition("Warning", "StrimziPodSetExists"))
	c.await(time.Minute, c.told("StandingBack", set.GetName()))
	c.isUntouched()
	if err := c.client.Delete(c.t.Context(), set); err != nil {
		c.t.Fatal(err)
	}
	c.look(1)
	c.await(time.Minute, c.isReady)
	c.await(time.Minute, c.doesNotWarn("StrimziPodSetExists"))
	if err := c.client.Get(c.t.Context(), client.ObjectKeyFromObject(other), other); err != nil || len(other.Status.Conditions) > 0 || other.Status.ClusterID != "" {
		c.t.Errorf("a Kafka that was not handed to the operator: %v, %+v", err, other.Status)
	}
	if err := c.client.Get(c.t.Context(), client.ObjectKeyFromObject(pool), pool); err != nil || len(pool.GetFinalizers()) > 0 {
		c.t.Errorf("its pool: %v, finalizers %v", err, pool.GetFinalizers())
	}
	for what := range c.versions() {
		if strings.Contains(what, "not-ours") && what != "Kafka not-ours" && what != "KafkaNodePool not-ours" {
			c.t.Errorf("it has a %s", what)
		}
	}
	for _, o := range []client.Object{other, pool} {
		if err := c.client.Delete(c.t.Context(), o); err != nil {
			c.t.Fatal(err)
		}
	}
}

// isUntouched changes what would be followed at once, an option and a pool, and
// has the operator look at it: nothing comes of it.
func (c *cluster) isUntouched() {
	c.t.Helper()
	before, versions := c.read(), c.versions()
	c.configure(map[string]any{"log.retention.ms": 7200000})
	c.patchPool("brokers", map[string]any{"spec": map[string]any{"jvmOptions": map[string]any{"-Xmx": "300m"}}})
	c.look(3)
	did := c.read().since(before)
	if did.writes > 0 || len(did.calls) > 0 {
		c.t.Errorf("the operator wrote %d times and called Kafka: %v", did.writes, did.calls)
	}
	for what, version := range c.versions() {
		if version != versions[what] && what != "Kafka "+name && what != "KafkaNodePool brokers" {
			c.t.Errorf("%s was written", what)
		}
	}
	c.patchPool("brokers", map[string]any{"spec": map[string]any{"jvmOptions": map[string]any{"-Xmx": "256m"}}})
	c.configure(map[string]any{"log.retention.ms": nil})
}

// hasCondition waits until the Kafka has it.
func (c *cluster) hasCondition(kind, reason string) func(context.Context) error {
	return func(ctx context.Context) error {
		k, err := c.get(ctx)
		if err != nil {
			return err
		}
		for _, cond := range k.Status.Conditions {
			if cond.Type == kind && cond.Reason == reason && cond.Status == "True" {
				return nil
			}
		}
		return fmt.Errorf("no condition %s %s in %+v", kind, reason, k.Status.Conditions)
	}
}

// podSet has the API server serve StrimziPodSets, and creates one of the cluster.
func (c *cluster) podSet() *unstructured.Unstructured {
	c.t.Helper()
	crd := map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": "strimzipodsets." + apiv1.GroupStrimziPodSet},
		"spec": map[string]any{
			"group": apiv1.GroupStrimziPodSet, "scope": "Namespaced",
			"names": map[string]any{"kind": apiv1.KindStrimziPodSet, "listKind": "StrimziPodSetList", "plural": "strimzipodsets", "singular": "strimzipodset"},
			"versions": []any{map[string]any{
				"name": "v1", "served": true, "storage": true,
				"schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
			}},
		},
	}
	if err := c.plane.Install(c.t.Context(), []*unstructured.Unstructured{{Object: crd}}); err != nil {
		c.t.Fatal(err)
	}
	set := &unstructured.Unstructured{}
	set.SetAPIVersion(apiv1.GroupStrimziPodSet + "/v1")
	set.SetKind(apiv1.KindStrimziPodSet)
	set.SetNamespace(namespace)
	set.SetName(name + "-brokers")
	set.SetLabels(map[string]string{apiv1.LabelCluster: name, apiv1.LabelKind: apiv1.KindKafka})
	create(c.t, c.client, set)
	return set
}

func (c *cluster) goesWithItsKafka() {
	c.t.Helper()
	k := &apiv1.Kafka{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	if err := c.client.Delete(c.t.Context(), k); err != nil {
		c.t.Fatal(err)
	}
	// What deletes them is the controller manager.
	c.await(3*time.Minute, func(ctx context.Context) error {
		for _, list := range []client.ObjectList{&corev1.PodList{}, &corev1.ServiceList{}, &policyv1.PodDisruptionBudgetList{}, &corev1.ConfigMapList{}} {
			if err := c.client.List(ctx, list, client.InNamespace(namespace), client.HasLabels{apiv1.LabelCluster}); err != nil {
				return err
			}
			if left := names(list); len(left) > 0 {
				return fmt.Errorf("still there: %T %v", list, left)
			}
		}
		claims := &corev1.PersistentVolumeClaimList{}
		if err := c.client.List(ctx, claims, client.InNamespace(namespace)); err != nil {
			return err
		}
		want := []string{"data-0-" + podOf("brokers", 0), "data-0-" + podOf("brokers", 1)}
		if got := names(claims); !slices.Equal(got, want) {
			return fmt.Errorf("claims are %v, want those without deleteClaim, %v", got, want)
		}
		return nil
	})
	// The pools are a user's, and stay; nothing holds them.
	for _, pool := range []string{"brokers", "mixed"} {
		p := &apiv1.KafkaNodePool{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: pool}}
		if err := c.client.Get(c.t.Context(), client.ObjectKeyFromObject(p), p); err != nil || len(p.Finalizers) > 0 {
			c.t.Errorf("pool %s: %v, finalizers %v", pool, err, p.Finalizers)
		}
		if err := c.client.Delete(c.t.Context(), p); err != nil {
			c.t.Errorf("deleting pool %s: %v", pool, err)
		}
	}
	c.namespaceGoes()
}

func names(list client.ObjectList) []string {
	var names []string
	_ = meta.EachListItem(list, func(o runtime.Object) error { // which fails never
		names = append(names, o.(client.Object).GetName())
		return nil
	})
	slices.Sort(names)
	return names
}

func (c *cluster) namespaceGoes() {
	c.t.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}
	if err := c.client.Delete(c.t.Context(), ns); err != nil {
		c.t.Fatal(err)
	}
	c.namespaceIsGone()
}

func (c *cluster) namespaceIsGone() {
	c.t.Helper()
	c.await(3*time.Minute, func(ctx context.Context) error {
		ns := &corev1.Namespace{}
		err := c.client.Get(ctx, client.ObjectKey{Name: namespace}, ns)
		if apierrors.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("the namespace is there (%w): %+v", err, ns.Status)
	})
}

// goesWithoutOperator makes a cluster anew and deletes its namespace while no
// operator runs: its finalizers hold that up until somebody takes them away.
func (c *cluster) goesWithoutOperator() {
	c.t.Helper()
	create(c.t, c.client, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}},
		newKafka(clusterOptions{version: "4.3.1"}), newPool("mixed", 1, apiv1.RoleController, apiv1.RoleBroker))
	c.await(2*time.Minute, c.podsAre(podOf("mixed", 0)))
	if err := c.operator.Stop(); err != nil {
		c.t.Error(err)
	}
	c.operator = nil
	if err := c.client.Delete(c.t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}); err != nil {
		c.t.Fatal(err)
	}
	c.await(2*time.Minute, func(ctx context.Context) error {
		pods, err := c.pods(ctx)
		if err == nil && len(pods) > 0 {
			err = fmt.Errorf("%d pods are there", len(pods))
		}
		return err
	})
	p := &apiv1.KafkaNodePool{}
	if err := c.client.Get(c.t.Context(), client.ObjectKey{Namespace: namespace, Name: "mixed"}, p); err != nil || !slices.Contains(p.Finalizers, apiv1.FinalizerNodePool) {
		c.t.Fatalf("the pool: %v, finalizers %v", err, p.Finalizers)
	}
	c.patchPool("mixed", map[string]any{"metadata": map[string]any{"finalizers": nil}})
	c.namespaceIsGone()
}
