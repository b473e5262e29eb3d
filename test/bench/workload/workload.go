// Package workload builds the objects that benchmarks of admission judge, so
// that a Go benchmark and one through a real API server measure the same work.
package workload

import (
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
)

const (
	// Namespace of all objects.
	Namespace = "kafka"
	// Volumes is the number of templated volumes of a Kafka, and of the mounts of
	// its pods.
	Volumes = 50
	// Pools is the number of node pools of a Kafka.
	Pools = 20

	brokersPerPool = 5
)

func meta(cluster, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Namespace: Namespace, Name: name, Labels: map[string]string{apiv1.LabelCluster: cluster},
	}
}

func number(n int) apiextensionsv1.JSON {
	return apiextensionsv1.JSON{Raw: strconv.AppendInt(nil, int64(n), 10)}
}

// Topic is the KafkaTopic of that number, with three options. Its name in Kafka
// is another than the resource's, and has the dots that collisions are looked up
// for.
func Topic(cluster string, n int) *apiv1.KafkaTopic {
	name, partitions, replicas := fmt.Sprintf("team-%d.orders.%d", n%50, n), int64(3), int64(3)
	return &apiv1.KafkaTopic{
		TypeMeta:   metav1.TypeMeta{APIVersion: apiv1.GroupVersion.String(), Kind: apiv1.KindKafkaTopic},
		ObjectMeta: meta(cluster, fmt.Sprintf("orders-%d", n)),
		Spec: apiv1.KafkaTopicSpec{
			TopicName: &name, Partitions: &partitions, Replicas: &replicas,
			Config: apiv1.Config{
				"retention.ms": number(604800000), "segment.bytes": number(1073741824), "min.insync.replicas": number(2),
			},
		},
	}
}

// SetTopicOption returns a copy of the topic with another retention.
func SetTopicOption(t *apiv1.KafkaTopic, n int) *apiv1.KafkaTopic {
	t = t.DeepCopy()
	t.Spec.Config["retention.ms"] = number(604800000 + n)
	return t
}

// Kafka is a cluster whose brokers have Volumes templated volumes, each with its
// mount: Secrets, ConfigMaps and claims in turn.
func Kafka(name string) *apiv1.Kafka {
	template := &apiv1.KafkaTemplate{Pod: &apiv1.PodTemplate{}, KafkaContainer: &apiv1.ContainerTemplate{}}
	for i := range Volumes {
		v := apiv1.TemplatedVolume{Name: volumeName(i)}
		switch i % 3 {
		case 0:
			v.Secret = &corev1.SecretVolumeSource{SecretName: v.Name + "-{nodeId}"}
		case 1:
			v.ConfigMap = &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: v.Name + "-{nodePodName}"}}
		default:
			v.PersistentVolumeClaim = &corev1.PersistentVolumeClaimVolumeSource{ClaimName: v.Name + "-{nodeId}"}
		}
		template.Pod.TemplatedVolumes = append(template.Pod.TemplatedVolumes, v)
	}
	template.KafkaContainer.VolumeMounts = mounts()
	k := &apiv1.Kafka{
		TypeMeta:   metav1.TypeMeta{APIVersion: apiv1.GroupVersion.String(), Kind: apiv1.KindKafka},
		ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: name},
	}
	k.Spec.Kafka = apiv1.KafkaClusterSpec{
		Version:   "4.3.1",
		Listeners: []apiv1.KafkaListener{{Name: "plain", Port: 9092, Type: "internal"}},
		Config: apiv1.Config{
			"default.replication.factor": number(3), "min.insync.replicas": number(2),
			"offsets.topic.replication.factor": number(3), "message.max.bytes": number(1048588),
		},
		Template: template,
	}
	return k
}

// SetKafkaOption returns a copy of the Kafka with another largest message.
func SetKafkaOption(k *apiv1.Kafka, n int) *apiv1.Kafka {
	k = k.DeepCopy()
	k.Spec.Kafka.Config["message.max.bytes"] = number(1048588 + n)
	return k
}

// NodePools are the pools of a Kafka: one of controllers, the others of brokers
// with two disks each.
func NodePools(cluster string) []*apiv1.KafkaNodePool {
	var pools []*apiv1.KafkaNodePool
	for i := range Pools {
		role, replicas := "broker", int64(brokersPerPool)
		if i == 0 {
			role, replicas = "controller", 3
		}
		p := &apiv1.KafkaNodePool{
			TypeMeta:   metav1.TypeMeta{APIVersion: apiv1.GroupVersion.String(), Kind: apiv1.KindKafkaNodePool},
			ObjectMeta: meta(cluster, poolName(cluster, i)),
			Spec:       apiv1.KafkaNodePoolSpec{Replicas: &replicas, Roles: []string{role}, Storage: &apiv1.Storage{}},
		}
		p.Spec.Storage.Type = "jbod"
		for id := range int64(2) {
			p.Spec.Storage.Volumes = append(p.Spec.Storage.Volumes,
				apiv1.SingleVolume{ID: &id, Type: "persistent-claim", Size: "100Gi"})
		}
		pools = append(pools, p)
	}
	return pools
}

// Pod is a broker's pod with the mounts of the templated volumes and without the
// volumes.
func Pod(cluster string) *corev1.Pod {
	pool := poolName(cluster, 1)
	name := cluster + "-" + pool + "-0"
	pod := &corev1.Pod{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: meta(cluster, name),
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "kafka", Image: "apache/kafka:4.3.1", VolumeMounts: mounts()}}},
	}
	for label, value := range map[string]string{
		apiv1.LabelKind:          apiv1.KindKafka,
		apiv1.LabelName:          cluster + "-kafka",
		apiv1.LabelPoolName:      pool,
		apiv1.LabelPodName:       name,
		apiv1.LabelComponentType: apiv1.ComponentKafka,
	} {
		pod.Labels[label] = value
	}
	return pod
}

func poolName(cluster string, i int) string { return fmt.Sprintf("%s-pool-%d", cluster, i) }

func volumeName(i int) string { return fmt.Sprintf("volume-%d", i) }

func mounts() []corev1.VolumeMount {
	var all []corev1.VolumeMount
	for i := range Volumes {
		all = append(all, corev1.VolumeMount{Name: volumeName(i), MountPath: "/mnt/" + volumeName(i)})
	}
	return all
}
