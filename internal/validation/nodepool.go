package validation

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
)

// PoolFacts is what the rules need to know of the other side of a pool.
type PoolFacts struct {
	// Kafka that the pool belongs to; nil where it is not known.
	Kafka *apiv1.Kafka
	// OneSet is as in KafkaFacts.
	OneSet bool
}

var poolRules = []rule[*apiv1.KafkaNodePool]{
	{"pool-cluster-label-missing", poolClusterLabel},
}

// KafkaNodePool judges a pool; old is nil on creation. Joining rules refuse only
// where the pool's Kafka is Ready at its generation, or in one set.
func KafkaNodePool(pool, old *apiv1.KafkaNodePool, facts PoolFacts, _ Options) Result {
	settled := settledKafka(facts.Kafka) || facts.OneSet
	return judge(pool, old, old != nil, func(pool, _ *apiv1.KafkaNodePool) []Finding {
		found := run(poolRules, pool)
		found = append(found, run(podRules, podsOfPool(pool, facts))...)
		found = append(found, run(joinPoolRules, joinOfPool(pool, facts))...)
		return settle(found, settled)
	})
}

func poolClusterLabel(pool *apiv1.KafkaNodePool) []Finding {
	if pool.Labels[apiv1.LabelCluster] != "" {
		return nil
	}
	return []Finding{{
		Severity: Refuse, Path: field.NewPath("metadata", "labels").Key(apiv1.LabelCluster),
		Message: "a pool without this label belongs to no cluster and gets no nodes: set it to the name of the Kafka",
	}}
}
