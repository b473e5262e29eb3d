package integration

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/controllers/topic"
)

// Names of metrics that the tests read.
const (
	metricBatches    = "sluice_topic_batches_total"
	metricAdminCalls = "sluice_topic_admin_call_duration_seconds"
	metricWrites     = "sluice_topic_kubernetes_write_duration_seconds"
)

// TestTopics shares one API server and one Kafka among all that is tried on
// them.
func TestTopics(t *testing.T) {
	cp, cluster := topicParts(t)
	for name, test := range map[string]func(*topicEnv){
		"lifecycle": topicLifecycle,
		"conflicts": topicConflicts,
	} {
		t.Run(name, func(t *testing.T) {
			test(newTopicEnv(t, cp, cluster, name, func(o *topic.Options) { o.ResyncInterval = 10 * time.Second }))
		})
	}
	t.Run("outage", func(t *testing.T) {
		topicsThroughAnOutage(newTopicEnv(t, cp, cluster, "outage", func(o *topic.Options) { o.MaxBatchSize = 100 }))
	})
}

// topicLifecycle takes a thousand topics through creation, a look that finds
// nothing to do, a change, growth and deletion.
func topicLifecycle(e *topicEnv) {
	const n = 1000
	began := time.Now()
	e.each(n, func(ctx context.Context, i int) error { return e.kube.Create(ctx, e.topic(i, apiv1.KafkaTopicSpec{})) })
	e.waitTopics(n, isReady)
	e.Logf("%d topics ready after %s, in %v batches with %v Admin calls", n, time.Since(began).Round(10*time.Millisecond),
		e.metric(metricBatches), e.metric(metricAdminCalls))
	e.waitInKafka(n)
	if calls, batches := e.metric(metricAdminCalls), e.metric(metricBatches); calls > 3*batches {
		e.Errorf("%v Admin calls for %v batches of new topics, want at most three each", calls, batches)
	}
	e.lookThatFindsNothing()

	e.each(n/10, func(ctx context.Context, i int) error {
		if i%2 == 0 {
			return e.patch(ctx, i, `{"spec":{"config":{"retention.ms":3600000,"cleanup.policy":"compact, delete"}}}`)
		}
		return e.patch(ctx, i, `{"spec":{"partitions":3}}`)
	})
	e.waitTopics(n, isReady)
	e.checkChanged(n / 10)
	e.lookThatFindsNothing()

	e.each(n, func(ctx context.Context, i int) error { return e.kube.Delete(ctx, e.topic(i, apiv1.KafkaTopicSpec{})) })
	e.waitTopics(0, isReady)
	e.waitInKafka(0)
}

// lookThatFindsNothing waits for two full looks at a settled set of at most one
// batch, and holds them to two calls each and no write.
func (e *topicEnv) lookThatFindsNothing() {
	e.Helper()
	// What was changed is checked once more a little later.
	e.waitMetric(metricBatches, e.metric(metricBatches)+2)
	batches, calls, writes := e.metric(metricBatches), e.metric(metricAdminCalls), e.metric(metricWrites)
	e.waitMetric(metricBatches, batches+2)
	newCalls, newBatches := e.metric(metricAdminCalls)-calls, e.metric(metricBatches)-batches
	if newCalls != 2*newBatches {
		e.Errorf("%v Admin calls in %v looks that found nothing, want two each", newCalls, newBatches)
	}
	if got := e.metric(metricWrites) - writes; got != 0 {
		e.Errorf("%v writes to Kubernetes in looks that found nothing", got)
	}
}

// checkChanged waits until Kafka shows the changes: a broker answers from its
// copy of the metadata, which may be seconds behind after so many new topics.
func (e *topicEnv) checkChanged(n int) {
	e.Helper()
	var names []string
	for i := range n {
		names = append(names, e.inKafka(i))
	}
	var wrong []string
	e.eventually(func(ctx context.Context) (bool, error) {
		details := e.details()
		configs, err := e.admin.DescribeTopicConfigs(ctx, names...)
		if err != nil {
			return false, err
		}
		wrong = nil
		for i, name := range names {
			if i%2 == 1 {
				if got := len(details[name].Partitions); got != 3 {
					wrong = append(wrong, fmt.Sprintf("%s has %d partitions, want 3", name, got))
				}
				continue
			}
			config, err := configs.On(name, nil)
			if err != nil {
				return false, err
			}
			for _, c := range config.Configs {
				if want := map[string]string{"retention.ms": "3600000", "cleanup.policy": "compact,delete"}[c.Key]; want != "" && c.MaybeValue() != want {
					wrong = append(wrong, fmt.Sprintf("%s: %s is %q, want %q", name, c.Key, c.MaybeValue(), want))
				}
			}
		}
		return len(wrong) == 0, nil
	})
	if len(wrong) > 0 {
		e.Errorf("%d changes did not reach Kafka, such as: %s", len(wrong), wrong[0])
	}
}

// waitInKafka waits until Kafka shows n topics of this test.
func (e *topicEnv) waitInKafka(n int) {
	e.Helper()
	e.eventually(func(context.Context) (bool, error) { return len(e.details()) == n, nil })
	if got := len(e.details()); got != n {
		e.Errorf("%d topics in Kafka, want %d", got, n)
	}
}

// eventually polls until something holds or patience runs out; what it found
// last is for its caller to judge.
func (e *topicEnv) eventually(holds func(context.Context) (bool, error)) {
	e.Helper()
	err := wait.PollUntilContextTimeout(e.Context(), 200*time.Millisecond, patience, true, holds)
	if err != nil && !wait.Interrupted(err) {
		e.Fatal(err)
	}
}

// topicConflicts lets two resources ask for one name, and hands it over.
func topicConflicts(e *topicEnv) {
	shared := e.namespace + "-shared"
	if err := e.kube.Create(e.Context(), e.topic(0, apiv1.KafkaTopicSpec{TopicName: &shared})); err != nil {
		e.Fatal(err)
	}
	e.waitTopics(1, isReady)
	id := e.details()[shared].ID
	if err := e.kube.Create(e.Context(), e.topic(1, apiv1.KafkaTopicSpec{TopicName: &shared})); err != nil {
		e.Fatal(err)
	}
	e.waitTopics(2, func(kt *apiv1.KafkaTopic) bool {
		if kt.Name == "topic-0000" {
			return isReady(kt)
		}
		return len(kt.Status.Conditions) > 0 && kt.Status.Conditions[0].Reason == apiv1.ReasonResourceConflict &&
			strings.Contains(kt.Status.Conditions[0].Message, "conflicts/topic-0000")
	})
	if err := e.kube.Delete(e.Context(), e.topic(0, apiv1.KafkaTopicSpec{})); err != nil {
		e.Fatal(err)
	}
	e.waitTopics(1, isReady)
	if got := e.details()[shared].ID; got != id {
		e.Errorf("the topic's ID is %s, was %s: it was not handed over", got, id)
	}
	// Shrinking is refused with a reason, and does nothing.
	if err := e.patch(e.Context(), 1, `{"spec":{"partitions":4}}`); err != nil {
		e.Fatal(err)
	}
	e.waitTopics(1, isReady)
	if err := e.patch(e.Context(), 1, `{"spec":{"partitions":2}}`); err != nil {
		e.Fatal(err)
	}
	e.waitTopics(1, func(kt *apiv1.KafkaTopic) bool {
		return len(kt.Status.Conditions) > 0 && kt.Status.Conditions[0].Reason == apiv1.ReasonNotSupported
	})
}

// topicsThroughAnOutage stops Kafka in the middle of a thousand topics.
func topicsThroughAnOutage(e *topicEnv) {
	const n = 1000
	wrong := e.watchWrong()
	broker := e.kafka.Brokers()[0]
	creations := make(chan struct{})
	go func() {
		defer close(creations)
		e.each(n, func(ctx context.Context, i int) error { return e.kube.Create(ctx, e.topic(i, apiv1.KafkaTopicSpec{})) })
	}()
	e.waitMetric(metricBatches, 3)
	if err := e.kafka.KillNode(broker); err != nil {
		e.Fatal(err)
	}
	down := time.NewTimer(20 * time.Second)
	defer down.Stop()
	<-creations
	var list apiv1.KafkaTopicList
	if err := e.kube.List(e.Context(), &list, client.InNamespace(e.namespace)); err != nil {
		e.Fatal(err)
	}
	ready := 0
	for i := range list.Items {
		if isReady(&list.Items[i]) {
			ready++
		}
	}
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
	if got := wrong(); len(got) > 0 {
		e.Errorf("reported wrong for a fault that passed: %s", strings.Join(got[:min(3, len(got))], "; "))
	}
}

// watchWrong follows every status that is written, and returns those that said
// that something was wrong.
func (e *topicEnv) watchWrong() func() []string {
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
	return func() []string {
		mu.Lock()
		defer mu.Unlock()
		if len(seen) == 0 {
			e.Error("the watch saw nothing")
		}
		return slices.Clone(wrong)
	}
}
