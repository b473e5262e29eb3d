package topic

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	kafkav1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/controllers/topic/fake"
	"github.com/sluice-kafka/sluice/internal/batch"
	"github.com/sluice-kafka/sluice/internal/kafka"
	"github.com/sluice-kafka/sluice/internal/topicplan"
)

func TestPassingOutageMarksNothingWrong(t *testing.T) {
	e := newEnv(t)
	e.create(aTopic("ready"))
	e.turn()
	e.create(aTopic("new"))
	e.takeWrites()
	e.kafka.Unreachable = fmt.Errorf("%w: %w", kafka.ErrUnreachable, errOutage)
	for range 20 {
		e.turn()
		e.clock.Step(5 * time.Second)
	}
	if w := e.takeWrites(); !slices.Equal(w, []string{"finalizer new"}) {
		t.Errorf("writes during the outage: %v, want no status", w)
	}
	// Backoffs of 1, 2, 4, 8, 16 and 32 s fit into 100 s, with the first try.
	if n := len(e.kafka.Calls()); n > 10 {
		t.Errorf("%d calls in 100 s of outage: no backoff", n)
	}
	e.kafka.Unreachable = nil
	e.clock.Step(time.Minute)
	e.turn()
	e.wantReady("ready", "new")
	if len(e.events) > 0 {
		t.Errorf("events: %v", e.events)
	}
}

func TestLastingOutageIsSaidOfWhatIsNotReady(t *testing.T) {
	e := newEnv(t)
	e.create(aTopic("ready"))
	e.turn()
	e.create(aTopic("new"))
	e.kafka.Unreachable = fmt.Errorf("%w: %w", kafka.ErrUnreachable, errOutage)
	for range 60 {
		e.turn()
		e.clock.Step(5 * time.Second)
	}
	e.wantReady("ready")
	if message := e.wantReason("new", kafkav1.ReasonKafkaError); !strings.Contains(message, "east:9092") {
		t.Errorf("message %q does not say which cluster", message)
	}
	if len(e.events) != 1 || !strings.HasPrefix(e.events[0], "KafkaUnreachable") {
		t.Errorf("events: %v, want one", e.events)
	}
	e.kafka.Unreachable = nil
	e.clock.Step(time.Minute)
	e.turn()
	e.wantReady("ready", "new")
}

func TestWholeCallFailureBetweenTheCallsLosesNothing(t *testing.T) {
	fail := fmt.Errorf("%w: cut", kafka.ErrUnreachable)
	for name, inject := range map[string]func(*fake.Admin){
		"describing topics":  func(a *fake.Admin) { a.NextDescribeTopicsErr = fail },
		"describing options": func(a *fake.Admin) { a.NextDescribeConfigsErr = fail },
		"creating":           func(a *fake.Admin) { a.NextCreateTopicsErr = fail },
		"growing":            func(a *fake.Admin) { a.NextCreatePartitionsErr = fail },
		"configuring":        func(a *fake.Admin) { a.NextAlterConfigsErr = fail },
		"deleting":           func(a *fake.Admin) { a.NextDeleteTopicsErr = fail },
		"a slow creation":    func(a *fake.Admin) { a.NextCreateTopicsErr = kafka.ErrTimeout },
		"a slow growth":      func(a *fake.Admin) { a.NextCreatePartitionsErr = kafka.ErrTimeout },
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			e.create(aTopic("grown"), aTopic("altered"), aTopic("dying"))
			e.turn()
			e.change("grown", partitions(3))
			e.change("altered", config("retention.ms", "5"))
			e.delete("dying")
			e.create(aTopic("new"))
			inject(e.kafka)
			for range 3 {
				e.turn()
				for _, kt := range []string{"grown", "altered", "new"} {
					if c := mainCondition(e.get(kt)); c.Status == "False" {
						t.Errorf("%s was reported wrong: %+v", kt, c)
					}
				}
				e.clock.Step(2 * time.Second)
			}
			e.wantReady("grown", "altered", "new")
			topics := e.kafka.Topics()
			if topics["grown"].Partitions != 3 || topics["altered"].Config["retention.ms"] != "5" || len(topics) != 3 || e.exists("dying") {
				t.Errorf("Kafka holds %+v", topics)
			}
		})
	}
}

func TestOneTopicsRefusalDoesNotHoldUpTheBatch(t *testing.T) {
	e := newEnv(t)
	e.kafka.TopicErrs[fake.CreateTopics+" bad"] = fake.ErrInvalidTopic
	e.kafka.TopicErrs[fake.DescribeTopics+" secret"] = fake.ErrNotAuthorized
	e.create(aTopic("bad"), aTopic("secret"), aTopic("good"))
	e.turn()
	e.wantReady("good")
	if message := e.wantReason("bad", kafkav1.ReasonKafkaError); !strings.Contains(message, "INVALID_TOPIC_EXCEPTION (17)") {
		t.Errorf("message %q does not carry Kafka's code", message)
	}
	e.wantReason("secret", kafkav1.ReasonKafkaError)
	if got := e.get("bad").Status.TopicName; got != "" {
		t.Errorf("name in the status: %q: a resource without a topic must be free to be renamed", got)
	}
	e.takeWrites()
	e.resync()
	e.wantReady("bad") // Reset lifted the refusal; it is tried again at the next look
}

func TestPassingRefusalIsTriedAgainAndNotReported(t *testing.T) {
	e := newEnv(t)
	e.kafka.TopicErrs[fake.CreateTopics+" busy"] = fake.Throttled(7 * time.Second)
	e.create(aTopic("busy"), aTopic("good"))
	e.turn()
	e.wantReady("good")
	if kt := e.get("busy"); len(kt.Status.Conditions) > 0 {
		t.Errorf("conditions: %+v, want none yet", kt.Status.Conditions)
	}
	e.kafka.Reset()
	e.clock.Step(6 * time.Second)
	e.turn()
	e.wantCalls(e.kafka.Calls()) // Kafka asked for seven seconds
	e.clock.Step(2 * time.Second)
	e.turn()
	e.wantReady("busy")
}

func TestARefusalThatDoesNotPassIsReported(t *testing.T) {
	e := newEnv(t)
	e.create(aTopic("old"))
	e.turn()
	e.kafka.TopicErrs[fake.CreateTopics+" busy"] = fake.Throttled(time.Second)
	e.kafka.TopicErrs[fake.DescribeTopics+" old"] = fake.ErrTimedOut
	e.create(aTopic("busy"))
	e.loop.queue.Add(batch.Resync, key{Namespace: "ns", Name: "old"})
	for range 50 {
		e.turn()
		e.clock.Step(5 * time.Second)
	}
	e.wantReady("old") // it was, and nothing was asked of it since
	if message := e.wantReason("busy", kafkav1.ReasonKafkaError); !strings.Contains(message, "THROTTLING_QUOTA_EXCEEDED") {
		t.Errorf("message %q does not carry Kafka's code", message)
	}
	if s := e.get("busy").Status; s.TopicName != "" {
		t.Errorf("status %+v: a resource without a topic must be free to be renamed", s)
	}
	e.kafka.Reset()
	e.clock.Step(batch.MaxBackoff)
	e.turn()
	e.wantReady("busy", "old")
}

func TestAllProblemsOfATopicAreNamed(t *testing.T) {
	e := newEnv(t)
	e.create(aTopic("orders", partitions(4), replicas(1)))
	e.turn()
	e.kafka.TopicErrs[fake.AlterConfigs+" orders"] = fake.ErrInvalidConfig
	e.change("orders", func(kt *kafkav1.KafkaTopic) { partitions(2)(kt); replicas(3)(kt); config("retention.ms", `"x"`)(kt) })
	e.turn()
	message := e.wantReason("orders", kafkav1.ReasonKafkaError)
	for _, part := range []string{"INVALID_CONFIG", "spec.partitions", "spec.replicas"} {
		if !strings.Contains(message, part) {
			t.Errorf("message %q lacks %q", message, part)
		}
	}
}

func TestBadValuesAreReportedWithoutACall(t *testing.T) {
	e := newEnv(t)
	e.create(aTopic("null", config("retention.ms", "")), aTopic("map", config("retention.ms", `{"a":1}`)))
	e.turn()
	e.wantReason("null", kafkav1.ReasonKafkaError)
	e.wantReason("map", kafkav1.ReasonInternalError)
	e.wantCalls(e.kafka.Calls())
}

func TestLateDescriptionsOfOwnWritesAreLookedAtAgain(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*env)
		late   func(before fake.Topic) kafka.TopicDescription
	}{
		"growth is not shown yet": {
			change: func(e *env) { e.change("orders", partitions(5)) },
			late:   fake.Description,
		},
		"a deleted topic is still shown": {
			change: func(e *env) { e.delete("orders"); e.turn(); e.create(aTopic("orders")) },
			late:   fake.Description,
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			e.create(aTopic("orders", partitions(2)))
			e.turn()
			before := e.kafka.Topics()["orders"]
			test.change(e)
			if e.exists("orders") && strings.HasPrefix(name, "growth") {
				e.turn()
				e.change("orders", annotation("a", "change"))
			}
			e.kafka.Shown["orders"] = test.late(before)
			e.takeWrites()
			e.turn()
			if w := e.takeWrites(); slices.Contains(w, "status orders") {
				t.Errorf("writes: %v: a late description was believed", w)
			}
			delete(e.kafka.Shown, "orders")
			e.clock.Step(2 * time.Second)
			e.turn()
			e.wantReady("orders")
			if got := e.get("orders").Status.TopicID; got != e.kafka.Topics()["orders"].ID {
				t.Errorf("topic ID %q is that of the topic before", got)
			}
		})
	}
}

func TestRefusedGrowthIsJudgedAfterAFreshDescription(t *testing.T) {
	e := newEnv(t)
	e.create(aTopic("orders", partitions(2)))
	e.turn()
	e.clock.Step(time.Minute)
	late := fake.Description(e.kafka.Topics()["orders"])
	grown := e.kafka.Topics()["orders"]
	grown.Partitions = 5
	e.kafka.SetTopic("orders", grown) // by somebody else
	e.kafka.Shown["orders"] = late
	e.change("orders", partitions(5))
	e.turn()
	if c := mainCondition(e.get("orders")); c.Status != "True" {
		t.Errorf("condition %+v: the refusal was judged by a late description", c)
	}
	delete(e.kafka.Shown, "orders")
	e.clock.Step(2 * time.Second)
	e.turn()
	e.wantReady("orders")
}

func TestARefusedGrowthBesideAnotherProblemIsSaidOnce(t *testing.T) {
	e := newEnv(t)
	e.create(aTopic("orders"))
	e.turn()
	e.change("orders", partitions(9))
	e.change("orders", config("retention.ms", `"x"`))
	refused := map[string]error{fake.CreatePartitions + " orders": fake.ErrInvalidPartitions, fake.AlterConfigs + " orders": fake.ErrInvalidConfig}
	for look := range 3 {
		maps.Copy(e.kafka.TopicErrs, refused)
		e.loop.queue.Add(batch.Resync, e.loop.index.keys()...)
		e.turn()
		e.clock.Step(time.Minute) // for the judgement
		e.turn()
		if message := e.wantReason("orders", kafkav1.ReasonKafkaError); !strings.Contains(message, "INVALID_CONFIG") || !strings.Contains(message, "INVALID_PARTITIONS") {
			t.Errorf("message: %q, want both", message)
		}
		if w := e.takeWrites(); look > 0 && len(w) > 0 {
			t.Errorf("writes of look %d: %v, want none", look, w)
		}
		e.clock.Step(time.Minute)
	}
	clear(e.kafka.TopicErrs)
	e.resync()
	e.wantReady("orders")
}

func TestValueThatKafkaChangesIsWrittenOnceAndWarnedOf(t *testing.T) {
	e := newEnv(t)
	e.create(aTopic("orders"))
	e.turn()
	e.kafka.Normalise = func(_, _ string) string { return "86400000" }
	e.change("orders", config("retention.ms", "1"))
	e.settle()
	e.clock.Step(topicplan.BeliefTime)
	e.turn()
	e.kafka.Normalise = func(_, value string) string { return value }
	e.wantReady("orders")
	conditions := e.get("orders").Status.Conditions
	if len(conditions) != 2 || conditions[1].Type != kafkav1.ConditionWarning || conditions[1].Reason != kafkav1.ReasonInvalidConfig {
		t.Fatalf("conditions: %+v, want a warning", conditions)
	}
	e.takeWrites()
	e.wantCalls(e.resync(), fake.DescribeTopics, fake.DescribeConfigs)
	if w := e.takeWrites(); len(w) > 0 {
		t.Errorf("writes: %v, want none", w)
	}
	e.change("orders", config("retention.ms", "2"))
	e.settle()
	if got := e.kafka.Topics()["orders"].Config["retention.ms"]; got != "2" {
		t.Errorf("retention.ms is %q after the spec changed", got)
	}
	if n := len(e.get("orders").Status.Conditions); n != 1 {
		t.Errorf("%d conditions: the warning stayed", n)
	}
}

func TestAnOptionThatShowsLateIsNotWarnedOf(t *testing.T) {
	e := newEnv(t)
	e.create(aTopic("orders"))
	e.turn()
	e.kafka.Reset()
	e.change("orders", config("retention.ms", "1"))
	e.kafka.ShownConfigs["orders"] = nil // what was shown before
	e.turn()
	e.wantReady("orders")
	e.takeWrites()
	for range 9 {
		e.clock.Step(topicplan.BeliefTime / 10)
		e.turn()
	}
	delete(e.kafka.ShownConfigs, "orders")
	e.clock.Step(topicplan.BeliefTime)
	if e.turn() == 0 {
		t.Error("nobody looked whether the write took")
	}
	if w := e.takeWrites(); len(w) > 0 {
		t.Errorf("writes: %v, conditions: %+v: a late description was believed", w, e.get("orders").Status.Conditions)
	}
	if n := count(e.kafka.Calls(), fake.AlterConfigs); n != 1 {
		t.Errorf("the option was written %d times, want once", n)
	}
}

func TestAnOptionThatIsTakenBackBeforeItShowsIsTakenBack(t *testing.T) {
	e := newEnv(t)
	e.create(aTopic("orders"))
	e.turn()
	e.change("orders", config("retention.ms", "1"))
	e.turn()
	e.kafka.ShownConfigs["orders"] = nil // as is wanted again
	e.change("orders", func(kt *kafkav1.KafkaTopic) { kt.Spec.Config = nil })
	e.turn()
	if s := e.get("orders").Status; s.ObservedGeneration == e.get("orders").Generation {
		t.Errorf("status %+v: a late description was believed", s)
	}
	delete(e.kafka.ShownConfigs, "orders")
	e.clock.Step(2 * time.Second)
	e.turn()
	e.wantReady("orders")
	if got := e.kafka.Topics()["orders"].Config; len(got) > 0 {
		t.Errorf("options in Kafka: %v, want none", got)
	}
}

func count(calls []string, call string) int {
	n := 0
	for _, c := range calls {
		if c == call {
			n++
		}
	}
	return n
}

func TestConflictingWriteTakesOnlyThatTopicOut(t *testing.T) {
	for name, failing := range map[string]string{"of the finalizer": "finalizer a", "of the status": "status a"} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			e.failWrite = func(write string) error {
				if write == failing {
					e.failWrite = nil
					return apierrors.NewConflict(schema.GroupResource{Resource: "kafkatopics"}, "a", errors.New("changed"))
				}
				return nil
			}
			e.create(aTopic("a"), aTopic("b"))
			e.turn()
			e.wantReady("b")
			if len(e.get("a").Status.Conditions) > 0 {
				t.Error("a was written all the same")
			}
			e.clock.Step(time.Second)
			e.turn()
			e.wantReady("a")
		})
	}
}

// TestKilledAfterAnyWrite lets the process die after each of its writes, to
// Kafka and to Kubernetes, and starts another.
func TestKilledAfterAnyWrite(t *testing.T) {
	for n := range 12 {
		t.Run(fmt.Sprintf("after write %d", n), func(t *testing.T) {
			e := newEnv(t)
			e.create(aTopic("grown"), aTopic("dying"))
			e.turn()
			e.change("grown", func(kt *kafkav1.KafkaTopic) { partitions(3)(kt); config("retention.ms", "5")(kt) })
			e.delete("dying")
			e.create(aTopic("new", partitions(2)))

			ctx := e.ctx
			dead, kill := context.WithCancel(ctx)
			defer kill()
			writes := 0
			count := func() error {
				if writes++; writes > n {
					kill()
					return dead.Err()
				}
				return nil
			}
			e.failWrite = func(string) error { return count() }
			e.kafka.BeforeCall = func(call string, _ []string) {
				if call != fake.DescribeTopics && call != fake.DescribeConfigs {
					_ = count() // the call sees the dead context
				}
			}
			e.ctx = dead
			e.dieTurning()

			e.ctx, e.failWrite = ctx, nil
			e.kafka.Reset()
			e.restart()
			e.settle()
			e.wantReady("grown", "new")
			topics := e.kafka.Topics()
			if len(topics) != 2 || topics["grown"].Partitions != 3 || topics["grown"].Config["retention.ms"] != "5" ||
				topics["new"].Partitions != 2 || e.exists("dying") {
				t.Errorf("Kafka holds %+v", topics)
			}
		})
	}
}

func TestACallThatIsNeverAnsweredIsMadeEverMoreSlowly(t *testing.T) {
	unreachable := fmt.Errorf("%w: cut", kafka.ErrUnreachable)
	for call, cut := range map[string]func(*fake.Admin){
		fake.CreateTopics:    func(a *fake.Admin) { a.NextCreateTopicsErr = unreachable },
		fake.AlterConfigs:    func(a *fake.Admin) { a.NextAlterConfigsErr = unreachable },
		fake.DescribeConfigs: func(a *fake.Admin) { a.NextDescribeConfigsErr = unreachable },
	} {
		t.Run(call, func(t *testing.T) {
			e := newEnv(t)
			e.create(aTopic("old"))
			e.turn()
			e.events = nil
			e.create(aTopic("new"))
			e.change("old", config("retention.ms", "5"))
			made := 0
			e.kafka.BeforeCall = func(now string, _ []string) {
				if now == call {
					made++
					cut(e.kafka)
				}
			}
			for range 60 {
				e.clock.Step(time.Second)
				e.turn()
			}
			if made < 4 || made > 8 {
				t.Errorf("it is made %d times in a minute", made)
			}
			waiting := map[string]string{fake.CreateTopics: "new", fake.AlterConfigs: "old", fake.DescribeConfigs: "old"}[call]
			if c := mainCondition(e.get(waiting)); c.Status == "False" {
				t.Errorf("%s was reported wrong within a minute: %+v", waiting, c)
			}
			e.takeWrites()
			for range 60 {
				e.clock.Step(5 * time.Second)
				e.turn()
			}
			if message := e.wantReason(waiting, kafkav1.ReasonKafkaError); !strings.Contains(message, "cut") {
				t.Errorf("message %q does not say what Kafka does not do", message)
			}
			if w := e.takeWrites(); count(w, "status "+waiting) != 1 {
				t.Errorf("writes in five minutes: %v, want the status of %s once", w, waiting)
			}
			if len(e.events) > 0 {
				t.Errorf("events: %q", e.events)
			}
			e.kafka.BeforeCall = func(string, []string) {}
			e.clock.Step(batch.MaxBackoff)
			e.settle()
			e.wantReady("old", "new")
		})
	}
}

func TestAWrongGrowthIsNotTheNextResources(t *testing.T) {
	e := newEnv(t)
	e.create(aTopic("older", topicName("orders")))
	e.turn()
	e.kafka.TopicErrs[fake.CreatePartitions+" orders"] = fake.ErrInvalidPartitions
	e.change("older", partitions(9))
	e.turn()
	// Not known to be refused yet: it is to be looked at again.
	e.create(aTopic("younger", topicName("orders"), createdAfter(time.Minute), partitions(2), func(kt *kafkav1.KafkaTopic) { kt.Generation = 2 }))
	delete(e.kafka.TopicErrs, fake.CreatePartitions+" orders")
	e.delete("older")
	e.turn()
	e.clock.Step(time.Minute)
	e.turn()
	e.wantReady("younger")
}

// Kafka closes the connection on a request with a text that is longer than its protocol
// allows, whatever else is in it.
func TestANameThatNoRequestCanHoldHoldsUpNobody(t *testing.T) {
	e := newEnv(t)
	e.kafka.BeforeCall = func(_ string, names []string) {
		for _, name := range names {
			if len(name) > 32767 {
				cut := fmt.Errorf("%w: EOF", kafka.ErrUnreachable)
				e.kafka.NextDescribeTopicsErr, e.kafka.NextDeleteTopicsErr = cut, cut
			}
		}
	}
	endless := topicName(strings.Repeat("x", 40000))
	e.create(aTopic("orders"), aTopic("endless", endless))
	e.turn()
	e.wantReady("orders")
	e.wantReason("endless", kafkav1.ReasonKafkaError)

	// Of one that had another name our own finalizer is on.
	e.kafka.TopicErrs[fake.CreateTopics+" renamed"] = fake.ErrInvalidConfig
	e.create(aTopic("renamed"))
	e.turn()
	e.change("renamed", endless)
	e.delete("renamed", "orders")
	e.turn()
	if e.exists("renamed") || e.exists("orders") {
		t.Error("a resource hangs on its finalizer")
	}
}

func TestWhatIsAwaitedIsSaidAlikeWhateverElseIsAskedForWithIt(t *testing.T) {
	for name, fail := range map[string]func(a *fake.Admin, call string){
		"a creation": func(a *fake.Admin, call string) {
			if call == fake.CreateTopics {
				a.NextCreateTopicsErr = kafka.ErrTimeout
			}
		},
		"a creation that is cut off": func(a *fake.Admin, call string) {
			if call == fake.CreateTopics {
				a.NextCreateTopicsErr = kafka.ErrUnreachable
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			e.create(aTopic("orders"), aTopic("payments"))
			e.kafka.BeforeCall = func(call string, _ []string) { fail(e.kafka, call) }
			for range 10 {
				e.clock.Step(batch.MaxBackoff)
				e.turn()
			}
			e.wantReason("orders", kafkav1.ReasonKafkaError)
			e.create(aTopic("later"))
			e.turn()
			e.takeWrites()
			e.clock.Step(batch.MaxBackoff)
			e.turn()
			if w := e.takeWrites(); count(w, "status orders") > 0 {
				t.Errorf("writes: %v, condition %+v: nothing is new", w, mainCondition(e.get("orders")))
			}
		})
	}
}
