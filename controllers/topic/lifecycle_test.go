package topic

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	kafkav1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/controllers/topic/fake"
)

func TestNewTopicIsCreatedWithItsSettingsAndReported(t *testing.T) {
	e := newEnv(t)
	e.create(aTopic("orders", partitions(3), replicas(2), config("retention.ms", "1e6"), config("cleanup.policy", `["compact","delete"]`)))
	e.turn()
	e.wantReady("orders")
	got := e.kafka.Topics()["orders"]
	if got.Partitions != 3 || got.Replicas != 2 || got.Config["retention.ms"] != "1000000" || got.Config["cleanup.policy"] != "compact,delete" {
		t.Errorf("topic in Kafka: %+v", got)
	}
	kt := e.get("orders")
	if !slices.Equal(kt.Finalizers, []string{kafkav1.FinalizerTopic}) {
		t.Errorf("finalizers: %v", kt.Finalizers)
	}
	if s := kt.Status; s.TopicName != "orders" || s.TopicID != got.ID || s.Partitions != 3 || s.Replicas != 2 {
		t.Errorf("status: %+v", s)
	}
	e.wantCalls(e.kafka.Calls(), fake.DescribeTopics, fake.CreateTopics)
	if w := e.takeWrites(); !slices.Equal(w, []string{"finalizer orders", "status orders"}) {
		t.Errorf("writes: %v, want one of each kind", w)
	}
}

func TestSecondLookAtABatchMakesTwoCallsAndWritesNothing(t *testing.T) {
	e := newEnv(t, func(o *Options) { o.MaxBatchSize = 50 })
	var topics []*kafkav1.KafkaTopic
	for i := range 100 {
		topics = append(topics, aTopic(fmt.Sprintf("topic-%d", i), partitions(2), config("retention.ms", "1000")))
	}
	e.create(topics...)
	e.turn()
	e.takeWrites()
	e.clock.Step(time.Hour)
	e.wantCalls(e.resync(), fake.DescribeTopics, fake.DescribeConfigs, fake.DescribeTopics, fake.DescribeConfigs)
	if w := e.takeWrites(); len(w) > 0 {
		t.Errorf("writes: %v, want none", w)
	}
}

func TestAWholeBatchCostsOneCallOfEachKind(t *testing.T) {
	e := newEnv(t)
	for i := range 20 {
		e.create(aTopic(fmt.Sprintf("old-%d", i), partitions(1)), aTopic(fmt.Sprintf("dying-%d", i)))
	}
	e.turn()
	e.kafka.Reset()
	for i := range 20 {
		e.change(fmt.Sprintf("old-%d", i), func(kt *kafkav1.KafkaTopic) { partitions(4)(kt); config("retention.ms", "5")(kt) })
		e.delete(fmt.Sprintf("dying-%d", i))
		e.create(aTopic(fmt.Sprintf("new-%d", i)))
	}
	e.turn()
	e.wantCalls(e.kafka.Calls(), fake.DeleteTopics, fake.DescribeTopics, fake.DescribeConfigs,
		fake.CreateTopics, fake.CreatePartitions, fake.AlterConfigs)
	if n := len(e.kafka.Topics()); n != 40 {
		t.Errorf("%d topics in Kafka, want 40", n)
	}
	e.wantReady("old-7", "new-7")
}

func TestChangedOptionsAreSetAndRemovedOnesDeleted(t *testing.T) {
	e := newEnv(t)
	e.create(aTopic("orders", config("retention.ms", "1000"), config("preallocate", "true")))
	e.turn()
	e.change("orders", func(kt *kafkav1.KafkaTopic) {
		delete(kt.Spec.Config, "preallocate")
		config("retention.ms", `"2000"`)(kt)
	})
	e.turn()
	e.wantReady("orders")
	if got := e.kafka.Topics()["orders"].Config; len(got) != 1 || got["retention.ms"] != "2000" {
		t.Errorf("config in Kafka: %v", got)
	}
	e.settle()
	e.takeWrites()
	e.wantCalls(e.resync(), fake.DescribeTopics, fake.DescribeConfigs)
}

func TestThrottleOptionsOfAMoverStay(t *testing.T) {
	e := newEnv(t)
	e.kafka.SetTopic("orders", fake.Topic{Partitions: 1, Replicas: 1, Config: map[string]string{
		"leader.replication.throttled.replicas": "*", "retention.ms": "5",
	}})
	e.create(aTopic("orders"))
	e.turn()
	e.wantReady("orders")
	if got := e.kafka.Topics()["orders"].Config; len(got) != 1 || got["leader.replication.throttled.replicas"] != "*" {
		t.Errorf("config in Kafka: %v, want only the throttle", got)
	}
}

func TestPartitionsGrowAndNeverShrink(t *testing.T) {
	e := newEnv(t)
	e.create(aTopic("orders", partitions(2)))
	e.turn()
	e.change("orders", partitions(5))
	e.turn()
	e.wantReady("orders")
	if got := e.get("orders").Status.Partitions; got != 5 {
		t.Errorf("partitions in the status: %d, want 5", got)
	}
	e.change("orders", partitions(3))
	e.turn()
	message := e.wantReason("orders", kafkav1.ReasonNotSupported)
	if !strings.Contains(message, "has 5") {
		t.Errorf("message %q does not say what the topic has", message)
	}
	if got := e.kafka.Topics()["orders"].Partitions; got != 5 {
		t.Errorf("partitions in Kafka: %d, want 5", got)
	}
}

func TestReplicationFactorIsNotChanged(t *testing.T) {
	e := newEnv(t)
	e.create(aTopic("orders", partitions(2), replicas(1)))
	e.turn()
	e.change("orders", func(kt *kafkav1.KafkaTopic) { replicas(3)(kt); config("retention.ms", "7")(kt) })
	e.turn()
	message := e.wantReason("orders", kafkav1.ReasonNotSupported)
	if !strings.Contains(message, "0-1") {
		t.Errorf("message %q does not name the partitions", message)
	}
	if got := e.kafka.Topics()["orders"].Config["retention.ms"]; got != "7" {
		t.Errorf("retention.ms is %q: the option should be set whatever the replicas gave", got)
	}
}

func TestDeletedResourceTakesItsTopicAlong(t *testing.T) {
	e := newEnv(t)
	e.create(aTopic("orders"), aTopic("kept", annotation(kafkav1.AnnotationDeletionPolicy, kafkav1.DeletionPolicyRetain)))
	e.turn()
	e.delete("orders", "kept")
	e.turn()
	if e.exists("orders") || e.exists("kept") {
		t.Error("a resource hangs on its finalizer")
	}
	topics := e.kafka.Topics()
	if _, ok := topics["orders"]; ok {
		t.Error("the topic outlived its resource")
	}
	if _, ok := topics["kept"]; !ok {
		t.Error("a retained topic was deleted")
	}
}

func TestDeletionOfATopicThatIsGoneAlreadySucceeds(t *testing.T) {
	e := newEnv(t)
	e.create(aTopic("orders"))
	e.turn()
	e.kafka.RemoveTopic("orders")
	e.delete("orders")
	e.turn()
	if e.exists("orders") {
		t.Error("the resource hangs on its finalizer")
	}
}

func TestDisabledDeletionIsSaidAndTriedAgain(t *testing.T) {
	e := newEnv(t)
	e.create(aTopic("orders"))
	e.turn()
	e.delete("orders")
	e.kafka.TopicErrs[fake.DeleteTopics+" orders"] = fake.ErrDeletionDisabled
	e.turn()
	if message := e.wantReason("orders", kafkav1.ReasonKafkaError); !strings.Contains(message, "TOPIC_DELETION_DISABLED") ||
		!strings.Contains(message, "delete.topic.enable") {
		t.Errorf("message: %q", message)
	}
	e.kafka.Reset()
	e.resync()
	e.wantCalls(e.kafka.Calls()) // the periodic look does not cut the wait short
	e.clock.Step(10 * time.Minute)
	e.turn()
	if e.exists("orders") {
		t.Error("the deletion was not tried again after ten minutes")
	}
}

func TestFinalizerTakenOffByHandIsPutBack(t *testing.T) {
	e := newEnv(t)
	e.create(aTopic("orders"))
	e.turn()
	kt := e.get("orders")
	kt.Finalizers = nil
	if err := e.kube.Update(e.ctx, kt); err != nil {
		t.Fatal(err)
	}
	e.sync()
	e.turn()
	if !hasFinalizer(e.get("orders")) {
		t.Error("the finalizer is still off")
	}
}

func TestTopicDeletedBehindOurBackIsCreatedAgain(t *testing.T) {
	e := newEnv(t)
	e.create(aTopic("orders"))
	e.turn()
	first := e.get("orders").Status.TopicID
	e.kafka.RemoveTopic("orders")
	e.clock.Step(time.Hour)
	e.resync()
	if now := e.get("orders").Status.TopicID; now == first || now == "" {
		t.Errorf("topic ID %q after %q: want a new one", now, first)
	}
}
