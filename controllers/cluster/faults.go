package cluster

import (
	kafkav1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/validation"
)

// faultsOf runs the rules of admission again, which may have been switched off
// when the resources were written, and adds what takes all resources together to
// see. While there is a fault no pod is touched.
func faultsOf(s *state) []string {
	// TLS needs certificates that nobody issues for nodes yet.
	opts := validation.Options{WithoutCertManager: true}
	pools := make([]kafkav1.KafkaNodePool, 0, len(s.pools))
	for _, p := range s.pools {
		pools = append(pools, *p)
	}
	var faults []string
	add := func(of string, r validation.Result) {
		for _, err := range r.Errors() {
			faults = append(faults, of+": "+err.Error())
		}
	}
	add("Kafka "+s.kafka.Name, validation.Kafka(s.kafka, nil, validation.KafkaFacts{Pools: pools, AllPools: true}, opts))
	var broker, controller bool
	for _, p := range s.pools {
		add("KafkaNodePool "+p.Name, validation.KafkaNodePool(p, nil, validation.PoolFacts{Kafka: s.kafka, Pools: pools, AllPools: true}, opts))
		broker = broker || hasRole(p, kafkav1.RoleBroker)
		controller = controller || hasRole(p, kafkav1.RoleController)
	}
	for _, missing := range []struct {
		role  string
		there bool
	}{{kafkav1.RoleBroker, broker}, {kafkav1.RoleController, controller}} {
		if !missing.there {
			faults = append(faults, "Kafka "+s.kafka.Name+": none of its node pools has the role "+missing.role+
				": apply a KafkaNodePool with that role and the label "+kafkav1.LabelCluster+": "+s.kafka.Name)
		}
	}
	return faults
}
