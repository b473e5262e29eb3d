package cluster

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	kafkav1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/brokerconfig"
	"github.com/sluice-kafka/sluice/internal/kafka"
	"github.com/sluice-kafka/sluice/internal/nodepool"
)

// poolsToKeep are those without the finalizer that are not being deleted.
func (t *turn) poolsToKeep() []*kafkav1.KafkaNodePool {
	var pools []*kafkav1.KafkaNodePool
	for _, p := range t.pools {
		if p.DeletionTimestamp == nil && !controllerutil.ContainsFinalizer(p, kafkav1.FinalizerNodePool) {
			pools = append(pools, p)
		}
	}
	return pools
}

// poolsToRelease are those that are being deleted and have nothing left.
func (t *turn) poolsToRelease() []*kafkav1.KafkaNodePool {
	var pools []*kafkav1.KafkaNodePool
	for _, n := range t.plan.layout.pools {
		p := t.pool(n.pool.Name)
		if p.DeletionTimestamp != nil && len(n.Current) == 0 && len(t.tracesOf(p)) == 0 && controllerutil.ContainsFinalizer(p, kafkav1.FinalizerNodePool) {
			pools = append(pools, p)
		}
	}
	return pools
}

func (t *turn) keepPools(ctx context.Context) error {
	for _, p := range t.poolsToKeep() {
		changed := p.DeepCopy()
		controllerutil.AddFinalizer(changed, kafkav1.FinalizerNodePool)
		if err := t.patchFinalizers(ctx, changed, p); err != nil {
			return err
		}
		t.replacePool(changed)
	}
	return nil
}

func (t *turn) releasePools(ctx context.Context) error {
	for _, p := range t.poolsToRelease() {
		ctrl.LoggerFrom(ctx).Info("Letting a pool go whose nodes are gone", "pool", p.Name)
		changed := p.DeepCopy()
		controllerutil.RemoveFinalizer(changed, kafkav1.FinalizerNodePool)
		if err := client.IgnoreNotFound(t.patchFinalizers(ctx, changed, p)); err != nil {
			return err
		}
	}
	return nil
}

func (r *reconciler) patchFinalizers(ctx context.Context, changed, base *kafkav1.KafkaNodePool) error {
	err := r.writer.Patch(ctx, changed, client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{}), client.FieldOwner(kafkav1.FieldManager))
	if err != nil {
		return fmt.Errorf("writing the finalizer of KafkaNodePool %s/%s: %w", base.Namespace, base.Name, err)
	}
	return nil
}

// rebalance tells the rebalancer, once nothing is to be waited for before.
func (t *turn) rebalance(ctx context.Context) error {
	return t.opts.Rebalancer.Rebalance(ctx, Scaling{
		Namespace: t.key.Namespace, Name: t.key.Name, Drain: t.plan.guard.Drain, Added: t.plan.added,
	})
}

// removeNodes deletes the pods of nodes that no status names any more. Brokers go
// before controllers: one that outlives them waits for them at its shutdown.
func (t *turn) removeNodes(ctx context.Context) error {
	t.tellOfEmpty()
	nodes := slices.Clone(t.plan.removed)
	slices.SortStableFunc(nodes, func(a, b nodepool.Node) int {
		switch {
		case a.Controller == b.Controller:
			return 0
		case b.Controller:
			return -1
		}
		return 1
	})
	var failed []error
	for _, n := range nodes {
		pod := t.pods[n.Pod]
		if !isLive(pod) {
			continue
		}
		ctrl.LoggerFrom(ctx).Info("Removing a node", "pod", pod.Name, "node", n.ID)
		if err := t.deleteObject(ctx, pod); err != nil {
			failed = append(failed, fmt.Errorf("removing node %d: deleting pod %s/%s: %w", n.ID, pod.Namespace, pod.Name, err))
			continue
		}
		t.stopped = true
		if n.Broker {
			t.event(t.kafka, pod, reasonRemoved, "Broker %d is removed: its pod %s is deleted", n.ID, pod.Name)
		}
	}
	return errors.Join(failed...)
}

// tellOfEmpty tells that brokers which were held go now, before it is told that they
// went.
func (t *turn) tellOfEmpty() {
	var ids []string
	for _, n := range t.plan.removed {
		if n.Broker {
			ids = append(ids, fmt.Sprint(n.ID))
		}
	}
	// Where the check is skipped nobody knows what they hold.
	if len(ids) > 0 && len(t.plan.guard.Cordon) > 0 && t.memory.told[string(reasonHeld)] != "" {
		t.event(t.kafka, nil, reasonDrained, "Brokers %s hold no replicas any more", strings.Join(ids, ", "))
	}
}

// seeOff does what is left to do for nodes whose pods are gone: what was configured
// for a broker is cleared while its ID is registered, after which nothing can clear
// it; then the cluster forgets the ID; then its objects go.
func (t *turn) seeOff(ctx context.Context) error {
	gone := map[int32]bool{}
	for _, id := range t.plan.departure.Gone {
		gone[id] = true
	}
	for id, l := range t.plan.layout.leaving {
		if !l.broker {
			gone[id] = true
		}
	}
	var failed []error
	for _, id := range t.plan.departure.Unregister {
		if err := t.unregister(ctx, id); err != nil {
			failed = append(failed, err)
			continue
		}
		gone[id] = true
	}
	for _, id := range slices.Sorted(maps.Keys(gone)) {
		if err := t.deleteTraces(ctx, t.plan.layout.leaving[id]); err != nil {
			failed = append(failed, err)
		}
	}
	t.warnOfStrays()
	return errors.Join(failed...)
}

func (t *turn) unregister(ctx context.Context, id int32) error {
	if t.admin == nil {
		return nil
	}
	options := brokerconfig.Leftovers(t.kafka, t.plan.versions.running, id, t.liveConfig())
	ctrl.LoggerFrom(ctx).Info("Unregistering a broker", "broker", id, "clearing", len(options))
	err := t.admin.ClearBrokerConfig(ctx, id, options)
	_, refused := errors.AsType[*kafka.RefusedOptionsError](err)
	switch {
	case errors.Is(err, kafka.ErrBrokerNotRegistered):
		return nil // by an operator before this one, and the broker that was asked has not heard of it
	case err == nil:
	case refused:
		t.warn(reasonInvalidConfig, "some of what was configured for broker %d stays, and would be configured for the next one with this ID: %v", id, err)
	default:
		t.soon = true
		return fmt.Errorf("clearing the configuration of broker %d before it is unregistered: %w", id, err)
	}
	if err := t.admin.UnregisterBroker(ctx, id); err != nil {
		t.soon = true
		return fmt.Errorf("unregistering broker %d: %w", id, err)
	}
	t.memory.sent.leave(id, t.opts.Clock.Now())
	t.opts.Metrics.Unregistered(t.key.Namespace, t.key.Name)
	t.event(t.kafka, t.podNamed(nodepool.PodName(t.key.Name, t.plan.layout.leaving[id].pool, id)), reasonUnregistered, "Broker %d is unregistered", id)
	return nil
}

// deleteTraces deletes what goes with a node whose pod is gone.
func (t *turn) deleteTraces(ctx context.Context, l leaver) error {
	pool := t.pool(l.pool)
	if l.staysController || pool == nil {
		return nil
	}
	pod := nodepool.PodName(t.key.Name, l.pool, l.id)
	if t.pods[pod] != nil {
		return nil
	}
	if cm := t.configMaps[pod]; cm != nil {
		if err := t.change(ctx, change{verb: remove, object: cm, why: "its node is gone"}); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(t.claims)) {
		claim := t.claims[name]
		if !t.goesWith(claim, l) || claim.DeletionTimestamp != nil {
			continue
		}
		if err := t.change(ctx, change{verb: remove, object: claim, why: "its node is gone"}); err != nil {
			return err
		}
	}
	return nil
}

// goesWith tells whether a claim is of this node and is deleted with it.
func (t *turn) goesWith(claim *corev1.PersistentVolumeClaim, l leaver) bool {
	id, ok := nodeIDOf(claim, t.key.Name, l.pool)
	return ok && id == l.id && claim.Labels[kafkav1.LabelPoolName] == l.pool && t.goesWithNode(claim)
}

// warnOfStrays names brokers that hold replicas and that no pool has.
func (t *turn) warnOfStrays() {
	for _, v := range t.plan.departure.Back {
		if t.plan.back[v.ID] != "" {
			continue
		}
		t.warn(reasonStrayBroker, "broker %d is stopped, belongs to no node pool and is not unregistered: %s; move its replicas away, "+
			"or have a pool take its ID with the annotation %s", v.ID, v.Reason, kafkav1.AnnotationNextNodeIDs)
	}
}
