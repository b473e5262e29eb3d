package topic

import (
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	kafkav1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/controllers/topic/fake"
	"github.com/sluice-kafka/sluice/internal/topicplan"
)

func TestOldestResourceManagesASharedName(t *testing.T) {
	e := newEnv(t)
	e.create(aTopic("younger", topicName("orders"), createdAfter(time.Minute)), aTopic("older", topicName("orders")))
	e.turn()
	e.wantReady("older")
	if message := e.wantReason("younger", kafkav1.ReasonResourceConflict); !strings.Contains(message, "ns/older") {
		t.Errorf("message %q does not name the manager", message)
	}
	if kt := e.get("younger"); kt.Status.TopicName != "" || hasFinalizer(kt) {
		t.Errorf("the younger holds on to the name: %+v", kt)
	}
	// It can still be given a name of its own.
	e.change("younger", topicName("payments"))
	e.turn()
	e.wantReady("younger")
}

func TestNextClaimantTakesOverAtOnce(t *testing.T) {
	for name, letGo := range map[string]func(*env){
		"when the manager is deleted":        func(e *env) { e.delete("older") },
		"when the manager becomes unmanaged": func(e *env) { e.change("older", annotation(kafkav1.AnnotationManaged, "false")) },
		"when the manager moves to a cluster": func(e *env) {
			e.change("older", func(kt *kafkav1.KafkaTopic) { kt.Labels[kafkav1.LabelCluster] = "west" })
		},
		"when the manager leaves all clusters": func(e *env) {
			e.change("older", func(kt *kafkav1.KafkaTopic) { kt.Labels = nil })
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			e.create(aTopic("older", topicName("orders")), aTopic("younger", topicName("orders"), createdAfter(time.Minute)))
			e.turn()
			id := e.kafka.Topics()["orders"].ID
			letGo(e)
			e.turn()
			e.wantReady("younger")
			if got := e.kafka.Topics()["orders"].ID; got != id {
				t.Errorf("the topic was deleted: its ID is %q, was %q", got, id)
			}
		})
	}
}

func TestPausedManagerKeepsItsClaim(t *testing.T) {
	e := newEnv(t)
	e.create(aTopic("older", topicName("orders")), aTopic("younger", topicName("orders"), createdAfter(time.Minute)))
	e.turn()
	e.change("older", func(kt *kafkav1.KafkaTopic) {
		annotation(kafkav1.AnnotationPauseReconciliation, "true")(kt)
		partitions(9)(kt)
	})
	e.turn()
	if c := mainCondition(e.get("older")); c.Type != kafkav1.ConditionReconciliationPaused {
		t.Errorf("condition: %+v", c)
	}
	if s := e.get("older").Status; s.TopicName != "orders" || s.TopicID != "" {
		t.Errorf("status of the paused: %+v, want the name and no ID", s)
	}
	e.wantReason("younger", kafkav1.ReasonResourceConflict)
	if got := e.kafka.Topics()["orders"].Partitions; got != 1 {
		t.Errorf("%d partitions: a paused resource was acted on", got)
	}
}

func TestResourcesDeletedTogetherDeleteTheTopicOnce(t *testing.T) {
	e := newEnv(t)
	finalized := func(kt *kafkav1.KafkaTopic) { kt.Finalizers = []string{kafkav1.FinalizerTopic} }
	e.create(aTopic("a", topicName("orders"), finalized), aTopic("b", topicName("orders"), finalized, createdAfter(time.Minute)))
	e.turn()
	e.delete("b", "a")
	e.turn()
	if e.exists("a") || e.exists("b") {
		t.Error("a resource hangs on its finalizer")
	}
	if _, there := e.kafka.Topics()["orders"]; there {
		t.Error("the topic outlived all of its resources")
	}
}

func TestRenamedResourceKeepsAndDeletesItsOldName(t *testing.T) {
	e := newEnv(t)
	e.create(aTopic("orders"), aTopic("payments"))
	e.turn()
	e.change("orders", topicName("payments"))
	e.turn()
	if message := e.wantReason("orders", kafkav1.ReasonNotSupported); !strings.Contains(message, `back to "orders"`) {
		t.Errorf("message %q does not say what to do", message)
	}
	if got := e.get("orders").Status.TopicName; got != "orders" {
		t.Errorf("name in the status: %q", got)
	}
	e.wantReady("payments") // the refused name is not claimed
	e.delete("orders")
	e.turn()
	topics := e.kafka.Topics()
	if _, there := topics["orders"]; there {
		t.Error("the old name was not deleted")
	}
	if _, there := topics["payments"]; !there {
		t.Error("another's topic was deleted")
	}
}

func TestUnmanagedResourceIsLeftAlone(t *testing.T) {
	e := newEnv(t)
	e.create(aTopic("orders", annotation(kafkav1.AnnotationManaged, "false")))
	e.turn()
	if c := mainCondition(e.get("orders")); c.Type != kafkav1.ConditionUnmanaged {
		t.Errorf("condition: %+v", c)
	}
	e.wantCalls(e.kafka.Calls())
	e.kafka.SetTopic("orders", fake.Topic{Partitions: 1, Replicas: 1})
	e.delete("orders")
	e.turn()
	if len(e.kafka.Topics()) != 1 || e.exists("orders") {
		t.Error("want the resource gone and the topic there")
	}
}

func TestResourceThatLeavesTheClusterLosesOurFinalizerOnce(t *testing.T) {
	e := newEnv(t)
	e.create(aTopic("orders"), aTopic("stranger", func(kt *kafkav1.KafkaTopic) {
		kt.Labels = nil
		kt.Finalizers = []string{kafkav1.FinalizerTopic}
	}))
	e.turn()
	e.change("orders", func(kt *kafkav1.KafkaTopic) { kt.Labels[kafkav1.LabelCluster] = "nobody's" })
	e.turn()
	if hasFinalizer(e.get("orders")) || len(e.kafka.Topics()) != 1 {
		t.Error("want the finalizer off and the topic kept")
	}
	if !hasFinalizer(e.get("stranger")) {
		t.Error("the finalizer of a resource that was never ours was taken off")
	}
	if e.loop.index.has(key{Namespace: "ns", Name: "orders"}) {
		t.Error("the resource was not forgotten")
	}
}

func TestResourceThatMovesToAnotherClusterKeepsItsFinalizer(t *testing.T) {
	e := newEnv(t)
	e.create(aTopic("orders"))
	e.turn()
	e.change("orders", func(kt *kafkav1.KafkaTopic) { kt.Labels[kafkav1.LabelCluster] = "west" })
	e.turn()
	if !hasFinalizer(e.get("orders")) || len(e.kafka.Topics()) != 1 || e.other.queue.Len() != 1 {
		t.Error("want the finalizer on, the old topic kept and the resource queued at its new cluster")
	}
	if !slices.ContainsFunc(e.events, func(s string) bool { return strings.HasPrefix(s, "ClusterChanged") }) {
		t.Errorf("events: %v, want one on the move", e.events)
	}
}

func TestOwnWritesQueueNothing(t *testing.T) {
	e := newEnv(t)
	e.create(aTopic("orders"))
	if turns := e.turn(); turns != 1 {
		t.Errorf("%d batches, want 1", turns)
	}
	if n := e.loop.queue.Len(); n != 0 {
		t.Errorf("%d keys queued, want none", n)
	}
}

func TestAResourceThatAnOwnWriteEndedIsNotEndedTwice(t *testing.T) {
	e := newEnv(t)
	dying := aTopic("orders")
	deleted := metav1.NewTime(start)
	dying.Finalizers, dying.DeletionTimestamp, dying.ResourceVersion = []string{kafkav1.FinalizerTopic}, &deleted, "7"
	e.c.observed(dying, false)
	// What the API server answers; that the resource is gone is heard later.
	answer := dying.DeepCopy()
	answer.Finalizers = nil
	e.loop.index.wrote(answer)
	for _, s := range e.loop.index.all() {
		if v := topicplan.Judge(s.Subject); v.Action != topicplan.Nothing {
			t.Errorf("verdict %+v, want nothing more to be done", v)
		}
	}
}

func TestALateAnswerDoesNotHideTheNextResourceOfTheName(t *testing.T) {
	e := newEnv(t)
	e.create(aTopic("orders"))
	e.turn()
	e.wantReady("orders")
	e.delete("orders")
	// The watch is faster than the answer to the write that ends the first one.
	e.afterWrite = func(string) {
		e.afterWrite = nil
		e.sync()
		e.create(aTopic("orders", func(kt *kafkav1.KafkaTopic) { kt.UID = "uid-next" }))
		e.told = true
	}
	e.turn()
	e.told = false
	if kt, known := e.loop.index.get(key{Namespace: "ns", Name: "orders"}); !known || kt.UID != "uid-next" {
		t.Errorf("known of the name: %+v", kt)
	}
	e.clock.Step(time.Minute)
	e.turn()
	if e.afterWrite != nil {
		t.Fatal("the first one was not let go")
	}
	e.wantReady("orders")
}

func TestAResourceThatComesBackWhileItIsLetGoIsNotForgotten(t *testing.T) {
	for name, finalizer := range map[string]bool{"before our finalizer is off": false, "right after our finalizer is off": true} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			e.create(aTopic("orders"), aTopic("beside"))
			e.turn()
			relabel := func(cluster string) {
				e.change("orders", func(kt *kafkav1.KafkaTopic) { kt.Labels[kafkav1.LabelCluster] = cluster })
			}
			relabel("elsewhere")
			back := func() { relabel("east"); e.told = true }
			if finalizer {
				e.afterWrite = func(string) { e.afterWrite = nil; back() }
			} else {
				// A deletion in the same batch gives time for it.
				e.delete("beside")
				e.kafka.BeforeCall = func(string, []string) {
					e.kafka.BeforeCall = func(string, []string) {}
					back()
				}
			}
			e.turn()
			e.clock.Step(time.Minute)
			e.turn()
			e.told = false
			if !e.loop.index.has(key{Namespace: "ns", Name: "orders"}) {
				t.Error("it is forgotten though it is selected again")
			}
			if kt := e.get("orders"); !hasFinalizer(kt) {
				t.Error("it has no finalizer")
			}
			e.wantReady("orders")
		})
	}
}

func TestAnOlderResourceOfTheNameIsTheManagerAtOnce(t *testing.T) {
	e := newEnv(t)
	e.create(aTopic("younger", topicName("orders")))
	e.turn()
	e.create(aTopic("older", topicName("orders"), createdAfter(-time.Minute)))
	e.turn()
	e.wantReady("older")
	e.wantReason("younger", kafkav1.ReasonResourceConflict)
}

// The user's change comes between the creation and the status that would tell of it.
func TestAResourceThatIsRenamedWhileItsTopicIsMadeManagesThat(t *testing.T) {
	e := newEnv(t)
	e.create(aTopic("orders", topicName("first")))
	e.kafka.BeforeCall = func(call string, _ []string) {
		if call == fake.CreateTopics {
			e.change("orders", topicName("second"))
		}
	}
	e.turn()
	e.clock.Step(time.Minute)
	e.turn()
	if topics := e.kafka.Topics(); len(topics) != 1 || topics["first"].ID == "" {
		t.Errorf("Kafka holds %v, want the one topic that was made first", topics)
	}
	e.wantReason("orders", kafkav1.ReasonNotSupported)
	e.delete("orders")
	e.turn()
	if len(e.kafka.Topics()) > 0 || e.exists("orders") {
		t.Errorf("Kafka holds %v after the resource went", e.kafka.Topics())
	}
}

func TestAResourceThatIsRenamedAndMovedWhileItsTopicIsMadeStartsAnew(t *testing.T) {
	e := newEnv(t)
	e.create(aTopic("orders", topicName("first")))
	e.kafka.BeforeCall = func(call string, _ []string) {
		if call == fake.CreateTopics {
			e.change("orders", func(kt *kafkav1.KafkaTopic) { topicName("second")(kt); of("west")(kt) })
		}
	}
	e.turn()
	if s := e.get("orders").Status; s.TopicName != "" {
		t.Errorf("the status tells of the topic %q of a cluster that it left", s.TopicName)
	}
}
