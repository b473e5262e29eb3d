package brokerpod

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/brokerconfig"
	"github.com/sluice-kafka/sluice/internal/templating"
)

// Pod returns the pod of a node, with AnnotationRevision. An error is ErrInvalid
// and names everything that is at fault.
func Pod(in Input) (*corev1.Pod, error) {
	f := &faults{}
	checkIdentity(in, f)
	checkPorts(in, f)
	checkStorage(in, f)
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name:            in.Node.Pod,
			Namespace:       in.Kafka.Namespace,
			OwnerReferences: []metav1.OwnerReference{owner(in.Kafka)},
		},
		Spec: corev1.PodSpec{
			Hostname:                      in.Node.Pod,
			Subdomain:                     brokerconfig.HeadlessService(in.Kafka.Name),
			RestartPolicy:                 corev1.RestartPolicyAlways,
			AutomountServiceAccountToken:  ptr.To(false),
			EnableServiceLinks:            ptr.To(false),
			TerminationGracePeriodSeconds: ptr.To[int64](30),
			SecurityContext:               podSecurity(),
			Containers:                    []corev1.Container{container(in, f)},
			Volumes:                       volumes(in, f),
		},
	}
	labels, annotations := applyTemplate(in, &pod.Spec, f)
	pod.Labels = merge(labels, nodeLabels(in), roleLabels(in))
	pod.Annotations = merge(annotations, map[string]string{
		apiv1.AnnotationConfigurationHash: in.ConfigurationHash,
		apiv1.AnnotationKafkaVersion:      in.Version,
	})
	checkMounts(in, pod, f)
	if err := f.err(); err != nil {
		return nil, err
	}
	revision, err := revisionOf(pod)
	if err != nil {
		return nil, err
	}
	pod.Annotations[apiv1.AnnotationRevision] = revision
	return pod.DeepCopy(), nil // nothing is shared with what the input came from
}

// applyTemplate puts a pod template into a pod, and returns the labels and
// annotations that it asks for.
func applyTemplate(in Input, spec *corev1.PodSpec, f *faults) (labels, annotations map[string]string) {
	t, ofPool := templating.PodTemplate(in.Kafka.Spec.Kafka.Template, in.Pool.Spec.Template)
	if t == nil {
		spec.Affinity = onNodesWith(RackKey(in), nil)
		return nil, nil
	}
	at := f.of(in, ofPool, "template", "pod")
	spec.Affinity = onNodesWith(RackKey(in), object[corev1.Affinity](t.Affinity, at.child("affinity")))
	spec.Tolerations = list[corev1.Toleration](t.Tolerations, at.child("tolerations"))
	spec.TopologySpreadConstraints = list[corev1.TopologySpreadConstraint](t.TopologySpreadConstraints, at.child("topologySpreadConstraints"))
	spec.ImagePullSecrets = list[corev1.LocalObjectReference](t.ImagePullSecrets, at.child("imagePullSecrets"))
	spec.HostAliases = list[corev1.HostAlias](t.HostAliases, at.child("hostAliases"))
	spec.DNSConfig = object[corev1.PodDNSConfig](t.DNSConfig, at.child("dnsConfig"))
	spec.DNSPolicy = corev1.DNSPolicy(t.DNSPolicy)
	spec.PriorityClassName = t.PriorityClassName
	spec.SchedulerName = t.SchedulerName
	spec.HostUsers = t.HostUsers
	spec.EnableServiceLinks = cmp.Or(t.EnableServiceLinks, spec.EnableServiceLinks)
	spec.TerminationGracePeriodSeconds = cmp.Or(t.TerminationGracePeriodSeconds, spec.TerminationGracePeriodSeconds)
	if s := object[corev1.PodSecurityContext](t.SecurityContext, at.child("securityContext")); s != nil {
		spec.SecurityContext = s
	}
	return metadata(t.Metadata, at)
}

// checkIdentity: the name of the pod is its host name too, which is a label of
// DNS and so has at most 63 characters, and a label's value.
func checkIdentity(in Input, f *faults) {
	const longest = 63
	if n := len(in.Node.Pod); n > longest {
		f.in(apiv1.KindKafkaNodePool, in.Pool.Name, field.NewPath("metadata", "name")).
			fault("the pod %s would have a name of %d characters, and a host name has at most %d: give the pool or the Kafka a shorter name",
				in.Node.Pod, n, longest)
	}
}

// checkPorts: what is no port number would be cut off to some other one.
func checkPorts(in Input, f *faults) {
	const highest = 65535
	for i, l := range in.Kafka.Spec.Kafka.Listeners {
		if l.Port < 1 || l.Port > highest {
			f.of(in, false, "listeners").index(i).child("port").fault("%d is no port: write one from 1 to %d", l.Port, highest)
		}
	}
}

// checkStorage: a disk of a type that nobody knows must not become one that loses
// its data with its pod.
func checkStorage(in Input, f *faults) {
	at := f.of(in, true, "storage")
	disks := brokerconfig.Volumes(in.Pool, in.Node)
	if len(disks) == 0 {
		at.fault("the nodes have no disk: give them a storage of type %s, %s or %s, the last with volumes that each have an id",
			apiv1.StoragePersistentClaim, apiv1.StorageEphemeral, apiv1.StorageJBOD)
	}
	for _, v := range disks {
		if v.Type != apiv1.StoragePersistentClaim && v.Type != apiv1.StorageEphemeral {
			_, at := specOf(in, v, f)
			at.child("type").fault("%q is no type of a disk: write %s or %s", v.Type, apiv1.StoragePersistentClaim, apiv1.StorageEphemeral)
		}
	}
}

// checkMounts finds what the API server would refuse only after the pod that this
// one replaces is gone: a mount without a volume, and two volumes of one name.
func checkMounts(in Input, pod *corev1.Pod, f *faults) {
	_, ofPool := templating.PodTemplate(in.Kafka.Spec.Kafka.Template, in.Pool.Spec.Template)
	there := map[string]bool{}
	for _, v := range pod.Spec.Volumes {
		if there[v.Name] {
			f.of(in, ofPool, "template", "pod").fault("pod %s would have two volumes named %q: rename one", pod.Name, v.Name)
		}
		there[v.Name] = true
	}
	_, ofPool = templating.KafkaContainer(in.Kafka.Spec.Kafka.Template, in.Pool.Spec.Template)
	at := f.of(in, ofPool, "template", "kafkaContainer", "volumeMounts")
	paths := map[string]bool{}
	for _, m := range pod.Spec.Containers[0].VolumeMounts {
		if !there[m.Name] {
			at.fault("pod %s has no volume %q to mount at %s: add it to the pod template, or remove the mount", pod.Name, m.Name, m.MountPath)
		}
		if paths[m.MountPath] {
			at.fault("two volumes are to be mounted at %s: change one of the paths", m.MountPath)
		}
		paths[m.MountPath] = true
	}
}
