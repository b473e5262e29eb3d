package nodepool

import (
	"cmp"
	"maps"
	"math"
	"slices"
)

// Pool is what the assignment needs to know of a pool.
type Pool struct {
	// Name of the pool.
	Name string
	// Replicas that are wanted; less than zero counts as zero.
	Replicas int64
	// Current are the IDs of the nodes that there are.
	Current []int32
	// Next are the IDs that new nodes take first.
	Next IDs
	// Remove are the IDs of the nodes that go first.
	Remove IDs
	// Broker tells that the nodes are to be brokers, WasBroker that those which
	// there are have been until now.
	Broker, WasBroker bool
}

// Assignment is what becomes of the nodes of a pool. All lists ascend.
type Assignment struct {
	// Current are the nodes that there are.
	Current []int32
	// Desired are those that are wanted.
	Desired []int32
	// Added are desired and not current.
	Added []int32
	// Removed are current and not desired.
	Removed []int32
	// UsedToBeBroker stay and lose the role of a broker.
	UsedToBeBroker []int32
}

// Assign gives every pool its nodes' IDs, by the pool's name. IDs are kept. New
// nodes take the first free of the pool's Next, then the lowest ID that is free
// in all pools; one in taken is not free, as an ID that Kafka still has
// registered. Nodes that go are the first of Remove, then the highest. Pools are
// served in the order of their names, whatever the order in which they come.
//
// The result has as many IDs as there are replicas: bound those first where they
// come from outside.
func Assign(pools []Pool, taken []int32) map[string]Assignment {
	sorted := slices.SortedFunc(slices.Values(pools), func(a, b Pool) int { return cmp.Compare(a.Name, b.Name) })
	used := map[int32]bool{}
	for _, id := range taken {
		used[id] = true
	}
	for _, p := range sorted {
		for _, id := range p.Current {
			used[id] = true
		}
	}
	free := allocator{used: used}
	all := make(map[string]Assignment, len(sorted))
	for _, p := range sorted {
		all[p.Name] = assign(p, &free)
	}
	return all
}

func assign(p Pool, free *allocator) Assignment {
	a := Assignment{Current: slices.Compact(slices.Sorted(slices.Values(p.Current)))}
	replicas := max(p.Replicas, 0)
	switch have := int64(len(a.Current)); {
	case replicas < have:
		a.Removed = removed(a.Current, p.Remove, int(have-replicas))
	case replicas > have:
		a.Added = free.take(p.Next, replicas-have)
	}
	for _, id := range a.Current {
		if _, gone := slices.BinarySearch(a.Removed, id); !gone {
			a.Desired = append(a.Desired, id)
		}
	}
	if p.WasBroker && !p.Broker {
		a.UsedToBeBroker = slices.Clone(a.Desired)
	}
	a.Desired = slices.Sorted(slices.Values(append(a.Desired, a.Added...)))
	return a
}

// removed picks count of the current IDs, which ascend. It looks at each span
// only where current nodes are, however long it is.
func removed(current []int32, first IDs, count int) []int32 {
	gone := map[int32]bool{}
	for _, s := range first.spans {
		low, high := s.bounds()
		var within []int32
		for _, id := range current {
			if low <= id && id <= high {
				within = append(within, id)
			}
		}
		if s.first > s.last {
			slices.Reverse(within)
		}
		for _, id := range within {
			if len(gone) < count {
				gone[id] = true
			}
		}
	}
	for _, id := range slices.Backward(current) {
		if len(gone) < count {
			gone[id] = true
		}
	}
	return slices.Sorted(maps.Keys(gone))
}

// allocator hands out IDs that are free.
type allocator struct {
	used map[int32]bool
	next int32 // all below are used
}

func (f *allocator) take(first IDs, count int64) []int32 {
	var ids []int32
	for id := range first.All() {
		if int64(len(ids)) >= count {
			break
		}
		if !f.used[id] {
			f.used[id] = true
			ids = append(ids, id)
		}
	}
	for int64(len(ids)) < count && f.next < math.MaxInt32 {
		if !f.used[f.next] {
			f.used[f.next] = true
			ids = append(ids, f.next)
		}
		f.next++
	}
	return slices.Sorted(slices.Values(ids))
}
