package brokerpod

import corev1 "k8s.io/api/core/v1"

// Claims returns the claims of a node's disks, sorted by name; none for
// ephemeral ones. With deleteClaim a claim is owned by the Kafka, and goes with
// it. An error is ErrInvalid.
func Claims(in Input) ([]*corev1.PersistentVolumeClaim, error) {
	_ = in
	return nil, ErrInvalid
}

// ClaimChange returns what a live claim has to become, and why; nil where it may
// stay as it is. What cannot be changed is left as it is: a claim grows and never
// shrinks, and its class stays.
func ClaimChange(live, wanted *corev1.PersistentVolumeClaim) (change *corev1.PersistentVolumeClaim, why []string) {
	_, _ = live, wanted
	return nil, nil
}
