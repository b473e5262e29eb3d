package brokerpod

import (
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/brokerconfig"
)

// Names of ports of pods and services, which have at most 15 characters.
const (
	portControlPlane = "tcp-ctrlplane"
	portReplication  = "tcp-replication"
)

// portName is that of a listener. Three well-known ones have names of their own
// in Strimzi too (backwardsCompatiblePortName in its cluster operator).
func portName(l apiv1.KafkaListener) string {
	switch {
	case l.Name == "plain" && l.Port == 9092:
		return "tcp-clients"
	case l.Name == "tls" && l.Port == 9093:
		return "tcp-clientstls"
	case l.Name == "external" && l.Port == 9094:
		return "tcp-external"
	}
	return "tcp-" + l.Name
}

// Services returns the headless and the bootstrap service of a cluster, in this
// order. The headless one names a pod also before it is ready: a broker needs the
// controllers' names, and a controller the other ones', to become ready. An
// error is ErrInvalid.
func Services(kafka *apiv1.Kafka) ([]*corev1.Service, error) {
	f := &faults{}
	all := services(kafka, f)
	if err := f.err(); err != nil {
		return nil, err
	}
	return all, nil
}

func services(kafka *apiv1.Kafka, f *faults) []*corev1.Service {
	template := ptr.Deref(kafka.Spec.Kafka.Template, apiv1.KafkaTemplate{})
	headless := service(kafka, f, brokerconfig.HeadlessService(kafka.Name), "brokersService", template.BrokersService)
	headless.Spec.ClusterIP = corev1.ClusterIPNone
	headless.Spec.PublishNotReadyAddresses = true
	headless.Spec.Ports = append([]corev1.ServicePort{servicePort(portControlPlane, brokerconfig.ControlPlanePort)}, headless.Spec.Ports...)

	bootstrap := service(kafka, f, BootstrapServiceName(kafka.Name), "bootstrapService", template.BootstrapService)
	bootstrap.Spec.Selector[apiv1.LabelBrokerRole] = "true"
	return []*corev1.Service{headless, bootstrap}
}

// service has the ports that all brokers have.
func service(kafka *apiv1.Kafka, f *faults, name, part string, t *apiv1.InternalServiceTemplate) *corev1.Service {
	s := &corev1.Service{
		ObjectMeta: objectMeta(kafka, name),
		Spec: corev1.ServiceSpec{
			Type:     corev1.ServiceTypeClusterIP,
			Selector: podLabels(kafka.Name),
			Ports:    []corev1.ServicePort{servicePort(portReplication, brokerconfig.ReplicationPort)},
		},
	}
	for _, l := range brokerconfig.Listeners(kafka) {
		s.Spec.Ports = append(s.Spec.Ports, servicePort(portName(l), int(l.Port)))
	}
	if t == nil {
		return s
	}
	customise(&s.ObjectMeta, t.Metadata, f.inTemplate(kafka, part))
	if t.IPFamilyPolicy != "" {
		s.Spec.IPFamilyPolicy = ptr.To(corev1.IPFamilyPolicy(t.IPFamilyPolicy))
	}
	for _, family := range t.IPFamilies {
		s.Spec.IPFamilies = append(s.Spec.IPFamilies, corev1.IPFamily(family))
	}
	return s
}

func servicePort(name string, port int) corev1.ServicePort {
	return corev1.ServicePort{
		Name: name, Port: int32(port), TargetPort: intstr.FromInt(port), Protocol: corev1.ProtocolTCP,
	}
}

// DisruptionBudget returns the PodDisruptionBudget of a cluster of which so many
// pods exist: one of them may be evicted at a time. The number is absolute, for a
// share would be taken of what the pods' owner scales to, which is no more the
// number of pods while a scale-down is held. An error is ErrInvalid.
func DisruptionBudget(kafka *apiv1.Kafka, existingPods int) (*policyv1.PodDisruptionBudget, error) {
	f := &faults{}
	budget := disruptionBudget(kafka, existingPods, f)
	if err := f.err(); err != nil {
		return nil, err
	}
	return budget, nil
}

func disruptionBudget(kafka *apiv1.Kafka, existingPods int, f *faults) *policyv1.PodDisruptionBudget {
	b := &policyv1.PodDisruptionBudget{
		ObjectMeta: objectMeta(kafka, componentName(kafka.Name)),
		Spec: policyv1.PodDisruptionBudgetSpec{
			MinAvailable: ptr.To(intstr.FromInt(max(0, existingPods-1))),
			Selector:     &metav1.LabelSelector{MatchLabels: podLabels(kafka.Name)},
		},
	}
	if t := kafka.Spec.Kafka.Template; t != nil && t.PodDisruptionBudget != nil {
		customise(&b.ObjectMeta, t.PodDisruptionBudget.Metadata, f.inTemplate(kafka, "podDisruptionBudget"))
	}
	return b
}

func objectMeta(kafka *apiv1.Kafka, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Name:            name,
		Namespace:       kafka.Namespace,
		Labels:          clusterLabels(kafka.Name),
		OwnerReferences: []metav1.OwnerReference{owner(kafka)},
	}
}

// customise adds a template's labels and annotations; an object's own labels
// win, for it is found by them.
func customise(o *metav1.ObjectMeta, m *apiv1.MetadataTemplate, at place) {
	labels, annotations := metadata(m, at)
	o.Labels = merge(labels, o.Labels)
	o.Annotations = annotations
}

func (f *faults) inTemplate(kafka *apiv1.Kafka, part string) place {
	return f.in(apiv1.KindKafka, kafka.Name, field.NewPath("spec", "kafka", "template", part))
}
