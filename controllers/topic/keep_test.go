package topic

import (
	"strings"
	"testing"
	"time"

	kafkav1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/controllers/topic/fake"
)

// What a resource never managed outlives it, whatever it is called.
func TestOnlyTheTopicThatAResourceManagedGoesWithIt(t *testing.T) {
	someTopic := fake.Topic{ID: "of-somebody-else", Partitions: 1, Replicas: 1}
	for name, test := range map[string]func(e *env){
		"created again by somebody else since": func(e *env) {
			e.kafka.RemoveTopic("orders")
			e.kafka.SetTopic("orders", someTopic)
			e.delete("orders")
		},
		"of the cluster that the bootstrap servers name by now": func(e *env) {
			e.kafka = fake.NewAdmin()
			e.kafka.SetTopic("orders", someTopic)
			e.delete("orders")
			e.restart()
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			e.create(aTopic("orders"))
			e.turn()
			e.clock.Step(time.Hour)
			test(e)
			e.turn()
			if got := e.kafka.Topics()["orders"].ID; got != "of-somebody-else" {
				t.Error("a topic was deleted that the resource never managed")
			}
			if e.exists("orders") {
				t.Error("the resource hangs on its finalizer")
			}
			if len(e.events) == 0 || !strings.Contains(e.events[len(e.events)-1], "it is kept") {
				t.Errorf("events: %q, want one that says that it is kept", e.events)
			}
		})
	}
}

func TestATopicMadeAMomentAgoGoesThoughItsStatusIsBehind(t *testing.T) {
	e := newEnv(t)
	e.create(aTopic("orders"))
	e.turn()
	e.kafka.RemoveTopic("orders")
	e.clock.Step(time.Hour)
	e.failWrite = func(write string) error {
		if write != "status orders" {
			return nil
		}
		e.failWrite = nil
		return errOutage
	}
	e.loop.queue.Add(0, e.loop.index.keys()...)
	e.turn()
	e.delete("orders")
	e.turn()
	if len(e.kafka.Topics()) > 0 || e.exists("orders") {
		t.Error("the topic that was created for the resource outlived it")
	}
}

func TestKafkasOwnTopicsOutliveTheirResources(t *testing.T) {
	for _, name := range []string{"__consumer_offsets", "__transaction_state", "__share_group_state"} {
		e := newEnv(t)
		e.kafka.SetTopic(name, fake.Topic{Partitions: 50, Replicas: 1, Config: map[string]string{"cleanup.policy": "compact"}})
		e.create(aTopic("internal", topicName(name), config("retention.ms", "5")))
		e.settle()
		e.wantReady("internal")
		if got := e.kafka.Topics()[name].Config; got["cleanup.policy"] != "compact" || got["retention.ms"] != "5" {
			t.Errorf("config in Kafka: %v, want compaction left as Kafka set it", got)
		}
		e.delete("internal")
		e.turn()
		if _, kept := e.kafka.Topics()[name]; !kept || e.exists("internal") {
			t.Errorf("%s: kept %v, the resource still exists %v", name, kept, e.exists("internal"))
		}
		if got := strings.Join(e.events, "\n"); !strings.Contains(got, name) {
			t.Errorf("events: %q, want one that says that %s is kept", got, name)
		}
	}
}

func TestAResourceThatNeverManagedItsTopicLeavesIt(t *testing.T) {
	finalizer := func(kt *kafkav1.KafkaTopic) { kt.Finalizers = []string{kafkav1.FinalizerTopic} }
	for name, edit := range map[string]func(*kafkav1.KafkaTopic){
		"paused since it was made":            annotation(kafkav1.AnnotationPauseReconciliation, "true"),
		"never valid":                         partitions(0),
		"deleted before it was first seen":    func(*kafkav1.KafkaTopic) {},
		"unmanaged, then managed and deleted": annotation(kafkav1.AnnotationManaged, "false"),
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			e.kafka.SetTopic("orders", fake.Topic{Partitions: 1, Replicas: 1})
			if err := e.kube.Create(e.ctx, aTopic("orders", finalizer, edit)); err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(name, "deleted before") {
				e.sync()
				e.turn()
				e.change("orders", func(kt *kafkav1.KafkaTopic) { delete(kt.Annotations, kafkav1.AnnotationManaged) })
			}
			e.delete("orders")
			e.turn()
			if _, kept := e.kafka.Topics()["orders"]; !kept || e.exists("orders") {
				t.Errorf("topic kept %v, the resource still exists %v", kept, e.exists("orders"))
			}
		})
	}
}

func TestATopicMadeBeforeACrashGoesWithItsResource(t *testing.T) {
	e := newEnv(t)
	e.create(aTopic("orders"))
	e.failWrite = func(write string) error {
		if strings.HasPrefix(write, "status") {
			return errOutage
		}
		return nil
	}
	e.dieTurning()
	e.failWrite = nil
	e.restart()
	e.delete("orders")
	e.turn()
	if len(e.kafka.Topics()) > 0 || e.exists("orders") {
		t.Error("the topic that was created for the resource outlived it")
	}
}

func TestADeletionPolicyThatIsNotUnderstoodKeepsTheTopic(t *testing.T) {
	for _, c := range []struct {
		policy   string
		wantKept bool
	}{{"retain", true}, {"Retain", true}, {" retain ", true}, {"retian", true}, {"keep", true}, {"delete", false}, {"Delete", false}, {"", false}} {
		policy, wantKept := c.policy, c.wantKept
		e := newEnv(t)
		e.create(aTopic("orders", annotation(kafkav1.AnnotationDeletionPolicy, policy)))
		e.turn()
		e.delete("orders")
		e.turn()
		if _, kept := e.kafka.Topics()["orders"]; kept != wantKept || e.exists("orders") {
			t.Errorf("policy %q: kept %v, want %v", policy, kept, wantKept)
		}
	}
}

func TestWhatAResourceGaveUpDoesNotGoWithIt(t *testing.T) {
	retain := annotation(kafkav1.AnnotationDeletionPolicy, kafkav1.DeletionPolicyRetain)
	paused := annotation(kafkav1.AnnotationPauseReconciliation, "true")
	lose := func(e *env, edits ...func(*kafkav1.KafkaTopic)) {
		e.create(aTopic("older", append(edits, topicName("orders"), createdAfter(-time.Minute))...))
		e.turn()
		e.resync()
		e.wantReason("gives", kafkav1.ReasonResourceConflict)
	}
	for name, test := range map[string]func(e *env){
		"deleted right before its manager, which retains it": func(e *env) {
			lose(e, retain)
			e.delete("gives", "older")
		},
		"deleted right after its manager, which retains it": func(e *env) {
			lose(e, retain)
			e.delete("older", "gives")
		},
		"deleted together with its manager, which is paused and retains it": func(e *env) {
			lose(e, retain, paused, func(kt *kafkav1.KafkaTopic) { kt.Finalizers = []string{kafkav1.FinalizerTopic} })
			e.delete("gives", "older")
		},
		"lost to another, and renamed": func(e *env) {
			lose(e)
			e.change("gives", topicName("payments"))
			e.delete("gives")
		},
		"unmanaged, renamed and managed": func(e *env) {
			e.change("gives", annotation(kafkav1.AnnotationManaged, "false"))
			e.turn()
			e.change("gives", topicName("payments"))
			e.change("gives", annotation(kafkav1.AnnotationManaged, "true"))
			e.delete("gives")
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			e.kafka.SetTopic("payments", fake.Topic{Partitions: 1, Replicas: 1})
			e.create(aTopic("gives", topicName("orders")))
			e.turn()
			test(e)
			e.turn()
			e.clock.Step(time.Minute)
			e.turn()
			if len(e.kafka.Topics()) != 2 || e.exists("gives") {
				t.Errorf("want both topics kept and the resource gone: %v", e.kafka.Topics())
			}
		})
	}
}

func TestAPausedResourceThatMovedTakesNothingOfTheNewClusterAlong(t *testing.T) {
	for mode, change := range map[string]func(*Options){"finalizers": func(*Options) {}, "none": withoutFinalizers} {
		for _, name := range []string{"not seen to there", "seen to there", "seen to there by another process"} {
			t.Run(mode+"/"+name, func(t *testing.T) {
				e := newEnv(t, change)
				west := fake.NewAdmin()
				west.SetTopic("orders", fake.Topic{Partitions: 1, Replicas: 1})
				e.other.link.use(Connection{Admin: west})
				e.create(aTopic("orders"))
				e.turn()
				e.change("orders", annotation(kafkav1.AnnotationPauseReconciliation, "true"))
				e.turn()
				e.change("orders", func(kt *kafkav1.KafkaTopic) { kt.Labels[kafkav1.LabelCluster] = "west" })
				e.loop = e.other
				if name != "not seen to there" {
					e.turn()
				}
				if name == "seen to there by another process" {
					e.restart()
					e.other.link.use(Connection{Admin: west})
					e.loop = e.other
				}
				e.delete("orders")
				e.turn()
				if len(west.Topics()) != 1 || len(e.kafka.Topics()) != 1 || e.exists("orders") {
					t.Error("want both topics kept, and the resource gone")
				}
			})
		}
	}
}

// What is remembered of an own write must not outlive the topic that it was made to.
func TestATopicThatSomebodyMadeAnewGoesWithItsResource(t *testing.T) {
	e := newEnv(t)
	e.kafka.Normalise = func(_, value string) string { return value + "!" }
	e.create(aTopic("orders", config("compression.type", `"gzip"`)))
	e.turn()
	e.loop.queue.Add(0, e.loop.index.keys()...)
	e.turn() // sets it, in vain
	e.clock.Step(time.Minute)
	e.turn()
	if n := len(e.get("orders").Status.Conditions); n != 2 {
		t.Fatalf("%d conditions, want a warning: the write is remembered", n)
	}
	e.kafka.RemoveTopic("orders")
	e.kafka.SetTopic("orders", fake.Topic{ID: "anew", Partitions: 1, Replicas: 1, Config: map[string]string{"compression.type": "gzip!"}})
	e.clock.Step(time.Hour)
	e.resync()
	if got := e.get("orders").Status.TopicID; got != "anew" {
		t.Fatalf("the status tells of the topic %q", got)
	}
	e.delete("orders")
	e.turn()
	if len(e.kafka.Topics()) > 0 || e.exists("orders") {
		t.Errorf("Kafka holds %v: the topic that the resource managed outlived it", e.kafka.Topics())
	}
}
