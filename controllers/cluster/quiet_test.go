package cluster

import (
	"testing"
)

func TestConvergedClusterIsLeftAlone(t *testing.T) {
	for name, brokers := range map[string]int64{"three brokers": 3, "thirty brokers": 30} {
		t.Run(name, func(t *testing.T) {
			e := running(t, brokers)
			for id := range int32(brokers) {
				e.kafka.Place("data", id, id, (id+1)%int32(brokers), (id+2)%int32(brokers))
			}
			e.turns(1) // facts tell of the topic
			e.takeWrites()
			e.kafka.TakeCalls()
			e.eventReasons()
			e.turns(1)
			if w := e.takeWrites(); len(w) > 0 {
				t.Errorf("wrote %v", w)
			}
			requests := 0
			for _, c := range e.kafka.Calls() {
				requests += c.Requests
			}
			if most := 2*int(brokers) + 6; requests > most {
				t.Errorf("%d requests to Kafka, want %d at most: %v", requests, most, e.kafka.Calls())
			}
			if w := e.kafka.TakeWrites(); len(w) > 0 {
				t.Errorf("changed Kafka: %v", w)
			}
			if r := e.eventReasons(); len(r) > 0 {
				t.Errorf("told %v", r)
			}
			if e.last.RequeueAfter != e.opts.LookInterval {
				t.Errorf("looks again after %v, want %v", e.last.RequeueAfter, e.opts.LookInterval)
			}
		})
	}
}
