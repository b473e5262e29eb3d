package brokerpod

import corev1 "k8s.io/api/core/v1"

// ConfigMap returns the ConfigMap of a node, named as its pod. File is the text
// of its configuration, metadataVersion the one that new log directories are
// formatted at. Rack is the node's rack where it is known; nil leaves the key
// out.
func ConfigMap(in Input, file, metadataVersion string, rack *string) *corev1.ConfigMap {
	_, _, _, _ = in, file, metadataVersion, rack
	return nil
}

// RackKey is the label of Kubernetes' nodes that names a node's rack; empty where
// the cluster has none.
func RackKey(in Input) string {
	_ = in
	return ""
}
