package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	kafkav1 "github.com/sluice-kafka/sluice/api/v1"
)

// standBack lets go of a cluster that is gone, is being deleted or is not handed to
// this operator: its pools are not held any more. It returns whether the cluster is
// ours.
func (r *reconciler) standBack(ctx context.Context, k key, kafka *kafkav1.Kafka) (bool, error) {
	if kafka != nil && kafka.DeletionTimestamp == nil && r.ours(kafka) {
		return true, nil
	}
	r.admins.close(k)
	r.memories.forget(k)
	r.opts.Metrics.Forget(k.Namespace, k.Name)
	pools, err := r.cached.pools(ctx, k)
	if err != nil {
		return false, err
	}
	pools = slices.DeleteFunc(pools, func(p *kafkav1.KafkaNodePool) bool {
		return !controllerutil.ContainsFinalizer(p, kafkav1.FinalizerNodePool)
	})
	if len(pools) == 0 {
		return false, nil
	}
	// A cache that has not heard of a new Kafka yet would let brokers go past the
	// guard.
	if kafka, err = r.live.kafka(ctx, k); err != nil {
		return false, err
	}
	if kafka != nil && kafka.DeletionTimestamp == nil && r.ours(kafka) {
		return false, nil // the cache is about to hear of it
	}
	var failed []error
	for _, p := range pools {
		ctrl.LoggerFrom(ctx).Info("Letting a pool go whose Kafka is gone or not managed", "pool", p.Name)
		changed := p.DeepCopy()
		controllerutil.RemoveFinalizer(changed, kafkav1.FinalizerNodePool)
		failed = append(failed, client.IgnoreNotFound(r.patchFinalizers(ctx, changed, p)))
	}
	return false, errors.Join(failed...)
}

// standBackFromStrimzi leaves a cluster to Strimzi, and says so once.
func (r *reconciler) standBackFromStrimzi(ctx context.Context, s *state) (ctrl.Result, error) {
	k := client.ObjectKeyFromObject(s.kafka)
	message := fmt.Sprintf("Strimzi runs this cluster from the StrimziPodSets %s: take the annotation %s off this Kafka, or have Strimzi let it go and delete them",
		strings.Join(s.podSets, ", "), kafkav1.AnnotationSluiceManaged)
	t := &turn{reconciler: r, state: s, key: k, memory: r.memories.of(k, s.kafka.UID)}
	t.tell(reasonStandingBack, message, "%s", message)
	err := t.sayOnly(ctx, condition(kafkav1.ConditionWarning, reasonStrimziRuns, message))
	return ctrl.Result{RequeueAfter: r.opts.LookInterval}, err
}

// sayPaused says that nothing is done for the time being.
func (r *reconciler) sayPaused(ctx context.Context, s *state) error {
	t := &turn{reconciler: r, state: s, key: client.ObjectKeyFromObject(s.kafka)}
	return t.sayOnly(ctx, condition(kafkav1.ConditionReconciliationPaused, "", ""))
}

// sayOnly writes one condition in place of all others, where it is not there.
func (t *turn) sayOnly(ctx context.Context, c kafkav1.Condition) error {
	before := t.kafka.Status.Conditions
	now := t.since(before, []kafkav1.Condition{c})
	if slices.Equal(before, now) {
		return nil
	}
	changed := t.kafka.DeepCopy()
	changed.Status.Conditions = now
	if err := t.patchStatus(ctx, changed, t.kafka); err != nil {
		return fmt.Errorf("writing the status of Kafka %s: %w", t.key, err)
	}
	return nil
}
