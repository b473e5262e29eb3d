package podvolumes

import (
	corev1 "k8s.io/api/core/v1"
)

// Difference is a volume that a pod has not as it is wanted.
type Difference struct {
	// Own is the pod's volume; nil where it has none of that name.
	Own *corev1.Volume
	// Wanted is the volume as the template says.
	Wanted corev1.Volume
}

// Differences lists those of the wanted volumes that the pod lacks or has
// otherwise, in the order in which they are wanted.
func Differences(pod *corev1.Pod, wanted []corev1.Volume) []Difference {
	have := byName(pod.Spec.Volumes)
	var out []Difference
	for _, w := range wanted {
		own := have[w.Name]
		if own == nil || !sameVolume(*own, w) {
			out = append(out, Difference{Own: own, Wanted: w})
		}
	}
	return out
}

// Overruled lists the volumes of a pod that stand in place of a templated one of
// the same name: Decide leaves them alone, whatever the template says. The
// errors are those of Owners.Applied.
func Overruled(pod *corev1.Pod, id Identity, owners Owners) ([]Difference, error) {
	applied, err := owners.Applied(id)
	if err != nil {
		return nil, err
	}
	var unused Plan
	var out []Difference
	for _, d := range Differences(pod, unused.expand(pod, id.Node, applied)) {
		if d.Own != nil {
			out = append(out, d)
		}
	}
	return out, nil
}

func byName(volumes []corev1.Volume) map[string]*corev1.Volume {
	out := make(map[string]*corev1.Volume, len(volumes))
	for i := range volumes {
		out[volumes[i].Name] = &volumes[i]
	}
	return out
}
