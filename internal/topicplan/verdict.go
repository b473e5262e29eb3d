package topicplan

import (
	"encoding/json"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	kafkav1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/configdef"
)

// Action is what a resource needs before anything is known of its topic.
type Action int

// Actions, in the order in which they are considered.
const (
	// Release takes off our finalizer and leaves the topic.
	Release Action = iota
	// Delete deletes the topic, then takes off our finalizer.
	Delete
	// Nothing is left to be done.
	Nothing
	// Unmanaged leaves the topic and says so.
	Unmanaged
	// Pause leaves the topic and says so.
	Pause
	// Refuse says what is wrong with the resource.
	Refuse
	// Reconcile describes the topic and brings it in step.
	Reconcile
)

// Problem is a reason why a topic is not ready.
type Problem struct {
	// Reason is the condition's reason.
	Reason string
	// Message is for people.
	Message string
}

// Subject is a resource with what is known around it, all from one moment.
type Subject struct {
	Topic *kafkav1.KafkaTopic
	// Selected tells whether the resource is one of ours.
	Selected bool
	// Gone tells that the resource exists no longer and left without our finalizer:
	// Topic is its last state, and nothing can be written to it.
	Gone bool
	// Moved tells that the resource was one of another Kafka cluster and has managed
	// nothing in this one: its status and finalizer are from there.
	Moved bool
	// Claims to the name that the resource claims, its own among them.
	Claims []Claim
}

// Verdict is what a resource needs, and why.
type Verdict struct {
	Action Action
	// Reason is for the log.
	Reason string
	// Keeps tells that a Release keeps a topic that its owner may think deleted.
	Keeps bool
	// Heir of a Release is the resource that the topic is kept for.
	Heir types.NamespacedName
	// Problem of a Refuse.
	Problem Problem
}

// Judge decides what a resource needs. The order of the checks is part of their
// meaning: a resource that is being deleted goes even if it is paused, and one
// that is paused is not told of a conflict.
func Judge(s Subject) Verdict {
	for _, check := range []func(Subject) (Verdict, bool){
		judgeSelection,
		judgeDeletion,
		judgeUnmanaged,
		judgePause,
		judgeName,
		judgeConflict,
	} {
		if v, ok := check(s); ok {
			return v
		}
	}
	return Verdict{Action: Reconcile, Reason: "it manages its topic"}
}

func judgeSelection(s Subject) (Verdict, bool) {
	if s.Selected {
		return Verdict{}, false
	}
	return Verdict{Action: Release, Reason: "it is no longer selected"}, true
}

func judgeDeletion(s Subject) (Verdict, bool) {
	if s.Topic.DeletionTimestamp == nil && !s.Gone {
		return Verdict{}, false
	}
	if !s.Gone && !slices.Contains(s.Topic.Finalizers, kafkav1.FinalizerTopic) {
		return Verdict{Action: Nothing, Reason: "it is deleted and no longer carries our finalizer"}, true
	}
	return ending(s), true
}

// ending decides what becomes of the topic of a resource that is deleted.
func ending(s Subject) Verdict {
	manager, claimed := Manager(s.Claims)
	switch {
	case !s.Topic.Managed():
		return Verdict{Action: Release, Reason: "it is deleted and unmanaged"}
	case retained(s.Topic):
		return Verdict{Action: Release, Reason: "it is deleted and its topic is retained"}
	case !everManaged(s):
		return Verdict{Action: Release, Reason: "it is deleted and never managed its topic"}
	case internal(s.Topic.ClaimedName()):
		return Verdict{Action: Release, Reason: "it is deleted and its topic is Kafka's own", Keeps: true}
	case len(s.Topic.ClaimedName()) > configdef.MaxTextBytes:
		return Verdict{Action: Release, Reason: "it is deleted and no topic can have its name"}
	case claimed && !manager.Deleting && manager.Resource != keyOf(s.Topic):
		return Verdict{Action: Release, Heir: manager.Resource, Reason: fmt.Sprintf("it is deleted and its topic is managed by %s", manager.Resource)}
	default:
		return Verdict{Action: Delete, Reason: "it is deleted"}
	}
}

// everManaged tells whether the topic may be there for the sake of this resource.
// A finalizer proves nothing where somebody else put it on, as a manifest does
// that was taken from a cluster: the topic of that name may be older than the
// resource. Without a status, our own finalizer and this process's own work are
// the only signs, since the status is written last. That is why the finalizer is
// not put on at admission, where it would save a write: what a webhook adds
// belongs to whoever made the request, and tells nothing of what was done since.
// Nor does the finalizer where a resource gave its topic up after it was put on:
// what it claims since may be another's.
func everManaged(s Subject) bool {
	return !s.Moved && (s.Topic.Status.TopicName != "" || OwnsFinalizer(s.Topic) && !gaveUp(s.Topic)) ||
		slices.ContainsFunc(s.Claims, func(c Claim) bool { return c.Recorded && c.Resource == keyOf(s.Topic) })
}

// gaveUp tells of a resource whose status says that it manages no topic: another
// has it, or it is left alone, also while it is paused.
func gaveUp(t *kafkav1.KafkaTopic) bool {
	return t.Status.TopicName == "" && slices.ContainsFunc(t.Status.Conditions, func(c kafkav1.Condition) bool {
		return c.Type == kafkav1.ConditionUnmanaged || c.Type == kafkav1.ConditionReconciliationPaused ||
			c.Type == kafkav1.ConditionReady && c.Reason == kafkav1.ReasonResourceConflict
	})
}

// OwnsFinalizer tells whether our finalizer was put on by Sluice. Strimzi's topic
// operator has one of the same name.
func OwnsFinalizer(t *kafkav1.KafkaTopic) bool {
	return slices.ContainsFunc(t.ManagedFields, func(e metav1.ManagedFieldsEntry) bool {
		return e.Manager == kafkav1.FieldManager && coversFinalizer(e)
	})
}

// ownedFinalizer stands for our finalizer among the fields that somebody owns.
const ownedFinalizer = `v:"` + kafkav1.FinalizerTopic + `"`

// coversFinalizer tells whether our finalizer is among what a manager owns.
func coversFinalizer(e metav1.ManagedFieldsEntry) bool {
	if e.FieldsV1 == nil {
		return false
	}
	// A value of a set has a key of its own, a list that is owned as one has
	// none (FieldsV1 in Kubernetes' apimachinery).
	var fields struct {
		Metadata struct {
			Finalizers map[string]json.RawMessage `json:"f:finalizers"`
		} `json:"f:metadata"`
	}
	if err := json.Unmarshal(e.FieldsV1.GetRawBytes(), &fields); err != nil {
		return false
	}
	finalizers := fields.Metadata.Finalizers
	_, owned := finalizers[ownedFinalizer]
	return owned || finalizers != nil && len(finalizers) == 0
}

func judgeUnmanaged(s Subject) (Verdict, bool) {
	if s.Topic.Managed() {
		return Verdict{}, false
	}
	return Verdict{Action: Unmanaged, Reason: "it is annotated " + kafkav1.AnnotationManaged + "=false"}, true
}

func judgePause(s Subject) (Verdict, bool) {
	if !paused(s.Topic) {
		return Verdict{}, false
	}
	return Verdict{Action: Pause, Reason: "it is annotated " + kafkav1.AnnotationPauseReconciliation + "=true"}, true
}

func judgeName(s Subject) (Verdict, bool) {
	wanted, kept := s.Topic.EffectiveName(), s.Topic.Status.TopicName
	if kept == "" || kept == wanted {
		return Verdict{}, false
	}
	return refuse(kafkav1.ReasonNotSupported, fmt.Sprintf(
		"spec.topicName: Kafka cannot rename a topic, and this resource manages %q. "+
			"Set spec.topicName back to %q, and create another resource for %q", kept, kept, wanted)), true
}

func judgeConflict(s Subject) (Verdict, bool) {
	manager, claimed := Manager(s.Claims)
	if !claimed || manager.Resource == keyOf(s.Topic) {
		return Verdict{}, false
	}
	return refuse(kafkav1.ReasonResourceConflict, fmt.Sprintf(
		"the topic %q is managed by the KafkaTopic %s. Delete one of the two, or give this one another spec.topicName",
		s.Topic.ClaimedName(), manager.Resource)), true
}

func refuse(reason, message string) Verdict {
	return Verdict{Action: Refuse, Reason: reason, Problem: Problem{Reason: reason, Message: message}}
}

func keyOf(t *kafkav1.KafkaTopic) types.NamespacedName {
	return types.NamespacedName{Namespace: t.Namespace, Name: t.Name}
}
