package integration

import (
	"os"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/test/harness"
)

// dropTemplatedVolumes takes the field templatedVolumes out of a schema and all below it, and
// what would keep it all the same. It returns how often it stood there.
func dropTemplatedVolumes(schema map[string]any) int {
	n := 0
	if properties, ok := schema["properties"].(map[string]any); ok {
		if _, there := properties["templatedVolumes"]; there {
			delete(properties, "templatedVolumes")
			delete(schema, "x-kubernetes-preserve-unknown-fields")
			n++
		}
	}
	for _, v := range schema {
		switch v := v.(type) {
		case map[string]any:
			n += dropTemplatedVolumes(v)
		case []any:
			for _, e := range v {
				if e, ok := e.(map[string]any); ok {
					n += dropTemplatedVolumes(e)
				}
			}
		}
	}
	return n
}

// installPruned installs the chart beside CRDs that do not know templatedVolumes,
// as those of Strimzi before 1.2.
func installPruned(t *testing.T) *harness.Installation {
	t.Helper()
	cp := controlPlane(t, harness.ControlPlaneOptions{})
	crds := crdsOf(render(t, nil))
	pruned := map[string]int{}
	for _, crd := range crds {
		pruned[crd.GetName()] = dropTemplatedVolumes(crd.Object)
	}
	for _, name := range []string{"kafkas", "kafkanodepools", "kafkaconnects", "kafkamirrormaker2s"} {
		if pruned[name+".kafka.strimzi.io"] == 0 {
			t.Fatalf("the CRD of %s has no templatedVolumes to be taken out", name)
		}
	}
	if err := cp.Install(t.Context(), crds); err != nil {
		t.Fatal(err)
	}
	in, err := cp.InstallChart(t.Context(), os.Stderr, map[string]any{"crds": map[string]any{"install": false}})
	if err != nil {
		t.Fatal(err)
	}
	op, err := in.StartOperator(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := op.Stop(); err != nil {
			t.Error(err)
		}
	})
	return in
}

func TestPodsGetTheirTemplatedVolumesByAnnotationWhereTheFieldIsPruned(t *testing.T) {
	in := installPruned(t)
	list := []apiv1.TemplatedVolume{templatedSecret("creds", "field-{nodeId}")}
	const annotation = `[{"name":"creds","secret":{"secretName":"creds-{nodeId}"}}]`
	annotations := map[string]string{apiv1.AnnotationPodTemplatedVolumes: annotation}
	template := &apiv1.ConnectTemplate{Pod: &apiv1.PodTemplate{TemplatedVolumes: list}}

	t.Run("the field does not survive", func(t *testing.T) {
		ns := createNamespace(t, in, nil)
		createCluster(t, in, ns, list...)
		stored := &unstructured.Unstructured{}
		stored.SetGroupVersionKind(apiv1.GroupVersion.WithKind(apiv1.KindKafka))
		if err := in.Client.Get(t.Context(), client.ObjectKey{Namespace: ns, Name: "c"}, stored); err != nil {
			t.Fatal(err)
		}
		pod, found, err := unstructured.NestedMap(stored.Object, "spec", "kafka", "template", "pod")
		if err != nil || !found || len(pod) > 0 {
			t.Errorf("stored is %v (%v, %v), want a pod template without anything in it", pod, found, err)
		}
		wantServersOwnRefusal(t, in, brokerPod(ns, "0", "creds"))
	})

	tests := map[string]struct {
		owners func(ns string) []client.Object
		pod    func(ns string) *corev1.Pod
		want   string
	}{
		"Kafka": {
			func(ns string) []client.Object {
				return []client.Object{kafkaOf(ns, annotations), poolOf(ns, nil)}
			},
			func(ns string) *corev1.Pod { return brokerPod(ns, "7", "creds") }, "creds=secret/creds-7",
		},
		"KafkaNodePool": {
			func(ns string) []client.Object {
				return []client.Object{kafkaOf(ns, map[string]string{apiv1.AnnotationPodTemplatedVolumes: "[]"}), poolOf(ns, annotations)}
			},
			func(ns string) *corev1.Pod { return brokerPod(ns, "7", "creds") }, "creds=secret/creds-7",
		},
		"KafkaConnect": {
			func(ns string) []client.Object {
				return []client.Object{&apiv1.KafkaConnect{
					ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "c", Annotations: annotations}, Spec: apiv1.ConnectSpec{Template: template},
				}}
			},
			func(ns string) *corev1.Pod {
				return workerPod(ns, apiv1.ComponentKafkaConnect, "c", "c-connect-1", "creds")
			}, "creds=secret/creds-1",
		},
		"KafkaMirrorMaker2": {
			func(ns string) []client.Object {
				return []client.Object{&apiv1.KafkaMirrorMaker2{
					ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "m", Annotations: annotations}, Spec: apiv1.ConnectSpec{Template: template},
				}}
			},
			func(ns string) *corev1.Pod {
				return workerPod(ns, apiv1.ComponentMirrorMaker2, "m", "m-mirrormaker2-0", "creds")
			}, "creds=secret/creds-0",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			ns := createNamespace(t, in, nil)
			createAll(t, in, tc.owners(ns)...)
			pod := tc.pod(ns)
			createAll(t, in, pod)
			checkVolumes(t, pod, tc.want)
		})
	}
}

func kafkaOf(ns string, annotations map[string]string) *apiv1.Kafka {
	kafka := &apiv1.Kafka{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "c", Annotations: annotations}}
	kafka.Spec.Kafka.Listeners = []apiv1.KafkaListener{{Name: "plain", Port: 9092, Type: "internal"}}
	return kafka
}

func poolOf(ns string, annotations map[string]string) *apiv1.KafkaNodePool {
	replicas := int64(3)
	pool := &apiv1.KafkaNodePool{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "brokers", Annotations: annotations, Labels: map[string]string{apiv1.LabelCluster: "c"}},
		Spec:       apiv1.KafkaNodePoolSpec{Replicas: &replicas, Roles: []string{apiv1.RoleBroker}},
	}
	pool.Spec.Storage = &apiv1.Storage{SingleVolume: apiv1.SingleVolume{Type: apiv1.StorageEphemeral}}
	return pool
}
