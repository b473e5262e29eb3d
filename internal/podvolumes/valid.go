package podvolumes

import (
	"fmt"
	"path"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
)

// fault tells why a volume would make its pod invalid, or "". It asks no more
// than the API server does of a pod (ValidateVolumes in Kubernetes'
// pkg/apis/core/validation/validation.go): a Secret's name that no Secret can
// have, for one, makes no pod invalid.
func fault(entry apiv1.TemplatedVolume, expanded corev1.Volume, ownClaims sets.Set[string]) string {
	if msgs := validation.IsDNS1123Label(expanded.Name); len(msgs) > 0 {
		return fmt.Sprintf("%q is not a volume name: %s", expanded.Name, msgs[0])
	}
	if msg := sourceFault(entry); msg != "" {
		return msg
	}
	switch {
	case expanded.Secret != nil:
		s := expanded.Secret
		if s.SecretName == "" {
			return "secret.secretName is empty"
		}
		return filesFault("secret", s.DefaultMode, s.DefaultUser, s.Items)
	case expanded.ConfigMap != nil:
		c := expanded.ConfigMap
		if c.Name == "" {
			return "configMap.name is empty"
		}
		return filesFault("configMap", c.DefaultMode, c.DefaultUser, c.Items)
	default:
		return claimFault(expanded.PersistentVolumeClaim.ClaimName, ownClaims)
	}
}

func sourceFault(entry apiv1.TemplatedVolume) string {
	var templated, others []string
	for _, s := range []struct {
		name       string
		there, may bool
	}{
		{"secret", entry.Secret != nil, true},
		{"configMap", entry.ConfigMap != nil, true},
		{"persistentVolumeClaim", entry.PersistentVolumeClaim != nil, true},
		{"emptyDir", entry.EmptyDir != nil, false},
		{"csi", entry.CSI != nil, false},
		{"image", entry.Image != nil, false},
	} {
		switch {
		case s.there && s.may:
			templated = append(templated, s.name)
		case s.there:
			others = append(others, s.name)
		}
	}
	switch {
	case len(templated)+len(others) > 1:
		return "it has more than one source: " + strings.Join(append(templated, others...), ", ")
	case len(others) == 1:
		return others[0] + " cannot be templated; put it under volumes"
	case len(templated) == 0:
		return "it has no source: give it one of secret, configMap and persistentVolumeClaim"
	}
	return ""
}

func filesFault(source string, mode *int32, user *int64, items []corev1.KeyToPath) string {
	if msg := modeFault(source+".defaultMode", mode); msg != "" {
		return msg
	}
	if msg := userFault(source+".defaultUser", user); msg != "" {
		return msg
	}
	for i, it := range items {
		if msg := itemFault(fmt.Sprintf("%s.items[%d]", source, i), it); msg != "" {
			return msg
		}
	}
	return ""
}

func itemFault(at string, it corev1.KeyToPath) string {
	if it.Key == "" {
		return at + ".key is empty"
	}
	if msg := pathFault(it.Path); msg != "" {
		return fmt.Sprintf("%s.path %q %s", at, it.Path, msg)
	}
	if msg := modeFault(at+".mode", it.Mode); msg != "" {
		return msg
	}
	return userFault(at+".user", it.User)
}

func modeFault(at string, mode *int32) string {
	if mode != nil && (*mode < 0 || *mode > 0o777) {
		return fmt.Sprintf("%s %d is not within 0 and 511 (octal 0777)", at, *mode)
	}
	return ""
}

func userFault(at string, user *int64) string {
	if user == nil {
		return ""
	}
	if msgs := validation.IsValidUserID(*user); len(msgs) > 0 {
		return fmt.Sprintf("%s %d is not a user ID: %s", at, *user, msgs[0])
	}
	return ""
}

func pathFault(p string) string {
	switch {
	case p == "":
		return "is empty"
	case path.IsAbs(p):
		return "is not relative"
	case strings.HasPrefix(p, ".."):
		return "starts with \"..\""
	}
	for segment := range strings.SplitSeq(p, "/") {
		if segment == ".." {
			return "has a segment \"..\""
		}
	}
	return ""
}

func claimFault(claim string, ownClaims sets.Set[string]) string {
	switch {
	case claim == "":
		return "persistentVolumeClaim.claimName is empty"
	case ownClaims.Has(claim):
		return fmt.Sprintf("persistentVolumeClaim.claimName %q is the claim of an ephemeral volume of the pod", claim)
	}
	return ""
}

// ephemeralClaims names the claims that Kubernetes makes for the pod's generic
// ephemeral volumes: no other volume of the pod may use them.
func ephemeralClaims(pod *corev1.Pod) sets.Set[string] {
	out := sets.New[string]()
	for i := range pod.Spec.Volumes {
		if v := &pod.Spec.Volumes[i]; v.Ephemeral != nil {
			out.Insert(pod.Name + "-" + v.Name)
		}
	}
	return out
}
