package rolling_test

import (
	"fmt"
	"testing"

	"github.com/sluice-kafka/sluice/internal/observed"
	"github.com/sluice-kafka/sluice/internal/rolling"
)

func BenchmarkNextOfThirty(b *testing.B) {
	const brokers, partitions, factor = 30, 66_690, 3
	in := rolling.Input{Quorum: observed.Seen(observed.Quorum{Leader: 100, Voters: []observed.Voter{{ID: 100}}})}
	for id := range int32(brokers) {
		in.Nodes = append(in.Nodes, node(id, true, false))
		old(id)(&in)
	}
	in.Nodes = append(in.Nodes, node(100, false, true))
	minimums := map[string]int{}
	var all []observed.Partition
	for i := range int32(partitions) {
		p := observed.Partition{Topic: fmt.Sprintf("topic-%04d", i/30), ID: i % 30}
		for r := range int32(factor) {
			p.Replicas = append(p.Replicas, (i+r*7)%brokers)
		}
		p.Leader, p.InSync = p.Replicas[0], p.Replicas
		minimums[p.Topic] = 2
		all = append(all, p)
	}
	in.Partitions, in.MinInSync = observed.Seen(all), observed.Seen(minimums)
	b.ReportAllocs()
	for b.Loop() {
		if d := rolling.Next(in); d.Restart == nil {
			b.Fatal(d.Message())
		}
	}
}
