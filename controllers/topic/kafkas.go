package topic

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/source"

	kafkav1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/batch"
	"github.com/sluice-kafka/sluice/internal/podsets"
)

// strimziInterval is how often to look for the pod sets of a Kafka that asks for
// Strimzi's topic operator. Strimzi makes that one only once the brokers of its pod
// sets are ready, which takes longer.
const strimziInterval = 30 * time.Second

// kafkas has loops come and go with the Kafka resources that are handed over.
type kafkas struct {
	c      *Controller
	cache  cache.Cache
	cached client.Reader
	mapper meta.RESTMapper
	// told is what was last said of Kafkas that others look after. One is worked on
	// at a time.
	told map[key]string
}

func newKafkas(c *Controller, all cache.Cache, mapper meta.RESTMapper) *kafkas {
	return &kafkas{c: c, cache: all, cached: all, mapper: mapper, told: map[key]string{}}
}

// prepare has the manager start, and wait for, the informer.
func (r *kafkas) prepare() error {
	if _, err := r.cache.GetInformer(context.Background(), &kafkav1.Kafka{}, cache.BlockUntilSynced(false)); err != nil {
		return fmt.Errorf("watching Kafkas: %w", err)
	}
	return nil
}

// run works until ctx ends.
func (r *kafkas) run(ctx context.Context) error {
	work, err := controller.NewTypedUnmanaged("topic-clusters", controller.TypedOptions[key]{
		Reconciler:              r,
		MaxConcurrentReconciles: 1,
		RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[key](batch.MinBackoff, batch.MaxBackoff),
		ReconciliationTimeout:   writeLimit,
		Logger:                  ctrl.LoggerFrom(ctx),
	})
	if err != nil {
		return fmt.Errorf("following Kafkas: %w", err)
	}
	byName := handler.TypedEnqueueRequestsFromMapFunc(func(_ context.Context, k *kafkav1.Kafka) []key {
		return []key{client.ObjectKeyFromObject(k)}
	})
	if err := work.Watch(source.TypedKind(r.cache, &kafkav1.Kafka{}, byName, telling())); err != nil {
		return fmt.Errorf("following Kafkas: %w", err)
	}
	return work.Start(ctx)
}

// telling lets those changes of a Kafka pass that say something about its topics.
func telling() predicate.TypedPredicate[*kafkav1.Kafka] {
	return predicate.TypedFuncs[*kafkav1.Kafka]{UpdateFunc: func(e event.TypedUpdateEvent[*kafkav1.Kafka]) bool {
		was, is := e.ObjectOld, e.ObjectNew
		return was.UID != is.UID ||
			was.Generation != is.Generation ||
			(was.DeletionTimestamp == nil) != (is.DeletionTimestamp == nil) ||
			!maps.Equal(was.Annotations, is.Annotations) ||
			!reflect.DeepEqual(was.Status.Listeners, is.Status.Listeners) ||
			ready(was) != ready(is)
	}}
}

// ready tells whether whoever runs a Kafka says that it can be worked with.
func ready(k *kafkav1.Kafka) bool {
	return slices.ContainsFunc(k.Status.Conditions, func(c kafkav1.Condition) bool {
		return c.Type == kafkav1.ConditionReady && c.Status == string(metav1.ConditionTrue)
	})
}

// Reconcile brings the loop of a Kafka in step with it.
func (r *kafkas) Reconcile(ctx context.Context, k key) (ctrl.Result, error) {
	kafka, err := r.kafka(ctx, k)
	if err != nil {
		return ctrl.Result{}, err
	}
	var podSets []string
	var again ctrl.Result
	if kafka.TopicsHandedOver() && wantsStrimzi(kafka) {
		if podSets, err = podsets.Of(ctx, r.mapper, r.c.live, k); err != nil {
			return ctrl.Result{}, err
		}
		again.RequeueAfter = strimziInterval
	}
	what, others := standingOf(kafka, r.c.inTable(k), podSets)
	if what != leave {
		delete(r.told, k)
	}
	r.act(ctx, k, kafka, what, others)
	return again, nil
}

func (r *kafkas) act(ctx context.Context, k key, kafka *kafkav1.Kafka, what standing, others *obstacle) {
	switch what {
	case serve:
		r.serve(ctx, k, kafka)
	case leave:
		r.c.abandon(k.String(), false)
		r.tell(ctx, k, kafka, others)
	case letGo:
		if r.c.abandon(k.String(), true) {
			ctrl.LoggerFrom(ctx).Info("Letting go of the topics of a Kafka that is not annotated any more", "kafka", k.String())
			r.c.recorder.Eventf(kafka, nil, corev1.EventTypeNormal, reasonTopicsLetGo, "Reconcile",
				"The topics stay as they are in Kafka, and are not worked on any more")
		}
	case forget:
		if r.c.abandon(k.String(), false) {
			ctrl.LoggerFrom(ctx).Info("Forgetting the topics of a Kafka that is gone", "kafka", k.String())
		}
	}
}

func (r *kafkas) serve(ctx context.Context, k key, kafka *kafkav1.Kafka) {
	cluster, waits := clusterOf(kafka)
	l := r.c.serving(k.String())
	if l != nil {
		if was, _ := l.settings(); l.cluster.UID != kafka.UID {
			// Another Kafka of the same name: nothing that is known of the old one holds.
			r.c.abandon(k.String(), false)
			l = nil
		} else if waits != nil && waits.awaited && len(was.BootstrapServers) > 0 {
			// What the status told holds until it tells something else.
			return
		}
	}
	if l == nil {
		ctrl.LoggerFrom(ctx).Info("Working on the topics of a Kafka", "kafka", k.String())
	}
	if l = r.c.serve(cluster, waits); waits == nil && ready(kafka) && !l.link.connected() {
		l.doubt() // it may just have come up
	}
}

// tell says once who looks after the topics of a Kafka.
func (r *kafkas) tell(ctx context.Context, k key, kafka *kafkav1.Kafka, others *obstacle) {
	if r.told[k] == others.message {
		return
	}
	r.told[k] = others.message
	ctrl.LoggerFrom(ctx).Info("Leaving the topics of a Kafka to others", "kafka", k.String(), "reason", others.reason, "message", others.message)
	r.c.recorder.Eventf(kafka, nil, corev1.EventTypeWarning, others.reason, "Reconcile", "%s", others.message)
}

// kafka reads a Kafka; nil is one that does not exist.
func (r *kafkas) kafka(ctx context.Context, k key) (*kafkav1.Kafka, error) {
	kafka := &kafkav1.Kafka{}
	switch err := r.cached.Get(ctx, k, kafka); {
	case err == nil:
		return kafka, nil
	case apierrors.IsNotFound(err):
		return nil, nil
	default:
		return nil, fmt.Errorf("reading Kafka %s: %w", k, err)
	}
}

// inTable tells whether an entry of the table of clusters serves the topics of a
// Kafka.
func (c *Controller) inTable(k key) bool {
	return slices.ContainsFunc(c.opts.Clusters, func(cluster Cluster) bool { return cluster.serves(k.Namespace, k.Name) })
}
