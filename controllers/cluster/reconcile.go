package cluster

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kafkav1 "github.com/sluice-kafka/sluice/api/v1"
)

// staleRetry is the pause after a write that met a newer state.
const staleRetry = time.Second

// recorder records Events; the manager's does.
type recorder interface {
	Eventf(regarding, related runtime.Object, eventtype, reason, action, note string, args ...any)
}

// reconciler works on one cluster at a time; on several side by side.
type reconciler struct {
	opts         Options
	cached, live gatherer
	writer       client.Client
	recorder     recorder
	admins       *admins
	memories     *memories
}

// outdated tells of a write that was refused since its object is newer than the
// one that was read, or gone.
func outdated(err error) bool { return apierrors.IsConflict(err) || apierrors.IsNotFound(err) }

// Reconcile takes one look at a cluster and does what it needs.
func (r *reconciler) Reconcile(ctx context.Context, k key) (ctrl.Result, error) {
	start := r.opts.Clock.Now()
	result, err := r.reconcile(ctx, k)
	if err != nil && outdated(err) {
		ctrl.LoggerFrom(ctx).V(1).Info("Something changed meanwhile: trying again", "kafka", k.String(), "error", err.Error())
		result, err = ctrl.Result{RequeueAfter: staleRetry}, nil
	}
	r.opts.Metrics.Reconciled(k.Namespace, k.Name, r.opts.Clock.Since(start), err)
	return result, err
}

func (r *reconciler) reconcile(ctx context.Context, k key) (ctrl.Result, error) {
	ctx = ctrl.LoggerInto(ctx, ctrl.LoggerFrom(ctx).WithValues("kafka", k.String()))
	kafka, err := r.cached.kafka(ctx, k)
	if err != nil {
		return ctrl.Result{}, err
	}
	if goesOn, err := r.standBack(ctx, k, kafka); !goesOn || err != nil {
		return ctrl.Result{}, err
	}
	s, err := r.cached.gather(ctx, kafka)
	if err != nil {
		return ctrl.Result{}, err
	}
	if len(s.podSets) > 0 {
		return r.standBackFromStrimzi(ctx, s)
	}
	if paused(kafka) {
		return ctrl.Result{}, r.sayPaused(ctx, s)
	}
	return r.turn(ctx, k, s)
}

// turn decides from the caches whether there is anything to be done, and before it
// does it once more from live reads: a cache that has not heard of a pod's end yet
// would have another one stopped.
func (r *reconciler) turn(ctx context.Context, k key, s *state) (ctrl.Result, error) {
	m := r.memories.of(k, s.kafka.UID)
	admin, err := r.admins.of(s)
	if err != nil {
		return ctrl.Result{}, err
	}
	t := &turn{
		reconciler: r, key: k, state: s, admin: admin, memory: m,
		seen: r.observe(ctx, admin, s.kafka.Status.ClusterID),
	}
	t.soon = m.sent.complete(&t.seen)
	t.plan = decide(s, t.seen, m.guard, r.opts)
	if t.writes() {
		kafka, err := r.live.kafka(ctx, k)
		if err != nil {
			return ctrl.Result{}, err
		}
		if kafka == nil || kafka.UID != s.kafka.UID || kafka.DeletionTimestamp != nil || !r.ours(kafka) || paused(kafka) {
			return ctrl.Result{RequeueAfter: staleRetry}, nil // the caches are about to hear of it
		}
		if t.state, err = r.live.gather(ctx, kafka); err != nil {
			return ctrl.Result{}, err
		}
		if len(t.podSets) > 0 {
			return r.standBackFromStrimzi(ctx, t.state)
		}
		t.plan = decide(t.state, t.seen, m.guard, r.opts)
		if err := t.identify(ctx); err != nil {
			return ctrl.Result{RequeueAfter: r.opts.WatchInterval}, err
		}
		t.plan = decide(t.state, t.seen, m.guard, r.opts)
		if t.objects, err = t.plan.changes(t.state); err != nil {
			return ctrl.Result{}, err
		}
	}
	m.guard = t.plan.guard.Memory
	err = t.apply(ctx)
	return ctrl.Result{RequeueAfter: t.lookAgain()}, err
}

// ours tells whether a Kafka was handed to this operator.
func (r *reconciler) ours(kafka *kafkav1.Kafka) bool {
	return kafka.Annotations[kafkav1.AnnotationSluiceManaged] == "true" && r.opts.Selector.Matches(labelsOf(kafka))
}

func paused(kafka *kafkav1.Kafka) bool {
	return kafka.Annotations[kafkav1.AnnotationPauseReconciliation] == "true"
}
