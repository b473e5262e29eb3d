package rolling

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sluice-kafka/sluice/internal/observed"
)

// samples is how many partitions a message names.
const samples = 3

// sample is a number of partitions and the names of the first.
type sample struct {
	count int
	names []string
}

func (s *sample) add(p observed.Partition) {
	s.count++
	if len(s.names) < samples {
		s.names = append(s.names, fmt.Sprintf("%s-%d", p.Topic, p.ID))
	}
}

// text is the number with its noun and the names.
func (s sample) text() string {
	text := counted(s.count, "partition") + " (" + strings.Join(s.names, ", ")
	if s.count > len(s.names) {
		text += ", …"
	}
	return text + ")"
}

// standing is what one node means to the cluster now.
type standing struct {
	leads    bool   // it stands in the ISR of a partition that has a leader
	behind   sample // partitions that it holds without being in sync
	needed   sample // partitions that would fall below their minimum without it
	unknown  sample // partitions that it is in the ISR of, and whose minimum is not known
	unhelped sample // partitions that no waiting keeps at their minimum without it
}

// standings goes once through all partitions, for all nodes.
func (in Input) standings() map[int32]*standing {
	of := make(map[int32]*standing, len(in.Nodes))
	for _, n := range in.Nodes {
		of[n.ID] = &standing{}
	}
	partitions, _ := in.Partitions.Get()
	minimums, _ := in.MinInSync.Get()
	for _, p := range partitions {
		minimum, known := minimums[p.Topic]
		for _, id := range p.Replicas {
			s := of[id]
			if s == nil {
				continue
			}
			if !slices.Contains(p.InSync, id) {
				// What a reassignment adds is behind for long, and no restart's fault.
				if !slices.Contains(p.Adding, id) {
					s.behind.add(p)
				}
				continue
			}
			s.leads = s.leads || p.Leader >= 0
			s.weigh(p, minimum, known)
		}
	}
	return of
}

// weigh judges what becomes of a partition without one member of its ISR. Of one
// with fewer replicas than its minimum Kafka asks for all of them (effectiveMinIsr
// in its Partition). One with as many as that loses its minimum with any restart,
// now or later: it is only waited for until all its replicas are in sync, so that
// the others keep serving it.
func (s *standing) weigh(p observed.Partition, minimum int, known bool) {
	if !known {
		s.unknown.add(p)
		return
	}
	factor, left := len(p.Replicas), len(p.InSync)-1
	switch {
	case left < min(minimum, factor-1):
		s.needed.add(p)
	case left < min(minimum, factor):
		s.unhelped.add(p)
	}
}
