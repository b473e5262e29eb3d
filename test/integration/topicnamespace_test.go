package integration

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/test/harness"
)

// In a namespace that is being deleted nothing can be created, Events among it;
// the finalizers must come off all the same, whatever became of Kafka. One API
// server and one Kafka are shared by all that is tried, in this order.
func TestANamespaceGoesAndItsTopicsWithIt(t *testing.T) {
	t.Parallel()
	const n = 100
	in, cluster := topicParts(t, harness.ControlPlaneOptions{ControllerManager: true}, "up", "kept", "forgood")
	env := func(t *testing.T, name string) *clustersEnv {
		return &clustersEnv{topicEnv: newTopicEnv(t, in, cluster, name, nil), servers: map[string][]string{}}
	}
	// One Kafka must not be served under two names.
	table := filepath.Join(t.TempDir(), "clusters.yaml")
	if err := os.WriteFile(table, []byte("[]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	noTable := "--external-clusters=" + table
	t.Run("Kafka is up", func(t *testing.T) {
		kept, e := env(t, "kept"), env(t, "up")
		e.start()
		kept.createTopics(1)
		kept.waitTopics(1, isReady)
		e.createTopics(n)
		e.waitTopics(n, isReady)
		e.waitInKafka(n)
		e.deleteNamespace()
		e.waitInKafka(0)
		kept.waitInKafka(1)
		kept.waitTopics(1, isReady)
	})
	t.Run("the Kafka goes with it", func(t *testing.T) {
		e := env(t, "withkafka")
		e.start(noTable)
		e.kafkaWithTopics(n)
		e.withoutBroker(func() { e.deleteNamespace() })
	})
	t.Run("the Kafka went before the operator started", func(t *testing.T) {
		e := env(t, "gonebefore")
		e.start(noTable)
		e.kafkaWithTopics(n)
		e.stop()
		k := &apiv1.Kafka{ObjectMeta: metav1.ObjectMeta{Namespace: e.namespace, Name: "k"}}
		if err := e.kube.Delete(t.Context(), k); err != nil {
			t.Fatal(err)
		}
		gone(t, e.kube, k)
		e.start(noTable)
		e.deleteNamespace()
	})
	t.Run("Kafka is gone for good", func(t *testing.T) {
		e := env(t, "forgood")
		e.start("--orphan-after=10s")
		e.createTopics(n)
		e.waitTopics(n, isReady)
		e.withoutBroker(func() {
			ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: e.namespace}}
			if err := e.kube.Get(t.Context(), client.ObjectKeyFromObject(ns), ns); err != nil {
				t.Fatal(err)
			}
			ns.Annotations = map[string]string{apiv1.AnnotationOnUnreachable: apiv1.OnUnreachableOrphan}
			if err := e.kube.Update(t.Context(), ns); err != nil {
				t.Fatal(err)
			}
			e.deleteNamespace()
		})
		e.waitMetric("sluice_topic_orphaned_total", n, "reason=unreachable")
		e.waitInKafka(n)
	})
}

// deleteNamespace waits until the namespace of the test is gone.
func (e *topicEnv) deleteNamespace() {
	e.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: e.namespace}}
	if err := e.kube.Delete(e.Context(), ns); err != nil {
		e.Fatal(err)
	}
	gone(e.T, e.kube, ns)
}

// kafkaWithTopics makes a Kafka, whose topics were handed over, with n of them.
func (e *clustersEnv) kafkaWithTopics(n int) {
	e.Helper()
	e.createKafka("k", e.kafka.Bootstrap(), map[string]string{apiv1.AnnotationSluiceTopics: "true"})
	e.each(n, func(ctx context.Context, i int) error {
		kt := e.topic(i, apiv1.KafkaTopicSpec{})
		kt.Labels[apiv1.LabelCluster] = "k"
		return e.kube.Create(ctx, kt)
	})
	e.waitTopics(n, isReady)
}

// withoutBroker does something while Kafka is down.
func (e *topicEnv) withoutBroker(do func()) {
	e.Helper()
	broker := e.kafka.Brokers()[0]
	if err := e.kafka.KillNode(broker); err != nil {
		e.Fatal(err)
	}
	do()
	if err := e.kafka.StartNode(e.Context(), broker); err != nil {
		e.Fatal(err)
	}
}
