package cluster

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	kafkav1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/kafka"
)

func sorted(texts []string) []string {
	slices.Sort(texts)
	return texts
}

func TestBrokersAreCordonedByHandAndOnlyWhileTheyAreListed(t *testing.T) {
	e := running(t, 5)
	e.spread(5)
	e.turns(1)
	e.kafka.TakeCalls()
	e.annotate("c", kafkav1.AnnotationCordon, "1,4")
	e.turns(2)
	want := []string{"AlterBrokerConfig 1 (SET cordoned.log.dirs=*)", "AlterBrokerConfig 4 (SET cordoned.log.dirs=*)"}
	if diff := cmp.Diff(want, sorted(e.kafka.TakeWrites())); diff != "" {
		t.Errorf("calls: -want +got:\n%s", diff)
	}
	e.scale("brokers", 4) // 4 goes, and is cordoned already
	e.turns(2)
	if w := e.kafka.TakeWrites(); len(w) > 0 {
		t.Errorf("broker 4 was cordoned twice: %v", w)
	}
	e.annotate("c", kafkav1.AnnotationCordon, "")
	e.turns(2)
	if diff := cmp.Diff([]string{"AlterBrokerConfig 1 (DELETE cordoned.log.dirs)"}, e.kafka.TakeWrites()); diff != "" {
		t.Errorf("calls: -want +got:\n%s", diff)
	}
}

func TestMetadataVersionThatIsTooLowHoldsTheCordonAndNotTheDrain(t *testing.T) {
	e := runningAt(t, 5, "4.3.1", "4.2-IV1")
	e.spread(5)
	e.turns(1)
	e.kafka.TakeCalls()
	e.scale("brokers", 3)
	e.turns(3)
	if w := e.kafka.TakeWrites(); len(w) > 0 {
		t.Errorf("attempted what is refused: %v", w)
	}
	if _, ok := e.condition(kafkav1.ConditionWarning, reasonCordonWaits); !ok {
		t.Errorf("nobody was told:\n%s", e.describe())
	}
	if e.last.RequeueAfter != e.opts.WatchInterval {
		t.Errorf("looks again after %v", e.last.RequeueAfter)
	}
	for id := range int32(5) {
		if e.kafka.Starts(id) != 1 {
			t.Errorf("broker %d was restarted", id)
		}
	}
	edit(e, "c", func(k *kafkav1.Kafka) { k.Spec.Kafka.MetadataVersion = "4.3" })
	e.turns(3)
	want := []string{
		"AlterBrokerConfig 3 (SET cordoned.log.dirs=*)", "AlterBrokerConfig 4 (SET cordoned.log.dirs=*)", "UpdateMetadataVersion (4.3-IV0)",
	}
	if diff := cmp.Diff(want, sorted(e.kafka.TakeWrites())); diff != "" {
		t.Errorf("calls: -want +got:\n%s", diff)
	}
	if _, ok := e.condition(kafkav1.ConditionWarning, reasonCordonWaits); ok {
		t.Error("the condition stayed")
	}
	e.kafka.Drain(3, 4)
	e.until("brokers 3 and 4 are forgotten", func() bool { return len(e.kafka.Registered()) == 3 })
	e.turns(2)
	e.gone(3, 4)
}

func TestKafkaThatCannotCordonIsWatchedForLonger(t *testing.T) {
	e := runningAt(t, 5, "4.2.1", "")
	e.spread(3)
	e.turns(1)
	e.kafka.TakeCalls()
	began := e.clock.Now()
	e.scale("brokers", 3)
	e.until("broker 4's pod is gone", func() bool { return len(e.brokerPods()) == 3 })
	if d := e.clock.Since(began); d < e.opts.EmptyForUncordoned {
		t.Errorf("removed after %v", d)
	}
	e.until("brokers 3 and 4 are forgotten", func() bool { return len(e.kafka.Registered()) == 3 })
	for _, w := range e.kafka.TakeWrites() {
		if strings.Contains(w, "cordoned.log.dirs=") {
			t.Errorf("called %s", w)
		}
	}
	e.turns(2)
	e.gone(3, 4)
	for id := range int32(3) {
		if e.kafka.Starts(id) != 1 {
			t.Errorf("broker %d was restarted", id)
		}
	}
}

func TestRefusedCordonFailsNothingAndIsTriedAgain(t *testing.T) {
	e := running(t, 5)
	e.spread(5)
	e.turns(1)
	e.kafka.Refused["cordoned.log.dirs"] = true
	e.scale("brokers", 3)
	e.turns(3)
	if _, ok := e.condition(kafkav1.ConditionWarning, reasonCordonFailed); !ok || !e.isReady() {
		t.Errorf("want a warning and Ready:\n%s", e.describe())
	}
	if n := count(e.eventReasons(), "CordonRefused"); n != 1 {
		t.Errorf("told %d times", n)
	}
	delete(e.kafka.Refused, "cordoned.log.dirs")
	e.turns(2)
	if !e.kafka.Cordoned(3) || !e.kafka.Cordoned(4) {
		t.Error("not tried again")
	}
	for id := range int32(5) {
		if e.kafka.Starts(id) != 1 {
			t.Errorf("broker %d was restarted", id)
		}
	}
}

func count(texts []string, text string) int {
	n := 0
	for _, t := range texts {
		if t == text {
			n++
		}
	}
	return n
}

func TestCordonThatIsNotInEffectYetProvesNothing(t *testing.T) {
	e := running(t, 5)
	e.spread(3)
	e.turns(1)
	e.kafka.ApplyLate = true
	e.scale("brokers", 3)
	e.turns(12)
	if got := e.brokerPods(); !slices.Equal(got, podsOf(0, 1, 2, 3, 4)) {
		t.Fatalf("removed on the strength of an answer: %v", got)
	}
	e.kafka.ApplyLate = false
	e.kafka.ApplyNow()
	e.until("brokers 3 and 4 are forgotten", func() bool { return len(e.kafka.Registered()) == 3 })
	e.turns(2)
	e.gone(3, 4)
}

func TestCordonWhoseAnswerIsLostIsToldOfAllTheSame(t *testing.T) {
	e := running(t, 5)
	e.spread(5)
	e.turns(1)
	e.kafka.TakeWrites()
	e.eventReasons()
	const call = "AlterBrokerConfig 4"
	e.kafka.CallErrs[call] = kafka.ErrTimeout
	e.scale("brokers", 4)
	e.turns(1)
	if reasons := e.eventReasons(); count(reasons, "Cordoned")+count(reasons, "CordonRefused") != 0 {
		t.Errorf("without an answer: events %v", reasons)
	}
	if message, ok := e.condition(kafkav1.ConditionWarning, reasonCordonFailed); !ok || !strings.Contains(message, "not known yet") {
		t.Errorf("condition: %q", message)
	}
	delete(e.kafka.CallErrs, call)
	if err := e.kafka.AlterBrokerConfig(t.Context(), 4, []kafka.ConfigOp{{Name: "cordoned.log.dirs", Value: "*"}}); err != nil {
		t.Fatal(err)
	}
	e.kafka.TakeWrites()
	e.turns(2)
	if w := e.kafka.TakeWrites(); len(w) > 0 {
		t.Errorf("the call was made again: %v", w)
	}
	if n := count(e.eventReasons(), "Cordoned"); n != 1 {
		t.Errorf("told %d times of the cordon", n)
	}
}

func TestCallIsNotRepeatedWhileTheBrokerHasNotHeardOfIt(t *testing.T) {
	e := running(t, 5)
	e.spread(3)
	e.turns(1)
	e.kafka.TakeWrites()
	e.kafka.ApplyLate = true
	e.scale("brokers", 4)
	e.turns(3)
	if diff := cmp.Diff([]string{"AlterBrokerConfig 4 (SET cordoned.log.dirs=*)"}, e.kafka.TakeWrites()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if e.last.RequeueAfter != e.opts.WatchInterval {
		t.Errorf("looks again after %v for an answer that is late", e.last.RequeueAfter)
	}
	e.scale("brokers", 5) // what no broker shows yet is taken back all the same
	e.turns(3)
	if diff := cmp.Diff([]string{"AlterBrokerConfig 4 (DELETE cordoned.log.dirs)"}, e.kafka.TakeWrites()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestRestartedBrokerStaysCordonedAndIsUncordonedAfterACancel(t *testing.T) {
	e := held(t)
	e.kafka.TakeCalls()
	e.must(e.store.Delete(e.byKubelet(), e.podOf("c-brokers-3"))) // somebody evicts it
	e.until("broker 3 runs again", func() bool { return e.kafka.Starts(3) == 2 })
	e.turns(2)
	if w := e.kafka.TakeWrites(); len(w) > 0 || !e.kafka.Cordoned(3) {
		t.Errorf("calls %v, cordoned %v", w, e.kafka.Cordoned(3))
	}
	e.scale("brokers", 5)
	e.turns(2)
	// It read the cordon from its file: taking the dynamic one away would not help.
	want := []string{"AlterBrokerConfig 3 (SET cordoned.log.dirs=)", "AlterBrokerConfig 4 (DELETE cordoned.log.dirs)"}
	if diff := cmp.Diff(want, sorted(e.kafka.TakeWrites())); diff != "" {
		t.Errorf("calls: -want +got:\n%s", diff)
	}
	e.settled()
	if e.kafka.Cordoned(3) {
		t.Error("broker 3 is cordoned still")
	}
	e.must(e.store.Delete(e.byKubelet(), e.podOf("c-brokers-3")))
	e.until("broker 3 runs again", func() bool { return e.kafka.Starts(3) == 3 })
	e.turns(2)
	if diff := cmp.Diff([]string{"AlterBrokerConfig 3 (DELETE cordoned.log.dirs)"}, e.kafka.TakeWrites()); diff != "" {
		t.Errorf("calls after another restart: -want +got:\n%s", diff)
	}
}

func TestOneDeadBrokerKeepsNoOtherFromBeingCordoned(t *testing.T) {
	e := running(t, 5)
	e.spread(5)
	e.turns(1)
	e.kill(4, "c-brokers-4")
	e.kafka.TakeCalls()
	e.scale("brokers", 3)
	e.turns(2)
	if diff := cmp.Diff([]string{"AlterBrokerConfig 3 (SET cordoned.log.dirs=*)"}, e.kafka.TakeWrites()); diff != "" {
		t.Errorf("calls: -want +got:\n%s", diff)
	}
	if len(e.brokerPods()) != 5 {
		t.Errorf("pods %v", e.brokerPods())
	}
	e.kafka.Drain(3, 4)
	e.until("brokers 3 and 4 are forgotten", func() bool { return len(e.kafka.Registered()) == 3 })
	e.turns(2)
	e.gone(3, 4)
}
