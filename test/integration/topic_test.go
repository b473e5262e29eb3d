package integration

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/test/harness"
)

// TestTopics runs the installed operator under the chart's own roles. One API
// server and one Kafka are shared by all that is tried on them, in this order.
func TestTopics(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		run    func(*topicEnv)
		labels map[string]string
	}{
		{name: "lifecycle", run: topicLifecycle},
		// Admission refuses most of what the controller would have to.
		{name: "conflicts", run: topicConflicts, labels: map[string]string{apiv1.LabelAdmission: apiv1.AdmissionDisabled}},
		{name: "outage", run: topicsThroughAnOutage},
		{name: "absent", run: topicsBeforeKafka},
		{name: "crash", run: topicsThroughCrashes},
		{name: "options", run: topicOptions},
		{name: "schema", run: topicsUnderALesserSchema},
	}
	var namespaces []any
	for _, test := range tests {
		namespaces = append(namespaces, test.name)
	}
	in, cluster := topicParts(t, harness.ControlPlaneOptions{}, namespaces...)
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { test.run(newTopicEnv(t, in, cluster, test.name, test.labels)) })
	}
}

// createTopics applies n resources at once.
func (e *topicEnv) createTopics(n int) {
	e.Helper()
	e.each(n, func(ctx context.Context, i int) error { return e.kube.Create(ctx, e.topic(i, apiv1.KafkaTopicSpec{})) })
}

// topicLifecycle takes a thousand topics through creation, a look that finds
// nothing to do, a change, growth and deletion.
func topicLifecycle(e *topicEnv) {
	const n = 1000
	e.start("--resync-interval=10s")
	before, began := e.settled(), time.Now()
	e.createTopics(n)
	e.waitTopics(n, isReady)
	took, after := time.Since(began), e.settled()
	e.Logf("%d topics ready after %s: %s", n, took.Round(10*time.Millisecond), after.calls(before))
	e.waitInKafka(n)
	if calls, batches := after.sum(metricAdminCalls)-before.sum(metricAdminCalls), after.sum(metricBatches)-before.sum(metricBatches); calls > 3*batches {
		e.Errorf("%v Admin calls for %v batches of new topics, want at most three each", calls, batches)
	}
	e.lookThatFindsNothing()

	before = e.settled()
	e.each(n/10, func(ctx context.Context, i int) error {
		if i%2 == 0 {
			return e.patch(ctx, i, `{"spec":{"config":{"retention.ms":3600000,"cleanup.policy":"compact, delete"}}}`)
		}
		return e.patch(ctx, i, `{"spec":{"partitions":3}}`)
	})
	e.waitTopics(n, isReady)
	e.checkChanged(n / 10)
	e.Logf("%d changed and %d grown: %s", n/20, n/20, e.settled().calls(before))
	e.lookThatFindsNothing()

	before = e.settled()
	e.each(n, func(ctx context.Context, i int) error { return e.kube.Delete(ctx, e.topic(i, apiv1.KafkaTopicSpec{})) })
	e.waitTopics(0, isReady)
	e.waitInKafka(0)
	e.Logf("%d deleted: %s", n, e.settled().calls(before))
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

// topicConflicts lets two resources ask for one name, and hands it over.
func topicConflicts(e *topicEnv) {
	e.start()
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
