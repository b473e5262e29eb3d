package topic

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kafkav1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/metrics"
	"github.com/sluice-kafka/sluice/internal/topicplan"
)

// writeLimit bounds one write to Kubernetes.
const writeLimit = 30 * time.Second

// addFinalizers marks the resources whose topics are about to be touched.
func (p *pass) addFinalizers(ctx context.Context) {
	if !p.c.opts.UseFinalizers {
		return
	}
	var works []*work
	for _, w := range p.in(topicplan.Reconcile) {
		if !hasFinalizer(w.topic) {
			works = append(works, w)
		}
	}
	p.putFinalizers(ctx, works)
}

func (p *pass) putFinalizers(ctx context.Context, works []*work) {
	p.write(ctx, works, metrics.WriteFinalizer, func(w *work) (map[string]any, bool) {
		return finalizerPatch(w.topic, append(slices.Clone(w.topic.Finalizers), kafkav1.FinalizerTopic)), false
	})
}

func (p *pass) takeFinalizers(ctx context.Context, works []*work) {
	p.write(ctx, works, metrics.WriteFinalizer, func(w *work) (map[string]any, bool) {
		return finalizerPatch(w.topic, withoutOurs(w.topic)), false
	})
}

// withoutOurs are the finalizers of a resource but for ours.
func withoutOurs(t *kafkav1.KafkaTopic) []string {
	return slices.DeleteFunc(slices.Clone(t.Finalizers), func(f string) bool { return f == kafkav1.FinalizerTopic })
}

// dropFinalizers takes our finalizer, from when it was in use, off resources that
// do without. One that is being deleted goes the way of its finalizer.
func (p *pass) dropFinalizers(ctx context.Context) {
	if p.c.opts.UseFinalizers {
		return
	}
	var works []*work
	for _, w := range p.works {
		switch w.verdict.Action {
		case topicplan.Pause, topicplan.Refuse, topicplan.Reconcile:
			if hasFinalizer(w.topic) {
				works = append(works, w)
			}
		default:
		}
	}
	p.takeFinalizers(ctx, works)
}

// releaseFinalizers lets go of the resources whose topics are gone or no longer
// ours.
func (p *pass) releaseFinalizers(ctx context.Context) {
	var released, marked []*work
	for _, w := range p.works {
		if !w.released || w.next.out {
			continue
		}
		released = append(released, w)
		if !w.gone && hasFinalizer(w.topic) {
			marked = append(marked, w)
		}
	}
	p.takeFinalizers(ctx, marked)
	for _, w := range released {
		if w.next.out {
			continue // it could not be let go
		}
		w.leave(w.verdict.Reason)
		if w.orphaned.reason != "" {
			p.orphans.say(ctx, w.topic, p.id, w.orphaned)
		}
		if w.deselected() {
			p.index.left(w.topic)
		}
	}
}

// deselected tells of a resource that left the selector, and is to be forgotten,
// even if somebody else's finalizer keeps it.
func (w *work) deselected() bool {
	return w.verdict.Action == topicplan.Release && !w.gone
}

// writeStatuses writes the statuses that say something new.
func (p *pass) writeStatuses(ctx context.Context) {
	var works []*work
	for _, w := range p.works {
		if w.status != nil && !topicplan.SameStatus(w.topic.Status, *w.status, p.kept) {
			works = append(works, w)
		}
	}
	p.write(ctx, works, metrics.WriteStatus, func(w *work) (map[string]any, bool) {
		return statusPatch(w.topic, *w.status, p.kept), true
	})
	for _, w := range works {
		// Where the write succeeded, the topic is what the API server made of it.
		if !w.next.out && !topicplan.SameStatus(w.topic.Status, *w.status, p.kept) {
			p.c.schema.doubt()
			return
		}
	}
}

// claimCreated has a resource manage the topic that was made for it, though it was
// given another name before the status could tell of the first: the new name would be
// claimed, and the topic be left to nobody.
func (p *pass) claimCreated(ctx context.Context) {
	var works []*work
	for _, w := range p.works {
		if !w.changed || !w.plan.Create || w.seen == nil {
			continue
		}
		now, err := p.c.resource(ctx, w.key())
		p.heart.Beat()
		if err != nil {
			continue
		}
		// One that came to another Kafka cluster too starts anew there.
		if now.UID == w.topic.UID && p.cluster.serves(now.Namespace, now.Labels[kafkav1.LabelCluster]) &&
			now.ClaimedName() != w.name && now.Status.TopicName == "" {
			w.topic = now
			works = append(works, w)
		}
	}
	p.write(ctx, works, metrics.WriteStatus, func(w *work) (map[string]any, bool) {
		return map[string]any{
			"metadata": map[string]any{"resourceVersion": w.topic.ResourceVersion},
			"status":   map[string]any{"topicName": w.name, "topicId": orNull(w.seen.ID)},
		}, true
	})
}

// resource reads one from the API server.
func (c *Controller) resource(ctx context.Context, k key) (*kafkav1.KafkaTopic, error) {
	ctx, cancel := context.WithTimeout(ctx, writeLimit)
	defer cancel()
	t := &kafkav1.KafkaTopic{}
	return t, c.live.Get(ctx, k, t)
}

// write patches resources side by side. A resource that changed or went since it
// was read leaves the batch and is queued again; that of another is not its
// concern.
func (p *pass) write(ctx context.Context, works []*work, kind string, patchOf func(*work) (patch map[string]any, status bool)) {
	workqueue.ParallelizeUntil(ctx, p.c.opts.WriteConcurrency, len(works), func(i int) {
		w := works[i]
		patch, status := patchOf(w)
		start := p.c.opts.Clock.Now()
		answer, err := p.c.patch(ctx, w.key(), patch, status)
		p.c.opts.Metrics.KubernetesWrite(p.id, kind, p.c.opts.Clock.Since(start), err)
		p.heart.Beat()
		if err == nil {
			p.index.wrote(answer)
			w.topic = answer
			return
		}
		w.again(fmt.Sprintf("writing its %s: %v", kind, err), 0)
		w.changed = apierrors.IsConflict(err)
		log := ctrl.LoggerFrom(ctx).WithValues("kafkaTopic", w.key().String(), "write", kind)
		if apierrors.IsConflict(err) || apierrors.IsNotFound(err) || ctx.Err() != nil {
			log.V(1).Info("The resource changed meanwhile: trying again", "error", err.Error())
		} else {
			log.Error(err, "Failed to write to the resource: trying again")
		}
	})
	if err := ctx.Err(); err != nil {
		for _, w := range works {
			w.again(err.Error(), 0) // the rest was not begun
		}
	}
}

func (c *Controller) patch(ctx context.Context, k key, patch map[string]any, status bool) (*kafkav1.KafkaTopic, error) {
	data, err := json.Marshal(patch)
	if err != nil {
		return nil, fmt.Errorf("encoding the patch of KafkaTopic %s: %w", k, err)
	}
	ctx, cancel := context.WithTimeout(ctx, writeLimit)
	defer cancel()
	answer := &kafkav1.KafkaTopic{ObjectMeta: metav1.ObjectMeta{Namespace: k.Namespace, Name: k.Name}}
	merge := client.RawPatch(types.MergePatchType, data)
	if status {
		err = c.client.Status().Patch(ctx, answer, merge, client.FieldOwner(kafkav1.FieldManager))
	} else {
		err = c.client.Patch(ctx, answer, merge, client.FieldOwner(kafkav1.FieldManager))
	}
	if err != nil {
		return nil, fmt.Errorf("patching KafkaTopic %s: %w", k, err)
	}
	return answer, nil
}

func finalizerPatch(t *kafkav1.KafkaTopic, finalizers []string) map[string]any {
	var value any // a null takes the list away
	if len(finalizers) > 0 {
		value = finalizers
	}
	return map[string]any{"metadata": map[string]any{"resourceVersion": t.ResourceVersion, "finalizers": value}}
}

// statusPatch names every field that is decided here, with a null where it is to
// go: another manager may own it.
func statusPatch(t *kafkav1.KafkaTopic, s kafkav1.KafkaTopicStatus, kept topicplan.Kept) map[string]any {
	fields := map[string]any{
		"conditions":         s.Conditions,
		"observedGeneration": s.ObservedGeneration,
		"topicName":          orNull(s.TopicName),
		"topicId":            orNull(s.TopicID),
		"replicasChange":     changeFields(s.ReplicasChange),
	}
	if kept.Partitions {
		fields[fieldPartitions] = orNull(s.Partitions)
	}
	if kept.Replicas {
		fields[fieldReplicas] = orNull(s.Replicas)
	}
	return map[string]any{"metadata": map[string]any{"resourceVersion": t.ResourceVersion}, "status": fields}
}

// changeFields names every field too: a merge patch leaves alone what it does not
// name, also within an object.
func changeFields(change *kafkav1.ReplicasChange) any {
	if change == nil {
		return nil
	}
	return map[string]any{
		"targetReplicas": orNull(change.TargetReplicas),
		"state":          orNull(change.State),
		"message":        orNull(change.Message),
		"sessionId":      orNull(change.SessionID),
	}
}

func orNull[T comparable](value T) any {
	var zero T
	if value == zero {
		return nil
	}
	return value
}
