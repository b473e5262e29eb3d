package cluster

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	ctrl "sigs.k8s.io/controller-runtime"

	kafkav1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/controllers/cluster/fake"
)

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	os.Exit(m.Run())
}

// errKilled is what a killed operator gets for everything that it tries.
var errKilled = errors.New("the operator was killed")

// killAt has the operator die before its nth outgoing write, to Kubernetes or to
// Kafka, and a new one take over at the next turn. It returns how to tell whether
// it came to that.
func (e *env) killAt(n int) (happened func() bool) {
	writes, dead := 0, false
	die := func() error {
		writes++
		if writes >= n {
			dead = true
			return errKilled
		}
		return nil
	}
	e.beforeWrite = func(string) error {
		if dead {
			return errKilled
		}
		return die()
	}
	e.kafka.BeforeWrite = func(fake.Call) error {
		e.mu.Lock()
		defer e.mu.Unlock()
		if dead {
			return errKilled
		}
		return die()
	}
	return func() bool { return dead }
}

// endState is what is left at the end of a story.
func (e *env) endState() map[string]any {
	dynamic := map[string]map[string]string{}
	for id := range int32(6) {
		if d := e.kafka.Dynamic(id); len(d) > 0 {
			dynamic[fmt.Sprint(id)] = d
		}
	}
	state := map[string]any{"registered": e.kafka.Registered(), "dynamic": dynamic}
	for what, names := range e.objectNames() {
		state[what] = names
	}
	for _, p := range e.poolResources() {
		state["pool "+p.Name] = fmt.Sprint(p.Status.NodeIDs, p.Status.Roles, p.Finalizers)
	}
	state["ready"] = e.isReady()
	return state
}

// story is a scale-down of 5 to 3 brokers, of which the replicas are moved when the
// brokers are cordoned. Turns of a killed operator fail; another takes over.
func story(t *testing.T, killAt int) (state map[string]any, killed bool) {
	t.Helper()
	e := brought(t, newKafka(), 1, 5)
	e.spread(5)
	e.turns(1)
	happened, began := e.killAt(killAt), e.clock.Now()
	e.scale("brokers", 3)
	for after := 0; after < 3; {
		if len(e.kafka.Registered()) == 3 || e.clock.Since(began) > 5*time.Minute {
			after++ // what comes after the last broker is forgotten
		}
		err := e.turn()
		if happened() {
			killed = true
			e.beforeWrite, e.kafka.BeforeWrite = nil, nil
			happened = func() bool { return false }
			e.restartOperator()
		} else if err != nil {
			t.Fatalf("killed at write %d: %v", killAt, err)
		}
		if e.kafka.Cordoned(3) && e.kafka.Cordoned(4) {
			e.kafka.Drain(3, 4)
		}
	}
	if w := e.kafka.Wrong(); len(w) > 0 {
		t.Errorf("killed at write %d: %v", killAt, w)
	}
	return e.endState(), killed
}

func TestOperatorKilledAtAnyWriteComesToTheSameEnd(t *testing.T) {
	want, killed := story(t, 1<<30)
	if killed || !slices.Equal(want["registered"].([]int32), []int32{0, 1, 2}) {
		t.Fatalf("the story does not end well without a kill: %v", want)
	}
	for n := 1; ; n++ {
		got, killed := story(t, n)
		if !killed {
			if n < 20 {
				t.Errorf("the story has only %d writes", n)
			}
			return
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("killed at write %d: -want +got:\n%s", n, diff)
		}
	}
}

func TestOperatorThatRemembersNothingComesToTheSameEnd(t *testing.T) {
	e := running(t, 5)
	e.spread(5)
	e.turns(1)
	e.scale("brokers", 3)
	e.turns(3)
	e.kafka.Drain(3, 4)
	// Evidence takes two looks of one operator: it is replaced in every third.
	for i := range 30 {
		e.turns(1)
		if i%3 == 2 {
			e.restartOperator()
		}
	}
	e.gone(3, 4)
}

func TestRefusedOptionKeepsNoOtherAway(t *testing.T) {
	e := running(t, 3)
	e.kafka.Refused["log.cleaner.threads"] = true
	edit(e, "c", func(k *kafkav1.Kafka) {
		k.Spec.Kafka.Config = config(map[string]string{"log.cleaner.threads": "2", "message.max.bytes": "2000000"})
	})
	e.turns(2)
	if got := e.kafka.Defaults(); got["message.max.bytes"] != "2000000" {
		t.Errorf("defaults %v", got)
	}
	message, ok := e.condition(kafkav1.ConditionWarning, reasonInvalidConfig)
	if !ok || !strings.Contains(message, "log.cleaner.threads") || strings.Contains(message, "message.max.bytes") {
		t.Errorf("condition %q\n%s", message, e.describe())
	}
	for id := range int32(3) {
		if n := e.kafka.Starts(id); n != 1 {
			t.Errorf("broker %d was restarted", id)
		}
	}
	delete(e.kafka.Refused, "log.cleaner.threads")
	e.turns(12)
	e.settled()
}

func TestOptionIsChangedWithOneCallAndNotRepeated(t *testing.T) {
	tests := map[string]struct {
		option, value string
		want          []string
	}{
		"for all brokers": {"message.max.bytes", "2000000", []string{"AlterDefaultConfig (SET message.max.bytes=2000000)"}},
		"of a listener": {"listener.name.plain-9092.max.connections", "7",
			[]string{"AlterDefaultConfig (SET listener.name.plain-9092.max.connections=7)"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			e := running(t, 3)
			edit(e, "c", func(k *kafkav1.Kafka) { k.Spec.Kafka.Config = config(map[string]string{tc.option: tc.value}) })
			e.turns(2)
			if diff := cmp.Diff(tc.want, sorted(e.kafka.TakeWrites())); diff != "" {
				t.Errorf("-want +got:\n%s\n%s", diff, e.describe())
			}
			e.turns(12) // the controllers read their files only when they start
			if w := e.kafka.TakeWrites(); len(w) > 0 {
				t.Errorf("repeated: %v", w)
			}
			e.settled()
			for id := range int32(3) {
				if n := e.kafka.Starts(id); n != 1 {
					t.Errorf("broker %d was restarted", id)
				}
			}
		})
	}
}

func TestThreadsChangeInStepsOneSoonAfterTheOther(t *testing.T) {
	e := running(t, 3)
	edit(e, "c", func(k *kafkav1.Kafka) { k.Spec.Kafka.Config = config(map[string]string{"num.io.threads": "40"}) })
	for _, threads := range []string{"16", "32", "40"} {
		e.turns(1)
		want := []string{"AlterDefaultConfig (SET num.io.threads=" + threads + ")"}
		if diff := cmp.Diff(want, e.kafka.TakeWrites()); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
		if e.last.RequeueAfter != e.opts.WatchInterval {
			t.Errorf("at %s the cluster is looked at again after %v", threads, e.last.RequeueAfter)
		}
	}
	e.turns(12)
	if w := e.kafka.TakeWrites(); len(w) > 0 {
		t.Errorf("repeated: %v", w)
	}
	e.settled()
}

func config(options map[string]string) kafkav1.Config {
	c := kafkav1.Config{}
	for _, name := range slices.Sorted(maps.Keys(options)) {
		v := c[name]
		v.Raw = fmt.Appendf(nil, "%q", options[name])
		c[name] = v
	}
	return c
}
