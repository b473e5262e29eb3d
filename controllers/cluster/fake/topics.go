package fake

import (
	"slices"
	"strings"

	"github.com/sluice-kafka/sluice/internal/observed"
)

// Place puts a partition on brokers, as a manual assignment does.
func (k *Kafka) Place(topic string, partition int32, replicas ...int32) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.place(topic, partition, replicas)
}

func (k *Kafka) place(topic string, partition int32, replicas []int32) {
	k.remove(topic, partition)
	k.partitions = append(k.partitions, observed.Partition{
		Topic: topic, ID: partition, Leader: replicas[0], Replicas: slices.Clone(replicas), InSync: slices.Clone(replicas),
	})
	slices.SortFunc(k.partitions, func(a, b observed.Partition) int {
		if c := strings.Compare(a.Topic, b.Topic); c != 0 {
			return c
		}
		return int(a.ID - b.ID)
	})
}

func (k *Kafka) remove(topic string, partition int32) {
	k.partitions = slices.DeleteFunc(k.partitions, func(p observed.Partition) bool { return p.Topic == topic && p.ID == partition })
}

// Create makes a topic of one partition as CreateTopics does, on those brokers
// that are running and take new replicas. It returns them; none where there are
// too few (INVALID_REPLICATION_FACTOR).
func (k *Kafka) Create(topic string, factor int) []int32 {
	k.mu.Lock()
	defer k.mu.Unlock()
	var usable []int32
	for _, id := range k.registered() {
		if k.brokers[id].running && !k.isCordoned(id) {
			usable = append(usable, id)
		}
	}
	if len(usable) < factor {
		return nil
	}
	start := len(k.partitions) % len(usable)
	replicas := append(slices.Clone(usable[start:]), usable[:start]...)[:factor]
	k.place(topic, 0, replicas)
	return replicas
}

// Reassign begins to move a partition to other brokers.
func (k *Kafka) Reassign(topic string, partition int32, to ...int32) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for i := range k.partitions {
		p := &k.partitions[i]
		if p.Topic != topic || p.ID != partition {
			continue
		}
		p.Adding, p.Removing = nil, nil
		for _, id := range to {
			if !slices.Contains(p.Replicas, id) {
				p.Adding = append(p.Adding, id)
			}
		}
		for _, id := range p.Replicas {
			if !slices.Contains(to, id) {
				p.Removing = append(p.Removing, id)
			}
		}
		p.Replicas = append(slices.Clone(to), p.Removing...)
	}
}

// Drain moves all replicas off brokers, to others that do not hold them yet, at
// once.
func (k *Kafka) Drain(ids ...int32) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, p := range slices.Clone(k.partitions) {
		replicas, changed := slices.Clone(p.Replicas), false
		for i, r := range replicas {
			if !slices.Contains(ids, r) {
				continue
			}
			for _, other := range k.registered() {
				if k.brokers[other].running && !slices.Contains(ids, other) && !slices.Contains(replicas, other) {
					replicas[i], changed = other, true
					break
				}
			}
		}
		if changed {
			k.place(p.Topic, p.ID, replicas)
		}
	}
}

// ReplicasOn counts a broker's replicas.
func (k *Kafka) ReplicasOn(id int32) int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.replicasOn(id)
}

func (k *Kafka) replicasOn(id int32) int {
	n := 0
	for _, p := range k.partitions {
		if slices.Contains(p.Replicas, id) {
			n++
		}
	}
	return n
}

// SetInSync says which replicas of a partition are in sync.
func (k *Kafka) SetInSync(topic string, partition int32, ids ...int32) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for i := range k.partitions {
		if p := &k.partitions[i]; p.Topic == topic && p.ID == partition {
			p.InSync, p.Leader = slices.Clone(ids), ids[0]
		}
	}
}
