package integration

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/wait"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/test/kafka/kafkatest"
	"github.com/sluice-kafka/sluice/test/kafka/policy"
)

// topicsUnderAPolicy has the brokers' own policy refuse one topic of a batch: it
// alone is refused, and without another try.
func topicsUnderAPolicy(e *topicEnv) {
	if err := policy.Available(); err != nil {
		if os.Getenv("CI") == "true" {
			e.Fatalf("CI must try a policy of the brokers: %v", err)
		}
		_, _ = fmt.Fprintf(os.Stderr, "SKIPPED %s: %v\n", e.Name(), err)
		e.Skip(err)
	}
	const n, refused = 20, 7
	e.start(oneBatch, "--resync-interval=5s", "--max-batch-size=20")
	before := e.settled()
	e.each(n, func(ctx context.Context, i int) error {
		spec := apiv1.KafkaTopicSpec{}
		if i == refused {
			name := e.inKafka(i) + "-forbidden"
			spec.TopicName = &name
		}
		return e.kube.Create(ctx, e.topic(i, spec))
	})
	e.waitTopics(n, func(kt *apiv1.KafkaTopic) bool {
		if !strings.HasSuffix(*kt.Spec.TopicName, "-forbidden") {
			return isReady(kt)
		}
		if len(kt.Status.Conditions) == 0 {
			return false
		}
		c := kt.Status.Conditions[0]
		return c.Status == "False" && c.Reason == apiv1.ReasonKafkaError &&
			strings.Contains(c.Message, "POLICY_VIOLATION (44)") && strings.Contains(c.Message, policy.Reason)
	})
	if calls, batches := e.callsOf("CreateTopics", before), e.settled().sum(metricBatches)-before.sum(metricBatches); calls > batches {
		e.Errorf("%v calls of CreateTopics in %v batches: what a policy says of one topic was asked again", calls, batches)
	}
	e.waitInKafka(n - 1)
	// A resource without a topic goes at once.
	e.delete(refused)
	e.waitTopics(n-1, isReady)
}

// topicsUnderAQuota has the controller accept a few changes a second (KIP-599): all
// are made in the end, and none is called wrong for it.
func topicsUnderAQuota(e *topicEnv) {
	const n, rate = 120, 5
	entity := kadm.ClientQuotaEntity{{Type: "user", Name: nil}}
	quota := func(remove bool) {
		entry := kadm.AlterClientQuotaEntry{Entity: entity, Ops: []kadm.AlterClientQuotaOp{{Key: "controller_mutation_rate", Value: rate, Remove: remove}}}
		altered, err := e.admin.AlterClientQuotas(context.WithoutCancel(e.Context()), []kadm.AlterClientQuotaEntry{entry})
		if err != nil || altered[0].Err != nil {
			e.Fatal(err, altered)
		}
	}
	quota(false)
	e.Cleanup(func() { quota(true) })
	e.start()
	wrong := e.watchWrong()
	before, began := e.settled(), time.Now()
	e.createTopics(n)
	e.waitTopics(n, isReady)
	e.waitInKafka(n)
	wrong()
	if calls := e.callsOf("CreateTopics", before); calls < 3 {
		e.Errorf("%v calls of CreateTopics: the quota stopped nothing, and the test tries nothing", calls)
	}
	e.Logf("%d topics at %d a second took %s: %s", n, rate, time.Since(began).Round(100*time.Millisecond), e.settled().calls(before))
}

// topicsInHaste changes resources as soon as they are ready, and deletes them and
// makes them anew, while the broker's metadata lags behind: nothing that was our own
// doing is called wrong.
func topicsInHaste(e *topicEnv) {
	const n, rounds = 50, 3
	e.start("--topic-workers=4", "--max-batch-size=10")
	wrong := e.watchWrong()
	e.createTopics(n)
	for round := range rounds {
		e.waitTopics(n, isReady)
		before := e.details()
		e.each(n, func(ctx context.Context, i int) error {
			return e.patch(ctx, i, fmt.Sprintf(`{"spec":{"partitions":%d,"config":{"retention.ms":%d}}}`, round+2, 3600000+round))
		})
		if round < rounds-1 {
			e.each(n, func(ctx context.Context, i int) error {
				return e.patch(ctx, i, fmt.Sprintf(`{"spec":{"partitions":%d,"config":null}}`, round+3))
			})
			e.waitTopics(n, isReady)
			e.renewed(n, before)
		}
	}
	e.waitTopics(n, isReady)
	e.until(func(ctx context.Context) error {
		for i := range n {
			if err := errors.Join(e.partitions(i, rounds+1), e.set(ctx, i, map[string]string{"retention.ms": fmt.Sprint(3600000 + rounds - 1)})); err != nil {
				return err
			}
		}
		return nil
	})
	wrong()
}

// renewed deletes n resources and applies them anew as soon as they are gone: their
// topics are others then.
func (e *topicEnv) renewed(n int, before kadm.TopicDetails) {
	e.Helper()
	e.each(n, func(ctx context.Context, i int) error { return e.kube.Delete(ctx, e.topic(i, apiv1.KafkaTopicSpec{})) })
	e.each(n, func(ctx context.Context, i int) error {
		return wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
			err := e.kube.Create(ctx, e.topic(i, apiv1.KafkaTopicSpec{}))
			if apierrors.IsAlreadyExists(err) {
				return false, nil
			}
			return true, err
		})
	})
	e.waitTopics(n, isReady)
	e.until(func(context.Context) error {
		now := e.details()
		for i := range n {
			name := e.inKafka(i)
			if now[name].ID == before[name].ID || len(now[name].Partitions) != 1 {
				return fmt.Errorf("topic %s is still the one from before: %+v", name, now[name])
			}
		}
		return nil
	})
}

// thousandsOfTopics are looked at in slices, with two calls each and no write, by an
// operator that made them and by one that knows nothing of them.
func thousandsOfTopics(e *topicEnv) {
	const n, batches = 2100, 3
	e.start("--resync-interval=6s")
	began := time.Now()
	e.createTopics(n)
	e.waitTopics(n, isReady)
	e.waitInKafka(n)
	e.Logf("%d topics ready after %s", n, time.Since(began).Round(100*time.Millisecond))
	e.findNothingIn(2 * batches)
	e.stop()
	e.start("--resync-interval=1h")
	e.waitMetric(metricBatches, batches)
	first := e.settled()
	e.Logf("after a new start: %s", first.calls(reading{}))
	// That which asks which Kafka it is, once it is connected, is not counted.
	for api, want := range map[string]float64{"Metadata": batches, "DescribeConfigs": batches, "CreateTopics": 0, "IncrementalAlterConfigs": 0} {
		if got := first.sum(metricAdminCalls, "api="+api); got != want {
			e.Errorf("%v calls of %s in the first look of a new operator, want %v", got, api, want)
		}
	}
	if got := first.sum(metricWrites); got != 0 {
		e.Errorf("%v writes to Kubernetes in the first look of a new operator", got)
	}
}

// topicsWithManyOptions changes options of a thousand topics in one batch, once as
// many as one request takes, and once more than that.
func topicsWithManyOptions(e *topicEnv) {
	const n = 1000
	e.start(oneBatch)
	e.createTopics(n)
	e.waitTopics(n, isReady)
	for _, test := range []struct {
		options, calls int
		value          string
	}{{5, 1, "3000000"}, {12, 2, "4000000"}} {
		before := e.settled()
		want, values := map[string]string{}, kafkatest.TwelveOptions(test.value)
		for _, name := range slices.Sorted(maps.Keys(values))[:test.options] {
			want[name] = test.value
		}
		patch, err := json.Marshal(map[string]any{"spec": map[string]any{"config": want}})
		if err != nil {
			e.Fatal(err)
		}
		e.each(n, func(ctx context.Context, i int) error { return e.patch(ctx, i, string(patch)) })
		e.waitTopics(n, isReady)
		after := e.settled()
		e.Logf("%d options on each of %d topics: %s", test.options, n, after.calls(before))
		if got := e.callsOf("IncrementalAlterConfigs", before); got != float64(test.calls) {
			e.Errorf("%v calls of IncrementalAlterConfigs for %d changes, want %d", got, n*test.options, test.calls)
		}
		for _, i := range []int{0, n / 2, n - 1} {
			e.until(func(ctx context.Context) error { return e.set(ctx, i, want) })
		}
	}
}

// topicsWithManyPartitions creates, in one batch, topics with more partitions than
// Kafka takes in one request, and then grows topics likewise.
func topicsWithManyPartitions(e *topicEnv) {
	const n, partitions = 210, 50
	e.start(oneBatch, "--max-batch-size=210", e.table(e.kafka.Bootstrap()...))
	before, began := e.settled(), time.Now()
	e.each(n, func(ctx context.Context, i int) error {
		return e.kube.Create(ctx, e.topic(i, apiv1.KafkaTopicSpec{Partitions: number(int64(partitions))}))
	})
	e.waitTopics(n, isReady)
	after := e.settled()
	e.Logf("%d topics of %d partitions were ready after %s: %s", n, partitions, time.Since(began).Round(100*time.Millisecond), after.calls(before))
	if got := after.sum(metricAdminCalls, "api=CreateTopics") - before.sum(metricAdminCalls, "api=CreateTopics"); got != 2 {
		e.Errorf("%v calls of CreateTopics for %d partitions, want 2", got, n*partitions)
	}
	total := 0
	e.until(func(context.Context) error {
		total = 0
		for _, detail := range e.details() {
			total += len(detail.Partitions)
		}
		if total != n*partitions {
			return fmt.Errorf("%d partitions in Kafka, want %d", total, n*partitions)
		}
		return nil
	})
}
