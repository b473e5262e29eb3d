package e2e

import (
	"context"
	"net"
	"os"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	internalkafka "github.com/sluice-kafka/sluice/internal/kafka"
	"github.com/sluice-kafka/sluice/test/harness"
	"github.com/sluice-kafka/sluice/test/kafka"
)

// kafkaImages are the images that pods may run.
func kafkaImages(t *testing.T, versions ...string) map[string]harness.Image {
	t.Helper()
	images := map[string]harness.Image{}
	for _, v := range versions {
		folder, err := kafka.Image(t.Context(), v, os.Stderr)
		if err != nil {
			t.Fatal(err)
		}
		images[kafka.ImageName(v)] = harness.Image{Folder: folder, Path: kafka.ImagePath}
	}
	return images
}

const brokerConfig = `process.roles=broker,controller
node.id=0
controller.quorum.voters=0@broker-0.brokers.kafka.svc:9090
controller.listener.names=CONTROLLER
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAIN:PLAINTEXT
listeners=CONTROLLER://0.0.0.0:9090,PLAIN://0.0.0.0:9092
advertised.listeners=PLAIN://broker-0.brokers.kafka.svc:9092
inter.broker.listener.name=PLAIN
log.dirs=/var/lib/kafka/data/log
offsets.topic.replication.factor=1
`

const brokerScript = `set -e
java -cp '/opt/kafka/libs/*' kafka.tools.StorageTool format --ignore-formatted -t 3YzWpfrqTGmYn7bBbNPlHg -r 4.3-IV0 -c /opt/kafka/custom-config/server.config
exec java -Xmx256m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Dlog4j2.configurationFile=/opt/kafka/config/log4j2.yaml -cp '/opt/kafka/libs/*' kafka.Kafka /opt/kafka/custom-config/server.config
`

// TestKafkaPod runs a broker in a pod that nothing of Sluice made.
func TestKafkaPod(t *testing.T) {
	cp, nodes := startNodes(t, harness.NodesOptions{
		Nodes:  map[string]map[string]string{"node-a": nil},
		Images: kafkaImages(t, kafka.DefaultVersion),
		Env:    harness.JVM(),
	})
	labels := map[string]string{"app": "kafka"}
	storage := corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: quantity("1Gi")}}
	pod := shell("kafka", "broker-0", brokerScript, func(p *corev1.Pod) {
		p.Labels = labels
		p.Spec.Hostname, p.Spec.Subdomain = "broker-0", "brokers"
		p.Spec.Containers[0].Image = kafka.ImageName(kafka.DefaultVersion)
		p.Spec.Containers[0].ReadinessProbe = &corev1.Probe{
			ProbeHandler:  corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(9092)}},
			PeriodSeconds: 1,
		}
		p.Spec.Containers[0].VolumeMounts = []corev1.VolumeMount{
			{Name: "config", MountPath: "/opt/kafka/custom-config"},
			{Name: "data", MountPath: "/var/lib/kafka/data"},
		}
		p.Spec.Volumes = []corev1.Volume{
			{Name: "config", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "broker-0"}}}},
			{Name: "data", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data-broker-0"}}},
		}
	})
	create(t, cp.Client,
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "kafka"}},
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "kafka", Name: "broker-0"}, Data: map[string]string{"server.config": brokerConfig}},
		&corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "kafka", Name: "brokers"}, Spec: corev1.ServiceSpec{
			ClusterIP: corev1.ClusterIPNone, Selector: labels, PublishNotReadyAddresses: true,
			Ports: []corev1.ServicePort{{Name: "plain", Port: 9092}},
		}},
		&corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "kafka", Name: "data-broker-0"}, Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, Resources: storage,
		}},
		pod,
	)
	key := types.NamespacedName{Namespace: "kafka", Name: "broker-0"}
	ready := awaitReady(t, cp.Client, key)

	const name = "broker-0.brokers.kafka.svc"
	eventually(t, func() error {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		found, err := net.DefaultResolver.LookupHost(ctx, name)
		if err == nil && (len(found) != 1 || found[0] != ready.Status.PodIP) {
			t.Fatalf("%s leads to %v, the pod has %s", name, found, ready.Status.PodIP)
		}
		return err
	})
	c, err := internalkafka.New(internalkafka.Config{BootstrapServers: []string{name + ":9092"}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	createTopic := func(topic string) error {
		created, err := c.CreateTopics(t.Context(), []internalkafka.NewTopic{{Name: topic, Partitions: 1, ReplicationFactor: 1}})
		if err != nil {
			return err
		}
		return created[topic].Err
	}
	eventually(t, func() error { return createTopic("before") })

	t.Run("a killed broker comes back with its data", func(t *testing.T) {
		if err := nodes.Kill(t.Context(), key); err != nil {
			t.Fatal(err)
		}
		eventually(t, func() error { return createTopic("after") })
		seen, err := c.DescribeTopics(t.Context(), []string{"before", "after"})
		if err != nil || seen["before"].Err != nil || seen["after"].Err != nil {
			t.Errorf("after the restart: %v, %+v", err, seen)
		}
		again := awaitReady(t, cp.Client, key)
		if s := again.Status.ContainerStatuses[0]; s.RestartCount != 1 || s.LastTerminationState.Terminated.ExitCode != 137 {
			t.Errorf("status after a kill: %+v", s)
		}
	})
}
