package volumedrift

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
)

// Action is what is to be done to one pod.
type Action string

const (
	// Wait leaves all pods alone.
	Wait Action = "Wait"
	// Mark asks Strimzi to restart a ready pod, by AnnotationManualRollingUpdate.
	Mark Action = "Mark"
	// Delete takes away a pod that never started: Strimzi's rollers refuse to
	// restart one that hangs (isPodStuck in its KafkaRoller), and it serves nobody.
	Delete Action = "Delete"
)

// OwnerRecord is what an owner has to remember.
type OwnerRecord struct {
	Owner  Owner
	Record Record
}

// Decision is what to do next about one cluster.
type Decision struct {
	// Action on Pod, the pod as it was observed; it is for the list of Owner.
	Action Action
	Pod    *corev1.Pod
	Owner  Owner
	// Change says what the action brings.
	Change string
	// Records to be written before the action, of those owners whose record
	// changes; an empty one takes the annotation away.
	Records []OwnerRecord
	// Notes are to be told on the owners. They are complete unless Undecided.
	Notes []Note
	// Undecided tells that the cluster is left alone for now, unjudged.
	Undecided bool
	// Reason says why the decision is what it is.
	Reason string
}

// Writes tells whether anything is to be written.
func (d Decision) Writes() bool { return d.Action != Wait || len(d.Records) > 0 }

// Decide decides on one cluster. At most one pod is to be restarted, and a ready
// one only while nothing else is going on: its creator must have seen the latest
// resources and have no pod of its own to replace, and all other pods must be
// ready. A pod that never started goes first and waits for nothing but the
// successor of another: it may be what keeps the others from becoming ready. Nor
// does it wait for its creator, since Strimzi writes a pool's status only after
// all of its pods became ready (updateNodePoolStatuses comes last in its
// KafkaReconciler).
//
// A restart is recorded before it is begun. If the pod that comes in its place
// has not got what was wanted then, no pod of that owner is restarted any more,
// until something else is wanted or the record is taken away.
func Decide(c *Cluster) Decision {
	if why := standstill(c); why != "" {
		return Decision{Action: Wait, Undecided: true, Reason: why}
	}
	verdicts := judgeAll(c)
	books := openBooks(c, verdicts)
	d := Decision{Action: Wait, Notes: notes(c, verdicts, books)}
	chosen, action, reason := choose(c, verdicts, books)
	if action != Wait {
		d.Action, d.Pod, d.Owner, d.Change = action, chosen.Live, chosen.owner(), describe(chosen.drift)
		books.begin(chosen)
	}
	d.Records = books.changes()
	d.Reason = reason
	return d
}

// standstill tells why a cluster is not even judged, or "".
func standstill(c *Cluster) string {
	m := c.main()
	switch {
	case m == nil:
		return "its resource does not exist"
	case m.GetDeletionTimestamp() != nil:
		return "its resource is being deleted"
	case c.AdmissionDisabled:
		return "the namespace has the label " + apiv1.LabelAdmission + "=" + apiv1.AdmissionDisabled
	}
	return ""
}

func judgeAll(c *Cluster) []*verdict {
	verdicts := make([]*verdict, 0, len(c.Pods))
	for _, p := range c.Pods {
		verdicts = append(verdicts, judge(c, p))
	}
	slices.SortFunc(verdicts, func(a, b *verdict) int {
		return cmp.Or(cmp.Compare(a.id.Node.ID, b.id.Node.ID), cmp.Compare(a.Name, b.Name))
	})
	return verdicts
}

// choose picks the pod to restart, if there is one that may be.
func choose(c *Cluster, verdicts []*verdict, books *books) (*verdict, Action, string) {
	if !slices.ContainsFunc(verdicts, func(v *verdict) bool { return v.state == drifted }) {
		return nil, Wait, "no pod has drifted"
	}
	if paused(c) {
		return nil, Wait, "its reconciliation is paused"
	}
	hanging, running := candidates(verdicts, books)
	if hanging != nil {
		if name := books.underWay(verdicts); name != "" {
			return nil, Wait, fmt.Sprintf("pod %s is being replaced", name)
		}
		return hanging, Delete, fmt.Sprintf("pod %s never started and has drifted", hanging.Name)
	}
	if running == nil {
		return nil, Wait, "no drifted pod may be restarted"
	}
	if why := obstacle(c, verdicts, running); why != "" {
		return nil, Wait, why
	}
	return running, Mark, fmt.Sprintf("pod %s has drifted and all others are ready", running.Name)
}

// candidates are the first drifted pod that never started and will not be
// replaced anyway, and the first one that is ready; nil where there is none.
func candidates(verdicts []*verdict, books *books) (hanging, running *verdict) {
	for _, v := range verdicts {
		if v.state != drifted || !v.consent || books.closed(v.owner()) {
			continue
		}
		switch {
		case hanging == nil && v.life == neverStarted && !v.outdated():
			hanging = v
		case running == nil && v.life == ready:
			running = v
		}
	}
	return hanging, running
}

func paused(c *Cluster) bool {
	return slices.ContainsFunc(c.owners(), func(o Owner) bool {
		return c.Object(o).GetAnnotations()[apiv1.AnnotationPauseReconciliation] == "true"
	})
}

// obstacle tells why no ready pod may be restarted, or "".
func obstacle(c *Cluster, verdicts []*verdict, chosen *verdict) string {
	for _, o := range c.owners() {
		if behind(c.Object(o)) {
			return fmt.Sprintf("%s %s has a generation that was not reconciled yet", o.Kind, o.Name)
		}
	}
	for _, v := range verdicts {
		switch {
		case v.outdated():
			return fmt.Sprintf("pod %s is not of its pod set's revision", v.Name)
		case v.marked():
			return fmt.Sprintf("pod %s is marked to be restarted", v.Name)
		case v != chosen && v.life != ready:
			return fmt.Sprintf("pod %s is not ready (%s)", v.Name, v.life)
		}
	}
	return ""
}
