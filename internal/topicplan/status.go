package topicplan

import (
	"strings"
	"time"

	kafkav1 "github.com/sluice-kafka/sluice/api/v1"
)

// Observed is what is known of the topic when the status is written. Fields that
// were not observed this time keep what the status says.
type Observed struct {
	// Name that the resource manages; empty where that is not settled.
	Name string
	// ID, Partitions and Replicas as Kafka showed them, if Known.
	Known      bool
	ID         string
	Partitions int64
	Replicas   int64
	// Change of the replication factor, as it is now, if Known.
	Change *kafkav1.ReplicasChange
}

// ReadyStatus is the status of a topic that was reconciled: Ready unless there
// are problems, of which the first gives the reason.
func ReadyStatus(t *kafkav1.KafkaTopic, o Observed, problems, warnings []Problem, now time.Time) kafkav1.KafkaTopicStatus {
	next := base(t)
	if o.Name != "" {
		next.TopicName = o.Name
	}
	if o.Known {
		next.TopicID, next.Partitions, next.Replicas, next.ReplicasChange = o.ID, o.Partitions, o.Replicas, o.Change
	}
	next.Conditions = withTimes(t.Status.Conditions, append([]kafkav1.Condition{readyCondition(problems)}, conditions(warnings)...), now)
	return next
}

// ChangeStatus says how a change of the replication factor is, and nothing else
// new: of the rest nothing is known yet that could be said.
func ChangeStatus(t *kafkav1.KafkaTopic, change *kafkav1.ReplicasChange) kafkav1.KafkaTopicStatus {
	next := *t.Status.DeepCopy()
	next.ReplicasChange = change
	return next
}

// RefusedStatus is the status of a resource that was refused before its topic
// was looked at. One that lost its name to another lets go of it, so that it can
// be given a new one.
func RefusedStatus(t *kafkav1.KafkaTopic, p Problem, now time.Time) kafkav1.KafkaTopicStatus {
	next := base(t)
	if p.Reason == kafkav1.ReasonResourceConflict {
		forget(&next)
	}
	next.Conditions = withTimes(t.Status.Conditions, []kafkav1.Condition{readyCondition([]Problem{p})}, now)
	return next
}

// UnmanagedStatus is the status of a resource whose topic is left alone.
func UnmanagedStatus(t *kafkav1.KafkaTopic, now time.Time) kafkav1.KafkaTopicStatus {
	next := base(t)
	forget(&next)
	next.Conditions = withTimes(t.Status.Conditions, []kafkav1.Condition{{Type: kafkav1.ConditionUnmanaged, Status: "True"}}, now)
	return next
}

// PausedStatus is the status of a resource whose reconciliation is paused. It
// keeps its name, and so its claim, unless it moved here from another Kafka cluster,
// of which the name tells.
func PausedStatus(t *kafkav1.KafkaTopic, moved bool, now time.Time) kafkav1.KafkaTopicStatus {
	next := base(t)
	next.TopicID = ""
	if moved {
		forget(&next)
	}
	next.Conditions = withTimes(t.Status.Conditions, []kafkav1.Condition{{Type: kafkav1.ConditionReconciliationPaused, Status: "True"}}, now)
	return next
}

// Kept tells which of the status fields beyond Strimzi's the API server keeps:
// it drops what the schema of the installed CRD does not name. A field that is
// not kept is neither written nor compared, and so is one of which that is not
// known yet.
type Kept struct {
	Partitions bool
	Replicas   bool
}

// SameStatus tells whether two statuses differ in nothing but times and what is
// not kept.
func SameStatus(a, b kafkav1.KafkaTopicStatus, kept Kept) bool {
	if a.ObservedGeneration != b.ObservedGeneration || a.TopicName != b.TopicName || a.TopicID != b.TopicID ||
		kept.Partitions && a.Partitions != b.Partitions || kept.Replicas && a.Replicas != b.Replicas ||
		!sameChange(a.ReplicasChange, b.ReplicasChange) || len(a.Conditions) != len(b.Conditions) {
		return false
	}
	for i := range a.Conditions {
		x, y := a.Conditions[i], b.Conditions[i]
		x.LastTransitionTime, y.LastTransitionTime = "", ""
		if x != y {
			return false
		}
	}
	return true
}

func sameChange(a, b *kafkav1.ReplicasChange) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

// base keeps what is not decided here: another part of the operator may own it.
func base(t *kafkav1.KafkaTopic) kafkav1.KafkaTopicStatus {
	next := *t.Status.DeepCopy()
	next.ObservedGeneration = t.Generation
	return next
}

func forget(s *kafkav1.KafkaTopicStatus) {
	s.TopicName, s.TopicID, s.Partitions, s.Replicas, s.ReplicasChange = "", "", 0, 0, nil
}

func readyCondition(problems []Problem) kafkav1.Condition {
	if len(problems) == 0 {
		return kafkav1.Condition{Type: kafkav1.ConditionReady, Status: "True"}
	}
	messages := make([]string, len(problems))
	for i, p := range problems {
		messages[i] = p.Message
	}
	return kafkav1.Condition{
		Type: kafkav1.ConditionReady, Status: "False",
		Reason: problems[0].Reason, Message: strings.Join(messages, "; "),
	}
}

func conditions(warnings []Problem) []kafkav1.Condition {
	var list []kafkav1.Condition
	for _, w := range warnings {
		list = append(list, kafkav1.Condition{
			Type: kafkav1.ConditionWarning, Status: "True", Reason: w.Reason, Message: w.Message,
		})
	}
	return list
}

// withTimes keeps the time of a condition whose status did not change. Warnings
// share a type; they are told apart by what they say.
func withTimes(old, next []kafkav1.Condition, now time.Time) []kafkav1.Condition {
	for i := range next {
		next[i].LastTransitionTime = now.UTC().Format(time.RFC3339)
		for _, o := range old {
			if o.Type == next[i].Type && o.Status == next[i].Status && o.LastTransitionTime != "" &&
				(o.Type != kafkav1.ConditionWarning || o.Message == next[i].Message) {
				next[i].LastTransitionTime = o.LastTransitionTime
				break
			}
		}
	}
	return next
}
