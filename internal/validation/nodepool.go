package validation

import (
	"slices"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/facts"
	"github.com/sluice-kafka/sluice/internal/nodepool"
)

// PoolFacts is what the rules need to know of the other side of a pool.
type PoolFacts struct {
	// Kafka that the pool belongs to; nil where it is not known.
	Kafka *apiv1.Kafka
	// OneSet is as in KafkaFacts.
	OneSet bool
	// Pools of the same Kafka that are known, in any order; the judged one may be
	// among them as it is stored.
	Pools []apiv1.KafkaNodePool
	// AllPools tells that no pool of that Kafka is missing in Pools.
	AllPools bool
	// Seen is what the operator saw of the running cluster; nil where that is not
	// known.
	Seen *facts.Facts
}

// poolInput is what a pool rule sees. Old is nil on creation.
type poolInput struct {
	pool, old *apiv1.KafkaNodePool
	facts     PoolFacts
}

var poolRules = []rule[poolInput]{
	{"pool-cluster-label-missing", poolClusterLabel},
	{"pool-cluster-changed", poolClusterChanged},
	{"pool-role-missing", poolRoleMissing},
	{"pool-role-unknown", poolRoleUnknown},
	{"pool-replicas-negative", poolReplicasNegative},
	{"pool-node-ids-unreadable", poolNodeIDs},
	{"pool-storage-type-unknown", poolStorageType},
	{"pool-volume-id-duplicate", poolVolumeIDs},
	{"pool-storage-type-changed", poolStorageTypeChanged},
	{"pool-storage-shrinks", poolStorageShrinks},
	{"pool-volume-holds-replicas", poolVolumeHoldsReplicas},
	{"pool-scale-down", poolScaleDown},
	{"pool-broker-role-removed", poolBrokerRoleRemoved},
	{"pool-scale-down-never-ends", poolScaleDownNeverEnds},
	{"pool-controllers-changed", poolControllersChanged},
	{"pool-controllers-even", poolControllersEven},
	{"pool-field-without-effect", poolFieldsWithoutEffect},
	{"pool-field-unreadable", poolFieldsUnreadable},
}

// KafkaNodePool judges a pool; old is nil on creation. Joining rules refuse only
// where the pool's Kafka is Ready at its generation, or in one set.
func KafkaNodePool(pool, old *apiv1.KafkaNodePool, facts PoolFacts, _ Options) Result {
	settled := Settled(facts.Kafka) || facts.OneSet
	return judge(pool, old, old != nil, func(pool, old *apiv1.KafkaNodePool) []Finding {
		found := run(poolRules, poolInput{pool: pool, old: old, facts: facts})
		found = append(found, run(podRules, podsOfPool(pool, facts))...)
		found = append(found, run(joinPoolRules, joinOfPool(pool, old, facts))...)
		return settle(found, settled)
	})
}

// observed returns the status that counts: a new object carries none of its own
// through the API server.
func (in poolInput) observed() apiv1.KafkaNodePoolStatus {
	if in.old != nil {
		return in.old.Status
	}
	return in.pool.Status
}

// wasBroker tells whether the pool's nodes are brokers until this update.
func (in poolInput) wasBroker() bool {
	return in.old != nil && isBroker(in.old)
}

func isBroker(p *apiv1.KafkaNodePool) bool { return slices.Contains(p.Spec.Roles, apiv1.RoleBroker) }

func isController(p *apiv1.KafkaNodePool) bool {
	return slices.Contains(p.Spec.Roles, apiv1.RoleController)
}

// wantedReplicas is how many nodes a pool is to have; not known where it does
// not say.
func wantedReplicas(p *apiv1.KafkaNodePool) (int64, bool) {
	if p.Spec.Replicas == nil {
		return 0, false
	}
	return max(*p.Spec.Replicas, 0), true
}

// withPool returns the pools of a Kafka with the judged one in place of its
// stored self, without those that are being deleted.
func withPool(pools []apiv1.KafkaNodePool, pool *apiv1.KafkaNodePool) []*apiv1.KafkaNodePool {
	all := []*apiv1.KafkaNodePool{pool}
	for i := range pools {
		if p := &pools[i]; p.Name != pool.Name && p.DeletionTimestamp == nil {
			all = append(all, p)
		}
	}
	return all
}

// assigned gives the nodes of pools the IDs that the operator would give them.
// was tells which of the pools, by name, have been brokers until now.
func assigned(pools []*apiv1.KafkaNodePool, was func(*apiv1.KafkaNodePool) bool, seen *facts.Facts) map[string]nodepool.Assignment {
	list := make([]nodepool.Pool, 0, len(pools))
	for _, p := range pools {
		replicas, ok := wantedReplicas(p)
		current := nodeIDs(p.Status.NodeIDs)
		if !ok {
			replicas = int64(len(current))
		}
		// A list that does not parse is refused elsewhere and counts as none.
		next, _ := nodepool.ParseIDs(p.Annotations[apiv1.AnnotationNextNodeIDs])
		remove, _ := nodepool.ParseIDs(p.Annotations[apiv1.AnnotationRemoveNodeIDs])
		list = append(list, nodepool.Pool{
			Name: p.Name, Replicas: min(replicas, max(maxNodes, int64(len(current)))), Current: current,
			Next: next, Remove: remove, Broker: isBroker(p), WasBroker: was(p),
		})
	}
	var registered []int32
	if seen != nil {
		for _, b := range seen.Brokers {
			registered = append(registered, b.ID)
		}
	}
	return nodepool.Assign(list, registered)
}

// nodeIDs leaves out what cannot be the ID of a node.
func nodeIDs(ids []int64) []int32 {
	out := make([]int32, 0, len(ids))
	for _, id := range ids {
		if id >= 0 && id == int64(int32(id)) {
			out = append(out, int32(id))
		}
	}
	return out
}
