package podvolumes

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/utils/ptr"
)

// sameVolume tells whether two volumes are the same once the API server has filled
// in its defaults: an absent defaultMode equals 0644.
func sameVolume(a, b corev1.Volume) bool {
	return equality.Semantic.DeepEqual(defaulted(a), defaulted(b))
}

// defaulted returns a copy of v with the defaults of the two sources that have
// any (SetDefaults_SecretVolumeSource and SetDefaults_ConfigMapVolumeSource in
// Kubernetes' pkg/apis/core/v1/defaults.go).
func defaulted(v corev1.Volume) corev1.Volume {
	out := *v.DeepCopy()
	if s := out.Secret; s != nil && s.DefaultMode == nil {
		s.DefaultMode = ptr.To(corev1.SecretVolumeSourceDefaultMode)
	}
	if c := out.ConfigMap; c != nil && c.DefaultMode == nil {
		c.DefaultMode = ptr.To(corev1.ConfigMapVolumeSourceDefaultMode)
	}
	return out
}

// Hash returns the same text for the same volumes, in whatever order and
// whether defaulted or not.
func Hash(volumes []corev1.Volume) (string, error) {
	sorted := make([]corev1.Volume, 0, len(volumes))
	for _, v := range volumes {
		sorted = append(sorted, defaulted(v))
	}
	slices.SortFunc(sorted, func(a, b corev1.Volume) int { return strings.Compare(a.Name, b.Name) })
	raw, err := json.Marshal(sorted)
	if err != nil {
		return "", fmt.Errorf("hashing templated volumes: %w", err)
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:8]), nil
}
