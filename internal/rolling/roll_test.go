package rolling_test

import (
	"slices"
	"testing"

	"github.com/sluice-kafka/sluice/internal/rolling"
)

// A whole roll: each node that is restarted goes through all that a restart is,
// and nothing else is touched until it is back.
func TestAWholeRoll(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		in   rolling.Input
		want []int32
	}{
		"separate roles": {in: separate(old(0, 1, 2, 3, 4, 5)), want: []int32{0, 2, 1, 3, 4, 5}},
		"both roles":     {in: combined(old(0, 1, 2)), want: []int32{0, 2, 1}},
		"a single node":  {in: single(old(0)), want: []int32{0}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			healthy := tc.in
			healthy.Nodes = slices.Clone(tc.in.Nodes)
			var done []int32
			for range len(tc.want) + 1 {
				d := rolling.Next(healthy)
				if d.Restart == nil {
					break
				}
				id := d.Restart.Node
				done = append(done, id)
				for i, phase := range []change{state(rolling.Terminating, id), state(rolling.Missing, id), state(rolling.Unready, id), state(rolling.Ready, id)} {
					during := healthy
					during.Nodes = slices.Clone(healthy.Nodes)
					during.Partitions, during.Quorum, during.Registration = healthy.Partitions, healthy.Quorum, healthy.Registration
					down(id)(&during)
					phase(&during)
					if i > 1 {
						late(id)(&during)
					}
					// Ready, and not in sync yet: that is no time for the next one. A
					// node alone is in sync at once.
					if len(during.Nodes) == 1 && i == 3 {
						continue
					}
					if d := rolling.Next(during); d.Restart != nil {
						t.Fatalf("while %d is in phase %d, %d is restarted", id, i, d.Restart.Node)
					}
				}
				late(id)(&healthy)
			}
			if !slices.Equal(done, tc.want) {
				t.Errorf("restarted %v, want %v", done, tc.want)
			}
			if d := rolling.Next(healthy); len(d.Need) != 0 || d.Restart != nil || len(d.Waits) != 0 {
				t.Errorf("a converged cluster: %+v", d)
			}
		})
	}
}

// late makes a node be of the wanted revision.
func late(id int32) change { return edit(ids(id), func(n *rolling.Node) { n.Live = n.Wanted }) }

// A cluster that never came up gets its mended configuration node by node, though
// none becomes ready before all have it.
func TestAClusterThatIsDownIsMended(t *testing.T) {
	t.Parallel()
	for name, in := range map[string]rolling.Input{
		"separate roles": separate(old(0, 1, 2, 3, 4, 5), down(0, 1, 2, 3, 4, 5), unseen),
		"both roles":     combined(old(0, 1, 2), down(0, 1, 2), unseen),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for range in.Nodes {
				d := rolling.Next(in)
				if d.Restart == nil {
					t.Fatalf("stuck: %s", d.Message())
				}
				late(d.Restart.Node)(&in)
			}
			if d := rolling.Next(in); len(d.Need) != 0 {
				t.Errorf("left: %v", d.Need)
			}
		})
	}
}
