package brokerpod

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/sluice-kafka/sluice/internal/brokerconfig"
	"github.com/sluice-kafka/sluice/internal/templating"
)

// Environment of the container.
const (
	envClusterID = "KAFKA_CLUSTER_ID"
	envRack      = "KAFKA_RACK"
)

// configDir is where the node's ConfigMap is mounted.
const configDir = "/opt/kafka/custom-config"

// libs is where the jars are in Kafka's own image (docker/jvm/Dockerfile in its
// sources).
const libs = "'/opt/kafka/libs/*'"

// script starts Kafka with the JVM options that it is given as arguments. Log
// directories that are formatted already stay as they are. The metadata version
// is read from a file, so that raising it leaves the pod as it is; the rack is not
// known before the pod has been bound to a node. Nothing is needed of the image
// but a shell, Java and Kafka's jars.
const script = `set -eu
file=` + configDir + `/` + KeyServerConfig + `
read -r version < ` + configDir + `/` + KeyMetadataVersion + `
java -XX:+UseSerialGC -XX:TieredStopAtLevel=1 ` + loggingOption + ` -cp ` + libs + ` kafka.tools.StorageTool format --ignore-formatted --cluster-id "$` + envClusterID + `" --release-version "$version" --config "$file"
exec java "$@" -cp ` + libs + ` kafka.Kafka "$file" ${` + envRack + `:+--override "broker.rack=$` + envRack + `"}
`

func container(in Input, f *faults) corev1.Container {
	template, ofPool := templating.KafkaContainer(in.Kafka.Spec.Kafka.Template, in.Pool.Spec.Template)
	at := f.of(in, ofPool, "template", "kafkaContainer")
	resources := ptr.Deref(object[corev1.ResourceRequirements](in.Pool.Spec.Resources, f.of(in, true, "resources")), corev1.ResourceRequirements{})

	c := corev1.Container{
		Name:            containerName,
		Image:           cmp.Or(in.Kafka.Spec.Kafka.Image, "apache/kafka:"+in.Version),
		Command:         []string{"/bin/sh", "-c", script, containerName},
		Args:            literal(jvmOptions(in, resources, f)),
		Env:             environment(in),
		Ports:           containerPorts(in),
		Resources:       resources,
		VolumeMounts:    mounts(in),
		SecurityContext: containerSecurity(),
	}
	c.StartupProbe, c.ReadinessProbe, c.LivenessProbe = probes(in)
	if template == nil {
		return c
	}
	c.Env = withEnvironment(c.Env, list[corev1.EnvVar](template.Env, at.child("env")))
	c.VolumeMounts = append(c.VolumeMounts, template.VolumeMounts...)
	if s := object[corev1.SecurityContext](template.SecurityContext, at.child("securityContext")); s != nil {
		c.SecurityContext = s
	}
	return c
}

// literal keeps the kubelet from taking $(…) in an argument for a variable
// (third_party/forked/golang/expansion in Kubernetes' sources).
func literal(options []string) []string {
	out := make([]string, len(options))
	for i, o := range options {
		out[i] = strings.ReplaceAll(o, "$", "$$")
	}
	return out
}

func environment(in Input) []corev1.EnvVar {
	env := []corev1.EnvVar{{Name: envClusterID, Value: in.ClusterID}}
	if RackKey(in) != "" {
		env = append(env, corev1.EnvVar{Name: envRack, ValueFrom: &corev1.EnvVarSource{
			ConfigMapKeyRef: &corev1.ConfigMapKeySelector{
				LocalObjectReference: corev1.LocalObjectReference{Name: in.Node.Pod},
				Key:                  KeyRack,
			},
		}})
	}
	return env
}

// withEnvironment adds what a template gives. A node without its own rack or
// cluster ID would harm the cluster, so a template cannot change them.
func withEnvironment(own, given []corev1.EnvVar) []corev1.EnvVar {
	out := slices.Clone(own)
	for _, e := range given {
		if e.Name != envClusterID && e.Name != envRack {
			out = append(out, e)
		}
	}
	return out
}

func containerPorts(in Input) []corev1.ContainerPort {
	var ports []corev1.ContainerPort
	add := func(name string, port int32) {
		ports = append(ports, corev1.ContainerPort{Name: name, ContainerPort: port, Protocol: corev1.ProtocolTCP})
	}
	if in.Node.Controller {
		add(portControlPlane, brokerconfig.ControlPlanePort)
	}
	if in.Node.Broker {
		add(portReplication, brokerconfig.ReplicationPort)
		for _, l := range brokerconfig.Listeners(in.Kafka) {
			add(portName(l), int32(l.Port))
		}
	}
	return ports
}

// probes tell whether the node's own listener is open. A broker opens it once it
// has recovered its logs and caught up with the controllers (BrokerServer.startup
// in Kafka's sources), which may take hours after a crash and must not be cut
// short: that is for whoever looks after the cluster to judge. Likewise a node is
// only taken for dead after minutes without its listener.
func probes(in Input) (startup, readiness, liveness *corev1.Probe) {
	port := brokerconfig.ReplicationPort
	if !in.Node.Broker {
		port = brokerconfig.ControlPlanePort
	}
	probe := func(period, timeout, failures int32) *corev1.Probe {
		return &corev1.Probe{
			ProbeHandler:     corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt(port)}},
			PeriodSeconds:    period,
			TimeoutSeconds:   timeout,
			FailureThreshold: failures,
		}
	}
	const day = 24 * 60 * 60
	return probe(2, 5, day/2), probe(5, 5, 3), probe(30, 10, 6)
}

// containerSecurity and podSecurity are what the restricted Pod Security Standard
// asks for (https://kubernetes.io/docs/concepts/security/pod-security-standards).
func containerSecurity() *corev1.SecurityContext {
	return &corev1.SecurityContext{
		AllowPrivilegeEscalation: ptr.To(false),
		Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
	}
}

// podSecurity runs as appuser, the only user of Kafka's own image (docker/jvm/
// Dockerfile in its sources): an image's user has to be given as a number for the
// kubelet to know that it is not root. The volumes are its group's, and are not
// gone through again at each start where they are already.
func podSecurity() *corev1.PodSecurityContext {
	const appuser = 1000
	return &corev1.PodSecurityContext{
		RunAsNonRoot:        ptr.To(true),
		RunAsUser:           ptr.To[int64](appuser),
		RunAsGroup:          ptr.To[int64](appuser),
		FSGroup:             ptr.To[int64](appuser),
		FSGroupChangePolicy: ptr.To(corev1.FSGroupChangeOnRootMismatch),
		SeccompProfile:      &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
	}
}
