// Package topicplan decides what is to be done with a topic. Its functions are
// pure: they see a resource and what Kafka showed, and answer with a plan and
// the reason for it.
package topicplan

import (
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	kafkav1 "github.com/sluice-kafka/sluice/api/v1"
)

// paused tells whether the reconciliation of a resource is paused.
func paused(t *kafkav1.KafkaTopic) bool {
	return strings.EqualFold(t.Annotations[kafkav1.AnnotationPauseReconciliation], "true")
}

// retained tells whether the topic outlives its resource. A policy that is not
// understood was written by somebody who wanted something else than the default.
func retained(t *kafkav1.KafkaTopic) bool {
	policy := strings.TrimSpace(t.Annotations[kafkav1.AnnotationDeletionPolicy])
	return policy != "" && !strings.EqualFold(policy, kafkav1.DeletionPolicyDelete)
}

// ReadyNow tells whether the status says Ready for the present generation.
func ReadyNow(t *kafkav1.KafkaTopic) bool {
	if t.Status.ObservedGeneration != t.Generation {
		return false
	}
	return slices.ContainsFunc(t.Status.Conditions, func(c kafkav1.Condition) bool {
		return c.Type == kafkav1.ConditionReady && c.Status == "True"
	})
}

// Claim is the claim of one resource to a name in Kafka.
type Claim struct {
	// Resource that claims.
	Resource types.NamespacedName
	// Created is when the resource was, to the second.
	Created time.Time
	// Recorded tells that this process saw the resource manage the name.
	Recorded bool
	// Ready tells that the resource's status says so.
	Ready bool
	// Deleting tells that the resource is being deleted.
	Deleting bool
}

// ClaimOf reads the claim of a resource. A resource that is not managed has
// none.
func ClaimOf(t *kafkav1.KafkaTopic, recorded types.UID) (Claim, bool) {
	if !t.Managed() {
		return Claim{}, false
	}
	return Claim{
		Resource: types.NamespacedName{Namespace: t.Namespace, Name: t.Name},
		Created:  t.CreationTimestamp.Time,
		Recorded: recorded != "" && t.UID == recorded,
		Ready:    ReadyNow(t),
		Deleting: t.DeletionTimestamp != nil,
	}, true
}

// Manager chooses among the claims to one name: a resource that stays before one
// that is being deleted, then the oldest, then the one that was seen to manage
// the name, then a Ready one, then the first by namespace and name. It returns
// false if there is no claim.
func Manager(claims []Claim) (Claim, bool) {
	if len(claims) == 0 {
		return Claim{}, false
	}
	return slices.MinFunc(claims, compareClaims), true
}

func compareClaims(a, b Claim) int {
	return firstNonZero(
		compareBool(!a.Deleting, !b.Deleting),
		a.Created.Compare(b.Created),
		compareBool(a.Recorded, b.Recorded),
		compareBool(a.Ready, b.Ready),
		strings.Compare(a.Resource.Namespace, b.Resource.Namespace),
		strings.Compare(a.Resource.Name, b.Resource.Name),
	)
}

// compareBool puts true first.
func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	default:
		return 1
	}
}

func firstNonZero(results ...int) int {
	for _, r := range results {
		if r != 0 {
			return r
		}
	}
	return 0
}
