package podvolumes

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/templating"
)

var broker7 = Identity{
	Component: apiv1.ComponentKafka, Cluster: "c", Pool: "brokers",
	Node: templating.Node{ID: 7, PodName: "c-brokers-7"},
}

// brokerPod is broker 7 with a mount of each named volume in its container.
func brokerPod(mounts []string, volumes ...corev1.Volume) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "c-brokers-7", Labels: map[string]string{
			apiv1.LabelComponentType: apiv1.ComponentKafka,
			apiv1.LabelCluster:       "c",
			apiv1.LabelPoolName:      "brokers",
			apiv1.LabelPodName:       "c-brokers-7",
		}},
		Spec: corev1.PodSpec{Volumes: volumes, Containers: []corev1.Container{{Name: "kafka"}}},
	}
	for _, m := range mounts {
		c := &pod.Spec.Containers[0]
		c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: m, MountPath: "/mnt/" + m})
	}
	return pod
}

func annotated(pod *corev1.Pod, value string) *corev1.Pod {
	pod.Annotations = map[string]string{apiv1.AnnotationTemplatedVolumesHash: value}
	return pod
}

// owners are a Kafka whose template lists the volumes, and a pool without one.
func owners(volumes ...apiv1.TemplatedVolume) Owners {
	o := Owners{
		Kafka: &apiv1.Kafka{ObjectMeta: metav1.ObjectMeta{Name: "c"}},
		Pool: &apiv1.KafkaNodePool{ObjectMeta: metav1.ObjectMeta{
			Name: "brokers", Labels: map[string]string{apiv1.LabelCluster: "c"},
		}},
	}
	o.Kafka.Spec.Kafka.Template = &apiv1.KafkaTemplate{Pod: &apiv1.PodTemplate{TemplatedVolumes: volumes}}
	return o
}

func templatedSecret(name, secret string) apiv1.TemplatedVolume {
	return apiv1.TemplatedVolume{Name: name, Secret: &corev1.SecretVolumeSource{SecretName: secret}}
}

func secretVolume(name, secret string) corev1.Volume {
	return corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: secret}}}
}
