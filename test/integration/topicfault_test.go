package integration

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
)

// topicsThroughAnOutage stops Kafka in the middle of a thousand topics.
func topicsThroughAnOutage(e *topicEnv) {
	const n = 1000
	e.start("--max-batch-size=100")
	wrong := e.watchWrong()
	broker := e.kafka.Brokers()[0]
	creations := make(chan struct{})
	go func() {
		defer close(creations)
		e.createTopics(n)
	}()
	e.waitMetric(metricBatches, 3)
	if err := e.kafka.KillNode(broker); err != nil {
		e.Fatal(err)
	}
	down := time.NewTimer(20 * time.Second)
	defer down.Stop()
	<-creations
	ready := e.count(isReady)
	if ready == n {
		e.Fatal("all topics were ready before Kafka was killed: the test tries nothing")
	}
	<-down.C
	if err := e.kafka.StartNode(e.Context(), broker); err != nil {
		e.Fatal(err)
	}
	back := time.Now()
	e.waitTopics(n, isReady)
	e.Logf("%d of %d topics were ready when Kafka went; all were %s after it came back", ready, n, time.Since(back).Round(100*time.Millisecond))
	e.waitInKafka(n)
	wrong()
}

// topicsBeforeKafka starts the operator while Kafka is down: admission must not
// wait for it, since Kafka's own pods are admitted by the same process.
func topicsBeforeKafka(e *topicEnv) {
	const n = 20
	broker := e.kafka.Brokers()[0]
	if err := e.kafka.KillNode(broker); err != nil {
		e.Fatal(err)
	}
	wrong := e.watchWrong()
	e.start() // returns when it is ready
	createCluster(e.T, e.installed, e.namespace, templatedSecret("creds", "creds-{nodeId}"))
	pod := brokerPod(e.namespace, "0", "creds")
	createAll(e.T, e.installed, pod)
	checkVolumes(e.T, pod, "creds=secret/creds-0")
	e.createTopics(n)
	none := int64(0)
	if err := e.kube.Create(e.Context(), e.topic(n, apiv1.KafkaTopicSpec{Partitions: &none})); !apierrors.IsForbidden(err) && !apierrors.IsInvalid(err) {
		e.Errorf("a topic without partitions got the answer %v, want a refusal", err)
	}
	// The operator has tried, and seen that nobody answers.
	told := false
	e.eventually(func(context.Context) (bool, error) {
		for _, s := range e.metrics().Metrics["sluice_topic_cluster_reachable"].GetMetric() {
			for _, l := range s.Label {
				told = told || l.GetValue() == topicCluster && s.GetGauge().GetValue() == 0
			}
		}
		return told, nil
	})
	if !told {
		e.Error("the metrics do not say that the cluster is unreachable")
	}
	if err := e.kafka.StartNode(e.Context(), broker); err != nil {
		e.Fatal(err)
	}
	e.waitTopics(n, isReady)
	e.waitInKafka(n)
	wrong()
}

// topicsThroughCrashes kills the operator twice in the middle of a batch of a
// thousand: while finalizers are put on, and while statuses are written.
func topicsThroughCrashes(e *topicEnv) {
	const n = 1000
	none := filepath.Join(e.TempDir(), "clusters.yaml")
	if err := os.WriteFile(none, []byte("[]\n"), 0o600); err != nil {
		e.Fatal(err)
	}
	e.start("--external-clusters=" + none) // admission alone
	e.createTopics(n)
	e.stop()
	wrong := e.watchWrong()

	e.start(oneBatch)
	e.waitMetric(metricWrites, n/10, "kind=finalizer")
	e.kill()

	// The next operator is ready long before it leads: the lease of one that
	// was killed has to run out.
	e.start(oneBatch)
	marked := e.count(isMarked)
	if marked < n/10 || marked == n || len(e.details()) > 0 {
		e.Fatalf("%d of %d resources have the finalizer and %d topics exist: the operator was not killed in the middle", marked, n, len(e.details()))
	}
	e.waitMetric(metricWrites, n/10, "kind=status")
	second := e.metrics()
	e.kill()

	e.start(oneBatch)
	ready := e.count(isReady)
	if ready < n/10 || ready == n {
		e.Fatalf("%d of %d topics are ready: the operator was not killed in the middle", ready, n)
	}
	if got := second.sum(metricWrites, "kind=finalizer"); got != float64(n-marked) {
		e.Errorf("%v finalizers written after the first crash, want the %d that were missing", got, n-marked)
	}
	e.waitInKafka(n)
	ids := e.details()
	e.waitTopics(n, isReady)
	third := e.settled()
	e.Logf("killed with %d finalizers, then with %d ready; in the end: %s", marked, ready, third.calls(reading{}))
	if got := third.sum(metricWrites, "kind=finalizer"); got != 0 {
		e.Errorf("%v finalizers written again", got)
	}
	if got := third.sum(metricWrites, "kind=status"); got != float64(n-ready) {
		e.Errorf("%v statuses written after the second crash, want the %d that were missing", got, n-ready)
	}
	if got := third.sum(metricAdminCalls, "api=CreateTopics"); got != 0 {
		e.Errorf("topics were created again, in %v calls", got)
	}
	for name, now := range e.details() {
		if ids[name].ID != now.ID {
			e.Errorf("topic %s was %s and is %s", name, ids[name].ID, now.ID)
		}
	}
	e.waitInKafka(n)
	wrong()
}

func isMarked(kt *apiv1.KafkaTopic) bool { return slices.Contains(kt.Finalizers, apiv1.FinalizerTopic) }

// watchWrong follows every status that is written until the function that it
// returns is called, which fails the test if one said that something was wrong.
func (e *topicEnv) watchWrong() func() {
	e.Helper()
	watcher, err := e.kube.Watch(e.Context(), &apiv1.KafkaTopicList{}, client.InNamespace(e.namespace))
	if err != nil {
		e.Fatal(err)
	}
	e.Cleanup(watcher.Stop)
	var mu sync.Mutex
	var wrong []string
	seen := map[string]bool{}
	go func() {
		for event := range watcher.ResultChan() {
			mu.Lock()
			if event.Type == watch.Error {
				wrong = append(wrong, fmt.Sprintf("the watch broke: %v", event.Object))
			}
			if kt, ok := event.Object.(*apiv1.KafkaTopic); ok {
				seen[kt.Name] = true
				for _, c := range kt.Status.Conditions {
					if c.Type != apiv1.ConditionReady || c.Status != "True" {
						wrong = append(wrong, fmt.Sprintf("%s: %+v", kt.Name, c))
					}
				}
			}
			mu.Unlock()
		}
	}()
	return func() {
		e.Helper()
		mu.Lock()
		defer mu.Unlock()
		if len(seen) == 0 {
			e.Error("the watch saw nothing")
		}
		if len(wrong) > 0 {
			e.Errorf("%d times something was reported wrong for a fault that passed: %s", len(wrong), strings.Join(wrong[:min(3, len(wrong))], "; "))
		}
	}
}
