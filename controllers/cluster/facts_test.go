package cluster

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	kafkav1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/facts"
)

func (e *env) facts() facts.Facts {
	e.t.Helper()
	cm := get[corev1.ConfigMap](e, facts.Name("c"))
	if cm == nil {
		e.t.Fatal("there are no facts")
	}
	f, err := facts.Decode(cm)
	e.must(err)
	return f
}

func TestFactsTellWhatWasSeen(t *testing.T) {
	e := held(t)
	f := e.facts()
	if len(f.Brokers) != 5 || f.HighestFactor == nil || f.HighestFactor.Factor != 2 {
		t.Fatalf("facts %+v", f)
	}
	for _, b := range f.Brokers {
		going := b.ID >= 3
		if b.Replicas == nil || *b.Replicas != 2 || b.Cordoned == nil || *b.Cordoned != going || b.Draining != going || len(b.Volumes) != 1 {
			t.Errorf("broker %+v", b)
		}
	}
}

func TestFactsAreWrittenWhenTheyChange(t *testing.T) {
	e := running(t, 3)
	e.spread(3)
	e.turns(1)
	e.takeWrites()
	writes := func() int { return count(e.takeWrites(), "apply ConfigMap c-sluice-facts") }
	e.turns(3)
	if n := writes(); n != 0 {
		t.Errorf("written %d times without a change", n)
	}
	e.kafka.GrowTo(5_000_000)
	e.turns(3)
	if n := writes(); n != 0 {
		t.Errorf("written %d times for bytes alone", n)
	}
	e.clock.Step(10 * time.Minute)
	e.turns(3)
	if n := writes(); n != 1 {
		t.Errorf("written %d times for bytes after ten minutes", n)
	}
	e.kafka.Place("more", 0, 0)
	e.turns(3)
	if n := writes(); n != 1 {
		t.Errorf("written %d times for a replica", n)
	}
}

func TestUnreachableKafkaChangesNothingAndHoldsEverything(t *testing.T) {
	e := held(t)
	e.kafka.Drain(3, 4)
	e.kafka.Unreachable = errors.New("nobody answers")
	before := e.facts()
	e.takeWrites()
	e.turns(10)
	for _, w := range e.takeWrites() {
		if !strings.HasSuffix(w, "/status") {
			t.Errorf("wrote %s", w)
		}
	}
	if got := e.brokerPods(); !slices.Equal(got, podsOf(0, 1, 2, 3, 4)) {
		t.Errorf("pods %v", got)
	}
	if after := e.facts(); !after.ObservedAt.Equal(before.ObservedAt) {
		t.Error("facts were written that nobody saw")
	}
	if _, ok := e.condition(kafkav1.ConditionWarning, reasonUnseen); !ok {
		t.Errorf("not said:\n%s", e.describe())
	}
	e.kafka.Unreachable = nil
	e.until("brokers 3 and 4 are forgotten", func() bool { return len(e.kafka.Registered()) == 3 })
	e.turns(2)
	e.gone(3, 4)
}
