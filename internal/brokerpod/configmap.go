package brokerpod

import (
	_ "embed"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
)

//go:embed log4j2.properties
var logging string

// ConfigMap returns the ConfigMap of a node, named as its pod. File is the text
// of its configuration, metadataVersion the one that new log directories are
// formatted at. Rack is the node's rack where it is known; nil leaves the key
// out.
func ConfigMap(in Input, file, metadataVersion string, rack *string) *corev1.ConfigMap {
	data := map[string]string{
		KeyServerConfig:    file,
		KeyMetadataVersion: metadataVersion + "\n",
		keyLogging:         logging,
	}
	if rack != nil {
		data[KeyRack] = *rack
	}
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Name:            in.Node.Pod,
			Namespace:       in.Kafka.Namespace,
			Labels:          merge(nodeLabels(in), roleLabels(in)),
			OwnerReferences: []metav1.OwnerReference{owner(in.Kafka)},
		},
		Data: data,
	}
}

// RackKey is the label of Kubernetes' nodes that names a node's rack; empty where
// it has none. A node that is only a controller has none: a rack decides where
// replicas go. Of the input the Kafka and the node's roles are read.
func RackKey(in Input) string {
	r := in.Kafka.Spec.Kafka.Rack
	onlyController := in.Node.Controller && !in.Node.Broker
	if r == nil || onlyController || r.Type != "" && r.Type != apiv1.RackTopologyLabel {
		return ""
	}
	return r.TopologyKey
}
