package validation

import (
	"fmt"
	"strconv"

	"k8s.io/apimachinery/pkg/util/validation/field"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
)

// factorOptions are broker options that hold a replication factor.
var factorOptions = []string{
	"default.replication.factor",
	"offsets.topic.replication.factor",
	"share.coordinator.state.topic.replication.factor",
	"transaction.state.log.replication.factor",
	"cruise.control.metrics.topic.replication.factor",
}

// brokersWanted is how many brokers pools ask for together. It is not known
// while there is no pool of brokers, or one that does not say.
func brokersWanted(pools []*apiv1.KafkaNodePool) (int64, bool) {
	var count int64
	for _, p := range pools {
		if !isBroker(p) {
			continue
		}
		n, ok := wantedReplicas(p)
		if !ok {
			return 0, false
		}
		count += min(n, maxNodes)
	}
	return count, count > 0
}

func joinKafkaFactor(j kafkaJoin) []Finding {
	pools := make([]*apiv1.KafkaNodePool, 0, len(j.all))
	for _, c := range j.all {
		pools = append(pools, c.pool)
	}
	brokers, ok := brokersWanted(pools)
	if !ok {
		return nil
	}
	return factorsAbove(brokers, j.kafka, func(option string, factor int64) Finding {
		return Finding{
			Path: kafkaConfigPath(option), Value: strconv.FormatInt(factor, 10),
			Message: fmt.Sprintf("the pools have %s, so no topic can have %s: lower it to %d or less, or add brokers",
				counted(brokers, "broker"), counted(factor, "replica"), brokers),
		}
	})
}

// joinPoolFactor blames the pool only for having fewer brokers than before.
func joinPoolFactor(j poolJoin) []Finding {
	if j.kafka == nil {
		return nil
	}
	brokers, ok := brokersWanted(withPool(j.facts.Pools, j.pool))
	if !ok {
		return nil
	}
	if j.old != nil {
		before, ok := brokersWanted(withPool(j.facts.Pools, j.old))
		if !ok || before <= brokers {
			return nil
		}
	}
	return factorsAbove(brokers, j.kafka, func(option string, factor int64) Finding {
		return Finding{
			Path: field.NewPath("spec", "replicas"), Value: strconv.FormatInt(poolCountWanted(j.pool), 10),
			Message: fmt.Sprintf("the pools would have %s, and Kafka %s asks for %s in %s: keep more brokers, or lower the option first",
				counted(brokers, "broker"), j.kafka.Name, counted(factor, "replica"), kafkaConfigPath(option)),
		}
	})
}

// factorsAbove finds the options of a Kafka that ask for more replicas than it has
// brokers; blame says where that is and what mends it.
func factorsAbove(brokers int64, k *apiv1.Kafka, blame func(option string, factor int64) Finding) []Finding {
	var found []Finding
	for _, option := range factorOptions {
		factor, ok := optionInt(k.Spec.Kafka.Config, option)
		if !ok || factor <= brokers {
			continue
		}
		f := blame(option, factor)
		f.Severity, f.Joining, f.Element = Refuse, true, option
		found = append(found, f)
	}
	return found
}

func poolCountWanted(p *apiv1.KafkaNodePool) int64 {
	n, _ := wantedReplicas(p)
	return n
}
