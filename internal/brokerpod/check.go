package brokerpod

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/nodepool"
)

// CheckKafka returns what of a Kafka Kubernetes would not take: the parts that
// are kept as they were written, and quantities. Faults that take more than one
// field to see are not among them.
func CheckKafka(kafka *apiv1.Kafka) []Fault {
	pool := &apiv1.KafkaNodePool{}
	pool.Spec.Storage = &apiv1.Storage{SingleVolume: apiv1.SingleVolume{Type: apiv1.StoragePersistentClaim, Size: "1Gi"}}
	f := &faults{}
	checkNode(specimen(kafka, pool), f)
	services(kafka, f)
	disruptionBudget(kafka, 0, f)
	return f.only(apiv1.KindKafka)
}

// CheckPool is CheckKafka for a pool.
func CheckPool(pool *apiv1.KafkaNodePool) []Fault {
	f := &faults{}
	checkNode(specimen(&apiv1.Kafka{}, pool), f)
	return f.only(apiv1.KindKafkaNodePool)
}

func specimen(kafka *apiv1.Kafka, pool *apiv1.KafkaNodePool) Input {
	return Input{
		Kafka: kafka, Pool: pool,
		Node: nodepool.Node{Pool: pool.Name, Pod: nodepool.PodName(kafka.Name, pool.Name, 0), Broker: true},
	}
}

// checkNode makes the parts of a node that are read from what users wrote.
func checkNode(in Input, f *faults) {
	container(in, f)
	plainVolumes(in, f)
	applyTemplate(in, &corev1.PodSpec{}, f)
	claims(in, f)
}

func (f *faults) only(kind string) []Fault {
	return slices.DeleteFunc(f.all, func(one Fault) bool { return one.Kind != kind })
}
