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
	// ControlPlaneListener and ReplicationListener are the listeners' names in
	// Kafka.
	ControlPlaneListener = "CONTROLPLANE-9090"
	ReplicationListener  = "REPLICATION-9091"
)

// ListenerName is the name in Kafka of a listener of the user's.
func ListenerName(l apiv1.KafkaListener) string {
	return strings.ToUpper(l.Name) + "-" + strconv.FormatInt(l.Port, 10)
}

// HeadlessService is the name of the service that gives each pod its DNS name.
func HeadlessService(cluster string) string { return cluster + "-kafka-brokers" }

// PodHost is the DNS name of a pod of a cluster.
func PodHost(cluster, namespace, pod string) string {
	return pod + "." + HeadlessService(cluster) + "." + namespace + ".svc"
}
