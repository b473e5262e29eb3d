// Package templating expands templated volumes for one node. It is pure: the
// cluster controller, the pod webhook and the validation rules share it.
package templating

import (
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
)

// Placeholders that are replaced in a templated volume.
const (
	// PlaceholderNodeID stands for the node's numeric ID.
	PlaceholderNodeID = "{nodeId}"
	// PlaceholderNodePodName stands for the name of the node's pod.
	PlaceholderNodePodName = "{nodePodName}"
)

// Node is what an expansion depends on.
type Node struct {
	// ID is the Kafka node ID, or the ordinal of a Connect or MirrorMaker 2
	// worker.
	ID int64
	// PodName is the name of the node's pod.
	PodName string
}

// Text replaces the placeholders in s. It passes over s once, so that nothing
// in a pod's name is ever taken for a placeholder; what is no placeholder stays
// as it is.
func Text(s string, n Node) string {
	if !strings.Contains(s, "{") {
		return s
	}
	var out strings.Builder
	for {
		open := strings.IndexByte(s, '{')
		if open < 0 {
			out.WriteString(s)
			return out.String()
		}
		out.WriteString(s[:open])
		s = s[open:]
		switch {
		case strings.HasPrefix(s, PlaceholderNodeID):
			out.WriteString(strconv.FormatInt(n.ID, 10))
			s = s[len(PlaceholderNodeID):]
		case strings.HasPrefix(s, PlaceholderNodePodName):
			out.WriteString(n.PodName)
			s = s[len(PlaceholderNodePodName):]
		default:
			out.WriteByte('{')
			s = s[1:]
		}
	}
}

// Expand returns the volume that a node gets from a templated one. Expanded are
// a Secret's and a ConfigMap's name and their items' keys and paths, and a
// claim's name; all else is copied, the volume's own name included. Nothing in
// the result is shared with v. An entry without a source that can be templated
// gives a volume with a name alone.
func Expand(v apiv1.TemplatedVolume, n Node) corev1.Volume {
	out := corev1.Volume{Name: v.Name}
	if v.Secret != nil {
		out.Secret = v.Secret.DeepCopy()
		out.Secret.SecretName = Text(out.Secret.SecretName, n)
		expandItems(out.Secret.Items, n)
	}
	if v.ConfigMap != nil {
		out.ConfigMap = v.ConfigMap.DeepCopy()
		out.ConfigMap.Name = Text(out.ConfigMap.Name, n)
		expandItems(out.ConfigMap.Items, n)
	}
	if v.PersistentVolumeClaim != nil {
		out.PersistentVolumeClaim = v.PersistentVolumeClaim.DeepCopy()
		out.PersistentVolumeClaim.ClaimName = Text(out.PersistentVolumeClaim.ClaimName, n)
	}
	return out
}

func expandItems(items []corev1.KeyToPath, n Node) {
	for i := range items {
		items[i].Key = Text(items[i].Key, n)
		items[i].Path = Text(items[i].Path, n)
	}
}
