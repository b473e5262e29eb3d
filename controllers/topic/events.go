package topic

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	toolscache "k8s.io/client-go/tools/cache"

	kafkav1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/batch"
)

// handler feeds the loops from the informer. The informer is not filtered by
// label: in a filtered one a resource that was relabelled would look deleted.
func (c *Controller) handler() toolscache.ResourceEventHandler {
	return toolscache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(obj any, initial bool) {
			if t, ok := obj.(*kafkav1.KafkaTopic); ok {
				c.observed(t, initial)
			}
		},
		UpdateFunc: func(_, obj any) {
			if t, ok := obj.(*kafkav1.KafkaTopic); ok {
				c.observed(t, false)
			}
		},
		DeleteFunc: func(obj any) {
			final, unsure := obj.(toolscache.DeletedFinalStateUnknown)
			if unsure {
				obj = final.Obj
			}
			if t, ok := obj.(*kafkav1.KafkaTopic); ok {
				c.deleted(t, unsure)
			}
		},
	}
}

// observed takes a new state of a resource to the loop that it belongs to, and
// away from the one that it belonged to.
func (c *Controller) observed(t *kafkav1.KafkaTopic, initial bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	k, home, leaves := keyOf(t), c.home(t), false
	for _, l := range c.loops {
		switch {
		case l == home || !l.index.has(k):
		case home == nil:
			leaves = true
			l.leave(t)
		default:
			l.gone(k)
			if l.id != home.id {
				home.index.arrives(t)
				c.recorder.Eventf(t, nil, corev1.EventTypeNormal, "ClusterChanged", "Reconcile",
					"The topic %s stays as it is in the Kafka cluster %s, and is kept in %s from now on",
					t.ClaimedName(), l.id, home.id)
			}
		}
	}
	if home == nil {
		c.strays[k] = t
		c.unserved.observed(t, !leaves)
		return
	}
	c.unserved.forget(k)
	delete(c.strays, k)
	home.observed(t, initial)
}

// deleted takes the last state of a resource, with whose deletion its topic goes
// where finalizers are not in use. unsure tells that the deletion was not seen,
// and the state may be an old one.
func (c *Controller) deleted(t *kafkav1.KafkaTopic, unsure bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	k, home := keyOf(t), c.home(t)
	delete(c.strays, k)
	c.unserved.forget(k)
	for _, l := range c.loops {
		if l == home && !c.opts.UseFinalizers {
			l.deleted(t, unsure)
		} else {
			l.gone(k)
		}
	}
}

// home is the loop of the cluster that a resource belongs to, if it is served
// and selected.
func (c *Controller) home(t *kafkav1.KafkaTopic) *loop {
	if !c.opts.Selector.Matches(labelsOf(t)) {
		return nil
	}
	for _, l := range c.loops {
		if !l.closing && l.cluster.serves(t.Namespace, t.Labels[kafkav1.LabelCluster]) {
			return l
		}
	}
	return nil
}

func (l *loop) observed(t *kafkav1.KafkaTopic, initial bool) {
	old, fresh := l.index.put(t, false)
	switch {
	case !fresh:
		return
	case old.topic == nil && initial && !urgent(t):
		l.queue.Add(batch.Resync, keyOf(t))
	case old.topic == nil || old.leaving || concerns(old.topic, t):
		l.queue.Add(batch.Change, keyOf(t))
	}
	l.wakeClaimants(old, entry{topic: t})
}

// leave keeps a resource that is no longer ours until its finalizer is off.
func (l *loop) leave(t *kafkav1.KafkaTopic) {
	old, fresh := l.index.put(t, true)
	if fresh {
		l.queue.Add(batch.Change, keyOf(t))
		l.wakeClaimants(old, entry{topic: t, leaving: true})
	}
}

func (l *loop) gone(k key) {
	old, known := l.index.remove(k)
	if known {
		l.wakeClaimants(old, entry{})
	}
}

// deleted takes a resource that is gone, to delete its topic.
func (l *loop) deleted(t *kafkav1.KafkaTopic, unsure bool) {
	old, known, kept := l.index.bury(t, unsure)
	if kept {
		l.queue.Add(batch.Change, keyOf(t))
	}
	if known {
		l.wakeClaimants(old, entry{})
	}
}

// wakeClaimants queues the others who claim a name when one lets go of it, or
// comes to claim it: that one may be older than the manager.
func (l *loop) wakeClaimants(before, after entry) {
	was, claimed := before.claim()
	is, claims := after.claim()
	if claimed == claims && was == is {
		return
	}
	if claimed {
		l.queue.Add(batch.Change, l.index.claimants(was, keyOf(before.topic))...)
	}
	if claims {
		l.queue.Add(batch.Change, l.index.claimants(is, keyOf(after.topic))...)
	}
}

// claim is the name that keeps others away.
func (e entry) claim() (string, bool) {
	if e.topic == nil || e.leaving || e.topic.DeletionTimestamp != nil || !e.topic.Managed() {
		return "", false
	}
	return e.topic.ClaimedName(), true
}

// urgent tells of a resource that cannot wait for its turn in the first look at
// all of them.
func urgent(t *kafkav1.KafkaTopic) bool {
	return t.DeletionTimestamp != nil || t.Status.ObservedGeneration != t.Generation
}

// concerns tells whether a change calls for a reconciliation. A change of the
// status alone does not, nor our finalizer being put on.
func concerns(old, t *kafkav1.KafkaTopic) bool {
	return old.UID != t.UID ||
		old.Generation != t.Generation ||
		(old.DeletionTimestamp == nil) != (t.DeletionTimestamp == nil) ||
		!maps.Equal(old.Labels, t.Labels) ||
		!maps.Equal(old.Annotations, t.Annotations) ||
		hasFinalizer(old) && !hasFinalizer(t)
}

func hasFinalizer(t *kafkav1.KafkaTopic) bool {
	return slices.Contains(t.Finalizers, kafkav1.FinalizerTopic)
}
