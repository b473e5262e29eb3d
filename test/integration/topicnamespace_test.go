package integration

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sluice-kafka/sluice/test/harness"
)

// In a namespace that is being deleted nothing can be created, Events among it;
// the finalizers must come off all the same, and the topics go.
func TestANamespaceGoesAndItsTopicsWithIt(t *testing.T) {
	const n = 100
	in, cluster := topicParts(t, harness.ControlPlaneOptions{ControllerManager: true}, "doomed", "kept")
	kept := newTopicEnv(t, in, cluster, "kept", nil)
	e := newTopicEnv(t, in, cluster, "doomed", nil)
	e.start()
	kept.createTopics(1)
	kept.waitTopics(1, isReady)
	e.createTopics(n)
	e.waitTopics(n, isReady)
	e.waitInKafka(n)

	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: e.namespace}}
	if err := e.kube.Delete(t.Context(), ns); err != nil {
		t.Fatal(err)
	}
	gone(t, e.kube, ns)
	e.waitInKafka(0)
	kept.waitInKafka(1)
	kept.waitTopics(1, isReady)
}
