package cluster

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// reason of an Event. There are no others.
type reason string

const (
	reasonCreated         reason = "ClusterCreated"
	reasonStandingBack    reason = "StandingBack"
	reasonInvalid         reason = "InvalidResource"
	reasonCordoned        reason = "Cordoned"
	reasonUncordoned      reason = "Uncordoned"
	reasonCordonRefused   reason = "CordonRefused"
	reasonOptionsChanged  reason = "OptionsChanged"
	reasonOptionRefused   reason = "OptionRefused"
	reasonHeld            reason = "ScaleDownHeld"
	reasonDrained         reason = "Drained"
	reasonPutBack         reason = "PutBack"
	reasonRemoved         reason = "BrokerRemoved"
	reasonUnregistered    reason = "BrokerUnregistered"
	reasonRestarting      reason = "Restarting"
	reasonMetadataVersion reason = "MetadataVersionRaised"
	reasonVersionRefused  reason = "VersionRefused"
)

// actions by reason: what was being done when it came about.
func (r reason) action() string {
	switch r {
	case reasonCordoned, reasonUncordoned, reasonCordonRefused, reasonOptionsChanged, reasonOptionRefused:
		return "Configure"
	case reasonHeld, reasonDrained, reasonPutBack, reasonRemoved, reasonUnregistered:
		return "ScaleDown"
	case reasonRestarting:
		return "Restart"
	case reasonMetadataVersion, reasonVersionRefused:
		return "Upgrade"
	}
	return "Reconcile"
}

// warns tells which of them are no good news.
func (r reason) warns() bool {
	switch r {
	case reasonStandingBack, reasonInvalid, reasonCordonRefused, reasonOptionRefused, reasonVersionRefused:
		return true
	}
	return false
}

// event tells of something that was done, or that happened, just now.
func (r *reconciler) event(about, related runtime.Object, why reason, note string, args ...any) {
	eventType := corev1.EventTypeNormal
	if why.warns() {
		eventType = corev1.EventTypeWarning
	}
	r.recorder.Eventf(about, related, eventType, string(why), why.action(), note, args...)
}

// podNamed is the pod of a node, there or not, as what an Event is related to. One
// is needed wherever several nodes may be told of at once: client-go's recorder
// takes Events for repetitions of one that differ in nothing but their note, and
// drops the note (getKey in k8s.io/client-go/tools/events).
func (t *turn) podNamed(name string) runtime.Object {
	if pod := t.pods[name]; pod != nil {
		return pod
	}
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: t.key.Namespace, Name: name}}
}

// tell tells of a state that may last: once, until it changes. What identifies the
// state is text that does not change with every look.
func (t *turn) tell(why reason, state, note string, args ...any) {
	if t.memory.told[string(why)] == state {
		return
	}
	t.memory.told[string(why)] = state
	if state != "" {
		t.event(t.kafka, nil, why, note, args...)
	}
}
