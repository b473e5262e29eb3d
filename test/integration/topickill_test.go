package integration

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/test/gate"
	"github.com/sluice-kafka/sluice/test/harness"
	testkafka "github.com/sluice-kafka/sluice/test/kafka"
)

// What the resources of a round are for, by their number in it.
const (
	killGrown = iota
	killAltered
	killDying
	killKept
	killNew
)

// TestTopicsOfAnOperatorThatIsKilled kills the operator at each write of a batch, to
// Kubernetes or to Kafka: before it gets there, and after it took effect but before
// the operator hears of it. The next one does what is left to be done, and nothing
// twice.
//
// Without SLUICE_KAFKA_VERSIONS=all every fifth of these is tried.
func TestTopicsOfAnOperatorThatIsKilled(t *testing.T) {
	t.Parallel()
	g := &gate.Gate{}
	relay, err := gate.NewRelay(g)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(relay.Close)
	in, cluster := topicPartsOn(t, testkafka.Options{Config: map[string]string{
		"advertised.listeners": "PLAINTEXT://" + relay.Address(),
	}}, harness.ControlPlaneOptions{}, "killed")
	own, err := url.Parse("kafka://" + cluster.Bootstrap()[0])
	if err != nil {
		t.Fatal(err)
	}
	relay.To(own.Host)
	api, err := gate.NewAPIServer(g, in.Config, "killed")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(api.Close)
	in.APIServer = api.Config

	// Changes are made while no operator runs that could judge them.
	labels := map[string]string{apiv1.LabelAdmission: apiv1.AdmissionDisabled}
	k := &killing{topicEnv: newTopicEnv(t, in, cluster, "killed", labels), gate: g, relay: relay.Address()}
	k.launch()
	t.Cleanup(func() {
		if k.operator != nil {
			k.operator.Kill()
		}
	})
	round := 0
	for nth := 1; ; nth++ {
		for _, fate := range []gate.Fate{gate.Lose, gate.Mute} {
			if round++; !everyVersion() && round%5 != 1 {
				continue
			}
			end := false
			t.Run(fmt.Sprintf("write %d is %s", nth, fate), func(t *testing.T) {
				in := *k
				e := *k.topicEnv
				e.T, in.topicEnv = t, &e
				defer func() { k.operator = e.operator }()
				end = in.round(round, nth, fate)
			})
			if t.Failed() {
				return
			}
			if end {
				t.Logf("a batch has fewer than %d writes", nth)
				if nth < 9 {
					t.Error("the operator did not make every kind of change: the test tries too little")
				}
				return
			}
		}
	}
}

// killing is the operator between two gates.
type killing struct {
	*topicEnv
	gate  *gate.Gate
	relay string
}

// launch starts an operator that leads at once, whoever led before. It is not ended
// with the test that started it.
func (k *killing) launch() {
	k.Helper()
	op, err := k.installed.StartOperator(k.Context(), "--leader-elect=false", "--resync-interval=1h", k.table(k.relay))
	if err != nil {
		k.Fatal(err)
	}
	k.operator = op
}

// tally counts writes that took effect.
type tally struct {
	mu     sync.Mutex
	count  int
	effect map[string]int
}

// judge lets the operator die at its nth write; none if zero.
func (t *tally) judge(nth int, fate gate.Fate, kill func()) gate.Judge {
	return func(w gate.Write) (gate.Fate, func()) {
		t.mu.Lock()
		defer t.mu.Unlock()
		if w.To == "Kubernetes" && !strings.Contains(w.What, "/kafkatopics/") {
			return gate.Pass, nil
		}
		t.count++
		if nth == 0 || t.count < nth {
			t.effect[w.String()]++
			return gate.Pass, nil
		}
		if t.count > nth {
			return gate.Lose, nil // it is dying
		}
		if fate == gate.Mute {
			t.effect[w.String()]++
		}
		return fate, kill
	}
}

// round prepares a batch with every kind of change, kills the operator in it and has
// another go on. It tells whether the batch was over before the nth write.
func (k *killing) round(round, nth int, fate gate.Fate) (end bool) {
	k.Helper()
	at := func(i int) int { return 10*round + i }
	for _, i := range []int{killGrown, killAltered, killDying, killKept} {
		k.create(at(i), apiv1.KafkaTopicSpec{})
	}
	k.until(func(context.Context) error {
		return errors.Join(k.ready(at(killGrown)), k.ready(at(killAltered)), k.ready(at(killDying)), k.ready(at(killKept)))
	})
	before := map[int]string{}
	for _, i := range []int{killGrown, killAltered, killKept} {
		before[i] = k.id(at(i))
	}
	k.stop()
	k.change(at(killGrown), `{"spec":{"partitions":3}}`)
	k.change(at(killAltered), `{"spec":{"config":{"retention.ms":3600000}}}`)
	k.delete(at(killDying))
	k.create(at(killNew), apiv1.KafkaTopicSpec{Partitions: number(int64(2))})

	counted := &tally{effect: map[string]int{}}
	died := make(chan struct{})
	var once sync.Once
	ready := make(chan struct{})
	k.gate.SetJudge(counted.judge(nth, fate, func() {
		<-ready // k.operator is set
		once.Do(func() { k.operator.Kill(); close(died) })
	}))
	k.launch()
	close(ready)
	k.until(func(context.Context) error {
		select {
		case <-died:
			return nil
		default:
		}
		err := k.finished(at, before)
		end = err == nil
		return err
	})
	if end {
		k.gate.SetJudge(nil)
		return true
	}
	k.checkLog(k.operator)
	made := k.id(at(killNew))
	k.gate.SetJudge(counted.judge(0, gate.Pass, nil))
	k.launch()
	k.until(func(ctx context.Context) error {
		return errors.Join(k.finished(at, before), k.set(ctx, at(killAltered), map[string]string{"retention.ms": "3600000"}))
	})
	k.settled()
	k.gate.SetJudge(nil)
	if got := k.id(at(killNew)); made != "" && got != made {
		k.Errorf("the topic that was created was %s, and is %s", made, got)
	}
	counted.mu.Lock()
	defer counted.mu.Unlock()
	k.Logf("what took effect: %v", counted.effect)
	for _, what := range slices.Sorted(maps.Keys(counted.effect)) {
		// By ID, which cannot hit another topic.
		if n := counted.effect[what]; n > 1 && !strings.Contains(what, "DeleteTopics") {
			k.Errorf("%s took effect %d times", what, n)
		}
	}
	return false
}

// finished fails unless all is as the resources say.
func (k *killing) finished(at func(int) int, before map[int]string) error {
	errs := []error{
		k.ready(at(killGrown)), k.partitions(at(killGrown), 3),
		k.ready(at(killAltered)), k.ready(at(killKept)),
		k.ready(at(killNew)), k.partitions(at(killNew), 2),
	}
	if k.get(at(killDying)) != nil || k.id(at(killDying)) != "" {
		errs = append(errs, errors.New("the topic that was deleted is still there"))
	}
	for i, id := range before {
		if got := k.id(at(i)); got != id {
			errs = append(errs, fmt.Errorf("topic %d was %s, and is %q", i, id, got))
		}
	}
	return errors.Join(errs...)
}
