package scaledown

import (
	"iter"
	"slices"
	"time"

	"github.com/sluice-kafka/sluice/internal/observed"
)

// Decide guards a removal. It is to be called once with each look at Kafka, and
// the looks have to be made one after another.
//
// A broker is known to be empty after two looks in which it holds no replica and
// no reassignment in flight adds it; both, and all between them, either
//   - after an earlier look saw its cordon in effect, and with it in effect still,
//     Interval apart at least; or
//   - where nothing can be cordoned, UncordonedInterval apart at least; or
//   - with the broker fenced or not registered, UncordonedInterval apart at least.
//
// A look that shows a replica begins this anew, and so does one that could not see
// what it takes: a replica could have come and the cordon gone meanwhile.
func Decide(in Input) Decision {
	partitions, seen := in.Seen.Partitions.Get()
	if !seen {
		return decide(in, nil)
	}
	return decide(in, slices.Values(partitions))
}

// decide gets no partitions at all where they were not seen.
func decide(in Input, partitions iter.Seq[observed.Partition]) Decision {
	d := Decision{Observed: partitions != nil}
	if in.Skip {
		return d
	}
	guarded := sorted(in.Removing, in.LosingRole)
	d.Cordon = sorted(guarded, in.Leaving)
	if len(d.Cordon) == 0 {
		return d
	}
	var held map[int32]holding
	if d.Observed {
		held = holdings(partitions, d.Cordon)
	}
	v := in.view()
	d.Memory.brokers = make(map[int32]record, len(d.Cordon))
	d.RequeueAfter = in.interval(cordoned)
	drain := false
	for _, id := range d.Cordon {
		look := look{id: id, at: in.Seen.At, observed: d.Observed, holding: held[id], view: v}
		_, guard := slices.BinarySearch(guarded, id)
		now, h := in.judge(look, guard)
		d.Memory.brokers[id] = now
		drain = drain || now.holding
		if h == nil {
			continue
		}
		if left := h.Until.Sub(in.Seen.At); h.Awaits == AwaitsSighting && left < d.RequeueAfter {
			d.RequeueAfter = left
		}
		d.Held = append(d.Held, *h)
	}
	if drain {
		d.Drain = slices.Clone(d.Cordon)
	}
	return d
}

// look is what one look saw of one broker.
type look struct {
	id       int32
	at       time.Time
	observed bool // partitions were
	holding  holding
	view     view
}

// judge weighs a look with what is remembered; the broker is not held where the
// second result is nil. Of one that is not guarded it only remembers.
func (in Input) judge(l look, guard bool) (record, *Held) {
	m, awaits := l.view.of(l.id)
	before := in.Memory.brokers[l.id]
	now, unbroken := before.next(l.at, m)
	if l.observed {
		now.holding = !l.holding.empty()
	}
	if !guard {
		return now, nil
	}
	h := &Held{
		ID: l.id, LosesRole: slices.Contains(in.LosingRole, l.id), Awaits: awaits,
		Replicas: l.holding.replicas, Targets: l.holding.targets, Bytes: l.view.bytes(l.id),
	}
	switch {
	case !l.observed:
		h.Awaits = AwaitsPartitions
	case now.holding:
		h.Awaits = AwaitsDrain
	case m == worthless:
	case now.proves():
		now.empty = l.at
		if unbroken && !before.empty.IsZero() {
			now.empty = before.empty
		}
		h.Until = now.empty.Add(in.interval(m))
		if !l.at.Before(h.Until) {
			return now, nil
		}
		h.Awaits = AwaitsSighting
	default:
		h.Awaits, h.Until = AwaitsSighting, l.at.Add(in.interval(m))
	}
	h.Message = in.message(*h, l, m)
	return now, h
}

// interval that has to lie between two looks of a mode.
func (in Input) interval(m mode) time.Duration {
	switch {
	case m == cordoned && in.Interval > 0:
		return in.Interval
	case m == cordoned:
		return DefaultInterval
	case in.UncordonedInterval > 0:
		return in.UncordonedInterval
	}
	return DefaultUncordonedInterval
}

// sorted are all IDs of some lists, each once.
func sorted(lists ...[]int32) []int32 {
	return slices.Compact(slices.Sorted(slices.Values(slices.Concat(lists...))))
}
