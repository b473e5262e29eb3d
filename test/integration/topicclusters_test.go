package integration

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/test/harness"
	testkafka "github.com/sluice-kafka/sluice/test/kafka"
	"github.com/sluice-kafka/sluice/test/kafka/kafkatest"
)

// clustersEnv is an operator without a table of clusters.
type clustersEnv struct {
	*topicEnv
	// servers of Kafkas, as the test told them.
	servers map[string][]string
}

// everything asks for what takes minutes, too.
var everything = os.Getenv("SLUICE_KAFKA_VERSIONS") == "all"

// TestTopicsOfClustersThatComeAndGo has one operator serve what Kafka resources say, and
// changes that in every way while it runs. With SLUICE_KAFKA_VERSIONS=all it also waits
// for what the operator looks at from time to time only.
func TestTopicsOfClustersThatComeAndGo(t *testing.T) {
	t.Parallel()
	const ns, login = "clusters", "LOGIN"
	kafkas := map[string]*testkafka.Cluster{
		"one": kafkatest.Start(t, testkafka.Options{}),
		"two": kafkatest.Start(t, testkafka.Options{
			Listeners: []testkafka.Listener{{Name: login, Mechanisms: []string{"PLAIN"}}},
			Users:     map[string]string{"first": "first-secret", "second": "second-secret"},
		}),
	}
	cp := controlPlane(t, harness.ControlPlaneOptions{})
	installPodSets(t, cp)
	in, err := cp.InstallChart(t.Context(), os.Stderr, nil)
	if err != nil {
		t.Fatal(err)
	}
	e := &clustersEnv{topicEnv: newTopicEnv(t, in, kafkas["one"], ns, nil), servers: map[string][]string{}}
	// A Role needs its namespace.
	err = in.Upgrade(t.Context(), os.Stderr, map[string]any{"topics": map[string]any{
		"workers":     4,
		"credentials": map[string]any{"secrets": []any{map[string]any{"namespace": ns, "name": "login"}}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	e.start("--resync-interval=2s")

	e.createOf("one", 0, 20)
	e.createKafka("one", kafkas["one"].Bootstrap(), nil)
	t.Run("a Kafka is annotated when its topics are there", func(t *testing.T) {
		e := e.in(t)
		e.annotate("one", map[string]any{apiv1.AnnotationSluiceTopics: "true"})
		e.waitOf("one", 20, isReady)
	})
	e.createKafka("two", kafkas["two"].Bootstrap(), map[string]string{apiv1.AnnotationSluiceTopics: "true"})
	e.createOf("two", 0, 20)
	e.waitOf("two", 20, isReady)
	t.Run("with one dead the other keeps its pace", func(t *testing.T) {
		broker := kafkas["two"].Brokers()[0]
		oneOfTwoDies(e.in(t),
			func() error { return kafkas["two"].KillNode(broker) },
			func(ctx context.Context) error { return kafkas["two"].StartNode(ctx, broker) })
	})
	t.Run("Strimzi takes over and gives back", func(t *testing.T) { strimziTakesOver(e.in(t)) })
	t.Run("credentials are read anew", func(t *testing.T) { credentialsChange(e.in(t), kafkas["two"].At(login)) })
	t.Run("one Kafka under two names is worked on once", func(t *testing.T) { oneKafkaTwice(e.in(t)) })
	t.Run("an annotation is taken off and put back", func(t *testing.T) { annotationGoes(e.in(t)) })
}

func (e *clustersEnv) in(t *testing.T) *clustersEnv {
	inner := *e.topicEnv
	inner.T = t
	return &clustersEnv{topicEnv: &inner, servers: e.servers}
}

// createKafka creates a Kafka that somebody else runs.
func (e *clustersEnv) createKafka(name string, bootstrap []string, annotations map[string]string) {
	e.Helper()
	e.servers[name] = bootstrap
	k := &apiv1.Kafka{ObjectMeta: metav1.ObjectMeta{Namespace: e.namespace, Name: name, Annotations: annotations}}
	k.Spec.Kafka.Listeners = []apiv1.KafkaListener{{Name: "plain", Port: 9092, Type: apiv1.ListenerInternal}}
	if err := e.kube.Create(e.Context(), k); err != nil {
		e.Fatal(err)
	}
	k.Status.Listeners = []apiv1.ListenerStatus{{Name: "plain", BootstrapServers: strings.Join(bootstrap, ",")}}
	if err := e.kube.Status().Update(e.Context(), k); err != nil {
		e.Fatal(err)
	}
}

func (e *clustersEnv) annotate(name string, annotations map[string]any) {
	e.Helper()
	e.merge(name, map[string]any{"metadata": map[string]any{"annotations": annotations}})
}

// merge patches a Kafka; nil takes a field away.
func (e *clustersEnv) merge(name string, fields map[string]any) {
	e.Helper()
	k := &unstructured.Unstructured{Object: fields}
	raw, err := k.MarshalJSON()
	if err == nil {
		t := &apiv1.Kafka{ObjectMeta: metav1.ObjectMeta{Namespace: e.namespace, Name: name}}
		err = e.kube.Patch(e.Context(), t, client.RawPatch(types.MergePatchType, raw))
	}
	if err != nil {
		e.Fatal(err)
	}
}

// of is a topic of a cluster.
func (e *clustersEnv) of(cluster string, i int) *apiv1.KafkaTopic {
	return &apiv1.KafkaTopic{ObjectMeta: metav1.ObjectMeta{
		Namespace: e.namespace, Name: fmt.Sprintf("%s-%03d", cluster, i), Labels: map[string]string{apiv1.LabelCluster: cluster},
	}}
}

func (e *clustersEnv) createOf(cluster string, from, to int) {
	e.Helper()
	e.each(to-from, func(ctx context.Context, i int) error { return e.kube.Create(ctx, e.of(cluster, from+i)) })
}

// waitOf waits until a cluster has n topics, all as they should be.
func (e *clustersEnv) waitOf(cluster string, n int, good func(*apiv1.KafkaTopic) bool) {
	e.Helper()
	var bad []apiv1.KafkaTopic
	there := 0
	e.eventually(func(context.Context) (bool, error) {
		bad, there = nil, 0
		for _, kt := range e.list() {
			if kt.Labels[apiv1.LabelCluster] != cluster {
				continue
			}
			there++
			if !good(&kt) {
				bad = append(bad, kt)
			}
		}
		return there == n && len(bad) == 0, nil
	})
	if there != n || len(bad) > 0 {
		e.Fatalf("%d topics of %s, want %d; %d are not as they should be: %+v", there, cluster, n, len(bad), bad[:min(1, len(bad))])
	}
}

// measured sums a metric of a cluster; there tells whether it has any.
func (e *clustersEnv) measured(cluster, family string, labels ...string) (sum float64, there bool) {
	e.Helper()
	m := e.metrics()
	for _, s := range m.Metrics[family].GetMetric() {
		for _, l := range s.Label {
			there = there || l.GetName() == "cluster" && l.GetValue() == e.namespace+"/"+cluster
		}
	}
	return m.Sum(family, append(labels, "cluster="+e.namespace+"/"+cluster)...), there
}

func (e *clustersEnv) waitMeasured(cluster, family string, holds func(float64, bool) bool) {
	e.Helper()
	var last float64
	var there bool
	e.eventually(func(context.Context) (bool, error) {
		last, there = e.measured(cluster, family)
		return holds(last, there), nil
	})
	if !holds(last, there) {
		e.Fatalf("%s of %s is %v (there: %v)", family, cluster, last, there)
	}
}

// waitEvent waits until something was said of a Kafka, and returns it.
func (e *clustersEnv) waitEvent(kafka, reason string) string {
	e.Helper()
	note, said := "", []string(nil)
	e.eventually(func(ctx context.Context) (bool, error) {
		var list eventsv1.EventList
		if err := e.kube.List(ctx, &list, client.InNamespace(e.namespace)); err != nil {
			return false, err
		}
		said = nil
		for _, event := range list.Items {
			if event.Regarding.Kind == apiv1.KindKafka && event.Regarding.Name == kafka {
				said = append(said, event.Reason)
				if event.Reason == reason {
					note = event.Note
				}
			}
		}
		return note != "", nil
	})
	if note == "" {
		e.Fatalf("no Event %s of %s, but %q", reason, kafka, said)
	}
	return note
}

// oneOfTwoDies counts what is done for the living one.
func oneOfTwoDies(e *clustersEnv, kill func() error, start func(context.Context) error) {
	if err := kill(); err != nil {
		e.Fatal(err)
	}
	e.waitMeasured("two", "sluice_topic_cluster_reachable", func(v float64, there bool) bool { return there && v == 0 })
	e.createOf("two", 20, 25)
	answered, _ := e.measured("two", metricAdminCalls, "result=successful")
	looks, _ := e.measured("one", metricBatches)
	for i := range 5 {
		e.createOf("one", 20+i, 21+i)
		e.waitOf("one", 21+i, isReady)
	}
	// Five batches that create, and five looks after them.
	e.waitMeasured("one", metricBatches, func(v float64, _ bool) bool { return v >= looks+10 })
	if up, _ := e.measured("one", "sluice_topic_cluster_reachable"); up != 1 {
		e.Error("the living one counts as unreachable")
	}
	if now, _ := e.measured("two", metricAdminCalls, "result=successful"); now != answered {
		e.Fatal("the dead one answers: the test tries nothing")
	}
	for _, kt := range e.list() {
		if kt.Labels[apiv1.LabelCluster] == "two" && kt.Status.ObservedGeneration != 0 && !isReady(&kt) {
			e.Errorf("a topic of the dead one is marked for a passing fault: %+v", kt.Status)
		}
	}
	if err := start(e.Context()); err != nil {
		e.Fatal(err)
	}
	e.waitOf("two", 25, isReady)
}

func strimziTakesOver(e *clustersEnv) {
	set := &unstructured.Unstructured{}
	set.SetAPIVersion(apiv1.GroupStrimziPodSet + "/v1")
	set.SetKind(apiv1.KindStrimziPodSet)
	set.SetNamespace(e.namespace)
	set.SetName("one-brokers")
	set.SetLabels(map[string]string{apiv1.LabelCluster: "one", apiv1.LabelKind: apiv1.KindKafka})
	if err := e.kube.Create(e.Context(), set); err != nil {
		e.Fatal(err)
	}
	e.merge("one", map[string]any{"spec": map[string]any{"entityOperator": map[string]any{"topicOperator": map[string]any{}}}})
	if note := e.waitEvent("one", "TopicsLeftToStrimzi"); !strings.Contains(note, "one-brokers") {
		e.Errorf("it says %q", note)
	}
	e.waitMeasured("one", metricBatches, func(_ float64, there bool) bool { return !there })
	e.createOf("one", 25, 26)
	if everything {
		// It is seen at the next look for pod sets.
		if err := e.kube.Delete(e.Context(), set); err != nil {
			e.Fatal(err)
		}
	} else {
		e.merge("one", map[string]any{"spec": map[string]any{"entityOperator": nil}})
	}
	e.waitOf("one", 26, isReady)
}

func credentialsChange(e *clustersEnv, servers []string) {
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: e.namespace, Name: "login"},
		Data:       map[string][]byte{"sasl.mechanism": []byte("PLAIN")},
	}
	k := &apiv1.Kafka{ObjectMeta: metav1.ObjectMeta{Namespace: e.namespace, Name: "two"}}
	e.merge("two", map[string]any{"spec": map[string]any{"kafka": map[string]any{"listeners": []any{
		map[string]any{"name": "login", "port": int64(9095), "type": "internal", "tls": false, "authentication": map[string]any{"type": "custom"}},
	}}}})
	if err := e.kube.Get(e.Context(), client.ObjectKeyFromObject(k), k); err != nil {
		e.Fatal(err)
	}
	k.Status.Listeners = []apiv1.ListenerStatus{{Name: "login", BootstrapServers: strings.Join(servers, ",")}}
	if err := e.kube.Status().Update(e.Context(), k); err != nil {
		e.Fatal(err)
	}
	e.annotate("two", map[string]any{apiv1.AnnotationTopicsCredentials: "login"})
	if note := e.waitEvent("two", "TopicsCredentialsMissing"); !strings.Contains(note, e.namespace+"/login") {
		e.Errorf("it says %q", note)
	}
	steps := []struct{ user, password string }{{"first", "wrong"}, {"first", "first-secret"}, {"second", "second-secret"}}
	if !everything {
		steps = steps[:2] // a Secret that did work is read again after a minute
	}
	for _, step := range steps {
		secret.Data["username"], secret.Data["password"] = []byte(step.user), []byte(step.password)
		if step.password == "wrong" {
			if err := e.kube.Create(e.Context(), secret); err != nil {
				e.Fatal(err)
			}
			continue
		}
		before := e.connections()
		if err := e.kube.Update(e.Context(), secret); err != nil {
			e.Fatal(err)
		}
		e.eventually(func(context.Context) (bool, error) { return e.connections() > before, nil })
		if e.connections() <= before {
			e.Fatalf("there is no new connection as %s", step.user)
		}
	}
	e.createOf("two", 25, 26)
	e.waitOf("two", 26, isReady)
	raw, err := os.ReadFile(e.operator.Log)
	if err != nil {
		e.Fatal(err)
	}
	for _, word := range []string{"first-secret", "second-secret"} {
		if strings.Contains(string(raw), word) {
			e.Errorf("the log tells the password %s", word)
		}
	}
}

// connections counts those to the second cluster that were made in place of another.
func (e *clustersEnv) connections() int {
	raw, err := os.ReadFile(e.operator.Log)
	if err != nil {
		e.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(string(raw)) {
		if strings.Contains(line, "Connected to Kafka") && strings.Contains(line, e.namespace+"/two") && strings.Contains(line, `"anew":true`) {
			n++
		}
	}
	return n
}

func oneKafkaTwice(e *clustersEnv) {
	e.createKafka("three", e.servers["one"], map[string]string{apiv1.AnnotationSluiceTopics: "true"})
	note := e.waitEvent("three", "SameKafkaClusterTwice")
	for _, name := range []string{e.namespace + "/one", e.namespace + "/three"} {
		if !strings.Contains(note, name) {
			e.Errorf("%q does not name %s", note, name)
		}
	}
	e.createOf("three", 0, 1)
	e.createOf("one", 26, 27)
	e.waitOf("one", 27, isReady)
	if slices.ContainsFunc(e.list(), func(kt apiv1.KafkaTopic) bool { return kt.Name == "three-000" && isReady(&kt) }) {
		e.Error("the second name is worked on")
	}
	// With the first gone the second works.
	e.annotate("one", map[string]any{apiv1.AnnotationSluiceTopics: nil})
	e.waitOf("three", 1, isReady)
	if err := e.kube.Delete(e.Context(), &apiv1.Kafka{ObjectMeta: metav1.ObjectMeta{Namespace: e.namespace, Name: "three"}}); err != nil {
		e.Fatal(err)
	}
	e.waitMeasured("three", metricBatches, func(_ float64, there bool) bool { return !there })
	e.annotate("one", map[string]any{apiv1.AnnotationSluiceTopics: "true"})
	e.waitOf("one", 27, func(kt *apiv1.KafkaTopic) bool {
		return isReady(kt) && slices.Contains(kt.Finalizers, apiv1.FinalizerTopic)
	})
}

func annotationGoes(e *clustersEnv) {
	e.annotate("one", map[string]any{apiv1.AnnotationSluiceTopics: nil})
	e.waitOf("one", 27, func(kt *apiv1.KafkaTopic) bool { return len(kt.Finalizers) == 0 })
	e.waitMeasured("one", "sluice_topic_cluster_reachable", func(_ float64, there bool) bool { return !there })
	if err := e.kube.Delete(e.Context(), e.of("one", 0)); err != nil {
		e.Fatal(err)
	}
	e.waitOf("one", 26, func(*apiv1.KafkaTopic) bool { return true })
	e.annotate("one", map[string]any{apiv1.AnnotationSluiceTopics: "true"})
	e.waitOf("one", 26, isReady)
	all, err := e.admin.ListTopics(e.Context())
	if err != nil {
		e.Fatal(err)
	}
	for i := range 27 {
		if !all.Has(e.of("one", i).Name) {
			e.Errorf("the topic %s is gone from Kafka", e.of("one", i).Name)
		}
	}
}
