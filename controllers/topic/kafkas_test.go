package topic

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	fakeclient "sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	kafkav1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/controllers/topic/fake"
	"github.com/sluice-kafka/sluice/internal/metrics"
)

// kafkasEnv is a controller that serves no cluster but those of Kafkas.
type kafkasEnv struct {
	*env
	kafkas *kafkas
	// podSets are in the namespace.
	podSets []string
	// clusters by bootstrap server, made when first dialled.
	clusters map[string]*fake.Admin
	dialled  []Cluster
}

func newKafkasEnv(t *testing.T, change ...func(*Options)) *kafkasEnv {
	t.Helper()
	e := &kafkasEnv{clusters: map[string]*fake.Admin{}}
	e.env = newEnv(t, change...)
	e.c.kafkas = newKafkas(e.c, nil, e.mapper())
	e.kafkas = e.c.kafkas
	e.kafkas.cached = e.kube
	e.c.live = interceptor.NewClient(fakeclient.NewClientBuilder().Build(), interceptor.Funcs{
		Get: func(ctx context.Context, _ client.WithWatch, k client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			return e.kube.Get(ctx, k, o, opts...)
		},
		List: func(_ context.Context, _ client.WithWatch, list client.ObjectList, _ ...client.ListOption) error {
			for _, name := range e.podSets {
				l := list.(*metav1.PartialObjectMetadataList)
				l.Items = append(l.Items, metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: name}})
			}
			return nil
		},
	})
	e.dial = func(c Cluster) (Connection, error) {
		e.dialled = append(e.dialled, c)
		return Connection{Admin: e.cluster(c.BootstrapServers[0])}, nil
	}
	return e
}

// mapper knows StrimziPodSets.
func (e *kafkasEnv) mapper() meta.RESTMapper {
	m := meta.NewDefaultRESTMapper([]schema.GroupVersion{{Group: kafkav1.GroupStrimziPodSet, Version: "v1"}})
	m.Add(schema.GroupVersionKind{Group: kafkav1.GroupStrimziPodSet, Version: "v1", Kind: kafkav1.KindStrimziPodSet}, meta.RESTScopeNamespace)
	return m
}

func (e *kafkasEnv) cluster(server string) *fake.Admin {
	if e.clusters[server] == nil {
		e.clusters[server] = fake.NewAdmin()
	}
	return e.clusters[server]
}

// look shows the controller a Kafka as it stands.
func (e *kafkasEnv) look(name string) time.Duration {
	e.t.Helper()
	result, err := e.kafkas.Reconcile(e.ctx, key{Namespace: "ns", Name: name})
	if err != nil {
		e.t.Fatal(err)
	}
	return result.RequeueAfter
}

// put creates a Kafka, or changes the one there is, and shows it.
func (e *kafkasEnv) put(k *kafkav1.Kafka) time.Duration {
	e.t.Helper()
	was := &kafkav1.Kafka{}
	err := e.kube.Get(e.ctx, client.ObjectKeyFromObject(k), was)
	if err == nil {
		k.ResourceVersion = was.ResourceVersion
		err = e.kube.Update(e.ctx, k)
	} else if apierrors.IsNotFound(err) {
		err = e.kube.Create(e.ctx, k)
	}
	if err != nil {
		e.t.Fatal(err)
	}
	return e.look(k.Name)
}

// use has the env's turns be those of the loop of a Kafka, connected.
func (e *kafkasEnv) use(name string) {
	e.t.Helper()
	e.loop = e.c.serving("ns/" + name)
	if e.loop == nil {
		e.t.Fatalf("the Kafka %s is not served", name)
	}
	if err := e.loop.renew(e.ctx); err != nil {
		e.t.Fatal(err)
	}
}

func of(cluster string) func(*kafkav1.KafkaTopic) {
	return func(kt *kafkav1.KafkaTopic) { kt.Labels = map[string]string{kafkav1.LabelCluster: cluster} }
}

func (e *kafkasEnv) wantEvents(reasons ...string) {
	e.t.Helper()
	var got []string
	for _, said := range e.events {
		reason, _, _ := strings.Cut(said, ":")
		got = append(got, reason)
	}
	if !slices.Equal(got, reasons) {
		e.t.Errorf("events %q, want those of the reasons %q", e.events, reasons)
	}
	e.events = nil
}

const kServer = "k-kafka-bootstrap.ns.svc:9092"

func TestTopicsAreServedWhileTheirKafkaIsAnnotated(t *testing.T) {
	e := newKafkasEnv(t)
	e.create(aTopic("orders", of("k")), aTopic("other", of("another")))
	e.put(aKafka("k", func(k *kafkav1.Kafka) { k.Annotations = nil }))
	if e.c.serving("ns/k") != nil {
		t.Fatal("a Kafka that nobody handed over is served")
	}
	e.put(aKafka("k"))
	e.use("k")
	first := e.loop
	e.turn()
	e.wantReady("orders")
	id := e.cluster(kServer).Topics()["orders"].ID

	e.put(aKafka("k", func(k *kafkav1.Kafka) { k.Annotations = map[string]string{} }))
	e.wantEvents(reasonTopicsLetGo)
	e.turn()
	if hasFinalizer(e.get("orders")) {
		t.Error("the finalizer of a topic stayed that is not worked on any more")
	}
	if got := e.cluster(kServer).Topics()["orders"].ID; got != id {
		t.Errorf("the topic has the ID %q, want %q", got, id)
	}
	// Nothing of it is worked on, whatever happens to it.
	e.change("orders", partitions(3))
	if e.c.serving("ns/k") != nil || !first.index.empty() || first.queue.Len() > 0 {
		t.Error("the topic is still known")
	}

	e.put(aKafka("k"))
	e.use("k")
	if e.loop == first {
		t.Error("the old loop goes on")
	}
	e.settle()
	e.wantReady("orders")
	if got := e.cluster(kServer).Topics()["orders"]; got.ID != id || got.Partitions != 3 {
		t.Errorf("the topic: %+v, want 3 partitions and the ID %s", got, id)
	}
	if e.get("other").Status.ObservedGeneration != 0 {
		t.Error("a topic of another cluster was worked on")
	}
}

func TestTopicsOfAKafkaThatIsGoneAreForgottenAsTheyAre(t *testing.T) {
	for name, leaves := range map[string]func(e *kafkasEnv, k *kafkav1.Kafka){
		"deleted": func(e *kafkasEnv, k *kafkav1.Kafka) {
			if err := e.kube.Delete(e.ctx, k); err != nil {
				e.t.Fatal(err)
			}
		},
		"being deleted": func(e *kafkasEnv, k *kafkav1.Kafka) {
			k.Finalizers = []string{"example.com/hold"}
			e.put(k)
			if err := e.kube.Delete(e.ctx, k); err != nil {
				e.t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := newKafkasEnv(t)
			e.create(aTopic("orders", of("k")))
			k := aKafka("k")
			e.put(k)
			e.use("k")
			e.turn()
			leaves(e, k)
			e.takeWrites()
			e.look("k")
			if e.c.serving("ns/k") != nil || !e.loop.index.empty() {
				t.Error("it is still served")
			}
			if w := e.takeWrites(); len(w) > 0 || !hasFinalizer(e.get("orders")) {
				t.Errorf("writes: %q", w)
			}
			if _, stray := e.c.strays[key{Namespace: "ns", Name: "orders"}]; !stray {
				t.Error("the resource is lost for whoever is to look after its finalizer")
			}
		})
	}
}

func TestANewKafkaOfTheSameNameStartsAnew(t *testing.T) {
	e := newKafkasEnv(t)
	e.create(aTopic("orders", of("k")))
	e.put(aKafka("k"))
	e.use("k")
	old := e.loop
	e.put(aKafka("k", func(k *kafkav1.Kafka) { k.UID = "another"; k.Status.Listeners[0].BootstrapServers = "new:9092" }))
	e.use("k")
	e.turn()
	if e.loop == old || !old.index.empty() || len(e.cluster("new:9092").Topics()) != 1 || len(e.cluster(kServer).Topics()) != 0 {
		t.Error("what was known of the old Kafka was kept")
	}
}

func TestTopicsAreLeftToStrimziAndTakenUpWhenItLetsGo(t *testing.T) {
	e := newKafkasEnv(t)
	e.create(aTopic("orders", of("k")))
	if again := e.put(aKafka("k", withStrimzisOperator)); again != strimziInterval {
		t.Errorf("looks again after %v, want %v", again, strimziInterval)
	}
	e.use("k")
	e.turn()
	e.wantReady("orders")
	e.events, e.podSets = nil, []string{"k-brokers", "k-controllers"}
	e.look("k")
	e.look("k")
	if e.c.serving("ns/k") != nil {
		t.Error("it is worked on beside Strimzi")
	}
	if !hasFinalizer(e.get("orders")) {
		t.Error("the finalizer was taken off, which is Strimzi's by now")
	}
	if !strings.Contains(strings.Join(e.events, ""), "k-brokers, k-controllers") {
		t.Errorf("events: %q", e.events)
	}
	e.wantEvents(reasonStandingBack)
	if again := e.put(aKafka("k")); again != 0 {
		t.Errorf("looks again after %v", again)
	}
	e.use("k")
	// Handed back and forth, it is said again.
	e.put(aKafka("k", withStrimzisOperator))
	e.wantEvents(reasonStandingBack)
}

func TestAnEntryOfTheTableWinsOverAKafkaOfItsNameAndNamespace(t *testing.T) {
	e := newKafkasEnv(t)
	e.put(aKafka("east"))
	e.look("east")
	if e.c.serving("ns/east") != nil || e.c.serving("east") == nil {
		t.Error("the Kafka is served beside the entry")
	}
	e.wantEvents(reasonServedByTable)
}

func TestWhatIsMissingIsSaidOnceAndItsTopicsAreThoseOfAnUnreachableCluster(t *testing.T) {
	named := annotated(kafkav1.AnnotationTopicsCredentials, "login")
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "login"}, Data: map[string][]byte{
		"sasl.mechanism": []byte("PLAIN"), "username": []byte("u"), "password": []byte("p"),
	}}
	create := func(e *kafkasEnv) {
		if err := e.kube.Create(e.ctx, secret.DeepCopy()); err != nil {
			e.t.Fatal(err)
		}
	}
	refuse := func(e *kafkasEnv, with error) {
		e.c.live = interceptor.NewClient(fakeclient.NewClientBuilder().Build(), interceptor.Funcs{
			Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
				return with
			},
		})
	}
	for name, test := range map[string]struct {
		kafka  *kafkav1.Kafka
		before func(*kafkasEnv)
		mend   func(*kafkasEnv)
		reason string
		says   []string
	}{
		"no status yet": {
			kafka:  aKafka("k", func(k *kafkav1.Kafka) { k.Status.Listeners = nil }),
			mend:   func(e *kafkasEnv) { e.put(aKafka("k")) },
			reason: reasonAwaitsStatus, says: []string{"status.listeners"},
		},
		"no such listener": {
			kafka:  aKafka("k", annotated(kafkav1.AnnotationTopicsListener, "tls")),
			mend:   func(e *kafkasEnv) { e.put(aKafka("k")) },
			reason: reasonNoListener, says: []string{"tls"},
		},
		"no Secret": {
			kafka: aKafka("k", named), mend: create, reason: reasonNoSecret, says: []string{"ns/login", "create it"},
		},
		"a Secret that may not be read": {
			kafka: aKafka("k", named),
			before: func(e *kafkasEnv) {
				create(e)
				refuse(e, apierrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, "login", errors.New("no")))
			},
			mend:   func(e *kafkasEnv) { e.c.live = e.kube },
			reason: reasonSecretForbidden, says: []string{"{namespace: ns, name: login}", "topics.credentials.secrets", "topics.credentials.anySecret"},
		},
		"a Secret with nonsense in it": {
			kafka: aKafka("k", named),
			before: func(e *kafkasEnv) {
				s := secret.DeepCopy()
				s.Data["sasl.mechanism"] = []byte("NONSENSE")
				if err := e.kube.Create(e.ctx, s); err != nil {
					e.t.Fatal(err)
				}
			},
			mend: func(e *kafkasEnv) {
				if err := e.kube.Update(e.ctx, secret.DeepCopy()); err != nil {
					e.t.Fatal(err)
				}
			},
			reason: reasonBadCredentials, says: []string{"ns/login"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := newKafkasEnv(t)
			e.create(aTopic("orders", of("k")), aTopic("paused", of("k"), annotation(kafkav1.AnnotationPauseReconciliation, "true")))
			if test.before != nil {
				test.before(e)
			}
			e.put(test.kafka)
			e.loop = e.c.serving("ns/k")
			e.fail(test.reason)
			e.turn()
			if c := mainCondition(e.get("paused")); c.Type != kafkav1.ConditionReconciliationPaused {
				t.Errorf("what needs no Kafka waits for it: %+v", c)
			}
			if c := mainCondition(e.get("orders")); c.Type != "" {
				t.Errorf("a topic was marked at once: %+v", c)
			}
			e.clock.Step(e.c.opts.UnreachableAfter)
			e.fail(test.reason)
			e.turn()
			message := e.wantReason("orders", kafkav1.ReasonKafkaError)
			for _, part := range test.says {
				if !strings.Contains(message, part) || !strings.Contains(e.events[0], part) {
					t.Errorf("condition %q or event %q does not say %q", message, e.events[0], part)
				}
			}
			e.wantEvents(test.reason)
			test.mend(e)
			e.use("k")
			e.turn()
			e.wantReady("orders")
		})
	}
}

// fail looks after the connection, in vain.
func (e *kafkasEnv) fail(reason string) {
	e.t.Helper()
	err := e.loop.renew(e.ctx)
	if o, ok := errors.AsType[*obstacle](err); !ok || o.reason != reason {
		e.t.Fatalf("error %v, want one of the reason %s", err, reason)
	}
	e.loop.report(e.ctx, err)
}

func TestMetricsOfAClusterGoWithIt(t *testing.T) {
	reg := prometheus.NewRegistry()
	e := newKafkasEnv(t, func(o *Options) { o.Metrics = metrics.NewTopic(reg) })
	e.create(aTopic("orders", of("k")))
	e.put(aKafka("k"))
	e.use("k")
	e.turn()
	count := func() int {
		n := 0
		families, err := reg.Gather()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range families {
			for _, m := range f.GetMetric() {
				for _, l := range m.GetLabel() {
					if l.GetName() == "cluster" && l.GetValue() == "ns/k" {
						n++
					}
				}
			}
		}
		return n
	}
	if n := count(); n < 8 {
		t.Errorf("%d series of a cluster that is served", n)
	}
	e.put(aKafka("k", annotated(kafkav1.AnnotationSluiceTopics, "no")))
	if n := count(); n != 0 {
		t.Errorf("%d series of a cluster that is not served any more", n)
	}
	if n, err := testutil.GatherAndCount(reg, "sluice_topic_queue_length"); err != nil || n != 2 {
		t.Errorf("%d queues are measured (%v), want those of the table", n, err)
	}
}

func TestATopicThatMovesAsClustersComeAndGoIsKept(t *testing.T) {
	for _, order := range [][]string{
		{"relabel", "start", "stop"}, {"relabel", "stop", "start"}, {"start", "relabel", "stop"},
		{"start", "stop", "relabel"}, {"stop", "relabel", "start"}, {"stop", "start", "relabel"},
	} {
		t.Run(fmt.Sprint(order), func(t *testing.T) {
			e := newKafkasEnv(t)
			b := aKafka("b")
			e.put(aKafka("a"))
			e.create(aTopic("orders", of("a")))
			e.use("a")
			e.turn()
			was := e.cluster(b.Status.Listeners[0].BootstrapServers)
			for _, step := range order {
				switch step {
				case "relabel":
					e.change("orders", of("b"))
				case "start":
					e.put(b)
				case "stop":
					e.put(aKafka("a", func(k *kafkav1.Kafka) { k.Annotations = nil }))
				}
				e.turn() // of the loop of a
			}
			a := e.loop
			e.use("b")
			e.settle()
			e.wantReady("orders")
			if !hasFinalizer(e.get("orders")) || len(was.Topics()) != 1 || len(e.cluster("a-kafka-bootstrap.ns.svc:9092").Topics()) != 1 {
				t.Error("the topic is not in both clusters")
			}
			if !a.index.empty() || len(e.c.strays) != 0 || !e.loop.index.has(key{Namespace: "ns", Name: "orders"}) {
				t.Errorf("the resource is known in the wrong places; strays: %v", e.c.strays)
			}
		})
	}
}

func TestAResourceThatWasRelabelledIsLetGoThoughItsKafkaIsForgotten(t *testing.T) {
	e := newKafkasEnv(t)
	e.create(aTopic("orders", of("k")))
	k := aKafka("k")
	e.put(k)
	e.use("k")
	e.turn()
	e.c.running = &running{ctx: e.ctx, loops: &sync.WaitGroup{}}
	e.change("orders", func(kt *kafkav1.KafkaTopic) { kt.Labels = nil })
	if err := e.kube.Delete(e.ctx, k); err != nil {
		t.Fatal(err)
	}
	e.look("k")
	select {
	case <-e.loop.stopping:
		t.Error("the loop stops before it has let the resource go")
	default:
	}
	e.turn()
	if hasFinalizer(e.get("orders")) {
		t.Error("the finalizer stays for ever")
	}
}

func TestAResourceThatWasRelabelledIsLetGoThoughItsKafkaIsServedAnew(t *testing.T) {
	e := newKafkasEnv(t)
	e.create(aTopic("orders", of("k")), aTopic("stays", of("k")))
	e.put(aKafka("k"))
	e.use("k")
	e.turn()
	before := e.loop
	e.c.running = &running{ctx: e.ctx, loops: &sync.WaitGroup{}}
	e.change("orders", func(kt *kafkav1.KafkaTopic) { kt.Labels = nil })
	e.put(aKafka("k", func(k *kafkav1.Kafka) { k.Annotations = map[string]string{} }))
	e.c.running = nil // no loop is to run by itself
	e.put(aKafka("k"))
	e.use("k")
	if e.loop.before != before {
		t.Fatal("the loops would work side by side")
	}
	e.turn()
	e.wantReady("stays")
	if hasFinalizer(e.get("orders")) || e.loop.index.has(key{Namespace: "ns", Name: "orders"}) {
		t.Error("the finalizer stays for ever")
	}
}

func TestALoopEndsThoughWhatItLetGoWaitsForOthers(t *testing.T) {
	e := newKafkasEnv(t)
	e.create(aTopic("orders", of("k"), func(kt *kafkav1.KafkaTopic) { kt.Finalizers = []string{"example.com/hold"} }))
	e.put(aKafka("k"))
	e.use("k")
	e.turn()
	e.c.running = &running{ctx: e.ctx, loops: &sync.WaitGroup{}}
	e.put(aKafka("k", func(k *kafkav1.Kafka) { k.Annotations = map[string]string{} }))
	e.delete("orders")
	e.turn()
	if hasFinalizer(e.get("orders")) || !e.loop.index.empty() {
		t.Error("it is not let go")
	}
}

func TestWhatIsServedIsNotLookedAfterElsewhere(t *testing.T) {
	e := newKafkasEnv(t, func(o *Options) { o.Kafkas = true })
	e.create(aTopic("orders", of("k")))
	e.put(aKafka("k"))
	e.use("k")
	e.turn()
	e.put(aKafka("k", func(k *kafkav1.Kafka) { k.Annotations = map[string]string{} }))
	e.delete("orders")
	e.put(aKafka("k"))
	if n := len(e.c.unserved.topics); n > 0 {
		t.Errorf("%d are looked after twice", n)
	}
}
