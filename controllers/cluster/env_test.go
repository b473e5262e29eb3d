package cluster

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	clocktesting "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlfake "sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	kafkav1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/controllers/cluster/fake"
	"github.com/sluice-kafka/sluice/internal/brokerpod"
)

var theKey = key{Namespace: "kafka", Name: "c"}

// grace is a finalizer with which the env's kubelet holds a pod while its process
// stops.
const grace = "test/kubelet"

// env is a Kubernetes with a kubelet, a Kafka, and a reconciler whose writes and
// Events are remembered. Time passes only where a test has it pass.
type env struct {
	*reconciler
	t       *testing.T
	store   client.WithWatch
	kafka   *fake.Kafka
	clock   *clocktesting.FakeClock
	mu      sync.Mutex // the reconciler writes side by side
	writes  []string
	events  []string
	notes   map[string]string // of Events, by what makes two the same
	nextUID int
	// beforeWrite, if set, is asked before each write; its error fails it.
	beforeWrite func(write string) error
	// refusePod, if set, may say why the API server would not take a pod.
	refusePod func(*corev1.Pod) error
	// served kinds, as the reconciler sees them; those of the store if nil.
	served meta.RESTMapper
	last   ctrl.Result
}

// podSetKind is Strimzi's, whose API server serves it.
var podSetKind = schema.GroupVersionKind{Group: kafkav1.GroupStrimziPodSet, Version: "v1", Kind: kafkav1.KindStrimziPodSet}

// kinds makes the scheme, and a mapper that knows all of it but pod sets.
var kinds = sync.OnceValues(func() (*runtime.Scheme, *meta.DefaultRESTMapper) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, kafkav1.AddToScheme} {
		if err := add(scheme); err != nil {
			panic(err) // two types under one name
		}
	}
	mapper := meta.NewDefaultRESTMapper(nil)
	for kind := range scheme.AllKnownTypes() {
		if kind.Version == "v1" {
			mapper.Add(kind, meta.RESTScopeNamespace)
		}
	}
	scheme.AddKnownTypeWithName(podSetKind, &unstructured.Unstructured{})
	scheme.AddKnownTypeWithName(podSetKind.GroupVersion().WithKind(podSetKind.Kind+"List"), &unstructured.UnstructuredList{})
	return scheme, mapper
})

func newEnv(t *testing.T, objects ...client.Object) *env {
	t.Helper()
	e := &env{t: t, kafka: fake.New(), clock: clocktesting.NewFakeClock(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))}
	e.kafka.Now = e.clock.Now
	scheme, mapper := kinds()
	e.store = ctrlfake.NewClientBuilder().WithScheme(scheme).WithRESTMapper(mapper).
		WithObjects(objects...).
		WithStatusSubresource(&kafkav1.Kafka{}, &kafkav1.KafkaNodePool{}, &kafkav1.KafkaRebalance{}).
		WithInterceptorFuncs(e.interceptor()).Build()
	e.restartOperator()
	return e
}

// restartOperator replaces the reconciler by one that remembers nothing.
func (e *env) restartOperator() {
	e.notes = map[string]string{} // the recorder forgets too
	from := gatherer{resources: e.store, objects: e.store, live: e.store, mapper: e.store.RESTMapper()}
	if e.served != nil {
		from.mapper = e.served
	}
	e.reconciler = &reconciler{
		opts: Options{Clock: e.clock}.complete(), cached: from, live: from, writer: e.store, recorder: e,
		admins: newAdmins(func(Endpoints) (Admin, error) { return e.kafka, nil }), memories: newMemories(),
	}
}

// byKubelet marks the writes of the env itself.
type byKubelet struct{}

func (e *env) interceptor() interceptor.Funcs {
	record := func(ctx context.Context, format string, args ...any) error {
		if ctx.Value(byKubelet{}) != nil {
			return nil
		}
		e.mu.Lock()
		defer e.mu.Unlock()
		write := fmt.Sprintf(format, args...)
		if e.beforeWrite != nil {
			if err := e.beforeWrite(write); err != nil {
				return err
			}
		}
		e.writes = append(e.writes, write)
		return nil
	}
	kind := func(o any) string {
		name := fmt.Sprintf("%T", o)
		return name[strings.LastIndex(name, ".")+1:]
	}
	return interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			if (&client.CreateOptions{}).ApplyOptions(opts).DryRun != nil {
				return e.rehearsal(o)
			}
			if err := record(ctx, "create %s %s", kind(o), o.GetName()); err != nil {
				return err
			}
			o.SetUID(e.newUID())
			return c.Create(ctx, o, opts...)
		},
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
			if err := record(ctx, "patch %s %s", kind(o), o.GetName()); err != nil {
				return err
			}
			return c.Patch(ctx, o, p, opts...)
		},
		Apply: func(ctx context.Context, c client.WithWatch, o runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
			named := o.(interface {
				GetName() string
				GetKind() string
			})
			if err := record(ctx, "apply %s %s", named.GetKind(), named.GetName()); err != nil {
				return err
			}
			return c.Apply(ctx, o, opts...)
		},
		Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
			if err := record(ctx, "delete %s %s", kind(o), o.GetName()); err != nil {
				return err
			}
			return c.Delete(ctx, o, opts...)
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
			if err := record(ctx, "patch %s %s/%s", kind(o), o.GetName(), sub); err != nil {
				return err
			}
			return c.SubResource(sub).Patch(ctx, o, p, opts...)
		},
	}
}

// rehearsal answers a create that changes nothing.
func (e *env) rehearsal(o client.Object) error {
	if e.refusePod != nil {
		if err := e.refusePod(o.(*corev1.Pod)); err != nil {
			return err
		}
	}
	return apierrors.NewAlreadyExists(corev1.Resource("pods"), o.GetName())
}

func (e *env) newUID() types.UID {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.nextUID++
	return types.UID(fmt.Sprintf("uid-%d", e.nextUID))
}

// Eventf implements recorder. It fails where client-go's would swallow the note,
// for an Event with all else the same was recorded before.
func (e *env) Eventf(about, related runtime.Object, _, reason, _, note string, args ...any) {
	e.mu.Lock()
	defer e.mu.Unlock()
	text := fmt.Sprintf(note, args...)
	e.events = append(e.events, reason+": "+text)
	isSame := reason
	for _, o := range []runtime.Object{about, related} {
		if o, ok := o.(client.Object); ok {
			isSame += fmt.Sprintf(" %T %s %s", o, o.GetName(), o.GetResourceVersion())
		}
	}
	if before, known := e.notes[isSame]; known && before != text {
		e.t.Errorf("the Event %q would be taken for a repetition of %q", text, before)
	}
	e.notes[isSame] = text
}

// eventReasons are the reasons of the Events since the last call.
func (e *env) eventReasons() []string {
	var reasons []string
	for _, text := range e.events {
		reason, _, _ := strings.Cut(text, ":")
		reasons = append(reasons, reason)
	}
	e.events = nil
	return reasons
}

func (e *env) takeWrites() []string {
	w := e.writes
	e.writes = nil
	return w
}

// turn lets a moment pass, has the reconciler take a look, and then the kubelet.
func (e *env) turn() error {
	e.t.Helper()
	e.clock.Step(5 * time.Second)
	result, err := e.Reconcile(e.t.Context(), theKey)
	e.last = result
	e.kubelet()
	return err
}

// turns takes so many of them, none of which may fail.
func (e *env) turns(n int) {
	e.t.Helper()
	for range n {
		if err := e.turn(); err != nil {
			e.t.Fatal(err)
		}
	}
}

// until takes turns until something is so; it fails when that takes too many.
func (e *env) until(what string, so func() bool) {
	e.t.Helper()
	for range 60 {
		if so() {
			return
		}
		e.turns(1)
	}
	e.t.Fatalf("after 60 turns not yet: %s\n%s", what, e.describe())
}

// describe is what a failed test needs to know.
func (e *env) describe() string {
	var b strings.Builder
	k := e.kafkaResource()
	for _, c := range k.Status.Conditions {
		fmt.Fprintf(&b, "condition %s %s: %s\n", c.Type, c.Reason, c.Message)
	}
	for _, p := range e.poolResources() {
		fmt.Fprintf(&b, "pool %s: nodeIds %v roles %v\n", p.Name, p.Status.NodeIDs, p.Status.Roles)
	}
	fmt.Fprintf(&b, "pods %v\nregistered %v\nlast writes %v\n", e.podNames(), e.kafka.Registered(), e.writes[max(0, len(e.writes)-10):])
	fmt.Fprintf(&b, "events %s\n", strings.Join(e.events[max(0, len(e.events)-10):], "\n  "))
	return b.String()
}

// kubelet starts the processes of new pods, and ends those of deleted ones. The
// controllers that run vote.
func (e *env) kubelet() {
	e.t.Helper()
	var pods corev1.PodList
	e.must(e.store.List(e.t.Context(), &pods, client.InNamespace(theKey.Namespace)))
	var voters []int32
	for i := range pods.Items {
		pod := &pods.Items[i]
		id, ok := nodeIDOf(pod, theKey.Name, pod.Labels[kafkav1.LabelPoolName])
		if !ok {
			e.t.Fatalf("pod %s is no node's", pod.Name)
		}
		switch {
		case pod.DeletionTimestamp != nil:
			e.kafka.Stop(id)
			controllerutil.RemoveFinalizer(pod, grace)
			e.must(e.store.Update(e.byKubelet(), pod))
			continue
		case !controllerutil.ContainsFinalizer(pod, grace):
			e.start(pod, id)
		}
		if pod.Labels[kafkav1.LabelControllerRole] == "true" {
			voters = append(voters, id)
		}
	}
	if len(voters) > 0 {
		e.kafka.SetQuorum(voters...)
	}
}

func (e *env) start(pod *corev1.Pod, id int32) {
	e.t.Helper()
	cm := e.mustConfigMap(pod.Name)
	e.kafka.Format(e.kafkaResource().Status.ClusterID, strings.TrimSpace(cm[brokerpod.KeyMetadataVersion]))
	if pod.Labels[kafkav1.LabelBrokerRole] == "true" {
		e.kafka.Start(id, pod.Annotations[kafkav1.AnnotationKafkaVersion], cm[brokerpod.KeyServerConfig])
	}
	controllerutil.AddFinalizer(pod, grace)
	pod.Spec.NodeName = "node-1"
	e.must(e.store.Update(e.byKubelet(), pod))
	e.ready(e.byKubelet(), pod, true)
}

func (e *env) ready(ctx context.Context, pod *corev1.Pod, yes bool) {
	e.t.Helper()
	status := corev1.ConditionFalse
	if yes {
		status = corev1.ConditionTrue
	}
	pod.Status = corev1.PodStatus{
		Phase: corev1.PodRunning, PodIP: "10.0.0.1",
		Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: status}},
	}
	e.must(e.store.Status().Update(ctx, pod))
}

// kill has a broker's process die, and its pod not become ready again.
func (e *env) kill(id int32, pod string) {
	e.t.Helper()
	e.kafka.Stop(id)
	e.ready(e.byKubelet(), get[corev1.Pod](e, pod), false)
}

func (e *env) must(err error) {
	e.t.Helper()
	if err != nil {
		e.t.Fatal(err)
	}
}

// get reads an object of the env; nil where there is none.
func get[T any, P interface {
	*T
	client.Object
}](e *env, name string) P {
	e.t.Helper()
	o := P(new(T))
	err := e.store.Get(e.t.Context(), key{Namespace: theKey.Namespace, Name: name}, o)
	if client.IgnoreNotFound(err) != nil {
		e.t.Fatal(err)
	}
	if err != nil {
		return nil
	}
	return o
}

func (e *env) kafkaResource() *kafkav1.Kafka { return get[kafkav1.Kafka](e, theKey.Name) }

func (e *env) poolResources() []kafkav1.KafkaNodePool {
	e.t.Helper()
	var list kafkav1.KafkaNodePoolList
	e.must(e.store.List(e.t.Context(), &list, client.InNamespace(theKey.Namespace)))
	return list.Items
}

func names[T any, P interface {
	*T
	client.Object
}](items []T) []string {
	var out []string
	for i := range items {
		out = append(out, P(&items[i]).GetName())
	}
	slices.Sort(out)
	return out
}

func (e *env) podNames() []string {
	e.t.Helper()
	var list corev1.PodList
	e.must(e.store.List(e.t.Context(), &list, client.InNamespace(theKey.Namespace)))
	return names(list.Items)
}

func (e *env) objectNames() map[string][]string {
	e.t.Helper()
	var (
		configMaps corev1.ConfigMapList
		claims     corev1.PersistentVolumeClaimList
		services   corev1.ServiceList
		budgets    policyv1.PodDisruptionBudgetList
	)
	for _, l := range []client.ObjectList{&configMaps, &claims, &services, &budgets} {
		e.must(e.store.List(e.t.Context(), l, client.InNamespace(theKey.Namespace)))
	}
	return map[string][]string{
		"pods": e.podNames(), "configMaps": names(configMaps.Items), "claims": names(claims.Items),
		"services": names(services.Items), "budgets": names(budgets.Items),
	}
}

// edit changes a user's resource, as its user would.
func edit[T any, P interface {
	*T
	client.Object
}](e *env, name string, change func(P)) {
	e.t.Helper()
	o := get[T, P](e, name)
	change(o)
	o.SetGeneration(o.GetGeneration() + 1)
	e.must(e.store.Update(e.byKubelet(), o))
}

func (e *env) scale(pool string, replicas int64) {
	e.t.Helper()
	edit(e, pool, func(p *kafkav1.KafkaNodePool) { p.Spec.Replicas = &replicas })
}

func (e *env) annotate(name, annotation, value string) {
	e.t.Helper()
	edit(e, name, func(k *kafkav1.Kafka) {
		k.Annotations = maps.Clone(k.Annotations)
		if value == "" {
			delete(k.Annotations, annotation)
		} else {
			k.Annotations[annotation] = value
		}
	})
}

// condition returns the message of a condition, and whether there is one.
func (e *env) condition(kind, reason string) (string, bool) {
	for _, c := range e.kafkaResource().Status.Conditions {
		if c.Type == kind && (reason == "" || c.Reason == reason) {
			return c.Message, true
		}
	}
	return "", false
}

func (e *env) isReady() bool {
	_, ok := e.condition(kafkav1.ConditionReady, "")
	return ok
}

// newKafka is a managed Kafka of version 4.3.1.
func newKafka() *kafkav1.Kafka {
	return &kafkav1.Kafka{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: theKey.Namespace, Name: theKey.Name, UID: "the-kafka", Generation: 1,
			Annotations: map[string]string{kafkav1.AnnotationSluiceManaged: "true"},
		},
		Spec: kafkav1.KafkaSpec{Kafka: kafkav1.KafkaClusterSpec{
			Version:   "4.3.1",
			Listeners: []kafkav1.KafkaListener{{Name: "plain", Port: 9092, Type: kafkav1.ListenerInternal}},
		}},
	}
}

func newPool(name string, replicas int64, roles ...string) *kafkav1.KafkaNodePool {
	storage := &kafkav1.Storage{}
	storage.Type, storage.Size, storage.DeleteClaim = kafkav1.StoragePersistentClaim, "1Gi", true
	return &kafkav1.KafkaNodePool{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: theKey.Namespace, Name: name, UID: types.UID("pool-" + name), Generation: 1,
			Labels: map[string]string{kafkav1.LabelCluster: theKey.Name},
		},
		Spec: kafkav1.KafkaNodePoolSpec{Replicas: &replicas, Roles: roles, Storage: storage},
	}
}

// running is a cluster of three controllers, 100 to 102, and so many brokers from
// 0 on, in which nothing is to be done.
func running(t *testing.T, brokers int64) *env {
	t.Helper()
	return runningAt(t, brokers, "4.3.1", "")
}

// runningAt is one of a version, formatted at a metadata version.
func runningAt(t *testing.T, brokers int64, version, metadataVersion string) *env {
	t.Helper()
	kafka := newKafka()
	kafka.Spec.Kafka.Version, kafka.Spec.Kafka.MetadataVersion = version, metadataVersion
	return brought(t, kafka, 3, brokers)
}

// brought is a cluster that has come up, of so many controllers and brokers.
func brought(t *testing.T, kafka *kafkav1.Kafka, voters, brokers int64) *env {
	t.Helper()
	controllers := newPool("controllers", voters, kafkav1.RoleController)
	controllers.Annotations = map[string]string{kafkav1.AnnotationNextNodeIDs: "[100-199]"}
	e := newEnv(t, kafka, controllers, newPool("brokers", brokers, kafkav1.RoleBroker))
	e.turns(4)
	if !e.isReady() {
		t.Fatalf("the cluster did not come up:\n%s", e.describe())
	}
	e.takeWrites()
	e.eventReasons()
	e.kafka.TakeCalls()
	return e
}

// byKubelet is a context for what is none of the operator's writes.
func (e *env) byKubelet() context.Context { return context.WithValue(e.t.Context(), byKubelet{}, true) }

func (e *env) podOf(name string) *corev1.Pod {
	e.t.Helper()
	pod := get[corev1.Pod](e, name)
	if pod == nil {
		e.t.Fatalf("there is no pod %s", name)
	}
	return pod
}

func (e *env) mustConfigMap(name string) map[string]string {
	e.t.Helper()
	cm := get[corev1.ConfigMap](e, name)
	if cm == nil {
		e.t.Fatalf("there is no ConfigMap %s", name)
	}
	return cm.Data
}
