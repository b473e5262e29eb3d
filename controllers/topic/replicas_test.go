package topic

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	kafkav1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/controllers/topic/fake"
	"github.com/sluice-kafka/sluice/internal/kafka"
	"github.com/sluice-kafka/sluice/internal/observed"
	"github.com/sluice-kafka/sluice/internal/rebalance"
	"github.com/sluice-kafka/sluice/internal/topicplan"
)

// changing is a topic of two replicas that is to have three.
func changing(t *testing.T, names ...string) *env {
	t.Helper()
	e := newEnv(t).withEngine()
	for _, name := range names {
		e.create(aTopic(name, partitions(1), replicas(2)))
	}
	e.turn()
	e.takeWrites()
	e.kafka.Reset()
	for _, name := range names {
		e.change(name, replicas(3))
	}
	return e
}

// move lets the reassignments to some number of replicas be in flight: those that are
// added count from the start.
func (e *env) move(name string, factor int16) {
	topic := e.kafka.Topics()[name]
	before := topic.Replicas
	topic.Replicas = max(before, factor)
	e.kafka.SetTopic(name, topic)
	p := observed.Partition{Topic: name, Replicas: make([]int32, topic.Replicas)}
	if factor > before {
		p.Adding = make([]int32, factor-before)
	} else {
		p.Removing = make([]int32, before-factor)
	}
	e.kafka.Moving = map[string][]observed.Partition{name: {p}}
}

// arrive lets them be done.
func (e *env) arrive(name string, factor int16) {
	topic := e.kafka.Topics()[name]
	topic.Replicas = factor
	e.kafka.SetTopic(name, topic)
	e.kafka.Moving = nil
}

// later lets the next look at a change come.
func (e *env) later() {
	e.clock.Step(topicplan.ChangeInterval)
	e.turn()
}

func (e *env) wantChange(name string, want *kafkav1.ReplicasChange) {
	e.t.Helper()
	if diff := cmp.Diff(want, e.get(name).Status.ReplicasChange); diff != "" {
		e.t.Errorf("status.replicasChange of %s (-want +got): %s", name, diff)
	}
}

func (e *env) wantBegun(want ...map[string]int16) {
	e.t.Helper()
	if got := e.engine.TakeChanges(); !slices.EqualFunc(got, want, maps.Equal) {
		e.t.Errorf("changes begun: %v, want %v", got, want)
	}
}

func session(n int, message string) *kafkav1.ReplicasChange {
	return &kafkav1.ReplicasChange{TargetReplicas: 3, State: "ongoing", SessionID: fmt.Sprintf("session-%d", n), Message: message}
}

func TestAReplicationFactorIsChangedAndFollowedToItsEnd(t *testing.T) {
	e := changing(t, "orders")
	e.turn()
	e.wantReady("orders")
	e.wantChange("orders", session(1, ""))
	e.wantBegun(map[string]int16{"orders": 3})
	e.wantCalls(e.kafka.Calls(), fake.DescribeTopics, fake.DescribeConfigs, fake.Reassignments)

	e.move("orders", 3)
	e.later()
	e.wantReady("orders")
	e.wantChange("orders", session(1, "moving"))
	e.takeWrites()
	e.later() // nothing new
	if w := e.takeWrites(); len(w) > 0 {
		t.Errorf("writes: %v, want none while it goes on", w)
	}

	e.arrive("orders", 3)
	e.later()
	e.wantReady("orders")
	e.wantChange("orders", nil)
	e.wantBegun()
	e.takeWrites()
	e.engine.TakePolls()
	e.clock.Step(time.Hour)
	e.wantCalls(e.resync(), fake.DescribeTopics, fake.DescribeConfigs)
	if w, polls := e.takeWrites(), e.engine.TakePolls(); len(w)+len(polls) > 0 {
		t.Errorf("writes %v and polls %v after the end, want none", w, polls)
	}
}

func TestABatchOfChangesIsBegunAndAskedForInOneCallEach(t *testing.T) {
	e := changing(t, "a", "b", "c")
	e.engine.Errs["b"] = errors.New("there are only two brokers")
	e.turn()
	e.wantBegun(map[string]int16{"a": 3, "b": 3, "c": 3})
	e.wantChange("a", session(1, ""))
	e.wantChange("b", &kafkav1.ReplicasChange{TargetReplicas: 3, State: "pending", Message: "there are only two brokers"})
	e.wantReady("a", "b", "c")
	delete(e.engine.Errs, "b")
	e.later()
	if polls := e.engine.TakePolls(); len(polls) != 1 || !maps.Equal(polls[0], map[string]string{"a": "session-1", "c": "session-1"}) {
		t.Errorf("asked for %v, want the two that were begun at once", polls)
	}
	e.wantBegun(map[string]int16{"b": 3})
	e.wantChange("b", session(2, ""))
}

func TestAFailedBeginningIsTriedAgainWithBackoff(t *testing.T) {
	e := changing(t, "orders")
	e.engine.Errs["orders"] = errors.New("busy")
	e.turn()
	for range 25 {
		e.clock.Step(4 * time.Second)
		e.turn()
	}
	// 1, 2, 4, 8, 16 and 32 seconds fit into 100, with the first.
	if n := len(e.engine.TakeChanges()); n != 7 {
		t.Errorf("begun %d times in 100 s, want 7", n)
	}
	if w := e.takeWrites(); len(w) != 1 {
		t.Errorf("writes: %v, want one", w)
	}
	e.wantReady("orders")
}

func TestAnEngineThatPassesAwayForAMomentLeavesNoMessage(t *testing.T) {
	e := changing(t, "orders")
	e.engine.NextChangeErr = fmt.Errorf("asking: %w", kafka.ErrTimeout)
	e.turn()
	e.wantChange("orders", &kafkav1.ReplicasChange{TargetReplicas: 3, State: "pending"})
	e.later()
	e.wantChange("orders", session(1, ""))
	e.engine.NextPollErr = fmt.Errorf("asking: %w", kafka.ErrTimeout)
	e.takeWrites()
	e.later()
	e.wantChange("orders", session(1, ""))
	if w := e.takeWrites(); len(w) > 0 {
		t.Errorf("writes: %v, want none", w)
	}
	e.engine.NextPollErr = errors.New("no route to the engine")
	e.later()
	if got := e.get("orders").Status.ReplicasChange; got == nil || got.SessionID != "session-1" || !strings.Contains(got.Message, "no route") {
		t.Errorf("change: %+v, want the session kept and the error said", got)
	}
	e.later()
	e.wantChange("orders", session(1, "moving"))
	e.wantReady("orders")
}

func TestAChangeOutlivesItsOperator(t *testing.T) {
	for name, test := range map[string]struct {
		engineToo bool
		want      *kafkav1.ReplicasChange
	}{
		"and its engine knows the session":         {false, session(1, "moving")},
		"and its engine, so that it is begun anew": {true, session(2, "")},
	} {
		t.Run(name, func(t *testing.T) {
			e := changing(t, "orders")
			e.turn()
			e.engine.TakeChanges()
			if test.engineToo {
				clear(e.engine.Progress)
			}
			e.restart()
			e.turn()
			e.wantChange("orders", test.want)
			if begun := len(e.engine.TakeChanges()); begun > 0 != test.engineToo {
				t.Errorf("begun %d times", begun)
			}
		})
	}
}

// Strimzi keeps the state of a change that failed and drops its session.
func TestWhatStrimziLeftIsGoneOnWith(t *testing.T) {
	for name, left := range map[string]*kafkav1.ReplicasChange{
		"pending":           {TargetReplicas: 3, State: "pending"},
		"failed":            {TargetReplicas: 3, State: "ongoing", Message: "Replicas change failed, Connection refused"},
		"ongoing elsewhere": {TargetReplicas: 3, State: "ongoing", SessionID: "1c6f8b3a-user-task"},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t).withEngine()
			e.kafka.SetTopic("orders", fake.Topic{Partitions: 1, Replicas: 2})
			e.create(aTopic("orders", replicas(3), func(kt *kafkav1.KafkaTopic) { kt.Status.ReplicasChange = left }))
			if kt := e.get("orders"); kt.Status.ReplicasChange == nil {
				kt.Status.ReplicasChange = left
				if err := e.kube.Status().Update(e.ctx, kt); err != nil {
					t.Fatal(err)
				}
				e.sync()
			}
			e.turn()
			e.wantReady("orders")
			e.wantChange("orders", session(1, ""))
		})
	}
}

func TestAStatusThatCannotBeWrittenDoesNotLoseTheSession(t *testing.T) {
	e := changing(t, "orders")
	e.failWrite = func(string) error {
		e.failWrite = nil
		return apierrors.NewConflict(schema.GroupResource{Resource: "kafkatopics"}, "orders", errors.New("changed"))
	}
	e.turn()
	e.wantChange("orders", nil)
	e.later()
	e.wantChange("orders", session(1, "moving"))
	e.wantBegun(map[string]int16{"orders": 3})
}

func TestASessionIsWrittenThoughTheRestIsTriedAgain(t *testing.T) {
	e := changing(t, "orders")
	e.kafka.TopicErrs[fake.CreatePartitions+" orders"] = fake.Throttled(time.Minute)
	e.change("orders", partitions(2))
	e.turn()
	e.wantChange("orders", session(1, ""))
	if kt := e.get("orders"); kt.Status.ObservedGeneration == kt.Generation {
		t.Error("the status says more than is known")
	}
}

func TestATargetThatChangesWaitsForTheSession(t *testing.T) {
	e := changing(t, "orders")
	e.turn()
	e.engine.TakeChanges()
	e.change("orders", replicas(4))
	e.turn()
	e.wantChange("orders", session(1, "moving"))
	e.wantBegun()
	e.wantReady("orders")
	e.arrive("orders", 3)
	e.engine.Progress["session-1"] = rebalance.Progress{State: rebalance.Done}
	e.later()
	e.later()
	e.wantBegun(map[string]int16{"orders": 4})
	e.wantChange("orders", &kafkav1.ReplicasChange{TargetReplicas: 4, State: "ongoing", SessionID: "session-2"})
}

func TestWhatSomebodyElseMovesIsNoDifference(t *testing.T) {
	for name, engine := range map[string]bool{"beside an engine": true, "without an engine": false} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			if engine {
				e.withEngine()
			}
			e.create(aTopic("orders", replicas(2)), aTopic("other", replicas(2)))
			e.turn()
			e.move("orders", 2)
			topic := e.kafka.Topics()["orders"]
			topic.Replicas = 3 // one is added before another goes
			e.kafka.SetTopic("orders", topic)
			e.kafka.Moving["orders"][0].Replicas = make([]int32, 3)
			e.kafka.Moving["orders"][0].Removing = make([]int32, 1)
			e.takeWrites()
			e.wantCalls(e.resync(), fake.DescribeTopics, fake.DescribeConfigs, fake.Reassignments)
			e.wantReady("orders", "other")
			e.wantChange("orders", nil)
			if engine {
				e.wantBegun()
			}
		})
	}
}

func TestReassignmentsThatCannotBeListedBreakReplicasAlone(t *testing.T) {
	e := changing(t, "orders")
	e.change("orders", config("retention.ms", "5"))
	e.kafka.NextReassignmentsErr = fmt.Errorf("list the reassignments in flight: %w", fake.ErrNotAuthorized)
	e.turn()
	if message := e.wantReason("orders", kafkav1.ReasonKafkaError); !strings.Contains(message, "reassignments in flight") {
		t.Errorf("message: %q", message)
	}
	e.wantBegun()
	if got := e.kafka.Topics()["orders"].Config["retention.ms"]; got != "5" {
		t.Errorf("retention.ms is %q: one missing right broke what does not need it", got)
	}
	e.clock.Step(time.Minute)
	e.resync() // by then it may
	e.wantReady("orders")
	e.wantBegun(map[string]int16{"orders": 3})

	e = changing(t, "orders")
	e.kafka.NextReassignmentsErr = kafka.ErrTimeout
	e.takeWrites()
	e.turn()
	if w := e.takeWrites(); len(w) > 0 {
		t.Errorf("writes: %v: a fault that passes was said", w)
	}
	e.later()
	e.wantReady("orders")
	e.wantChange("orders", session(1, ""))
}

func TestWithoutAnEngineTheTextSaysWhy(t *testing.T) {
	for why, want := range map[string]string{
		"": "nothing changes replication factors", NoEngineExternal: "replicasEngine: builtin",
		noEngineCruiseControl: "sluice.dev/rebalance-engine: builtin", NoEngineTopicOnly: "topic operator",
	} {
		e := newEnv(t, func(o *Options) { o.Clusters[0].NoEngine = why })
		e.kafka.SetTopic("orders", fake.Topic{Partitions: 3, Replicas: 1})
		e.create(aTopic("orders", replicas(3)))
		e.turn()
		message := e.wantReason("orders", kafkav1.ReasonNotSupported)
		if !strings.Contains(message, want) || !strings.Contains(message, "partitions 0-2") {
			t.Errorf("message %q lacks %q or the partitions", message, want)
		}
	}
}

func TestPausedUnmanagedAndLostResourcesKeepOrForgetTheirChange(t *testing.T) {
	e := changing(t, "orders")
	e.turn()
	e.change("orders", annotation(kafkav1.AnnotationPauseReconciliation, "true"))
	e.turn()
	e.engine.TakePolls()
	e.later()
	e.wantChange("orders", session(1, ""))
	if polls := e.engine.TakePolls(); len(polls) > 0 {
		t.Errorf("asked %v for a paused resource", polls)
	}
	e.change("orders", func(kt *kafkav1.KafkaTopic) {
		kt.Annotations = map[string]string{kafkav1.AnnotationManaged: "false"}
	})
	e.turn()
	e.wantChange("orders", nil)
}

func TestAChangeThatWaitsMakesAFaultThatPassesNoLastingOne(t *testing.T) {
	e := changing(t, "orders")
	e.engine.Errs["orders"] = errors.New("a broker is cordoned")
	for range 50 {
		e.clock.Step(4 * time.Second)
		e.turn()
	}
	e.wantReady("orders")
	e.kafka.TopicErrs[fake.AlterConfigs+" orders"] = fake.ErrTimedOut
	e.change("orders", config("retention.ms", "5"))
	e.turn()
	if c := mainCondition(e.get("orders")); c.Status == "False" {
		t.Errorf("a first REQUEST_TIMED_OUT was said at once: %+v", c)
	}
	// Had it lasted, it would be said.
	for range 50 {
		e.clock.Step(4 * time.Second)
		e.turn()
	}
	e.wantReason("orders", kafkav1.ReasonKafkaError)
}

func TestASessionOutlivesThatATopicWaitsForItsOptions(t *testing.T) {
	e := changing(t, "orders")
	e.turn()
	e.move("orders", 3)
	e.kafka.TopicErrs[fake.DescribeConfigs+" orders"] = fake.ErrTimedOut
	e.change("orders", config("retention.ms", "5"))
	for range 50 {
		e.clock.Step(4 * time.Second)
		e.turn()
	}
	e.wantReason("orders", kafkav1.ReasonKafkaError)
	if got := e.get("orders").Status.ReplicasChange; got == nil || got.SessionID != "session-1" {
		t.Errorf("status.replicasChange is %+v, want the session", got)
	}
}
