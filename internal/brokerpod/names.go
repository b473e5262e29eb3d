package brokerpod

import (
	"maps"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
)

// Keys of a node's ConfigMap.
const (
	// KeyServerConfig holds the configuration file.
	KeyServerConfig = "server.config"
	// KeyMetadataVersion holds the metadata version that new log directories are
	// formatted at.
	KeyMetadataVersion = "metadata.version"
	// KeyRack holds a broker's rack, where the Kafka has spec.kafka.rack. Until it
	// is there the kubelet holds the container back.
	KeyRack = "rack"
	// keyLogging holds the configuration of Kafka's logs.
	keyLogging = "log4j2.properties"
)

// containerName is that of the container that runs Kafka.
const containerName = "kafka"

// BootstrapServiceName is that of the service which leads clients to any broker,
// as Strimzi names it.
func BootstrapServiceName(cluster string) string { return cluster + "-kafka-bootstrap" }

// componentName is the value of LabelName for a cluster's nodes, as Strimzi names
// it.
func componentName(cluster string) string { return cluster + "-kafka" }

// podLabels select all pods of a cluster, and nothing else.
func podLabels(cluster string) map[string]string {
	return map[string]string{
		apiv1.LabelCluster: cluster,
		apiv1.LabelKind:    apiv1.KindKafka,
		apiv1.LabelName:    componentName(cluster),
	}
}

// clusterLabels are those of every object that is made for a cluster. None of
// them depends on the version of the operator, which would restart every node
// when the operator is upgraded.
func clusterLabels(cluster string) map[string]string {
	return merge(podLabels(cluster), map[string]string{
		apiv1.LabelComponentType:       apiv1.ComponentKafka,
		"app.kubernetes.io/name":       apiv1.ComponentKafka,
		"app.kubernetes.io/instance":   cluster,
		"app.kubernetes.io/part-of":    cluster,
		"app.kubernetes.io/managed-by": apiv1.FieldManager,
	})
}

// nodeLabels are those of what is made for one node: they do not change while the
// node lives.
func nodeLabels(in Input) map[string]string {
	return merge(clusterLabels(in.Kafka.Name), map[string]string{
		apiv1.LabelPoolName: in.Node.Pool,
		apiv1.LabelPodName:  in.Node.Pod,
	})
}

// roleLabels tell a node's roles.
func roleLabels(in Input) map[string]string {
	return map[string]string{
		apiv1.LabelBrokerRole:     strconv.FormatBool(in.Node.Broker),
		apiv1.LabelControllerRole: strconv.FormatBool(in.Node.Controller),
	}
}

// owner is the Kafka: were it the pool, deleting that would collect all brokers
// past the guard of scale-down. It does not block its owner's deletion, which
// would take the right to update the owner's finalizers.
func owner(kafka *apiv1.Kafka) metav1.OwnerReference {
	return metav1.OwnerReference{
		APIVersion: apiv1.GroupVersion.String(),
		Kind:       apiv1.KindKafka,
		Name:       kafka.Name,
		UID:        kafka.UID,
		Controller: ptr.To(true),
	}
}

// merge returns all entries; the last map that has a key wins.
func merge(all ...map[string]string) map[string]string {
	out := map[string]string{}
	for _, m := range all {
		maps.Copy(out, m)
	}
	return out
}
