package validation

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
)

var poolDeletionRules = []rule[poolInput]{
	{"pool-deletion-controllers", poolDeletionControllers},
	{"pool-deletion-replicas", poolDeletionReplicas},
}

// KafkaNodePoolDeletion judges the deletion of a pool. With its Kafka gone, or
// going, the whole cluster goes, and nothing is refused.
func KafkaNodePoolDeletion(pool *apiv1.KafkaNodePool, facts PoolFacts) Result {
	if facts.Kafka == nil || facts.Kafka.DeletionTimestamp != nil {
		return Result{}
	}
	return judge(pool, nil, false, func(pool, _ *apiv1.KafkaNodePool) []Finding {
		return run(poolDeletionRules, poolInput{pool: pool, facts: facts})
	})
}

func poolDeletionControllers(in poolInput) []Finding {
	controllers := isController(in.pool) || slices.Contains(in.pool.Status.Roles, apiv1.RoleController)
	replicas, _ := wantedReplicas(in.pool)
	if in.facts.Kafka.Status.ClusterID == "" || !controllers || replicas == 0 && len(in.pool.Status.NodeIDs) == 0 {
		return nil
	}
	return []Finding{{
		Severity: Refuse, Path: field.NewPath("metadata", "name"), Value: in.pool.Name,
		Message: fmt.Sprintf("the pool has controllers of Kafka %s, which runs and cannot do without them: keep it; "+
			"to remove the whole cluster delete the Kafka first", in.facts.Kafka.Name),
	}}
}

func poolDeletionReplicas(in poolInput) []Finding {
	if in.facts.Seen == nil {
		return nil
	}
	var brokers []int32
	var replicas int64
	for _, id := range nodeIDs(in.pool.Status.NodeIDs) {
		b, _ := in.facts.Seen.Broker(id)
		if held, ok := b.Held(); ok && held > 0 {
			brokers, replicas = append(brokers, id), replicas+held
		}
	}
	if replicas <= 0 {
		return nil
	}
	return []Finding{{
		Severity: Refuse, Path: field.NewPath("metadata", "name"), Value: in.pool.Name,
		Message: fmt.Sprintf("%s of this pool hold %s, which would be lost: set spec.replicas to 0 and delete the pool once its brokers are gone; "+
			"to remove the whole cluster delete the Kafka first", brokerList(brokers), counted(replicas, "replica")),
	}}
}
