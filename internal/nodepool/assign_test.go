package nodepool_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sluice-kafka/sluice/internal/nodepool"
)

func TestAssign(t *testing.T) {
	t.Parallel()
	type pool = nodepool.Pool
	type assignment = nodepool.Assignment
	i := func(list ...int32) []int32 { return list }
	for name, tc := range map[string]struct {
		pools []pool
		taken []int32
		want  map[string]assignment
	}{
		"nothing": {want: map[string]assignment{}},
		"a new pool takes the lowest": {
			pools: []pool{{Name: "a", Replicas: 3}},
			want:  map[string]assignment{"a": {Desired: i(0, 1, 2), Added: i(0, 1, 2)}},
		},
		"new pools share the IDs in the order of their names": {
			pools: []pool{{Name: "b", Replicas: 2}, {Name: "a", Replicas: 2}},
			want: map[string]assignment{
				"a": {Desired: i(0, 1), Added: i(0, 1)},
				"b": {Desired: i(2, 3), Added: i(2, 3)},
			},
		},
		"a converged pool stays": {
			pools: []pool{{Name: "a", Replicas: 2, Current: i(5, 3)}},
			want:  map[string]assignment{"a": {Current: i(3, 5), Desired: i(3, 5)}},
		},
		"gaps are filled across pools": {
			pools: []pool{{Name: "a", Replicas: 3, Current: i(0)}, {Name: "b", Replicas: 2, Current: i(1, 4)}},
			want: map[string]assignment{
				"a": {Current: i(0), Desired: i(0, 2, 3), Added: i(2, 3)},
				"b": {Current: i(1, 4), Desired: i(1, 4)},
			},
		},
		"an ID that is still registered is not free": {
			pools: []pool{{Name: "a", Replicas: 2}}, taken: i(0, 2),
			want: map[string]assignment{"a": {Desired: i(1, 3), Added: i(1, 3)}},
		},
		"an ID that is being removed is not free": {
			pools: []pool{{Name: "a", Replicas: 0, Current: i(0)}, {Name: "b", Replicas: 1}},
			want: map[string]assignment{
				"a": {Current: i(0), Removed: i(0)},
				"b": {Desired: i(1), Added: i(1)},
			},
		},
		"the next IDs come first, then the lowest": {
			pools: []pool{{Name: "a", Replicas: 4, Current: i(0), Next: ids(t, "[0, 12-11]")}},
			want:  map[string]assignment{"a": {Current: i(0), Desired: i(0, 1, 11, 12), Added: i(1, 11, 12)}},
		},
		"more next IDs than nodes": {
			pools: []pool{{Name: "a", Replicas: 1, Next: ids(t, "[7-2147483647]")}},
			want:  map[string]assignment{"a": {Desired: i(7), Added: i(7)}},
		},
		"the highest go": {
			pools: []pool{{Name: "a", Replicas: 3, Current: i(0, 1, 2, 3, 4)}},
			want:  map[string]assignment{"a": {Current: i(0, 1, 2, 3, 4), Desired: i(0, 1, 2), Removed: i(3, 4)}},
		},
		"those that are to be removed go first": {
			pools: []pool{{Name: "a", Replicas: 2, Current: i(0, 1, 2, 3), Remove: ids(t, "[9, 1]")}},
			want:  map[string]assignment{"a": {Current: i(0, 1, 2, 3), Desired: i(0, 2), Removed: i(1, 3)}},
		},
		"a range downwards removes the highest of it first": {
			pools: []pool{{Name: "a", Replicas: 3, Current: i(0, 1, 2, 3), Remove: ids(t, "[2-0]")}},
			want:  map[string]assignment{"a": {Current: i(0, 1, 2, 3), Desired: i(0, 1, 3), Removed: i(2)}},
		},
		"a range upwards the lowest, however long": {
			pools: []pool{{Name: "a", Replicas: 3, Current: i(0, 1, 2, 3), Remove: ids(t, "[1-2147483647]")}},
			want:  map[string]assignment{"a": {Current: i(0, 1, 2, 3), Desired: i(0, 2, 3), Removed: i(1)}},
		},
		"fewer than none is none": {
			pools: []pool{{Name: "a", Replicas: -1, Current: i(0)}},
			want:  map[string]assignment{"a": {Current: i(0), Removed: i(0)}},
		},
		"nodes that stay lose their role": {
			pools: []pool{{Name: "a", Replicas: 1, Current: i(0, 1), WasBroker: true}},
			want:  map[string]assignment{"a": {Current: i(0, 1), Desired: i(0), Removed: i(1), UsedToBeBroker: i(0)}},
		},
		"a new one never had it": {
			pools: []pool{{Name: "a", Replicas: 2, Current: i(0), WasBroker: true}},
			want:  map[string]assignment{"a": {Current: i(0), Desired: i(0, 1), Added: i(1), UsedToBeBroker: i(0)}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := nodepool.Assign(tc.pools, tc.taken)
			if diff := cmp.Diff(tc.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			slices.Reverse(tc.pools)
			if diff := cmp.Diff(got, nodepool.Assign(tc.pools, tc.taken)); diff != "" {
				t.Errorf("the order of the pools matters:\n%s", diff)
			}
		})
	}
}

// What was assigned is assigned again, with nothing to add or to remove.
func TestAssignComesToRest(t *testing.T) {
	t.Parallel()
	pools := []nodepool.Pool{
		{Name: "a", Replicas: 3, Current: []int32{7}, Next: ids(t, "[20-30]")},
		{Name: "b", Replicas: 1, Current: []int32{0, 1, 2}, Remove: ids(t, "[0]")},
	}
	first := nodepool.Assign(pools, nil)
	for i := range pools {
		pools[i].Current = first[pools[i].Name].Desired
	}
	for name, a := range nodepool.Assign(pools, nil) {
		if len(a.Added)+len(a.Removed) > 0 || !slices.Equal(a.Desired, first[name].Desired) {
			t.Errorf("%s: %+v", name, a)
		}
	}
}
