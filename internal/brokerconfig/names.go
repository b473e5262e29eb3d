package brokerconfig

import (
	"strconv"
	"strings"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
)

// Ports and names of the listeners that every cluster has: the numbers and names
// are Strimzi's, so that what knows them finds them here too.
const (
	// ControlPlanePort is where controllers listen.
	ControlPlanePort = 9090
	// ReplicationPort is where brokers listen for each other and for operators.
	ReplicationPort = 9091
	// controlPlaneListener and replicationListener are the listeners' names in
	// Kafka.
	controlPlaneListener = "CONTROLPLANE-9090"
	replicationListener  = "REPLICATION-9091"
)

// Listeners returns those of the user's listeners that brokers open, in the
// order in which they are declared. One that is encrypted, authenticates its
// clients or is reached from outside Kubernetes is not among them: opened as a
// plain one it would let in whom it is to keep out.
func Listeners(k *apiv1.Kafka) []apiv1.KafkaListener {
	var open []apiv1.KafkaListener
	for _, l := range k.Spec.Kafka.Listeners {
		if l.Type == apiv1.ListenerInternal && !l.TLS && l.Authentication == nil {
			open = append(open, l)
		}
	}
	return open
}

// listenerName is the name in Kafka of a listener of the user's.
func listenerName(l apiv1.KafkaListener) string {
	return strings.ToUpper(l.Name) + "-" + strconv.FormatInt(l.Port, 10)
}

// listenerPrefix begins the options of one listener (ListenerName.configPrefix in
// Kafka).
func listenerPrefix(name string) string { return "listener.name." + strings.ToLower(name) + "." }

// HeadlessService is the name of the service that gives each pod its DNS name.
func HeadlessService(cluster string) string { return cluster + "-kafka-brokers" }

// PodHost is the DNS name of a pod of a cluster.
func PodHost(cluster, namespace, pod string) string {
	return pod + "." + HeadlessService(cluster) + "." + namespace + ".svc"
}
