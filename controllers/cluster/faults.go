package cluster

import (
	"slices"

	kafkav1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/validation"
)

// ruleFactor is about a replication factor that is above the number of brokers:
// topics cannot be made at it then, and the nodes run all the same.
const ruleFactor = "join-replication-factor"

// faultsOf runs the rules of admission again, which may have been switched off
// when the resources were written, and adds what takes all resources together to
// see. While there is a fault no pod is touched.
//
// The resources are judged as if they were new and all of them there. What the
// cluster has come to is left out: the rules about that are about changes, which
// the guard sees to here.
//
// missing are the roles that no pool has. They are faults, too; but of a cluster
// that is being set up the pools come after their Kafka.
func faultsOf(s *state) (faults, missing []string) {
	kafka := s.kafka.DeepCopy()
	kafka.Status = kafkav1.KafkaStatus{}
	pools := make([]kafkav1.KafkaNodePool, 0, len(s.pools))
	for _, p := range s.pools {
		pools = append(pools, *p)
	}
	add := func(of string, r validation.Result) {
		r.Refusals = slices.DeleteFunc(r.Refusals, func(f validation.Finding) bool { return f.Rule == ruleFactor })
		for _, err := range r.Errors() {
			faults = append(faults, of+": "+err.Error())
		}
	}
	// TLS needs certificates that nobody issues for nodes yet.
	opts := validation.Options{WithoutCertManager: true}
	add("Kafka "+s.kafka.Name, validation.Kafka(kafka, nil, validation.KafkaFacts{Pools: pools, AllPools: true, OneSet: true}, opts))
	for _, p := range s.pools {
		facts := validation.PoolFacts{Kafka: kafka, Pools: pools, AllPools: true, OneSet: true}
		add("KafkaNodePool "+p.Name, validation.KafkaNodePool(p, nil, facts, opts))
	}
	for _, role := range []string{kafkav1.RoleBroker, kafkav1.RoleController} {
		if !slices.ContainsFunc(s.pools, func(p *kafkav1.KafkaNodePool) bool { return hasRole(p, role) }) {
			missing = append(missing, "Kafka "+s.kafka.Name+": none of its node pools has the role "+role+
				": apply a KafkaNodePool with that role and the label "+kafkav1.LabelCluster+": "+s.kafka.Name)
		}
	}
	return faults, missing
}
