package rebalance_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluice-kafka/sluice/internal/observed"
	"github.com/sluice-kafka/sluice/internal/rebalance"
)

// world is a cluster with what is wanted of it.
type world struct {
	brokers    []rebalance.Broker
	partitions []observed.Partition
	factors    map[string]int16
}

func randomWorld(r *rand.Rand) world {
	w := world{factors: map[string]int16{}}
	count, racks := 1+r.Int32N(8), 1+r.IntN(4)
	for id := range count {
		b := rebalance.Broker{ID: id, Rack: fmt.Sprint(r.IntN(racks)), Replicas: r.Int64N(20), Bytes: r.Int64N(4)}
		switch r.IntN(8) {
		case 0:
			b.Fenced = true
		case 1:
			b.Cordon = rebalance.Cordon(1 + r.IntN(3))
		case 2:
			b.Unread = errors.New("unreachable")
		}
		w.brokers = append(w.brokers, b)
	}
	for t := range r.IntN(5) {
		topic := fmt.Sprintf("t%d", t)
		if r.IntN(4) > 0 {
			w.factors[topic] = int16(r.IntN(6))
		}
		for id := range int32(r.IntN(5)) {
			// One more than there are brokers: it is not registered.
			ids := r.Perm(int(count) + 1)[:1+r.IntN(int(count)+1)]
			p := observed.Partition{Topic: topic, ID: id, Leader: -1}
			for _, id := range ids {
				p.Replicas = append(p.Replicas, int32(id))
				switch r.IntN(10) {
				case 0:
					p.Adding = append(p.Adding, int32(id))
				case 1, 2:
				default:
					p.InSync, p.Leader = append(p.InSync, int32(id)), int32(id)
				}
			}
			w.partitions = append(w.partitions, p)
		}
	}
	return w
}

func (w world) broker(id int32) *rebalance.Broker {
	for i := range w.brokers {
		if w.brokers[i].ID == id {
			return &w.brokers[i]
		}
	}
	return nil
}

// takes tells a broker that may be given replicas.
func takes(b *rebalance.Broker) bool {
	return b != nil && !b.Fenced && b.Cordon == rebalance.NotCordoned && b.Unread == nil
}

func (w world) racks(ids []int32) int {
	racks := map[string]bool{}
	for _, id := range ids {
		if b := w.broker(id); b != nil {
			racks[b.Rack] = true
		}
	}
	return len(racks)
}

// reachable are the racks that a list of so many could be on at most: those that it
// is on and those of brokers that take replicas.
func (w world) reachable(kept []int32, factor int) int {
	ids := slices.Clone(kept)
	for i := range w.brokers {
		if takes(&w.brokers[i]) {
			ids = append(ids, w.brokers[i].ID)
		}
	}
	return min(w.racks(ids), w.racks(kept)+factor-len(kept))
}

// check returns what is wrong with a list.
func (w world) check(p *observed.Partition, list []int32) string {
	factor := int(w.factors[p.Topic])
	sorted := slices.Sorted(slices.Values(list))
	kept := slices.DeleteFunc(slices.Clone(list), func(id int32) bool { return !slices.Contains(p.Replicas, id) })
	present := slices.DeleteFunc(slices.Clone(p.Replicas), func(id int32) bool { return w.broker(id) == nil })
	isSync := func(id int32) bool { return slices.Contains(p.InSync, id) }
	switch {
	case len(p.Adding)+len(p.Removing) > 0:
		return "it replaces a reassignment in flight"
	case len(list) != factor || len(p.Replicas) == factor:
		return "the factor is not met, or was"
	case len(slices.Compact(sorted)) != len(list):
		return "a broker is named twice"
	case !slices.ContainsFunc(list, isSync):
		return "no replica is in sync"
	case slices.ContainsFunc(list, func(id int32) bool { return w.broker(id) == nil || w.broker(id).Cordon != rebalance.NotCordoned }):
		return "a broker is named that is cordoned or not registered"
	case slices.ContainsFunc(list, func(id int32) bool { return !slices.Contains(p.Replicas, id) && !takes(w.broker(id)) }):
		return "a replica is added on a broker that takes none"
	case len(p.Replicas) < factor && !slices.Equal(list[:len(kept)], present):
		return "a raise does not keep the replicas in their order"
	case len(p.Replicas) < factor && w.racks(list) < max(w.racks(present), w.reachable(kept, factor)):
		return "a raise is on fewer racks than it could be"
	case len(p.Replicas) > factor && !isSubsequence(list, p.Replicas):
		return "a fall does not keep the order"
	case len(p.Replicas) > factor && w.healthy(p) && w.racks(list) < min(factor, w.racks(p.Replicas)):
		return "a fall is on fewer racks than it could be"
	}
	return ""
}

// healthy tells that nothing but the racks decides who goes.
func (w world) healthy(p *observed.Partition) bool {
	for _, id := range p.Replicas {
		if b := w.broker(id); b == nil || b.Fenced || b.Cordon != rebalance.NotCordoned || !slices.Contains(p.InSync, id) {
			return false
		}
	}
	return true
}

func isSubsequence(part, whole []int32) bool {
	i := 0
	for _, id := range whole {
		if i < len(part) && part[i] == id {
			i++
		}
	}
	return i == len(part)
}

// TestPlansHold checks random clusters: a seed that fails is printed.
func TestPlansHold(t *testing.T) {
	lists, left := 0, 0
	for seed := range uint64(5_000) {
		r := rand.New(rand.NewPCG(seed, 1))
		w := randomWorld(r)
		plan := rebalance.PlanReplicas(w.brokers, w.partitions, w.factors)
		lists, left = lists+len(plan.Assignments), left+len(plan.LeftOut)
		answered := map[string]string{}
		for _, l := range plan.LeftOut {
			answered[fmt.Sprint(l.Topic, l.Partition)] = l.Why
		}
		for _, a := range plan.Assignments {
			key := fmt.Sprint(a.Topic, a.Partition)
			if answered[key] != "" {
				t.Errorf("seed %d: %s is in the plan twice", seed, key)
			}
			answered[key] = "changed"
			i := slices.IndexFunc(w.partitions, func(p observed.Partition) bool { return p.Topic == a.Topic && p.ID == a.Partition })
			if wrong := w.check(&w.partitions[i], a.Replicas); wrong != "" {
				t.Errorf("seed %d: %+v becomes %v, which is wrong: %s\n%+v", seed, w.partitions[i], a.Replicas, wrong, w.brokers)
			}
		}
		for _, p := range w.partitions {
			factor, asked := w.factors[p.Topic]
			if differs := asked && int(factor) != len(p.Replicas); differs != (answered[fmt.Sprint(p.Topic, p.ID)] != "") {
				t.Errorf("seed %d: %+v with factor %d (asked: %t) is answered %q", seed, p, factor, asked, answered[fmt.Sprint(p.Topic, p.ID)])
			}
		}
		// The order in which things are told is no matter.
		r.Shuffle(len(w.brokers), func(i, j int) { w.brokers[i], w.brokers[j] = w.brokers[j], w.brokers[i] })
		r.Shuffle(len(w.partitions), func(i, j int) { w.partitions[i], w.partitions[j] = w.partitions[j], w.partitions[i] })
		if diff := cmp.Diff(plan, rebalance.PlanReplicas(w.brokers, w.partitions, w.factors)); diff != "" {
			t.Errorf("seed %d: in another order the plan is another (-first +then):\n%s", seed, diff)
		}
		if t.Failed() {
			return
		}
	}
	if lists < 1000 || left < 1000 {
		t.Errorf("only %d lists and %d partitions left out were tried", lists, left)
	}
	t.Logf("%d lists, %d partitions left out", lists, left)
}

// TestAPlanThatIsCarriedOutLeavesNothing checks that a second plan is empty.
func TestAPlanThatIsCarriedOutLeavesNothing(t *testing.T) {
	for seed := range uint64(2_000) {
		w := randomWorld(rand.New(rand.NewPCG(seed, 2)))
		for _, a := range rebalance.PlanReplicas(w.brokers, w.partitions, w.factors).Assignments {
			for i := range w.partitions {
				if p := &w.partitions[i]; p.Topic == a.Topic && p.ID == a.Partition {
					p.Replicas, p.InSync = a.Replicas, a.Replicas
				}
			}
		}
		if again := rebalance.PlanReplicas(w.brokers, w.partitions, w.factors).Assignments; len(again) > 0 {
			t.Fatalf("seed %d: again %+v", seed, again)
		}
	}
}

func BenchmarkPlanReplicas(b *testing.B) {
	for _, size := range []int{1_000, 10_000, 100_000} {
		b.Run(fmt.Sprintf("partitions=%d", size), func(b *testing.B) {
			var brokers []rebalance.Broker
			for id := range int32(30) {
				brokers = append(brokers, rebalance.Broker{ID: id, Rack: fmt.Sprint(id % 3), Replicas: int64(size / 30)})
			}
			partitions := make([]observed.Partition, size)
			for i := range partitions {
				id := int32(i % 30)
				partitions[i] = observed.Partition{Topic: "t", ID: int32(i), Leader: id, Replicas: []int32{id}, InSync: []int32{id}}
			}
			b.ReportAllocs()
			for b.Loop() {
				if plan := rebalance.PlanReplicas(brokers, partitions, map[string]int16{"t": 3}); len(plan.Assignments) != size {
					b.Fatalf("%d of %d partitions are changed", len(plan.Assignments), size)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(size), "ns/partition")
		})
	}
}
