package cluster

import (
	"context"
	"errors"
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
func outdated(err error) bool {
	return apierrors.IsConflict(err) || apierrors.IsNotFound(err) || errors.Is(err, errNotOurs)
}

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
		if err := t.lookLive(ctx); err != nil {
			return ctrl.Result{}, err
		}
		if len(t.podSets) > 0 {
			return r.standBackFromStrimzi(ctx, t.state)
		}
	}
	m.guard = t.plan.guard.Memory
	err = t.apply(ctx)
	return ctrl.Result{RequeueAfter: t.lookAgain()}, err
}

// errNotOurs says that a Kafka has gone, or changed hands, since it was cached.
var errNotOurs = errors.New("the Kafka is gone, paused or not managed any more, and the cache has not heard of it yet")

// lookLive makes the plan anew, from what the API server has.
func (t *turn) lookLive(ctx context.Context) error {
	kafka, err := t.live.kafka(ctx, t.key)
	if err != nil {
		return err
	}
	if kafka == nil || kafka.UID != t.kafka.UID || kafka.DeletionTimestamp != nil || !t.ours(kafka) || paused(kafka) {
		return errNotOurs
	}
	if t.state, err = t.live.gather(ctx, kafka); err != nil || len(t.podSets) > 0 {
		return err
	}
	t.plan = decide(t.state, t.seen, t.memory.guard, t.opts)
	if t.kafka.Status.ClusterID == "" {
		switch err := t.identify(ctx); {
		case errors.Is(err, errClusterIDLost):
			t.plan.faults, t.soon = append(t.plan.faults, err.Error()), true
			return nil
		case err != nil:
			return err
		}
		t.plan = decide(t.state, t.seen, t.memory.guard, t.opts)
	}
	t.objects, err = t.plan.changes(t.state)
	return err
}

// ours tells whether a Kafka was handed to this operator.
func (r *reconciler) ours(kafka *kafkav1.Kafka) bool {
	return kafka.HandedOver() && r.opts.Selector.Matches(labelsOf(kafka))
}

func paused(kafka *kafkav1.Kafka) bool {
	return kafka.Annotations[kafkav1.AnnotationPauseReconciliation] == "true"
}
