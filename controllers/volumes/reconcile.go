package volumes

import (
	"context"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sluice-kafka/sluice/internal/volumedrift"
)

// staleRetry is the pause after a write that met a newer state.
const staleRetry = time.Second

// reconciler looks at one cluster at a time.
type reconciler struct {
	cached, live gatherer
	writer       client.Client
	recorder     recorder
	said         *memory
}

// Reconcile decides from the caches whether there is anything to do, and before
// it does it once more from live reads: a cache that has not heard of a restart
// yet would begin another.
func (r *reconciler) Reconcile(ctx context.Context, k key) (ctrl.Result, error) {
	log := ctrl.LoggerFrom(ctx).WithValues("component", k.component, "namespace", k.namespace, "name", k.name)
	ctx = ctrl.LoggerInto(ctx, log)
	seen, err := r.cached.gather(ctx, k)
	if err != nil {
		return ctrl.Result{}, err
	}
	decision := volumedrift.Decide(seen)
	if decision.Writes() {
		if seen, err = r.live.gather(ctx, k); err != nil {
			return ctrl.Result{}, err
		}
		decision = volumedrift.Decide(seen)
	}
	log.V(1).Info("Decided on the restart of pods", "action", decision.Action, "reason", decision.Reason)
	if !decision.Undecided {
		r.tell(k, seen, decision.Notes)
	}
	if err := r.apply(ctx, k, seen, decision); err != nil {
		if outdated(err) {
			log.V(1).Info("Something changed meanwhile: trying again", "error", err.Error())
			return ctrl.Result{RequeueAfter: staleRetry}, nil
		}
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, nil
}
