package cluster

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kafkav1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/nodepool"
)

// objectWrites is how many objects of Kubernetes are written at a time.
const objectWrites = 16

// errClusterIDLost says that nodes exist whose cluster's ID nobody knows.
var errClusterIDLost = errors.New("the cluster's ID is not known")

// identify gives a new cluster its ID, and one whose status was lost the ID that it
// has.
func (t *turn) identify(ctx context.Context) error {
	if t.kafka.Status.ClusterID != "" || len(t.plan.faults) > 0 {
		return nil
	}
	id := ""
	if seen, ok := t.seen.Registration.Get(); ok {
		id = seen.ClusterID
	}
	for _, p := range t.pools {
		if id == "" {
			id = p.Status.ClusterID
		}
	}
	if id == "" && len(t.pods) > 0 {
		return fmt.Errorf("%w: status.clusterId of Kafka %s is empty, pods of it exist and none of them answers (%v); "+
			"write the ID into the status, from meta.properties on any disk", errClusterIDLost, t.key, t.seen.Registration.Err())
	}
	if id == "" {
		id = newClusterID()
		ctrl.LoggerFrom(ctx).Info("Creating a Kafka cluster", "clusterId", id)
		t.event(t.kafka, nil, reasonCreated, "Creating the Kafka cluster %s", id)
	}
	changed := t.kafka.DeepCopy()
	changed.Status.ClusterID = id
	if err := t.patchStatus(ctx, changed, t.kafka); err != nil {
		return fmt.Errorf("writing the cluster's ID to Kafka %s: %w", t.key, err)
	}
	t.kafka = changed
	return nil
}

// newClusterID is 16 random bytes in the form of Kafka's org.apache.kafka.common.Uuid,
// which has none that begins with a dash: that would look like an option where it
// is given on a command line.
func newClusterID() string {
	for {
		var id [16]byte
		_, _ = rand.Read(id[:]) // it never fails (crypto/rand)
		if text := base64.RawURLEncoding.EncodeToString(id[:]); !strings.HasPrefix(text, "-") {
			return text
		}
	}
}

// patchStatus writes the difference between two states of an object, of which base
// was read. A newer one is left alone. What the API server made of it is in changed
// afterwards.
func (r *reconciler) patchStatus(ctx context.Context, changed, base client.Object) error {
	return r.writer.Status().Patch(ctx, changed, client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{}),
		client.FieldOwner(kafkav1.FieldManager))
}

// uncommitted are the pools whose status does not say what the plan says of their
// nodes.
func (t *turn) uncommitted() []*kafkav1.KafkaNodePool {
	var pools []*kafkav1.KafkaNodePool
	for _, p := range t.pools {
		c := t.plan.pools[p.Name]
		if !slices.Equal(p.Status.NodeIDs, c.nodeIDs) || !slices.Equal(p.Status.Roles, c.roles) || p.Status.ClusterID != t.kafka.Status.ClusterID {
			pools = append(pools, p)
		}
	}
	return pools
}

// commitNodes writes down which nodes a pool has, and their roles.
func (t *turn) commitNodes(ctx context.Context) error {
	for _, p := range t.uncommitted() {
		c := t.plan.pools[p.Name]
		changed := p.DeepCopy()
		changed.Status.NodeIDs, changed.Status.Roles, changed.Status.ClusterID = c.nodeIDs, c.roles, t.kafka.Status.ClusterID
		ctrl.LoggerFrom(ctx).Info("Writing down the nodes of a pool", "pool", p.Name, "nodeIds", c.nodeIDs, "before", p.Status.NodeIDs, "roles", c.roles)
		if err := t.patchStatus(ctx, changed, p); err != nil {
			return fmt.Errorf("writing the node IDs to KafkaNodePool %s/%s: %w", p.Namespace, p.Name, err)
		}
		t.replacePool(changed)
	}
	for _, v := range t.plan.departure.Back {
		if pool := t.plan.back[v.ID]; pool != "" {
			t.event(t.kafka, t.podNamed(nodepool.PodName(t.key.Name, pool, v.ID)), reasonPutBack, "Broker %d is put back: %s", v.ID, v.Reason)
		}
	}
	return nil
}

func (t *turn) replacePool(changed *kafkav1.KafkaNodePool) {
	for i, p := range t.pools {
		if p.Name == changed.Name {
			t.pools[i] = changed
		}
	}
}

// makeServices makes what gives pods their names.
func (t *turn) makeServices(ctx context.Context) error { return t.changeAll(ctx, t.objects.cluster) }

// makeBudget bounds how many pods may be evicted.
func (t *turn) makeBudget(ctx context.Context) error { return t.changeAll(ctx, t.objects.budget) }

// makeNodes makes what nodes lack, of several nodes side by side. A node that
// cannot be made hinders no other.
func (t *turn) makeNodes(ctx context.Context) error {
	for _, m := range t.plan.members {
		if m.err != nil {
			t.warn(reasonPodInvalid, "node %d: %v", m.ID, m.err)
		}
	}
	indexes := slices.Sorted(maps.Keys(t.objects.nodes))
	return inParallel(ctx, objectWrites, len(indexes), func(i int) error {
		return t.changeAll(ctx, t.objects.nodes[indexes[i]])
	})
}

// inParallel does n things, so many at a time, and returns what failed of them in
// their order.
func inParallel(ctx context.Context, atATime, n int, do func(int) error) error {
	failures := make([]error, n)
	workqueue.ParallelizeUntil(ctx, atATime, n, func(i int) { failures[i] = do(i) })
	return errors.Join(append(failures, ctx.Err())...)
}

// changeAll makes changes one after another, up to the first that fails.
func (t *turn) changeAll(ctx context.Context, changes []change) error {
	for _, c := range changes {
		if err := t.change(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

func (t *turn) change(ctx context.Context, c change) error {
	kind := strings.TrimPrefix(fmt.Sprintf("%T", c.object), "*")
	kind = kind[strings.LastIndex(kind, ".")+1:]
	ctrl.LoggerFrom(ctx).Info("Changing an object", "verb", c.verb, "kind", kind, "name", c.object.GetName(), "reason", c.why)
	var err error
	switch c.verb {
	case create:
		err = t.writer.Create(ctx, c.object, client.FieldOwner(kafkav1.FieldManager))
	case apply:
		err = t.applyObject(ctx, c.object)
	case resize:
		err = t.writer.Patch(ctx, c.object, client.MergeFromWithOptions(c.live, client.MergeFromWithOptimisticLock{}), client.FieldOwner(kafkav1.FieldManager))
	case remove:
		err = t.deleteObject(ctx, c.object)
	}
	if err != nil {
		return fmt.Errorf("%s of %s %s/%s: %w", c.verb, kind, c.object.GetNamespace(), c.object.GetName(), err)
	}
	return nil
}

// applyObject writes an object by server-side apply: what others added to it stays,
// and what the operator does not want any more goes.
func (t *turn) applyObject(ctx context.Context, o client.Object) error {
	fields, err := unstructuredOf(t.writer.Scheme(), o)
	if err != nil {
		return err
	}
	return t.writer.Apply(ctx, client.ApplyConfigurationFromUnstructured(&unstructured.Unstructured{Object: fields}),
		client.FieldOwner(kafkav1.FieldManager), client.ForceOwnership)
}

// deleteObject deletes the very object that was seen; one that is gone is as good.
func (t *turn) deleteObject(ctx context.Context, o client.Object) error {
	uid := o.GetUID()
	return client.IgnoreNotFound(t.writer.Delete(ctx, o, client.Preconditions{UID: &uid}))
}
