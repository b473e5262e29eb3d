package rebalance

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/sluice-kafka/sluice/internal/observed"
)

// assign returns the list for a partition whose number of replicas is not the
// factor, or why there is none.
func (p *planner) assign(part *observed.Partition, factor int) (replicas []int32, why string) {
	switch {
	case factor < 1:
		return nil, fmt.Sprintf("a replication factor of %d is none; give at least 1", factor)
	case inFlight(part):
		return nil, fmt.Sprintf("a reassignment to %v is in flight, which has to end first", target(part))
	}
	replicas = part.Replicas
	if len(replicas) > factor {
		replicas = p.lower(part, factor)
	}
	if len(part.Replicas) <= factor || p.held(part, replicas) {
		if replicas, why = p.raise(replicas, factor); why != "" {
			return nil, why
		}
	}
	// A replica that is in sync is what the others copy from.
	if !slices.ContainsFunc(replicas, func(id int32) bool { return slices.Contains(part.InSync, id) }) {
		return nil, fmt.Sprintf("none of its replicas %v is in sync on a broker that could keep it, so records would be lost; bring a broker back that has them all", part.Replicas)
	}
	if why := p.forbidden(replicas); why != "" {
		return nil, why
	}
	return replicas, ""
}

// held tells whether one of the replicas is in sync on a broker that is registered.
func (p *planner) held(part *observed.Partition, replicas []int32) bool {
	return slices.ContainsFunc(replicas, func(id int32) bool { return p.byID[id] != nil && slices.Contains(part.InSync, id) })
}

// forbidden tells why Kafka takes no list with these replicas.
func (p *planner) forbidden(replicas []int32) string {
	for _, id := range replicas {
		b := p.byID[id]
		if b == nil {
			return fmt.Sprintf("broker %d is not registered, and its replica is the only one in sync; start the broker", id)
		}
		if b.Cordon != NotCordoned {
			what, lifts := b.Cordon.words()
			return fmt.Sprintf("broker %d, which holds a replica, is %s; %s", id, what, lifts)
		}
	}
	return ""
}

// raise keeps the replicas that are held and adds to them up to the factor. Those on
// brokers that are not registered any more are replaced, also where a fall leaves one:
// Kafka takes no list that names one (validateManualPartitionAssignment in its
// ReplicationControlManager).
func (p *planner) raise(held []int32, factor int) (replicas []int32, why string) {
	replicas = make([]int32, 0, factor)
	for _, id := range held {
		if p.byID[id] != nil {
			replicas = append(replicas, id)
		}
	}
	for len(replicas) < factor {
		b := p.next(replicas)
		if b == nil {
			why = fmt.Sprintf("a replication factor of %d needs as many brokers, and only %d hold a replica or can take one %v", factor, len(replicas), slices.Sorted(slices.Values(replicas)))
			if others := leftOut(p.brokers, replicas); others != "" {
				why += "; left out: " + others
			}
			return nil, why
		}
		replicas = append(replicas, b.ID)
	}
	return replicas, ""
}

// next is the best broker for one more replica; nil if there is none.
func (p *planner) next(replicas []int32) *Broker {
	racks := p.racks(replicas)
	var best *Broker
	for i := range p.brokers {
		b := &p.brokers[i]
		if b.closed() != "" || slices.Contains(replicas, b.ID) {
			continue
		}
		if best == nil || cmp.Or(cmp.Compare(racks[b.Rack], racks[best.Rack]), cmp.Compare(b.Replicas, best.Replicas), cmp.Compare(b.Bytes, best.Bytes)) < 0 {
			best = b
		}
	}
	return best
}

// racks counts the replicas on each.
func (p *planner) racks(replicas []int32) map[string]int {
	racks := make(map[string]int, len(replicas))
	for _, id := range replicas {
		if b := p.byID[id]; b != nil {
			racks[b.Rack]++
		}
	}
	return racks
}

// lower takes replicas away, one after the other, and keeps the order of the rest.
func (p *planner) lower(part *observed.Partition, factor int) []int32 {
	replicas := slices.Clone(part.Replicas)
	for len(replicas) > factor {
		worst := p.worst(part, replicas)
		replicas = slices.Delete(replicas, worst, worst+1)
	}
	return replicas
}

// worst is the index of the replica that goes first.
func (p *planner) worst(part *observed.Partition, replicas []int32) int {
	racks := p.racks(replicas)
	inSync := 0
	for _, id := range replicas {
		if slices.Contains(part.InSync, id) {
			inSync++
		}
	}
	worst, most := -1, claim{}
	for i, id := range replicas {
		isIn := slices.Contains(part.InSync, id)
		if isIn && inSync == 1 {
			continue // the last that has all records
		}
		c := claim{inSync: isIn, leader: id == part.Leader}
		if b := p.byID[id]; b != nil {
			c.standing, c.inRack, c.replicas, c.bytes = b.standing(), racks[b.Rack], b.Replicas, b.Bytes
		}
		// Of equals the later one goes: the first is the preferred leader.
		if worst < 0 || c.compare(most) <= 0 {
			worst, most = i, c
		}
	}
	return worst
}

// claim is how well a replica deserves to stay.
type claim struct {
	standing int
	// inRack is the number of replicas on its rack, itself included.
	inRack          int
	inSync, leader  bool
	replicas, bytes int64
}

// standing ranks brokers that hold a replica: first to lose it is one that is not
// registered (0), then one that is cordoned, then one that is fenced.
func (b *Broker) standing() int {
	switch {
	case b.Cordon != NotCordoned:
		return 1
	case b.Fenced:
		return 2
	default:
		return 3
	}
}

// compare is below zero where c deserves it less.
func (c claim) compare(other claim) int {
	return cmp.Or(
		cmp.Compare(c.standing, other.standing),
		cmp.Compare(other.inRack, c.inRack),
		cmp.Compare(rank(c.inSync), rank(other.inSync)),
		cmp.Compare(rank(c.leader), rank(other.leader)),
		cmp.Compare(other.replicas, c.replicas),
		cmp.Compare(other.bytes, c.bytes),
	)
}

func rank(b bool) int {
	if b {
		return 1
	}
	return 0
}
