package brokerpod

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
)

// Revision returns the revision that a pod, live or wanted, was made at; empty
// where it has none. Pods of the same revision need no restart to become one
// another. It is read and never computed from a live pod: the API server and
// admission add to that what nobody wanted.
func Revision(pod *corev1.Pod) string {
	return pod.Annotations[apiv1.AnnotationRevision]
}

// revisionOf hashes a pod as it is wanted: its spec, its labels and its
// annotations, which hold the hash of what of the configuration needs a restart.
func revisionOf(pod *corev1.Pod) (string, error) {
	raw, err := json.Marshal(struct {
		Labels, Annotations map[string]string
		Spec                corev1.PodSpec
	}{pod.Labels, pod.Annotations, pod.Spec})
	if err != nil {
		return "", fmt.Errorf("hashing pod %s: %w", pod.Name, err)
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:8]), nil
}
