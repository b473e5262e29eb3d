package topic

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"

	kafkav1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/metrics"
	"github.com/sluice-kafka/sluice/internal/topicplan"
)

// orphaning says why a resource is let go though nobody knows that its topic is
// deleted.
type orphaning struct {
	// reason is one of the Orphan constants of the metrics.
	reason string
	// message is for people.
	message string
}

// withoutKafka lets go of the resources that are being deleted where the Kafka of
// their topics is gone or about to go: neither they nor their namespaces wait for
// a Kafka that will never answer. It costs one request a batch.
func (p *pass) withoutKafka(ctx context.Context) {
	works := p.deletions()
	cluster, _ := p.settings()
	if len(works) == 0 || cluster.Kafka == nil {
		return
	}
	gone, err := p.c.kafkaGone(ctx, *cluster.Kafka)
	p.heart.Beat()
	if err != nil {
		// Not known to be gone, so Kafka is asked.
		ctrl.LoggerFrom(ctx).Error(err, "Failed to learn whether the Kafka is there: deleting topics as if it was")
		return
	}
	if gone == "" {
		return
	}
	for _, w := range works {
		// Strimzi's topic operator, with the same finalizer, may still be at work.
		if w.gone || topicplan.OwnsFinalizer(w.topic) {
			w.released, w.orphaned = true, orphaning{metrics.OrphanKafkaGone, gone}
		}
	}
}

// giveUp lets go of the resources that are being deleted where Kafka was
// unreachable for long, and that is what is wanted then.
func (p *pass) giveUp(ctx context.Context) {
	lasts := p.outage.lasts(p.c.opts.Clock.Now())
	if !p.aborted || lasts < p.c.opts.OrphanAfter {
		return
	}
	wanted := map[string]bool{}
	for _, w := range p.works {
		if w.verdict.Action != topicplan.Delete || !w.next.returned {
			continue
		}
		orphan, known := wanted[w.topic.Namespace]
		if !known {
			orphan = p.orphans.wanted(ctx, w.topic.Namespace)
			wanted[w.topic.Namespace] = orphan
			p.heart.Beat()
		}
		if orphan {
			w.next, w.released = next{}, true
			w.orphaned = orphaning{metrics.OrphanUnreachable, fmt.Sprintf("the Kafka cluster %s has been unreachable for %s",
				p.id, lasts.Round(time.Second))}
		}
	}
}

// orphans tells of topics that are to be left behind, and that were. It lasts for a
// batch.
type orphans struct {
	c *Controller
	// namespaces as they were read, each once.
	namespaces map[string]namespace
}

// namespace is what all namespaces have, or why it was not read.
type namespace struct {
	*metav1.PartialObjectMetadata
	err error
}

func (c *Controller) newOrphans() *orphans {
	return &orphans{c: c, namespaces: map[string]namespace{}}
}

func (o *orphans) say(ctx context.Context, t *kafkav1.KafkaTopic, cluster string, why orphaning) {
	o.c.opts.Metrics.Orphaned(cluster, why.reason)
	ctrl.LoggerFrom(ctx).Info("Left a topic behind", "kafkaTopic", keyOf(t).String(), "topicName", t.ClaimedName(), "reason", why.message)
	if !o.closing(ctx, t.Namespace) {
		o.c.recorder.Eventf(t, nil, corev1.EventTypeWarning, "TopicOrphaned", "Reconcile",
			"The topic %s was not deleted from Kafka: %s", t.ClaimedName(), why.message)
	}
}

// closing tells whether a namespace is being deleted: nothing can be created there
// (NamespaceLifecycle in Kubernetes' admission plugins). Where that cannot be learnt
// the attempt will tell.
func (o *orphans) closing(ctx context.Context, name string) bool {
	if o.c.opts.Standalone {
		return false // it has no right to read namespaces, and sends no Events
	}
	ns := o.namespace(ctx, name)
	return apierrors.IsNotFound(ns.err) || ns.err == nil && ns.DeletionTimestamp != nil
}

// kafkaGone asks the API server, past the cache, whether a Kafka is gone or being
// deleted, and says which; an empty answer tells that it is there.
func (c *Controller) kafkaGone(ctx context.Context, k types.NamespacedName) (string, error) {
	object, err := c.metadata(ctx, kafkav1.GroupVersion.WithKind(kafkav1.KindKafka), k)
	switch {
	case apierrors.IsNotFound(err):
		return fmt.Sprintf("the Kafka %s does not exist", k), nil
	case err != nil:
		return "", fmt.Errorf("looking up the Kafka %s: %w", k, err)
	case object.DeletionTimestamp != nil:
		return fmt.Sprintf("the Kafka %s is being deleted", k), nil
	}
	return "", nil
}

// wanted tells whether topics of a namespace are left behind when Kafka is
// unreachable for long.
func (o *orphans) wanted(ctx context.Context, name string) bool {
	if o.c.opts.Standalone { // it has no right to read namespaces
		return o.c.opts.OrphanUnreachable
	}
	ns := o.namespace(ctx, name)
	log := ctrl.LoggerFrom(ctx).WithValues("namespace", name)
	if ns.err != nil {
		// Roles of somebody's own, in place of the chart's, may lack that right.
		if !apierrors.IsForbidden(ns.err) {
			log.Error(ns.err, "Failed to read what the namespace says of an unreachable Kafka: going by --on-unreachable")
		}
		return o.c.opts.OrphanUnreachable
	}
	switch policy := ns.Annotations[kafkav1.AnnotationOnUnreachable]; policy {
	case kafkav1.OnUnreachableOrphan:
		return true
	case kafkav1.OnUnreachableWait:
		return false
	case "":
		return o.c.opts.OrphanUnreachable
	default:
		log.Error(errors.New("unknown value"), "Keeping the topics of a namespace whose annotation is not understood",
			"annotation", kafkav1.AnnotationOnUnreachable, "value", policy, "known", []string{kafkav1.OnUnreachableWait, kafkav1.OnUnreachableOrphan})
		return false
	}
}

// namespace reads it past the cache, where the batch has not done so yet.
func (o *orphans) namespace(ctx context.Context, name string) namespace {
	read, known := o.namespaces[name]
	if !known {
		read.PartialObjectMetadata, read.err = o.c.metadata(ctx, corev1.SchemeGroupVersion.WithKind("Namespace"), key{Name: name})
		o.namespaces[name] = read
	}
	return read
}

// metadata reads what all objects have, so that nothing else in one can fail.
func (c *Controller) metadata(ctx context.Context, kind schema.GroupVersionKind, k key) (*metav1.PartialObjectMetadata, error) {
	ctx, cancel := context.WithTimeout(ctx, writeLimit)
	defer cancel()
	object := &metav1.PartialObjectMetadata{}
	object.SetGroupVersionKind(kind)
	return object, c.live.Get(ctx, k, object)
}
