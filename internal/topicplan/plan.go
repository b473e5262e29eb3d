package topicplan

import (
	"fmt"
	"maps"
	"slices"
	"time"

	kafkav1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/configdef"
)

// Options that a mover of replicas sets on a topic for as long as it moves it
// (KIP-73). It does so before it submits the reassignment, so nothing can be
// learnt from whether one is seen.
const (
	optionLeaderThrottled   = "leader.replication.throttled.replicas"
	optionFollowerThrottled = "follower.replication.throttled.replicas"
)

// Seen is what Kafka showed of a topic.
type Seen struct {
	ID         string
	Partitions int32
	// Replicas counts the replicas of each partition, by partition, those that a
	// reassignment adds or takes away included.
	Replicas []int16
	// Moving is how many replicas the partitions that are being reassigned will have,
	// by partition. It is not known unless MovingKnown, which has to be asked for.
	Moving      map[int32]int
	MovingKnown bool
	// Options holds at least those that are set on the topic, those that the
	// resource names, and MinInSync; nil where they are not known.
	Options map[string]Option
}

// Option is an option as Kafka showed it.
type Option struct {
	Value string
	Type  configdef.Type
	// Dynamic tells that it is set on the topic itself.
	Dynamic bool
}

// ConfigOp sets or deletes an option.
type ConfigOp struct {
	Name   string
	Value  string
	Delete bool
}

// Plan is what brings a topic in step with its resource. It is empty where
// nothing differs.
type Plan struct {
	// Create the topic as wanted; nothing else is planned then.
	Create bool
	// GrowTo is the number of partitions to grow to, or 0.
	GrowTo int32
	// Ops on the topic's options, sorted by name.
	Ops []ConfigOp
	// Problems that no call can mend.
	Problems []Problem
	// Warnings to show beside the main condition.
	Warnings []Problem
	// Writes is what remains of the writes of options to be remembered.
	Writes Writes
	// Stale says why the description cannot be relied on yet; nothing else is
	// planned then.
	Stale string
}

// Empty tells that there is nothing to be done in Kafka.
func (p Plan) Empty() bool {
	return !p.Create && p.GrowTo == 0 && len(p.Ops) == 0 && p.Stale == ""
}

// Decide compares what is wanted with what was seen, but for the number of
// replicas: see DecideReplicas. seen is nil where Kafka showed that the topic does
// not exist.
func Decide(w Wanted, seen *Seen, m Memory, now time.Time) Plan {
	if why := staleness(seen, m, now); why != "" {
		return Plan{Stale: why, Writes: m.Writes}
	}
	if seen == nil && w.Internal {
		return Plan{Problems: []Problem{internalAbsent()}}
	}
	if seen == nil {
		return Plan{Create: true, Warnings: Warnings(w, nil)}
	}
	if why := m.Writes.unshown(seen, now); why != "" {
		return Plan{Stale: why, Writes: m.Writes}
	}
	var p Plan
	decideConfig(&p, w, seen, m)
	p.Warnings = append(p.Warnings, Warnings(w, seen)...)
	decidePartitions(&p, w, seen, m)
	return p
}

// Warnings are those that do not depend on what is planned; seen is nil where
// nothing is known of the topic.
func Warnings(w Wanted, seen *Seen) []Problem {
	return slices.Concat(w.Warnings, throttleWarnings(w), inSyncWarning(w, seen))
}

func decideConfig(p *Plan, w Wanted, seen *Seen, m Memory) {
	names := slices.Collect(maps.Keys(w.Config))
	for name, o := range seen.Options {
		if _, ok := w.Config[name]; !ok && o.Dynamic && w.removes(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		value, set := w.Config[name]
		have, shown := seen.Options[name]
		if set && shown && have.Type.Same(value, have.Value) {
			continue
		}
		decideOption(p, ConfigOp{Name: name, Value: value, Delete: !set}, have.Value, m.Writes[name])
	}
}

// removes tells whether an option that is set on the topic and not wanted goes.
func (w Wanted) removes(option string) bool {
	return !moverOwned(option) && !w.Internal && !w.scope.leaves(option)
}

// decideOption plans the write of an option that differs, unless the same write
// was done before and Kafka still shows what it showed right after it. Writing
// it again would never end.
func decideOption(p *Plan, op ConfigOp, have string, w Write) {
	if !w.same(op) {
		p.Ops = append(p.Ops, op)
		return
	}
	if !w.Checked {
		w.Checked, w.Left = true, have
	}
	if w.Left != have {
		p.Ops = append(p.Ops, op)
		return
	}
	if p.Writes == nil {
		p.Writes = Writes{}
	}
	p.Writes[op.Name] = w
	p.Warnings = append(p.Warnings, stuckWarning(op, have))
}

func stuckWarning(op ConfigOp, have string) Problem {
	if op.Delete {
		return Problem{kafkav1.ReasonInvalidConfig, fmt.Sprintf(
			"spec.config: Kafka accepted the removal of %s but still shows %q; it is not tried again until the spec changes. "+
				"To stop the warning, write %s: %q", op.Name, have, op.Name, have)}
	}
	return Problem{kafkav1.ReasonInvalidConfig, fmt.Sprintf(
		"spec.config[%s]: Kafka accepted %q but shows %q; it is not tried again until the spec changes. "+
			"To stop the warning, write the value that Kafka shows", op.Name, op.Value, have)}
}

func moverOwned(name string) bool {
	return name == optionLeaderThrottled || name == optionFollowerThrottled
}

func throttleWarnings(w Wanted) []Problem {
	var warnings []Problem
	for _, name := range []string{optionFollowerThrottled, optionLeaderThrottled} {
		if _, ok := w.Config[name]; ok {
			warnings = append(warnings, Problem{kafkav1.ReasonInvalidConfig, fmt.Sprintf(
				"spec.config[%s]: whatever moves replicas sets this option itself, and the two will undo each other. Remove the line", name)})
		}
	}
	return warnings
}

// maxGrowth is how many partitions Kafka adds to a topic with one request
// (MAX_RECORDS_PER_USER_OP in its QuorumController). It does not refuse more: it places
// all of them in memory first, however many, then adds as many as fit and answers
// UNKNOWN_SERVER_ERROR (seen on 4.3.1). So with a number that was mistyped each try
// would add that many, or end the controllers.
const maxGrowth = 10_000

func decidePartitions(p *Plan, w Wanted, seen *Seen, m Memory) {
	switch {
	case w.Partitions == BrokerDefault || w.Partitions == seen.Partitions:
	case w.Partitions < seen.Partitions:
		p.Problems = append(p.Problems, Problem{kafkav1.ReasonNotSupported, fmt.Sprintf(
			"spec.partitions: Kafka cannot take partitions away, and the topic has %d. Set it to %d or more, not %d",
			seen.Partitions, seen.Partitions, w.Partitions)})
	case w.Internal:
		p.Problems = append(p.Problems, internalGrowth(seen.Partitions, w.Partitions))
	case int64(w.Partitions)-int64(seen.Partitions) > maxGrowth:
		p.Problems = append(p.Problems, Problem{kafkav1.ReasonNotSupported, fmt.Sprintf(
			"spec.partitions: Kafka adds %d partitions at a time at most, and the topic has %d. Set it to %d or less first, not %d",
			maxGrowth, seen.Partitions, int64(seen.Partitions)+maxGrowth, w.Partitions)})
	case m.GrowthRefused == seen.Partitions && m.GrowthError != "":
		p.Problems = append(p.Problems, Problem{kafkav1.ReasonKafkaError, m.GrowthError})
	default:
		p.GrowTo = w.Partitions
	}
}
