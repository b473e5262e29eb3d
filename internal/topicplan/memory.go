package topicplan

import (
	"fmt"
	"maps"
	"slices"
	"time"

	kafkav1 "github.com/sluice-kafka/sluice/api/v1"
)

// SettleTime is how long after an own write of an option it is looked at whether
// the write took.
const SettleTime = 10 * time.Second

// BeliefTime is how long an own write counts for more than a description that
// contradicts it. An idle broker shows a write in well under half a second; on
// an overloaded machine twenty seconds were seen. After it the description is
// believed: somebody else may have deleted or created the topic, or changed the
// option, or Kafka made something else of the value.
const BeliefTime = 30 * time.Second

// Memory holds the own writes to one topic that a description may not show yet:
// a broker answers from its copy of the metadata, which follows the controller's
// (KIP-500).
type Memory struct {
	// At is when the last creation, growth or deletion succeeded.
	At time.Time
	// Deleted tells that it was a deletion.
	Deleted bool
	// ID of the topic that was created, grown or deleted, where that is known.
	ID string
	// Partitions is how many partitions the topic has had since.
	Partitions int32
	// GrowthRefused is the number of partitions that was seen when Kafka refused
	// to grow the topic, and GrowthError what it said.
	GrowthRefused int32
	GrowthError   string
	// Writes of options that no description has shown yet.
	Writes Writes
	// Begun is the change of the replication factor that was begun at BegunAt, until
	// the status of the resource tells of it.
	Begun   *kafkav1.ReplicasChange
	BegunAt time.Time
}

// begunTime is how long a change is remembered that found no way into a status.
const begunTime = time.Hour

// Change is what is known of a change of the replication factor: what the status
// says, unless that is behind what was begun.
func (m Memory) Change(t *kafkav1.KafkaTopic) *kafkav1.ReplicasChange {
	if m.Begun != nil {
		return m.Begun
	}
	return t.Status.ReplicasChange
}

// Worthless tells that no description or status can contradict the memory any more.
func (m Memory) Worthless(now time.Time) bool {
	return now.Sub(m.At) >= BeliefTime && len(m.Writes) == 0 && m.GrowthError == "" &&
		(m.Begun == nil || now.Sub(m.BegunAt) >= begunTime)
}

// Writes holds the last write of each option.
type Writes map[string]Write

// Write is a write of an option that Kafka accepted.
type Write struct {
	Value  string
	Delete bool
	At     time.Time
	// Checked tells that a later description contradicted the write, by showing
	// Left.
	Checked bool
	Left    string
}

// Unsettled tells that a description which contradicts the write is not to be
// believed yet.
func (w Write) Unsettled(now time.Time) bool {
	return !w.Checked && now.Sub(w.At) < BeliefTime
}

// shownBy tells whether a description shows the write. Only what was set is set
// on the topic itself.
func (w Write) shownBy(o Option, shown bool) bool {
	if w.Delete {
		return !shown || !o.Dynamic
	}
	return shown && o.Type.Same(w.Value, o.Value)
}

// unshown names the first own write of an option that a description is still to
// show, whether or not it is wanted any longer: what is wanted now may be what
// an old description shows.
func (writes Writes) unshown(seen *Seen, now time.Time) string {
	for _, name := range slices.Sorted(maps.Keys(writes)) {
		o, shown := seen.Options[name]
		if w := writes[name]; w.Unsettled(now) && !w.shownBy(o, shown) {
			return fmt.Sprintf("option %s was written a moment ago", name)
		}
	}
	return ""
}

func (w Write) same(op ConfigOp) bool {
	return !w.At.IsZero() && w.Delete == op.Delete && w.Value == op.Value
}

// staleness says which own write a description contradicts, or nothing.
func staleness(seen *Seen, m Memory, now time.Time) string {
	if m.At.IsZero() || now.Sub(m.At) >= BeliefTime {
		return ""
	}
	switch {
	case m.Deleted:
		if seen != nil && (m.ID == "" || m.ID == seen.ID) {
			return "the topic was deleted but is still shown"
		}
	case seen == nil:
		return "the topic was created but is not shown yet"
	case m.ID != "" && m.ID != seen.ID:
		return "the topic is shown as it was before it was created"
	case seen.Partitions < m.Partitions:
		return fmt.Sprintf("the topic has %d partitions but %d are shown", m.Partitions, seen.Partitions)
	}
	return ""
}
