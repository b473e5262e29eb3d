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
	var found []Finding
	for _, key := range factorOptions {
		factor, ok := optionInt(j.kafka.Spec.Kafka.Config, key)
		if !ok || factor <= brokers {
			continue
		}
		found = append(found, Finding{
			Severity: Refuse, Joining: true, Path: kafkaConfigPath(key), Element: key, Value: strconv.FormatInt(factor, 10),
			Message: fmt.Sprintf("the pools have %s, so no topic can have %s: lower it to %d or less, or add brokers",
				counted(brokers, "broker"), counted(factor, "replica"), brokers),
		})
	}
	return found
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
	var found []Finding
	for _, key := range factorOptions {
		factor, ok := optionInt(j.kafka.Spec.Kafka.Config, key)
		if !ok || factor <= brokers {
			continue
		}
		found = append(found, Finding{
			Severity: Refuse, Joining: true, Path: field.NewPath("spec", "replicas"), Element: key, Value: strconv.FormatInt(poolCountWanted(j.pool), 10),
			Message: fmt.Sprintf("the pools would have %s, and Kafka %s asks for %s in %s: keep more brokers, or lower the option first",
				counted(brokers, "broker"), j.kafka.Name, counted(factor, "replica"), kafkaConfigPath(key)),
		})
	}
	return found
}

func poolCountWanted(p *apiv1.KafkaNodePool) int64 {
	n, _ := wantedReplicas(p)
	return n
}
