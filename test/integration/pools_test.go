package integration

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/facts"
	"github.com/sluice-kafka/sluice/test/cases"
	"github.com/sluice-kafka/sluice/test/harness"
)

// cluster is a Kafka that runs: three controllers and four brokers with what the
// operator saw of them.
type cluster struct {
	*asker
	namespace            string
	kafka                *apiv1.Kafka
	controllers, brokers *apiv1.KafkaNodePool
}

func newCluster(t *testing.T, in *harness.Installation, ns string) cluster {
	t.Helper()
	c := cluster{
		asker: newAsker(t, in.Config), namespace: ns,
		kafka:       &apiv1.Kafka{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "my-cluster", Annotations: map[string]string{apiv1.AnnotationSluiceManaged: "true"}}},
		controllers: nodePool(ns, "controllers", 3, apiv1.RoleController),
		brokers:     nodePool(ns, "brokers", 4, apiv1.RoleBroker),
	}
	namespace(t, c, ns, nil)
	for _, o := range []client.Object{c.kafka, c.controllers, c.brokers} {
		if err := c.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	c.kafka.Status = apiv1.KafkaStatus{ClusterID: "abc", ObservedGeneration: c.kafka.Generation, Conditions: []apiv1.Condition{{Type: apiv1.ConditionReady, Status: "True"}}}
	c.controllers.Status = apiv1.KafkaNodePoolStatus{NodeIDs: []int64{4, 5, 6}, Roles: []string{apiv1.RoleController}, Replicas: 3}
	c.brokers.Status = apiv1.KafkaNodePoolStatus{NodeIDs: []int64{0, 1, 2, 3}, Roles: []string{apiv1.RoleBroker}, Replicas: 4}
	for _, o := range []client.Object{c.kafka, c.controllers, c.brokers} {
		if err := c.Status().Update(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

func nodePool(ns, name string, replicas int64, role string) *apiv1.KafkaNodePool {
	return &apiv1.KafkaNodePool{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name, Labels: map[string]string{apiv1.LabelCluster: "my-cluster"}},
		Spec: apiv1.KafkaNodePoolSpec{
			Replicas: &replicas, Roles: []string{role},
			Storage: &apiv1.Storage{SingleVolume: apiv1.SingleVolume{Type: apiv1.StorageEphemeral}},
		},
	}
}

// publish writes what the operator saw: every broker holds ten replicas, and a
// topic has the factor.
func (c cluster) publish(t *testing.T, factor int64) *corev1.ConfigMap {
	t.Helper()
	seen := facts.Facts{ObservedAt: time.Unix(1, 0), HighestFactor: &facts.TopicFactor{Topic: "orders", Factor: factor}}
	for id := range int32(4) {
		ten := int64(10)
		seen.Brokers = append(seen.Brokers, facts.Broker{ID: id, Replicas: &ten, Volumes: []facts.Volume{{Replicas: 10, Bytes: 2_500_000}}})
	}
	cm, err := facts.Encode(c.namespace, "my-cluster", seen)
	if err == nil {
		err = c.Create(t.Context(), cm)
	}
	if err != nil {
		t.Fatal(err)
	}
	return cm
}

// scale changes the number of a pool as `kubectl scale` and autoscalers do.
func (c cluster) scale(t *testing.T, pool *apiv1.KafkaNodePool, to int32, opts ...client.SubResourceUpdateOption) func() error {
	return func() error {
		scale := &autoscalingv1.Scale{Spec: autoscalingv1.ScaleSpec{Replicas: to}}
		return c.SubResource("scale").Update(t.Context(), pool.DeepCopy(), append(opts, client.WithSubResourceBody(scale))...)
	}
}

func (c cluster) patch(t *testing.T, o client.Object, text string, opts ...client.PatchOption) func() error {
	return func() error {
		return c.Patch(t.Context(), o.DeepCopyObject().(client.Object), client.RawPatch(types.MergePatchType, []byte(text)), opts...)
	}
}

// serverSide applies as `kubectl apply --server-side` does.
func (c cluster) serverSide(t *testing.T, pool *apiv1.KafkaNodePool, replicas int64) func() error {
	return func() error {
		o := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": apiv1.GroupVersion.String(), "kind": apiv1.KindKafkaNodePool,
			"metadata": map[string]any{"namespace": pool.Namespace, "name": pool.Name},
			"spec":     map[string]any{"replicas": replicas},
		}}
		return c.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(o), client.FieldOwner("user"), client.ForceOwnership)
	}
}

// refuses wants one refusal at a path, with a text.
func (c cluster) refuses(t *testing.T, request func() error, path, text string) {
	t.Helper()
	refusals, _, err := c.ask(request)
	if err != nil || len(refusals) != 1 || refusals[0].Path != path || !strings.Contains(refusals[0].Text, text) {
		t.Errorf("got %q, %v, want a refusal at %s with %q", refusals, err, path, text)
	}
}

// warns wants the request to pass with one warning.
func (c cluster) warns(t *testing.T, request func() error, path, text string) {
	t.Helper()
	refusals, warnings, err := c.ask(request)
	if err != nil || len(refusals) > 0 || len(warnings) != 1 || warnings[0].Path != path || !strings.Contains(warnings[0].Text, text) {
		t.Errorf("got %q, %q, %v, want a warning at %s with %q", refusals, warnings, err, path, text)
	}
}

// heard waits until a request gets an answer that shows that the operator's
// cache is up to date.
func (c cluster) heard(t *testing.T, request func() error, check func(refusals, warnings []cases.Said) bool) {
	t.Helper()
	eventually(t, func() error {
		refusals, warnings, err := c.ask(request)
		if err == nil && !check(refusals, warnings) {
			err = fmt.Errorf("refused with %q, warned of %q", refusals, warnings)
		}
		return err
	})
}

func TestPoolsThroughTheAPIServer(t *testing.T) {
	// What was seen of these clusters is the test's own: nobody else is to tell of it.
	in, op := install(t, harness.ControlPlaneOptions{ControllerManager: true}, map[string]any{"controllers": []any{"topic", "volumes"}})
	for name, test := range map[string]func(*testing.T, *harness.Installation){
		"scaling is judged like an edit":            scalingIsJudgedLikeAnEdit,
		"facts that cannot be read are no facts":    badFactsAreNoFacts,
		"deletion is judged":                        deletionIsJudged,
		"a cluster is deleted as a whole":           aClusterIsDeletedAsAWhole,
		"a rebalance knows the brokers":             aRebalanceKnowsTheBrokers,
		"a second fault is refused alone":           aSecondFaultIsRefusedAlone,
		"cert-manager is noticed when it arrives":   certManagerIsNoticed,
		"the template of an auto-rebalance is seen": autoRebalanceTemplateIsSeen,
	} {
		t.Run(name, func(t *testing.T) { test(t, in) })
	}
	t.Run("all of it is measured", func(t *testing.T) {
		m, err := op.Metrics(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, series := range [][]string{
			{"sluice_admission_requests_total", "kind=KafkaNodePool", "operation=scale", "verdict=refused"},
			{"sluice_admission_requests_total", "kind=KafkaNodePool", "operation=delete", "verdict=refused"},
			{"sluice_admission_requests_total", "kind=KafkaNodePool", "operation=scale", "verdict=warned"},
			{"sluice_admission_requests_total", "kind=KafkaRebalance", "operation=create", "verdict=allowed"},
			{"sluice_admission_refusals_total", "kind=KafkaNodePool", "rule=pool-scale-down-never-ends"},
			{"sluice_admission_request_duration_seconds", "kind=Kafka", "operation=create"},
		} {
			if m.Sum(series[0], series[1:]...) == 0 {
				t.Errorf("nothing was counted in %q", series)
			}
		}
	})
}

func scalingIsJudgedLikeAnEdit(t *testing.T, in *harness.Installation) {
	c := newCluster(t, in, "scaling")
	c.heard(t, c.scale(t, c.brokers, 3, client.DryRunAll), func(_, w []cases.Said) bool {
		return len(w) == 1 && strings.Contains(w[0].Text, "how many replicas are on them is not known")
	})
	c.publish(t, 3)
	const replicas, never, held = "spec.replicas", "topic \"orders\" has replication factor 3", "broker 3 would leave the cluster; it holds 10 replicas of 2.5 MB"
	c.heard(t, c.scale(t, c.brokers, 2, client.DryRunAll), func(r, _ []cases.Said) bool { return len(r) == 1 })

	for name, two := range map[string]func() error{
		"kubectl scale":               c.scale(t, c.brokers, 2),
		"kubectl scale, dry run":      c.scale(t, c.brokers, 2, client.DryRunAll),
		"kubectl patch":               c.patch(t, c.brokers, `{"spec":{"replicas":2}}`),
		"kubectl patch, dry run":      c.patch(t, c.brokers, `{"spec":{"replicas":2}}`, client.DryRunAll),
		"kubectl apply --server-side": c.serverSide(t, c.brokers, 2),
		"a patch of the Scale": func() error {
			return c.SubResource("scale").Patch(t.Context(), c.brokers.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(`{"spec":{"replicas":2}}`)))
		},
	} {
		t.Run(name, func(t *testing.T) { c.refuses(t, two, replicas, never) })
	}
	t.Run("controllers stay", func(t *testing.T) {
		c.refuses(t, c.scale(t, c.controllers, 5), replicas, "controllers of a running cluster")
	})
	t.Run("what is no change waits for nobody", func(t *testing.T) {
		if r, w, err := c.ask(c.scale(t, c.brokers, 4)); err != nil || len(r)+len(w) > 0 {
			t.Errorf("got %q, %q, %v", r, w, err)
		}
	})
	t.Run("a pool that is not there", func(t *testing.T) {
		missing := nodePool(c.namespace, "missing", 1, apiv1.RoleBroker)
		if err := c.scale(t, missing, 2)(); !apierrors.IsNotFound(err) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("one that the cache has not heard of", func(t *testing.T) {
		for i := range 5 {
			fresh := nodePool(c.namespace, fmt.Sprintf("fresh-%d", i), 1, apiv1.RoleBroker)
			if err := c.Create(t.Context(), fresh); err != nil {
				t.Fatal(err)
			}
			if r, _, err := c.ask(c.scale(t, fresh, 2)); err != nil || len(r) > 0 {
				t.Errorf("got %q, %v", r, err)
			}
			if err := c.Delete(t.Context(), fresh); err != nil {
				t.Error(err)
			}
		}
	})
	t.Run("with enough left it goes, with a warning", func(t *testing.T) {
		c.heard(t, c.scale(t, c.brokers, 3, client.DryRunAll), func(_, w []cases.Said) bool { return len(w) == 1 })
		c.warns(t, c.scale(t, c.brokers, 3), replicas, held)
		var stored apiv1.KafkaNodePool
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(c.brokers), &stored); err != nil || *stored.Spec.Replicas != 3 {
			t.Errorf("stored %v, %v", stored.Spec.Replicas, err)
		}
	})
	t.Run("in an emergency nobody judges", func(t *testing.T) {
		switchAdmission(t, c, c.namespace, false)
		if r, w, err := c.ask(c.scale(t, c.brokers, 1)); err != nil || len(r)+len(w) > 0 {
			t.Errorf("got %q, %q, %v", r, w, err)
		}
	})
}

func badFactsAreNoFacts(t *testing.T, in *harness.Installation) {
	c := newCluster(t, in, "bad-facts")
	cm := c.publish(t, 3)
	c.heard(t, c.scale(t, c.brokers, 1, client.DryRunAll), func(r, _ []cases.Said) bool { return len(r) == 1 })
	cm.Data[facts.Key] = `{"observedAt":"2026-01-01T00:00:00Z"}`
	if err := c.Update(t.Context(), cm); err != nil {
		t.Fatal(err)
	}
	c.heard(t, c.scale(t, c.brokers, 1, client.DryRunAll), func(r, w []cases.Said) bool {
		return len(r) == 0 && len(w) == 1 && strings.Contains(w[0].Text, "is not known")
	})
}

func deletionIsJudged(t *testing.T, in *harness.Installation) {
	c := newCluster(t, in, "deletion")
	remove := func(o client.Object, opts ...client.DeleteOption) func() error {
		return func() error { return c.Delete(t.Context(), o, opts...) }
	}
	c.heard(t, remove(c.controllers, client.DryRunAll), func(r, _ []cases.Said) bool { return len(r) == 1 })
	if r, _, err := c.ask(remove(c.brokers, client.DryRunAll)); err != nil || len(r) > 0 {
		t.Errorf("of brokers of which nothing is known: %q, %v", r, err)
	}
	c.publish(t, 3)
	c.heard(t, remove(c.brokers, client.DryRunAll), func(r, _ []cases.Said) bool { return len(r) == 1 })

	c.refuses(t, remove(c.controllers), "metadata.name", "which runs and cannot do without them")
	c.refuses(t, remove(c.brokers), "metadata.name", "brokers 0, 1, 2, 3 of this pool hold 40 replicas")
	all := func() error {
		return c.DeleteAllOf(t.Context(), &apiv1.KafkaNodePool{}, client.InNamespace(c.namespace))
	}
	if r, _, err := c.ask(all); err != nil || len(r) == 0 {
		t.Errorf("of all at once: %q, %v", r, err)
	}
	t.Run("an empty pool goes", func(t *testing.T) {
		spare := nodePool(c.namespace, "spare", 0, apiv1.RoleBroker)
		if err := c.Create(t.Context(), spare); err != nil {
			t.Fatal(err)
		}
		if r, w, err := c.ask(remove(spare)); err != nil || len(r)+len(w) > 0 {
			t.Errorf("got %q, %q, %v", r, w, err)
		}
	})
	t.Run("and with its namespace everything", func(t *testing.T) {
		ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: c.namespace}}
		if err := c.Delete(t.Context(), ns); err != nil {
			t.Fatal(err)
		}
		gone(t, c, ns)
	})
}

// The pools are deleted right after their Kafka, sooner than a cache hears of it.
func aClusterIsDeletedAsAWhole(t *testing.T, in *harness.Installation) {
	for i := range 5 {
		c := newCluster(t, in, fmt.Sprintf("whole-%d", i))
		c.publish(t, 3)
		c.heard(t, func() error { return c.Delete(t.Context(), c.brokers, client.DryRunAll) }, func(r, _ []cases.Said) bool { return len(r) == 1 })
		for _, o := range []client.Object{c.kafka, c.controllers, c.brokers} {
			if err := c.Delete(t.Context(), o); err != nil {
				t.Error(err)
			}
		}
	}
}

func aRebalanceKnowsTheBrokers(t *testing.T, in *harness.Installation) {
	c := newCluster(t, in, "rebalance")
	c.publish(t, 3)
	removing := func(name string, opts []client.CreateOption, brokers ...int64) func() error {
		return func() error {
			return c.Create(t.Context(), &apiv1.KafkaRebalance{
				ObjectMeta: metav1.ObjectMeta{Namespace: c.namespace, Name: name, Labels: map[string]string{apiv1.LabelCluster: "my-cluster"}},
				Spec:       apiv1.KafkaRebalanceSpec{Mode: apiv1.ModeRemoveBrokers, Brokers: brokers},
			}, opts...)
		}
	}
	dry := []client.CreateOption{client.DryRunAll}
	c.heard(t, removing("two", dry, 2, 3), func(r, _ []cases.Said) bool { return len(r) == 1 })
	c.refuses(t, removing("two", nil, 2, 3), "spec.brokers", "only 2 brokers would be left")
	c.warns(t, removing("nine", nil, 3, 9), "spec.brokers[1]", "there is no broker 9")
	if r, w, err := c.ask(removing("one", nil, 3)); err != nil || len(r)+len(w) > 0 {
		t.Errorf("got %q, %q, %v", r, w, err)
	}
}

// An object that is older than Sluice keeps its faults, wherever they stand, and
// takes no new ones.
func aSecondFaultIsRefusedAlone(t *testing.T, in *harness.Installation) {
	a := newAsker(t, in.Config)
	namespace(t, a, "second-fault", nil)
	volume := func(id int64, typ string) map[string]any { return map[string]any{"id": id, "type": typ} }
	old := store(t, a, object(t, []byte(`
apiVersion: kafka.strimzi.io/v1
kind: KafkaNodePool
metadata: {name: brokers, finalizers: [example.com/mine], labels: {strimzi.io/cluster: my-cluster}}
spec: {replicas: 3, roles: [broker], storage: {type: jbod, volumes: [{id: 0, type: ephemeral}, {id: 0, type: ephemeral}, {id: 1, type: ephemeral}]}}
`), "second-fault"))
	update := func(volumes ...any) func() error {
		return func() error {
			o := old.DeepCopy()
			if err := unstructured.SetNestedSlice(o.Object, volumes, "spec", "storage", "volumes"); err != nil {
				return err
			}
			return a.Update(t.Context(), o)
		}
	}
	reordered := update(volume(1, "ephemeral"), volume(1, "ephemeral"), volume(0, "ephemeral"), volume(0, "ephemeral"))
	r, _, err := a.ask(reordered)
	if err != nil || len(r) != 1 || r[0].Path != "spec.storage.volumes[1].id" {
		t.Errorf("got %q, %v", r, err)
	}
	if r, w, err := a.ask(update(volume(1, "ephemeral"), volume(0, "ephemeral"), volume(0, "ephemeral"))); err != nil || len(r)+len(w) > 0 {
		t.Errorf("only reordered: got %q, %q, %v", r, w, err)
	}
	for _, p := range []string{`{"metadata":{"labels":{"a":"b"}}}`, `{"metadata":{"finalizers":null}}`} {
		if err := a.Patch(t.Context(), old.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(p))); err != nil {
			t.Errorf("%s: %v", p, err)
		}
	}
}

func certManagerIsNoticed(t *testing.T, in *harness.Installation) {
	a := newAsker(t, in.Config)
	namespace(t, a, "tls", nil)
	tls := &apiv1.Kafka{
		ObjectMeta: metav1.ObjectMeta{Namespace: "tls", Name: "my-cluster", Annotations: map[string]string{apiv1.AnnotationSluiceManaged: "true"}},
		Spec:       apiv1.KafkaSpec{Kafka: apiv1.KafkaClusterSpec{Listeners: []apiv1.KafkaListener{{Name: "tls", Port: 9093, Type: apiv1.ListenerInternal, TLS: true}}}},
	}
	create := func() error { return a.Create(t.Context(), tls.DeepCopy(), client.DryRunAll) }
	if r, _, err := a.ask(create); err != nil || len(r) != 1 || r[0].Path != "spec.kafka.listeners[0].tls" || !strings.Contains(r[0].Text, "cert-manager") {
		t.Errorf("got %q, %v", r, err)
	}
	if _, err := envtest.InstallCRDs(in.Config, envtest.CRDInstallOptions{Paths: []string{certManagerCRDs(t)}}); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() error {
		r, _, err := a.ask(create)
		if err == nil && len(r) > 0 {
			err = errors.New(r[0].Text)
		}
		return err
	})
}

func autoRebalanceTemplateIsSeen(t *testing.T, in *harness.Installation) {
	a := newAsker(t, in.Config)
	namespace(t, a, "template", nil)
	kafka := &apiv1.Kafka{
		ObjectMeta: metav1.ObjectMeta{Namespace: "template", Name: "my-cluster"},
		Spec: apiv1.KafkaSpec{CruiseControl: &apiv1.CruiseControlSpec{AutoRebalance: []apiv1.AutoRebalance{
			{Mode: apiv1.ModeAddBrokers, Template: &apiv1.TemplateReference{Name: "mine"}},
		}}},
	}
	create := func() error { return a.Create(t.Context(), kafka.DeepCopy(), client.DryRunAll) }
	if _, w, err := a.ask(create); err != nil || len(w) != 1 || w[0].Path != "spec.cruiseControl.autoRebalance[0].template.name" {
		t.Errorf("got %q, %v", w, err)
	}
	template := &apiv1.KafkaRebalance{ObjectMeta: metav1.ObjectMeta{
		Namespace: "template", Name: "mine", Annotations: map[string]string{apiv1.AnnotationRebalanceTemplate: "true"},
	}}
	if err := a.Create(t.Context(), template); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() error {
		_, w, err := a.ask(create)
		if err == nil && len(w) > 0 {
			err = errors.New(w[0].Text)
		}
		return err
	})
}

// The garbage collector and the end of a namespace never wait for Sluice; a user
// who deletes a pool does.
func poolsWithTheOperatorStopped(t *testing.T, c client.Client, ns string) {
	ctx := t.Context()
	owner := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "owner"}}
	if err := c.Get(ctx, client.ObjectKeyFromObject(owner), owner); err != nil {
		t.Fatal(err)
	}
	owned := nodePool(ns, "owned", 3, apiv1.RoleController)
	if err := c.Delete(ctx, owned.DeepCopy()); !strings.Contains(fmt.Sprint(err), "failed calling webhook") {
		t.Errorf("nobody judged the deletion of a pool: %v", err)
	}
	scale := &autoscalingv1.Scale{Spec: autoscalingv1.ScaleSpec{Replicas: 1}}
	err := c.SubResource("scale").Update(ctx, owned.DeepCopy(), client.WithSubResourceBody(scale))
	if !strings.Contains(fmt.Sprint(err), "failed calling webhook") {
		t.Errorf("nobody judged a Scale: %v", err)
	}
	if err := c.Delete(ctx, owner, client.PropagationPolicy(metav1.DeletePropagationBackground)); err != nil {
		t.Fatal(err)
	}
	gone(t, c, owned)
}
