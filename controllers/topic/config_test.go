package topic

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	kafkav1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/controllers/topic/fake"
	"github.com/sluice-kafka/sluice/internal/facts"
	"github.com/sluice-kafka/sluice/internal/topicplan"
)

// wantWarnings looks for a part of each warning of a resource, in order.
func (e *env) wantWarnings(name string, parts ...string) {
	e.t.Helper()
	conditions := e.get(name).Status.Conditions
	if len(conditions) != len(parts)+1 {
		e.t.Errorf("conditions of %s: %+v, want %d warnings", name, conditions, len(parts))
		return
	}
	for i, part := range parts {
		if c := conditions[i+1]; c.Type != kafkav1.ConditionWarning || c.Status != "True" || c.Reason != kafkav1.ReasonInvalidConfig || !strings.Contains(c.Message, part) {
			e.t.Errorf("condition %+v of %s, want a warning with %q", c, name, part)
		}
	}
}

func TestOptionsThatMayNotBeAlteredAreLeftAlone(t *testing.T) {
	alterable, err := topicplan.ParseAlterable("cleanup.policy")
	if err != nil {
		t.Fatal(err)
	}
	e := newEnv(t, func(o *Options) { o.Alterable = alterable })
	e.create(aTopic("orders", config("retention.ms", "5"), config("cleanup.policy", `"compact"`)))
	e.turn()
	e.wantReady("orders")
	e.wantWarnings("orders", "retention.ms")
	if got := e.kafka.Topics()["orders"].Config; !maps.Equal(got, map[string]string{"cleanup.policy": "compact"}) {
		t.Errorf("created with %v", got)
	}
	topic := e.kafka.Topics()["orders"]
	topic.Config = map[string]string{"retention.ms": "7", "preallocate": "true", "cleanup.policy": "delete"}
	e.kafka.SetTopic("orders", topic)
	e.clock.Step(time.Hour)
	e.resync()
	e.settle()
	if got := e.kafka.Topics()["orders"].Config; !maps.Equal(got, map[string]string{"retention.ms": "7", "preallocate": "true", "cleanup.policy": "compact"}) {
		t.Errorf("options: %v, want the one that may be altered as it is wanted, the others as somebody set them", got)
	}
	e.clock.Step(time.Hour)
	e.takeWrites()
	e.wantCalls(e.resync(), fake.DescribeTopics, fake.DescribeConfigs)
	if w := e.takeWrites(); len(w) > 0 {
		t.Errorf("writes: %v, want none", w)
	}
}

func TestOptionsThatAResourceNamesAsUnmanagedAreLeftAlone(t *testing.T) {
	e := newEnv(t)
	e.kafka.SetTopic("orders", fake.Topic{Partitions: 1, Replicas: 1, Config: map[string]string{"retention.ms": "7", "preallocate": "true"}})
	e.create(aTopic("orders", annotation(kafkav1.AnnotationUnmanagedConfig, "retention.ms")))
	e.settle()
	e.wantReady("orders")
	e.wantWarnings("orders")
	if got := e.kafka.Topics()["orders"].Config; !maps.Equal(got, map[string]string{"retention.ms": "7"}) {
		t.Errorf("options: %v", got)
	}
	e.change("orders", config("retention.ms", "9"))
	e.settle()
	e.wantWarnings("orders", "leaves retention.ms alone")
	if got := e.kafka.Topics()["orders"].Config["retention.ms"]; got != "7" {
		t.Errorf("retention.ms is %q", got)
	}
	e.change("orders", func(kt *kafkav1.KafkaTopic) { kt.Annotations = nil })
	e.settle()
	e.wantWarnings("orders")
	if got := e.kafka.Topics()["orders"].Config["retention.ms"]; got != "9" {
		t.Errorf("retention.ms is %q once it is managed again", got)
	}
}

func TestTheClustersMinimumInSyncIsKnownFromTheCreationOn(t *testing.T) {
	e := newEnv(t)
	e.kafka.MinInSync = "2"
	e.create(aTopic("one", replicas(1)), aTopic("two", replicas(2)), aTopic("own", replicas(1), config("min.insync.replicas", "1")))
	e.turn()
	e.wantReady("one", "two", "own")
	e.wantWarnings("one", "which is 2 (the cluster's default)")
	e.wantWarnings("two")
	e.wantWarnings("own")
	e.takeWrites()
	e.clock.Step(time.Hour)
	e.wantCalls(e.resync(), fake.DescribeTopics, fake.DescribeConfigs)
	if w := e.takeWrites(); len(w) > 0 {
		t.Errorf("writes: %v, want none: the second look says what the first did", w)
	}
	e.kafka.MinInSync = "1"
	e.resync()
	e.wantWarnings("one")
}

// handedOver is the cluster of a Kafka resource.
func handedOver(o *Options) {
	o.Clusters[0].Kafka = &types.NamespacedName{Namespace: "ns", Name: "east"}
}

func (e *env) publish(f facts.Facts) {
	e.t.Helper()
	cm, err := facts.Encode("ns", "east", f)
	if err != nil {
		e.t.Fatal(err)
	}
	if err := e.kube.Create(e.ctx, cm); err != nil {
		e.t.Fatal(err)
	}
}

func TestTooFewBrokersForAFactor(t *testing.T) {
	brokers := func(cordoned *bool) facts.Facts {
		return facts.Facts{ObservedAt: start, Brokers: []facts.Broker{{ID: 0}, {ID: 10, Cordoned: cordoned}, {ID: 2, Cordoned: cordoned}}}
	}
	for name, test := range map[string]struct {
		change    func(*Options)
		published *facts.Facts
		// want is a part of the condition, and wantTries the tries within 100 s.
		want      string
		wantTries int
	}{
		"while brokers are cordoned":           {handedOver, ptr.To(brokers(ptr.To(true))), "scale-down is in progress or they are cordoned by hand: 2 10", 7},
		"while none is":                        {handedOver, ptr.To(brokers(ptr.To(false))), "INVALID_REPLICATION_FACTOR", 1},
		"while it is not known whether any is": {handedOver, ptr.To(brokers(nil)), "INVALID_REPLICATION_FACTOR", 1},
		"while nothing is published":           {handedOver, nil, "INVALID_REPLICATION_FACTOR", 1},
		"in a cluster that is not run by us":   {func(*Options) {}, ptr.To(brokers(ptr.To(true))), "INVALID_REPLICATION_FACTOR", 1},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t, test.change)
			if test.published != nil {
				e.publish(*test.published)
			}
			e.create(aTopic("grown", partitions(1)))
			e.turn()
			e.kafka.TopicErrs[fake.CreateTopics+" new"] = fake.ErrInvalidFactor
			e.kafka.TopicErrs[fake.CreatePartitions+" grown"] = fake.ErrInvalidFactor
			e.create(aTopic("new", replicas(3)))
			e.change("grown", partitions(2))
			for range 26 {
				e.turn()
				e.clock.Step(4 * time.Second)
			}
			for _, kt := range []string{"new", "grown"} {
				if message := e.wantReason(kt, kafkav1.ReasonKafkaError); !strings.Contains(message, test.want) || !strings.Contains(message, "INVALID_REPLICATION_FACTOR (38)") {
					t.Errorf("message %q lacks %q", message, test.want)
				}
			}
			if n := count(e.kafka.Calls(), fake.CreateTopics) - 1; n != test.wantTries {
				t.Errorf("tried %d times in 100 s, want %d", n, test.wantTries)
			}
			e.kafka.Reset()
			e.clock.Step(time.Minute)
			e.resync()
			e.wantReady("new", "grown")
		})
	}
}

func TestFactsAreReadOnceABatchAndOnlyWhenTheyAreNeeded(t *testing.T) {
	e := newEnv(t, handedOver)
	e.publish(facts.Facts{ObservedAt: start, Brokers: []facts.Broker{{ID: 0, Draining: true}}})
	var reads []string
	fails := errors.New("the API server is busy")
	failing := false
	e.c.client = interceptor.NewClient(e.kube.(client.WithWatch), interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, k client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			if _, ok := o.(*corev1.ConfigMap); ok {
				if reads = append(reads, k.String()); failing {
					return fails
				}
			}
			return c.Get(ctx, k, o, opts...)
		},
	})
	e.create(aTopic("a"), aTopic("b"))
	e.turn()
	if len(reads) > 0 {
		t.Errorf("read %v for nothing", reads)
	}
	e.kafka.TopicErrs[fake.CreateTopics+" c"], e.kafka.TopicErrs[fake.CreateTopics+" d"] = fake.ErrInvalidFactor, fake.ErrInvalidFactor
	e.create(aTopic("c"), aTopic("d"))
	e.turn()
	if !slices.Equal(reads, []string{"ns/east-sluice-facts"}) {
		t.Errorf("read %v, want the facts once", reads)
	}
	failing = true
	e.clock.Step(time.Second)
	e.turn()
	if message := e.wantReason("c", kafkav1.ReasonKafkaError); strings.Contains(message, "scale-down") {
		t.Errorf("message %q tells what could not be read", message)
	}
}

func TestProblemsAreNamedInTheirOrder(t *testing.T) {
	e := newEnv(t)
	e.kafka.SetTopic("orders", fake.Topic{Partitions: 2, Replicas: 1})
	e.kafka.TopicErrs[fake.AlterConfigs+" orders"] = fake.ErrInvalidConfig
	e.kafka.TopicErrs[fake.CreatePartitions+" orders"] = fake.ErrNotAuthorized
	e.create(aTopic("orders", partitions(4), replicas(3), config("retention.ms", `"x"`)))
	e.turn()
	message := e.wantReason("orders", kafkav1.ReasonKafkaError)
	last := -1
	for _, part := range []string{"INVALID_CONFIG", "TOPIC_AUTHORIZATION_FAILED", "spec.replicas"} {
		at := strings.Index(message, part)
		if at <= last {
			t.Errorf("%q is not in its place in %q", part, message)
		}
		last = at
	}
	delete(e.kafka.TopicErrs, fake.AlterConfigs+" orders")
	delete(e.kafka.TopicErrs, fake.CreatePartitions+" orders")
	e.loop.queue.Add(0, e.loop.index.keys()...)
	e.turn()
	e.wantReason("orders", kafkav1.ReasonNotSupported)
	if topic := e.kafka.Topics()["orders"]; topic.Partitions != 4 || topic.Config["retention.ms"] != "x" {
		t.Errorf("topic in Kafka: %+v: a refusal of one thing held up another", topic)
	}
}
