package topicplan

import (
	"encoding/json"
	"maps"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	kafkav1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/configdef"
	"github.com/sluice-kafka/sluice/internal/rebalance"
	"github.com/sluice-kafka/sluice/test/cases"
)

// FuzzDecide plans for resources that are older than any rule. Whatever they say, a
// plan is made; and once Kafka has taken it, nothing is left to be done.
func FuzzDecide(f *testing.F) {
	all, err := cases.Admission()
	if err != nil {
		f.Fatal(err)
	}
	for _, c := range all {
		if object, err := yaml.YAMLToJSON(c.Object); err == nil {
			f.Add(object, "retention.ms, a", int16(2), uint8(3))
		}
	}
	f.Fuzz(func(t *testing.T, object []byte, alterable string, replicas int16, state uint8) {
		var kt kafkav1.KafkaTopic
		if json.Unmarshal(object, &kt) != nil {
			return
		}
		may, err := ParseAlterable(alterable)
		if err != nil {
			may = Alterable{}
		}
		w, problems := WantedOf(&kt, may)
		for _, p := range problems {
			if p.Reason == "" || p.Message == "" {
				t.Errorf("a problem without words: %+v", p)
			}
		}
		Decide(w, nil, Memory{}, now)
		seen := &Seen{ID: "id", Partitions: 2, Replicas: []int16{replicas, 2}, Options: map[string]Option{
			"retention.ms": {Value: "1", Type: configdef.Long, Dynamic: true}, MinInSync: {Value: "2"}, "cleanup.policy": {Dynamic: true},
		}}
		taken(w, Decide(w, seen, Memory{}, now), seen)
		if again := Decide(w, seen, Memory{}, now.Add(time.Hour)); !again.Empty() {
			t.Errorf("something is left to be done: %+v", again)
		}
		for _, known := range []bool{false, true} {
			seen.MovingKnown = known
			plan := DecideReplicas(ReplicasInput{
				Was: kt.Status.ReplicasChange, Wanted: w.Replicas, Seen: seen, Engine: state&1 == 0,
				Progress: &rebalance.Progress{State: rebalance.State(state >> 1)},
			})
			if plan.Begin && (plan.Next == nil || plan.Next.TargetReplicas < 1) {
				t.Errorf("begun for no number of replicas: %+v", plan)
			}
		}
	})
}

// taken lets a topic be what a plan makes of it.
func taken(w Wanted, p Plan, seen *Seen) {
	seen.Options = maps.Clone(seen.Options)
	for _, op := range p.Ops {
		if op.Delete {
			delete(seen.Options, op.Name)
		} else {
			seen.Options[op.Name] = Option{Value: op.Value, Dynamic: true}
		}
	}
	if p.GrowTo > 0 {
		seen.Partitions = w.Partitions
	}
}
