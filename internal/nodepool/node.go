package nodepool

import "strconv"

// Node is one node of a Kafka cluster.
type Node struct {
	// ID of the node, unique in its cluster.
	ID int32
	// Pool is the name of its KafkaNodePool.
	Pool string
	// Pod is the name of its pod, of its ConfigMap and of what else it owns.
	Pod string
	// Broker and Controller are its roles.
	Broker, Controller bool
}

// PodName is that of a node's pod, <cluster>-<pool>-<node ID>, as Strimzi names
// it.
func PodName(cluster, pool string, id int32) string {
	return cluster + "-" + pool + "-" + strconv.Itoa(int(id))
}
