package brokerpod

// Keys of a node's ConfigMap.
const (
	// KeyServerConfig holds the configuration file.
	KeyServerConfig = "server.config"
	// KeyMetadataVersion holds the metadata version that new log directories are
	// formatted at.
	KeyMetadataVersion = "metadata.version"
	// KeyRack holds the node's rack, where the Kafka has spec.kafka.rack. Until it
	// is there the kubelet holds the container back.
	KeyRack = "rack"
)

// ContainerName is that of the container that runs Kafka.
const ContainerName = "kafka"

// BootstrapServiceName is that of the service which leads clients to any broker.
func BootstrapServiceName(cluster string) string { return cluster + "-kafka-bootstrap" }

// HeadlessServiceName is that of the service which gives each pod its name in
// DNS.
func HeadlessServiceName(cluster string) string { return cluster + "-kafka-brokers" }
