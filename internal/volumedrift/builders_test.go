package volumedrift

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/podvolumes"
)

const list = `[{name: creds, secret: {secretName: "creds-{nodeId}"}}]`

var kafkaC = Owner{Kind: apiv1.KindKafka, Name: "c"}

// cluster is the Kafka c with the pool brokers. Its list stands in an annotation
// of the Kafka; all of its pods are ready, and were made before there was a list.
func cluster(pods ...Pod) *Cluster {
	return &Cluster{
		Component: apiv1.ComponentKafka,
		Owners: podvolumes.Owners{Kafka: &apiv1.Kafka{ObjectMeta: metav1.ObjectMeta{
			Name: "c", Generation: 2, Annotations: map[string]string{apiv1.AnnotationPodTemplatedVolumes: list},
		}, Status: apiv1.KafkaStatus{ObservedGeneration: 2}}},
		Pools: map[string]*apiv1.KafkaNodePool{"brokers": {ObjectMeta: metav1.ObjectMeta{
			Name: "brokers", Generation: 1, Labels: map[string]string{apiv1.LabelCluster: "c"},
		}, Status: apiv1.KafkaNodePoolStatus{ObservedGeneration: 1}}},
		Pods: pods,
	}
}

// edit changes a cluster that was just built.
func (c *Cluster) edit(change func(*Cluster)) *Cluster {
	change(c)
	return c
}

func (c *Cluster) remember(o Owner, r Record) *Cluster {
	c.Object(o).GetAnnotations()[apiv1.AnnotationVolumeRestarts] = r.String()
	return c
}

// entry is broker n as its creator wants it: with a mount, without the volume.
func entry(n int) *corev1.Pod {
	name := fmt.Sprintf("c-brokers-%d", n)
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: name,
			Labels: map[string]string{
				apiv1.LabelComponentType: apiv1.ComponentKafka, apiv1.LabelCluster: "c",
				apiv1.LabelPoolName: "brokers", apiv1.LabelPodName: name,
			},
			Annotations: map[string]string{apiv1.AnnotationRevision: "1"},
		},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Name: "kafka", VolumeMounts: []corev1.VolumeMount{{Name: "creds", MountPath: "/mnt/creds"}},
		}}},
	}
}

// pod is broker n with a ready pod, which has the named Secrets as volume creds.
func pod(n int, secret string, changes ...func(*Pod)) Pod {
	e := entry(n)
	live := e.DeepCopy()
	live.UID = types.UID("first-" + e.Name)
	live.Spec.Volumes = []corev1.Volume{{Name: "data"}, secretVolume("creds", secret)}
	live.Status = corev1.PodStatus{
		Phase:             corev1.PodRunning,
		Conditions:        []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}},
		ContainerStatuses: []corev1.ContainerStatus{{Name: "kafka", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}},
	}
	p := Pod{Name: e.Name, Entry: e, Live: live}
	for _, change := range changes {
		change(&p)
	}
	return p
}

// right and wrong are pods that have the wanted volume, and that have not.
func right(n int, changes ...func(*Pod)) Pod { return pod(n, fmt.Sprintf("creds-%d", n), changes...) }
func wrong(n int, changes ...func(*Pod)) Pod { return pod(n, "old", changes...) }

func hangs(p *Pod) {
	p.Live.Status = corev1.PodStatus{
		Phase: corev1.PodPending,
		ContainerStatuses: []corev1.ContainerStatus{{Name: "kafka", State: corev1.ContainerState{
			Waiting: &corev1.ContainerStateWaiting{Reason: "ContainerCreating"},
		}}},
	}
}

func crashes(p *Pod) {
	p.Live.Status.Conditions[0].Status = corev1.ConditionFalse
	p.Live.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "kafka", RestartCount: 3, State: corev1.ContainerState{
		Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"},
	}}}
}

func absent(p *Pod)    { p.Live = nil }
func leaving(p *Pod)   { p.Live.DeletionTimestamp = &metav1.Time{} }
func asked(p *Pod)     { p.Live.Annotations[apiv1.AnnotationManualRollingUpdate] = "true" }
func older(p *Pod)     { p.Live.Annotations[apiv1.AnnotationRevision] = "0" }
func successor(p *Pod) { p.Live.UID = types.UID("second-" + p.Name) }
func opaque(p *Pod)    { p.Entry = nil }

func secretVolume(name, secret string) corev1.Volume {
	return corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: secret}}}
}

// wantedBy is the hash of what a pod is given by the list above.
func wantedBy(name string) string {
	h, err := podvolumes.Hash([]corev1.Volume{secretVolume("creds", "creds-"+name[strings.LastIndexByte(name, '-')+1:])})
	if err != nil {
		panic(err)
	}
	return h
}

// began is a record of restarts of the first pods of these names.
func began(names ...string) Record {
	r := Record{}
	for _, name := range names {
		r[name] = Attempt{UID: types.UID("first-" + name), Wanted: wantedBy(name)}
	}
	return r
}
