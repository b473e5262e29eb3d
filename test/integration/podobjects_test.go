package integration

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/test/harness"
)

// createNamespace creates a namespace with a name of its own.
func createNamespace(t *testing.T, in *harness.Installation, labels map[string]string) string {
	t.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "pods-", Labels: labels}}
	createAll(t, in, ns)
	return ns.Name
}

func createAll(t *testing.T, in *harness.Installation, objects ...client.Object) {
	t.Helper()
	for _, o := range objects {
		if err := in.Client.Create(t.Context(), o); err != nil {
			t.Fatalf("creating %T %s: %v", o, o.GetName(), err)
		}
	}
}

// createCluster creates the Kafka c, whose template lists the volumes, and its
// pool brokers.
func createCluster(t *testing.T, in *harness.Installation, ns string, volumes ...apiv1.TemplatedVolume) *apiv1.Kafka {
	t.Helper()
	kafka := &apiv1.Kafka{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "c"}}
	kafka.Spec.Kafka.Listeners = []apiv1.KafkaListener{{Name: "plain", Port: 9092, Type: "internal"}}
	kafka.Spec.Kafka.Template = &apiv1.KafkaTemplate{Pod: &apiv1.PodTemplate{TemplatedVolumes: volumes}}
	replicas := int64(3)
	pool := &apiv1.KafkaNodePool{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "brokers", Labels: map[string]string{apiv1.LabelCluster: "c"}},
		Spec:       apiv1.KafkaNodePoolSpec{Replicas: &replicas, Roles: []string{apiv1.RoleBroker}},
	}
	pool.Spec.Storage = &apiv1.Storage{SingleVolume: apiv1.SingleVolume{Type: apiv1.StorageEphemeral}}
	createAll(t, in, kafka, pool)
	return kafka
}

// brokerPod is a pod as Strimzi creates them, of the pool brokers of Kafka c,
// with a mount of each named volume.
func brokerPod(ns, id string, mounts ...string) *corev1.Pod {
	pod := workerPod(ns, apiv1.ComponentKafka, "c", "c-brokers-"+id, mounts...)
	pod.Labels[apiv1.LabelPoolName] = "brokers"
	return pod
}

func workerPod(ns, component, cluster, name string, mounts ...string) *corev1.Pod {
	pod := plainPod(ns, name, mounts...)
	pod.Labels = map[string]string{
		apiv1.LabelComponentType: component, apiv1.LabelCluster: cluster, apiv1.LabelPodName: name,
	}
	return pod
}

func plainPod(ns, name string, mounts ...string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{container("main", mounts...)}},
	}
}

func container(name string, mounts ...string) corev1.Container {
	c := corev1.Container{Name: name, Image: "image"}
	for _, m := range mounts {
		c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: m, MountPath: "/mnt/" + m})
	}
	return c
}

func templatedSecret(name, secret string) apiv1.TemplatedVolume {
	return apiv1.TemplatedVolume{Name: name, Secret: &corev1.SecretVolumeSource{SecretName: secret}}
}

func secretVolume(name, secret string) corev1.Volume {
	return corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: secret}}}
}

// checkVolumes compares a pod's volumes, each as name=source/what.
func checkVolumes(t *testing.T, pod *corev1.Pod, want ...string) {
	t.Helper()
	var got []string
	for _, v := range pod.Spec.Volumes {
		switch {
		case v.Secret != nil:
			got = append(got, fmt.Sprintf("%s=secret/%s", v.Name, v.Secret.SecretName))
		case v.ConfigMap != nil:
			got = append(got, fmt.Sprintf("%s=configmap/%s", v.Name, v.ConfigMap.Name))
		case v.PersistentVolumeClaim != nil:
			got = append(got, fmt.Sprintf("%s=claim/%s", v.Name, v.PersistentVolumeClaim.ClaimName))
		default:
			got = append(got, v.Name)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("volumes of pod %s (-want +got):\n%s", pod.Name, diff)
	}
}

// waitAllowed waits until the API server's authorizer knows whether the user
// may read Connect clusters.
func waitAllowed(t *testing.T, in *harness.Installation, user string, want bool) {
	t.Helper()
	err := wait.PollUntilContextTimeout(context.WithoutCancel(t.Context()), 20*time.Millisecond, 30*time.Second, true,
		func(ctx context.Context) (bool, error) {
			review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
				User: user,
				ResourceAttributes: &authorizationv1.ResourceAttributes{
					Group: apiv1.Group, Resource: "kafkaconnects", Verb: "get", Namespace: "default",
				},
			}}
			if err := in.Client.Create(ctx, review); err != nil {
				return false, err
			}
			return review.Status.Allowed == want, nil
		})
	if err != nil {
		t.Fatalf("waiting until %s may read (%v): %v", user, want, err)
	}
}

// waitAsked waits until the API server asks a webhook that was configured a
// moment ago.
func waitAsked(t *testing.T, in *harness.Installation, ns string, asked *atomic.Int32) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), 20*time.Millisecond, 30*time.Second, true,
		func(ctx context.Context) (bool, error) {
			err := in.Client.Create(ctx, plainPod(ns, "probe"), client.DryRunAll)
			return asked.Load() > 0, err
		})
	if err != nil {
		t.Fatalf("waiting until the API server asks the other webhook: %v", err)
	}
}
