package podvolumes

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
)

// Mount is a volume mount of a pod.
type Mount struct {
	// Container is the name of the container or init container.
	Container string
	// Volume is the name of the volume that is mounted.
	Volume string
}

// String names the mount for people.
func (m Mount) String() string {
	return fmt.Sprintf("%q of container %s", m.Volume, m.Container)
}

// Dangling lists the mounts of a pod's init containers and containers that name
// none of its volumes, in the pod's order. The API server refuses a pod with
// such a mount, unless admission adds the volume.
func Dangling(pod *corev1.Pod) []Mount {
	return dangling(pod, names(pod.Spec.Volumes))
}

func dangling(pod *corev1.Pod, have sets.Set[string]) []Mount {
	var out []Mount
	for _, containers := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range containers {
			for j := range containers[i].VolumeMounts {
				if v := containers[i].VolumeMounts[j].Name; !have.Has(v) {
					out = append(out, Mount{Container: containers[i].Name, Volume: v})
				}
			}
		}
	}
	return out
}

func names(volumes []corev1.Volume) sets.Set[string] {
	out := sets.New[string]()
	for i := range volumes {
		out.Insert(volumes[i].Name)
	}
	return out
}
