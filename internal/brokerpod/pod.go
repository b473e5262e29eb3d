package brokerpod

import corev1 "k8s.io/api/core/v1"

// Pod returns the pod of a node, with AnnotationRevision. An error is
// ErrInvalid.
func Pod(in Input) (*corev1.Pod, error) {
	_ = in
	return nil, ErrInvalid
}

// Revision returns the revision that a pod, live or wanted, was made at; empty
// where it has none. Two pods of the same revision need no restart to become one
// another.
func Revision(pod *corev1.Pod) string {
	_ = pod
	return ""
}
