package rebalance

import (
	"cmp"
	"slices"

	"github.com/sluice-kafka/sluice/internal/observed"
)

// Assignment is the list of replicas that a partition is to have, the preferred
// leader first.
type Assignment struct {
	Topic     string
	Partition int32
	Replicas  []int32
}

// LeftOut is a partition that is not changed though it should be, and Why.
type LeftOut struct {
	Topic     string
	Partition int32
	Why       string
}

// ReplicasPlan is how topics come to their replication factors. Both lists are
// sorted by topic and partition; they have no partition in common.
type ReplicasPlan struct {
	Assignments []Assignment
	LeftOut     []LeftOut
}

// PlanReplicas gives those partitions other replicas whose number of them is not the
// factor wanted of their topic. Those of topics that are not in factors count as they
// are.
//
// A raise keeps the replicas that there are, in their order, and adds some on racks
// that hold the fewest of the partition, there on the brokers that hold the fewest of
// all. A fall takes away those on brokers that are to lose them anyway, then those
// that share a rack, then those that are out of sync, and one at least stays that is
// in sync.
//
// A partition is left out while a reassignment of it is in flight, which would be
// replaced, and where its list would name a cordoned broker: from Kafka 4.3.2 on such
// a list is refused as a whole, also for a replica that is there already.
func PlanReplicas(brokers []Broker, partitions []observed.Partition, factors map[string]int16) ReplicasPlan {
	p := newPlanner(brokers)
	sorted := slices.Clone(partitions)
	slices.SortFunc(sorted, func(a, b observed.Partition) int {
		return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.ID, b.ID))
	})
	var plan ReplicasPlan
	for i := range sorted {
		part := &sorted[i]
		factor, asked := factors[part.Topic]
		if !asked || len(target(part)) == int(factor) {
			continue
		}
		replicas, why := p.assign(part, int(factor))
		if why != "" {
			plan.LeftOut = append(plan.LeftOut, LeftOut{Topic: part.Topic, Partition: part.ID, Why: why})
			continue
		}
		p.count(part.Replicas, -1)
		p.count(replicas, 1)
		plan.Assignments = append(plan.Assignments, Assignment{Topic: part.Topic, Partition: part.ID, Replicas: replicas})
	}
	return plan
}

// target are the replicas that a partition has once nothing of it is in flight.
func target(p *observed.Partition) []int32 {
	if len(p.Removing) == 0 {
		return p.Replicas
	}
	return slices.DeleteFunc(slices.Clone(p.Replicas), func(id int32) bool { return slices.Contains(p.Removing, id) })
}

// inFlight tells that a reassignment is.
func inFlight(p *observed.Partition) bool { return len(p.Adding)+len(p.Removing) > 0 }

// planner keeps count of what the brokers hold, with what is planned.
type planner struct {
	brokers []Broker
	byID    map[int32]*Broker
}

func newPlanner(brokers []Broker) *planner {
	p := &planner{brokers: slices.Clone(brokers), byID: make(map[int32]*Broker, len(brokers))}
	slices.SortFunc(p.brokers, func(a, b Broker) int { return cmp.Compare(a.ID, b.ID) })
	for i := range p.brokers {
		p.byID[p.brokers[i].ID] = &p.brokers[i]
	}
	return p
}

func (p *planner) count(ids []int32, n int64) {
	for _, id := range ids {
		if b := p.byID[id]; b != nil {
			b.Replicas += n
		}
	}
}
