package cluster

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	kafkav1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/brokerpod"
)

// spread puts two replicas of a topic on every broker of the first n.
func (e *env) spread(n int32) {
	for id := range n {
		e.kafka.Place("data", id, id, (id+1)%n)
	}
}

// brokerPods are the names of the pods of brokers.
func (e *env) brokerPods() []string {
	return slices.DeleteFunc(e.podNames(), func(n string) bool { return !strings.Contains(n, "-brokers-") })
}

func podsOf(ids ...int) []string {
	var out []string
	for _, id := range ids {
		out = append(out, fmt.Sprintf("c-brokers-%d", id))
	}
	return out
}

func (e *env) nodeIDs(pool string) []int64 { return get[kafkav1.KafkaNodePool](e, pool).Status.NodeIDs }

// cordonInFile tells whether a broker's file cordons it.
func (e *env) cordonInFile(id int) bool {
	cm := e.configMapOf(id)
	return strings.Contains(cm, "cordoned.log.dirs=*") || strings.Contains(cm, `cordoned.log.dirs=\*`)
}

func (e *env) configMapOf(id int) string {
	cm := e.mustConfigMap(fmt.Sprintf("c-brokers-%d", id))
	return cm[brokerpod.KeyServerConfig]
}

// held starts the removal of brokers 3 and 4 of five, all of which hold replicas.
func held(t *testing.T) *env {
	t.Helper()
	e := running(t, 5)
	e.spread(5)
	e.turns(1)
	e.kafka.TakeCalls()
	e.eventReasons()
	e.scale("brokers", 3)
	e.turns(3)
	return e
}

func TestBrokersThatHoldReplicasAreCordonedAndHeld(t *testing.T) {
	e := held(t)
	want := []string{"AlterBrokerConfig 3 (SET cordoned.log.dirs=*)", "AlterBrokerConfig 4 (SET cordoned.log.dirs=*)"}
	got := e.kafka.TakeWrites()
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("calls: -want +got:\n%s", diff)
	}
	if got := e.brokerPods(); !slices.Equal(got, podsOf(0, 1, 2, 3, 4)) {
		t.Errorf("pods %v", got)
	}
	if got := e.nodeIDs("brokers"); !slices.Equal(got, []int64{0, 1, 2, 3, 4}) {
		t.Errorf("nodeIds %v", got)
	}
	for id := range 5 {
		if want := id >= 3; e.cordonInFile(id) != want || e.kafka.Cordoned(int32(id)) != want {
			t.Errorf("broker %d: cordoned in its file %v, in effect %v; want %v", id, e.cordonInFile(id), e.kafka.Cordoned(int32(id)), want)
		}
	}
	message, ok := e.condition(kafkav1.ConditionWarning, kafkav1.ReasonScaleDownPreventionCheck)
	if !ok || !strings.Contains(message, "3") || !strings.Contains(message, "4") {
		t.Errorf("condition %q", message)
	}
	if !e.isReady() {
		t.Errorf("not ready:\n%s", e.describe())
	}
	for i := range 3 {
		if on := e.kafka.Create(fmt.Sprintf("new-%d", i), 3); slices.Contains(on, 3) || slices.Contains(on, 4) {
			t.Errorf("a new topic was placed on %v", on)
		}
	}
	reasons := e.eventReasons()
	slices.Sort(reasons)
	if diff := cmp.Diff([]string{"Cordoned", "Cordoned", "ScaleDownHeld"}, reasons); diff != "" {
		t.Errorf("events: -want +got:\n%s", diff)
	}
	if e.last.RequeueAfter != e.opts.WatchInterval {
		t.Errorf("looks again after %v", e.last.RequeueAfter)
	}
}

func TestEmptyBrokersAreRemovedAndForgotten(t *testing.T) {
	e := held(t)
	e.kafka.TakeCalls()
	e.eventReasons()
	e.kafka.Drain(3, 4)
	e.until("brokers 3 and 4 are forgotten", func() bool { return len(e.kafka.Registered()) == 3 })
	e.turns(3)
	want := []string{
		"ClearBrokerConfig 3 (DELETE cordoned.log.dirs)", "UnregisterBroker 3 (forget it)",
		"ClearBrokerConfig 4 (DELETE cordoned.log.dirs)", "UnregisterBroker 4 (forget it)",
	}
	if diff := cmp.Diff(want, e.kafka.TakeWrites()); diff != "" {
		t.Errorf("calls: -want +got:\n%s", diff)
	}
	e.gone(3, 4)
	if diff := cmp.Diff([]string{"Drained", "BrokerRemoved", "BrokerRemoved", "BrokerUnregistered", "BrokerUnregistered"}, e.eventReasons()); diff != "" {
		t.Errorf("events: -want +got:\n%s", diff)
	}
}

// A broker that goes while the check is skipped is not said to be empty.
func TestHeldBrokersThatGoUncheckedAreNotToldOfAsDrained(t *testing.T) {
	e := held(t)
	e.eventReasons()
	e.annotate("c", kafkav1.AnnotationSkipScaleDownCheck, "true")
	e.turns(1)
	if diff := cmp.Diff([]string{"BrokerRemoved", "BrokerRemoved"}, e.eventReasons()); diff != "" {
		t.Errorf("events: -want +got:\n%s", diff)
	}
}

// gone checks that nothing is left of brokers, that the others run as if nothing
// had been, and that nothing is to be done any more.
func (e *env) gone(ids ...int) {
	e.t.Helper()
	left := e.objectNames()
	for what, names := range left {
		for _, name := range names {
			for _, id := range ids {
				if strings.HasSuffix(name, fmt.Sprintf("c-brokers-%d", id)) {
					e.t.Errorf("left of broker %d: %s %s", id, what, name)
				}
			}
		}
	}
	for _, id := range ids {
		if d := e.kafka.Dynamic(int32(id)); len(d) > 0 {
			e.t.Errorf("broker %d would come back with %v", id, d)
		}
		if slices.Contains(e.nodeIDs("brokers"), int64(id)) {
			e.t.Errorf("broker %d is in status.nodeIds", id)
		}
		if slices.Contains(e.kafka.Registered(), int32(id)) {
			e.t.Errorf("broker %d is registered", id)
		}
	}
	e.settled()
}

// settled checks that nothing is to be done, nothing forbidden was done, and no
// broker is cordoned.
func (e *env) settled() {
	e.t.Helper()
	e.turns(1)
	e.takeWrites()
	e.kafka.TakeCalls()
	e.turns(1)
	if w := append(e.takeWrites(), e.kafka.TakeWrites()...); len(w) > 0 {
		e.t.Errorf("not settled: %v\n%s", w, e.describe())
	}
	if w := e.kafka.Wrong(); len(w) > 0 {
		e.t.Errorf("done wrong: %v", w)
	}
	if !e.isReady() {
		e.t.Errorf("not ready:\n%s", e.describe())
	}
	if m, ok := e.condition(kafkav1.ConditionWarning, kafkav1.ReasonScaleDownPreventionCheck); ok {
		e.t.Errorf("held: %s", m)
	}
}

func TestRollbackUncordonsWhatWasToGo(t *testing.T) {
	e := held(t)
	e.kafka.TakeCalls()
	e.scale("brokers", 5)
	e.turns(2)
	want := []string{"AlterBrokerConfig 3 (DELETE cordoned.log.dirs)", "AlterBrokerConfig 4 (DELETE cordoned.log.dirs)"}
	got := e.kafka.TakeWrites()
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("calls: -want +got:\n%s", diff)
	}
	e.settled()
	if got := e.brokerPods(); !slices.Equal(got, podsOf(0, 1, 2, 3, 4)) {
		t.Errorf("pods %v", got)
	}
	for id := range int32(5) {
		if e.kafka.Starts(id) != 1 {
			t.Errorf("broker %d was started %d times", id, e.kafka.Starts(id))
		}
	}
}

func TestPartialCancelUncordonsOnlyWhatStays(t *testing.T) {
	e := held(t)
	e.kafka.TakeCalls()
	e.scale("brokers", 4)
	e.turns(2)
	if diff := cmp.Diff([]string{"AlterBrokerConfig 3 (DELETE cordoned.log.dirs)"}, e.kafka.TakeWrites()); diff != "" {
		t.Errorf("calls: -want +got:\n%s", diff)
	}
	e.kafka.Drain(4)
	e.until("broker 4 is forgotten", func() bool { return len(e.kafka.Registered()) == 4 })
	e.turns(2)
	e.gone(4)
}

func TestBrokersThatAreEmptyFromTheStartAreCordonedFirst(t *testing.T) {
	e := running(t, 5)
	e.spread(3)
	e.turns(1)
	e.kafka.TakeCalls()
	e.scale("brokers", 3)
	e.turns(1)
	got := e.kafka.TakeWrites()
	slices.Sort(got)
	want := []string{"AlterBrokerConfig 3 (SET cordoned.log.dirs=*)", "AlterBrokerConfig 4 (SET cordoned.log.dirs=*)"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("calls: -want +got:\n%s", diff)
	}
	if got := e.brokerPods(); !slices.Equal(got, podsOf(0, 1, 2, 3, 4)) {
		t.Errorf("a broker went at first sight: %v", got)
	}
	e.until("brokers 3 and 4 are forgotten", func() bool { return len(e.kafka.Registered()) == 3 })
	e.turns(2)
	e.gone(3, 4)
}

func TestDisruptionBudgetDoesNotCountPodsThatLeave(t *testing.T) {
	e := held(t)
	e.kafka.Drain(3, 4)
	e.takeWrites()
	for range 60 { // the kubelet takes its time
		e.clock.Step(5 * time.Second)
		if _, err := e.Reconcile(t.Context(), theKey); err != nil {
			t.Fatal(err)
		}
	}
	if pod := get[corev1.Pod](e, "c-brokers-3"); pod == nil || pod.DeletionTimestamp == nil {
		t.Fatalf("broker 3 does not terminate: %+v", pod)
	}
	e.until("brokers 3 and 4 are forgotten", func() bool { return len(e.kafka.Registered()) == 3 })
	e.turns(2)
	var budgets []string
	for _, w := range e.takeWrites() {
		if strings.Contains(w, "PodDisruptionBudget") {
			budgets = append(budgets, w)
		}
	}
	if len(budgets) != 1 {
		t.Errorf("it was written once for each of %q", budgets)
	}
	e.gone(3, 4)
}

func TestTopicThatSlipsOntoAStoppedBrokerBringsItBack(t *testing.T) {
	e := held(t)
	e.kafka.Drain(3, 4)
	// Broker 4 is given a replica after it was last seen empty, before it is fenced.
	slipped := false
	e.beforeWrite = func(write string) error {
		if write == "delete Pod c-brokers-4" && !slipped {
			slipped = true
			e.kafka.Place("slipped", 0, 4, 0)
		}
		return nil
	}
	e.until("the topic slipped", func() bool { return slipped })
	e.until("broker 4 runs again", func() bool { return e.kafka.Starts(4) == 2 })
	e.turns(2)
	if !slices.Contains(e.nodeIDs("brokers"), 4) || e.kafka.ReplicasOn(4) != 1 {
		t.Errorf("broker 4 is not back:\n%s", e.describe())
	}
	if !slices.Contains(e.eventReasons(), "PutBack") {
		t.Error("nobody was told")
	}
	e.kafka.Drain(4)
	e.until("brokers 3 and 4 are forgotten", func() bool { return len(e.kafka.Registered()) == 3 })
	e.turns(2)
	e.gone(3, 4)
}

func TestTenBrokersOfThirtyGoAtOnce(t *testing.T) {
	e := running(t, 30)
	e.spread(30)
	e.scale("brokers", 20)
	e.turns(3)
	e.kafka.TakeCalls()
	var ids []int32
	var gone []int
	for id := int32(20); id < 30; id++ {
		ids, gone = append(ids, id), append(gone, int(id))
	}
	e.kafka.Drain(ids...)
	turns := 0
	e.until("ten brokers are forgotten", func() bool { turns++; return len(e.kafka.Registered()) == 20 })
	if turns > 8 {
		t.Errorf("it took %d turns", turns)
	}
	e.turns(2)
	e.gone(gone...)
}
