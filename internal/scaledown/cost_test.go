package scaledown

import (
	"fmt"
	"iter"
	"testing"
	"time"

	"github.com/sluice-kafka/sluice/internal/observed"
)

// model is a cluster of 30 brokers with 200,070 replicas, and ten of them go.
func model() Input {
	const brokers, perTopic, topics, factor = 30, 30, 2223, 3
	var partitions []observed.Partition
	for topic := range int32(topics) {
		for id := range int32(perTopic) {
			p := observed.Partition{Topic: fmt.Sprintf("topic-%04d", topic), ID: id}
			for r := range int32(factor) {
				p.Replicas = append(p.Replicas, (topic+id+r*7)%brokers)
			}
			p.Leader, p.InSync = p.Replicas[0], p.Replicas
			partitions = append(partitions, p)
		}
	}
	in := Input{VersionCordons: true, Seen: observed.Cluster{
		At:         time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC),
		Partitions: observed.Seen(partitions),
		Features:   observed.Seen(observed.Features{MetadataLevel: cordonLevel}),
	}}
	var registered []observed.Broker
	for id := range int32(brokers) {
		registered = append(registered, observed.Broker{ID: id})
		if id >= 20 {
			in.Removing = append(in.Removing, id)
		}
	}
	in.Seen.Registration = observed.Seen(observed.Registration{Brokers: registered})
	return in
}

// counting yields what another sequence does, and counts it.
func counting(seq iter.Seq[observed.Partition], count *int) iter.Seq[observed.Partition] {
	return func(yield func(observed.Partition) bool) {
		for p := range seq {
			*count++
			if !yield(p) {
				return
			}
		}
	}
}

func TestTenBrokersAtOnceTakeOnePass(t *testing.T) {
	t.Parallel()
	in := model()
	partitions, _ := in.Seen.Partitions.Get()
	read := 0
	d := decide(in, counting(func(yield func(observed.Partition) bool) {
		for _, p := range partitions {
			if !yield(p) {
				return
			}
		}
	}, &read))
	if read != len(partitions) {
		t.Errorf("read %d partitions of %d", read, len(partitions))
	}
	replicas := 0
	for _, h := range d.Held {
		replicas += h.Replicas
	}
	if want := len(partitions); len(d.Held) != 10 || replicas != want {
		t.Errorf("%d held with %d replicas; want 10 with %d, a third of all", len(d.Held), replicas, want)
	}
}

func BenchmarkDecideTenOfThirty(b *testing.B) {
	in := model()
	b.ReportAllocs()
	for b.Loop() {
		if d := Decide(in); len(d.Held) != 10 {
			b.Fatalf("%d held, want 10", len(d.Held))
		}
	}
}
