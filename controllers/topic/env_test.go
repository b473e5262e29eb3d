package topic

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/testr"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	testingclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	fakeclient "sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	kafkav1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/controllers/topic/fake"
	"github.com/sluice-kafka/sluice/internal/batch"
	"github.com/sluice-kafka/sluice/internal/topicplan"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// env is a controller between a fake API server and a fake Kafka. The informer is
// played by sync.
type env struct {
	t     testing.TB
	ctx   context.Context
	clock *testingclock.FakeClock
	kube  client.Client
	// served is the schema that the API server publishes, and follows.
	served *served
	kafka  *fake.Admin
	// engine of the cluster; nil for none.
	engine *fake.Engine
	c      *Controller
	loop   *loop
	other  *loop

	// dial, if set, makes connections in place of one to kafka.
	dial func(Cluster) (Connection, error)

	mu     sync.Mutex
	writes []string
	events []string
	// failWrite, if set, may fail a write, named as in writes.
	failWrite func(write string) error
	// failRead, if set, fails the next live read.
	failRead error
	reads    int
}

func newEnv(t testing.TB, change ...func(*Options)) *env {
	t.Helper()
	e := &env{t: t, clock: testingclock.NewFakeClock(start), kafka: fake.NewAdmin(), served: newServed("partitions", "replicas")}
	e.ctx = logr.NewContext(t.Context(), testr.NewWithInterface(t, testr.Options{}))
	scheme := runtime.NewScheme()
	if err := errors.Join(kafkav1.AddToScheme(scheme), corev1.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	e.kube = fakeclient.NewClientBuilder().WithScheme(scheme).WithStatusSubresource(&kafkav1.KafkaTopic{}).WithReturnManagedFields().
		WithInterceptorFuncs(interceptor.Funcs{
			Get: func(ctx context.Context, c client.WithWatch, k client.ObjectKey, o client.Object, opts ...client.GetOption) error {
				if err := e.liveRead(o); err != nil {
					return err
				}
				return c.Get(ctx, k, o, opts...)
			},
			Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
				if err := e.record("finalizer " + o.GetName()); err != nil {
					return err
				}
				return c.Patch(ctx, o, p, opts...)
			},
			SubResourcePatch: func(ctx context.Context, c client.Client, sub string, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
				if err := e.record(sub + " " + o.GetName()); err != nil {
					return err
				}
				if err := c.SubResource(sub).Patch(ctx, o, p, opts...); err != nil {
					return err
				}
				return e.served.prune(ctx, c, o.(*kafkav1.KafkaTopic))
			},
		}).Build()
	opts := Options{
		Clusters: []Cluster{
			{Name: "east", Namespaces: []string{"ns"}, BootstrapServers: []string{"east:9092"}},
			{Name: "west", Namespaces: []string{"ns"}, BootstrapServers: []string{"west:9092"}},
		},
		UseFinalizers: true,
		Clock:         e.clock,
	}
	for _, f := range change {
		f(&opts)
	}
	c, err := newController(e.kube, e, e.served, opts, e.connect)
	if err != nil {
		t.Fatal(err)
	}
	e.c, e.loop, e.other = c, c.loops[0], c.loops[1]
	e.loop.link.use(Connection{Admin: e.kafka})
	e.other.link.use(Connection{Admin: fake.NewAdmin()})
	c.schema.look(e.ctx)
	return e
}

// liveRead counts, and may fail, what the controller reads past its cache.
func (e *env) liveRead(o client.Object) error {
	if _, live := o.(*metav1.PartialObjectMetadata); !live {
		return nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.reads++
	err := e.failRead
	e.failRead = nil
	return err
}

// brief is long enough for what is ready.
func (e *env) brief() (context.Context, context.CancelFunc) {
	return context.WithTimeout(e.ctx, 20*time.Millisecond)
}

func (e *env) connect(c Cluster) (Connection, error) {
	if e.dial != nil {
		return e.dial(c)
	}
	return Connection{Admin: e.kafka}, nil
}

func (e *env) record(write string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.failWrite != nil {
		if err := e.failWrite(write); err != nil {
			return err
		}
	}
	e.writes = append(e.writes, write)
	return nil
}

// Eventf implements recorder.
func (e *env) Eventf(_, _ runtime.Object, _, reason, _, note string, args ...any) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.events = append(e.events, reason+": "+fmt.Sprintf(note, args...))
}

// takeWrites are the writes since it was last called, sorted.
func (e *env) takeWrites() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	w := e.writes
	e.writes = nil
	slices.Sort(w)
	return w
}

// sync shows the controller what the API server holds, as the informer would.
func (e *env) sync() {
	e.t.Helper()
	var list kafkav1.KafkaTopicList
	if err := e.kube.List(e.ctx, &list); err != nil {
		e.t.Fatal(err)
	}
	there := map[key]bool{}
	for i := range list.Items {
		there[keyOf(&list.Items[i])] = true
		e.c.observed(&list.Items[i], false)
	}
	// The informer tells of the last state that it saw.
	for _, l := range e.c.all() {
		for _, k := range l.index.keys() {
			if t, known := l.index.get(k); known && !there[k] {
				e.c.deleted(t, false)
			}
		}
	}
}

// turn works on batches until none is ready, and returns how many there were.
func (e *env) turn() int {
	e.t.Helper()
	for turns := 0; ; turns++ {
		if turns > 50 {
			e.t.Fatal("the queue does not come to rest")
		}
		ctx, cancel := e.brief()
		b, err := e.loop.queue.Next(ctx, batch.Window{MaxSize: e.c.opts.MaxBatchSize})
		cancel()
		if err != nil {
			return turns
		}
		e.loop.reconcile(e.ctx, b, e.loop.hearts[0])
		e.loop.queue.Done(b)
		e.sync()
	}
}

// settle turns, and waits out what is checked later.
func (e *env) settle() {
	e.t.Helper()
	e.turn()
	e.clock.Step(topicplan.SettleTime)
	e.turn()
}

// resync looks at everything once more and returns the calls to Kafka.
func (e *env) resync() []string {
	e.t.Helper()
	e.kafka.Reset()
	e.loop.queue.Add(batch.Resync, e.loop.index.keys()...)
	e.turn()
	return e.kafka.Calls()
}

func (e *env) create(topics ...*kafkav1.KafkaTopic) {
	e.t.Helper()
	for _, kt := range topics {
		if err := e.kube.Create(e.ctx, kt); err != nil {
			e.t.Fatal(err)
		}
	}
	e.sync()
}

func (e *env) get(name string) *kafkav1.KafkaTopic {
	e.t.Helper()
	kt := &kafkav1.KafkaTopic{}
	if err := e.kube.Get(e.ctx, key{Namespace: "ns", Name: name}, kt); err != nil {
		e.t.Fatal(err)
	}
	return kt
}

func (e *env) exists(name string) bool {
	e.t.Helper()
	err := e.kube.Get(e.ctx, key{Namespace: "ns", Name: name}, &kafkav1.KafkaTopic{})
	if err != nil && !apierrors.IsNotFound(err) {
		e.t.Fatal(err)
	}
	return err == nil
}

// change edits a resource as a user would; a change of the spec raises the
// generation, which the fake API server leaves to us.
func (e *env) change(name string, edit func(*kafkav1.KafkaTopic)) {
	e.t.Helper()
	kt := e.get(name)
	edit(kt)
	kt.Generation++
	if err := e.kube.Update(e.ctx, kt); err != nil {
		e.t.Fatal(err)
	}
	e.sync()
}

func (e *env) delete(names ...string) {
	e.t.Helper()
	for _, name := range names {
		if err := e.kube.Delete(e.ctx, e.get(name)); err != nil {
			e.t.Fatal(err)
		}
	}
	e.sync()
}

func (e *env) wantReady(names ...string) {
	e.t.Helper()
	for _, name := range names {
		kt := e.get(name)
		if c := mainCondition(kt); c.Type != kafkav1.ConditionReady || c.Status != "True" || kt.Status.ObservedGeneration != kt.Generation {
			e.t.Errorf("%s: condition %+v at generation %d of %d, want Ready", name, c, kt.Status.ObservedGeneration, kt.Generation)
		}
	}
}

func (e *env) wantReason(name, reason string) string {
	e.t.Helper()
	c := mainCondition(e.get(name))
	if c.Type != kafkav1.ConditionReady || c.Status != "False" || c.Reason != reason {
		e.t.Errorf("%s: condition %+v, want Ready=False with the reason %s", name, c, reason)
	}
	return c.Message
}

func (e *env) wantCalls(got []string, want ...string) {
	e.t.Helper()
	if !slices.Equal(got, want) {
		e.t.Errorf("calls to Kafka: %v, want %v", got, want)
	}
}

func mainCondition(kt *kafkav1.KafkaTopic) kafkav1.Condition {
	if len(kt.Status.Conditions) == 0 {
		return kafkav1.Condition{}
	}
	return kt.Status.Conditions[0]
}

// aTopic builds a resource of the cluster east.
func aTopic(name string, edits ...func(*kafkav1.KafkaTopic)) *kafkav1.KafkaTopic {
	kt := &kafkav1.KafkaTopic{ObjectMeta: metav1.ObjectMeta{
		Name: name, Namespace: "ns", UID: types.UID("uid-" + name), Generation: 1,
		Labels:            map[string]string{kafkav1.LabelCluster: "east"},
		CreationTimestamp: metav1.NewTime(start),
	}}
	for _, edit := range edits {
		edit(kt)
	}
	return kt
}

func partitions(n int64) func(*kafkav1.KafkaTopic) {
	return func(kt *kafkav1.KafkaTopic) { kt.Spec.Partitions = &n }
}

func replicas(n int64) func(*kafkav1.KafkaTopic) {
	return func(kt *kafkav1.KafkaTopic) { kt.Spec.Replicas = &n }
}

func topicName(name string) func(*kafkav1.KafkaTopic) {
	return func(kt *kafkav1.KafkaTopic) { kt.Spec.TopicName = &name }
}

func createdAfter(d time.Duration) func(*kafkav1.KafkaTopic) {
	return func(kt *kafkav1.KafkaTopic) { kt.CreationTimestamp = metav1.NewTime(start.Add(d)) }
}

func annotation(name, value string) func(*kafkav1.KafkaTopic) {
	return func(kt *kafkav1.KafkaTopic) {
		if kt.Annotations == nil {
			kt.Annotations = map[string]string{}
		}
		kt.Annotations[name] = value
	}
}

func config(option, json string) func(*kafkav1.KafkaTopic) {
	return func(kt *kafkav1.KafkaTopic) {
		if kt.Spec.Config == nil {
			kt.Spec.Config = kafkav1.Config{}
		}
		kt.Spec.Config[option] = apiextensionsv1.JSON{Raw: []byte(json)}
	}
}

var errOutage = errors.New("no broker at east:9092 answers")

// dieTurning works on one batch with a context that may end in the middle.
func (e *env) dieTurning() {
	e.t.Helper()
	b, err := e.loop.queue.Next(e.t.Context(), batch.Window{MaxSize: e.c.opts.MaxBatchSize})
	if err != nil {
		e.t.Fatal(err)
	}
	e.loop.reconcile(e.ctx, b, e.loop.hearts[0])
}

// withEngine gives the cluster an engine.
func (e *env) withEngine() *env {
	e.engine = fake.NewEngine()
	e.loop.link.use(Connection{Admin: e.kafka, Engine: e.engine})
	return e
}

// restart replaces the controller by one that knows nothing.
func (e *env) restart() {
	e.t.Helper()
	c, err := newController(e.kube, e, e.served, e.c.opts, e.connect)
	if err != nil {
		e.t.Fatal(err)
	}
	e.c, e.loop, e.other = c, c.loops[0], c.loops[1]
	e.loop.link.use(Connection{Admin: e.kafka})
	if e.engine != nil {
		e.loop.link.use(Connection{Admin: e.kafka, Engine: e.engine})
	}
	e.other.link.use(Connection{Admin: fake.NewAdmin()})
	c.schema.look(e.ctx)
	e.sync()
}
