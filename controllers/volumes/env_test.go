package volumes

import (
	"context"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	kafkav1 "github.com/sluice-kafka/sluice/api/v1"
)

var (
	podSets = schema.GroupVersionKind{Group: kafkav1.GroupStrimziPodSet, Version: "v1", Kind: kafkav1.KindStrimziPodSet}
	kafkaC  = key{component: kafkav1.ComponentKafka, namespace: "kafka", name: "c"}
)

// env is a reconciler whose writes and Events are remembered.
type env struct {
	*reconciler
	store  client.Client
	writes []string
	events []string
}

func newEnv(t *testing.T, objects ...client.Object) *env {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, kafkav1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	scheme.AddKnownTypeWithName(podSets, &unstructured.Unstructured{})
	scheme.AddKnownTypeWithName(podSets.GroupVersion().WithKind(podSets.Kind+"List"), &unstructured.UnstructuredList{})
	e := &env{}
	e.store = fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithInterceptorFuncs(interceptor.Funcs{
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
			e.writes = append(e.writes, fmt.Sprintf("patch %s %s", o.GetObjectKind().GroupVersionKind().Kind, o.GetName()))
			return c.Patch(ctx, o, p, opts...)
		},
		Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
			e.writes = append(e.writes, fmt.Sprintf("delete Pod %s", o.GetName()))
			return c.Delete(ctx, o, opts...)
		},
	}).Build()
	from := gatherer{owners: e.store, pods: e.store, podSets: podSets}
	e.reconciler = &reconciler{cached: from, live: from, writer: e.store, recorder: e, said: newMemory()}
	return e
}

// Eventf implements recorder.
func (e *env) Eventf(regarding, _ runtime.Object, _, reason, _, note string, args ...any) {
	name := regarding.(client.Object).GetName()
	e.events = append(e.events, fmt.Sprintf("%s on %s: ", reason, name)+fmt.Sprintf(note, args...))
}

// takeWrites returns the writes since the last call.
func (e *env) takeWrites() []string {
	w := e.writes
	e.writes = nil
	return w
}

func (e *env) pod(t *testing.T, name string) *corev1.Pod {
	t.Helper()
	p := &corev1.Pod{}
	if err := e.store.Get(t.Context(), client.ObjectKey{Namespace: "kafka", Name: name}, p); err != nil {
		t.Fatal(err)
	}
	return p
}

// cluster is a namespace, the Kafka c with a list in an annotation, its pool
// brokers, a pod set with two entries, and the pods.
func cluster(pods ...*corev1.Pod) []client.Object {
	set := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"pods": []any{entry("c-brokers-0"), entry("c-brokers-1")}}}}
	set.SetGroupVersionKind(podSets)
	set.SetNamespace("kafka")
	set.SetName("c-brokers")
	set.SetUID("the-set")
	set.SetLabels(map[string]string{kafkav1.LabelCluster: "c", kafkav1.LabelKind: kafkav1.KindKafka})
	out := []client.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "kafka"}},
		&kafkav1.Kafka{ObjectMeta: metav1.ObjectMeta{Namespace: "kafka", Name: "c", UID: "the-kafka", Annotations: map[string]string{
			kafkav1.AnnotationPodTemplatedVolumes: `[{name: creds, secret: {secretName: "creds-{nodeId}"}}]`,
		}}},
		&kafkav1.KafkaNodePool{ObjectMeta: metav1.ObjectMeta{Namespace: "kafka", Name: "brokers", Labels: map[string]string{kafkav1.LabelCluster: "c"}}},
		set,
	}
	for _, p := range pods {
		out = append(out, p)
	}
	return out
}

func nodeLabels(name string) map[string]any {
	return map[string]any{
		kafkav1.LabelComponentType: kafkav1.ComponentKafka, kafkav1.LabelCluster: "c",
		kafkav1.LabelPoolName: "brokers", kafkav1.LabelPodName: name,
	}
}

func entry(name string) map[string]any {
	return map[string]any{
		"apiVersion": "v1", "kind": "Pod",
		"metadata": map[string]any{"name": name, "labels": nodeLabels(name), "annotations": map[string]any{
			kafkav1.AnnotationRevision: "1", "other": "dropped",
		}},
		"spec": map[string]any{
			"hostname": name, "volumes": []any{map[string]any{"name": "data", "emptyDir": map[string]any{}}},
			"containers": []any{map[string]any{
				"name": "kafka", "image": "kafka", "env": []any{map[string]any{"name": "A", "value": "1"}},
				"volumeMounts": []any{map[string]any{"name": "creds", "mountPath": "/mnt/creds"}},
			}},
		},
	}
}

// ready is a ready pod with the Secret as volume creds.
func ready(name, secret string) *corev1.Pod {
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "kafka", Name: name, UID: types.UID("uid-" + name), Labels: map[string]string{},
			Annotations:     map[string]string{kafkav1.AnnotationRevision: "1", "other": "dropped"},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "core.strimzi.io/v1", Kind: kafkav1.KindStrimziPodSet, Name: "c-brokers", UID: "the-set"}},
		},
		Spec: corev1.PodSpec{
			Containers: []corev1.Container{{Name: "kafka", Image: "kafka"}},
			Volumes: []corev1.Volume{{Name: "creds", VolumeSource: corev1.VolumeSource{
				Secret: &corev1.SecretVolumeSource{SecretName: secret},
			}}},
		},
		Status: corev1.PodStatus{
			Phase:             corev1.PodRunning,
			Conditions:        []corev1.PodCondition{{Type: corev1.PodScheduled}, {Type: corev1.PodReady, Status: corev1.ConditionTrue}},
			ContainerStatuses: []corev1.ContainerStatus{{Name: "kafka", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}},
		},
	}
	for k, v := range nodeLabels(name) {
		p.Labels[k] = v.(string)
	}
	return p
}

// hanging is a pod that never started.
func hanging(name, secret string) *corev1.Pod {
	p := ready(name, secret)
	p.Status = corev1.PodStatus{Phase: corev1.PodPending}
	return p
}
