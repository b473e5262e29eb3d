package volumes

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	kafkav1 "github.com/sluice-kafka/sluice/api/v1"
)

// stripPod leaves of a pod what is looked at: a node's pod has a hundred times
// as much.
func stripPod(in any) (any, error) {
	pod, ok := in.(*corev1.Pod)
	if !ok {
		return in, nil // a tombstone, which holds one that was here before
	}
	out := &corev1.Pod{
		TypeMeta: pod.TypeMeta,
		ObjectMeta: metav1.ObjectMeta{
			Name: pod.Name, Namespace: pod.Namespace, UID: pod.UID, ResourceVersion: pod.ResourceVersion,
			DeletionTimestamp: pod.DeletionTimestamp, Labels: pod.Labels, OwnerReferences: pod.OwnerReferences,
			Annotations: map[string]string{},
		},
		Spec:   corev1.PodSpec{Volumes: pod.Spec.Volumes},
		Status: corev1.PodStatus{Phase: pod.Status.Phase, ContainerStatuses: pod.Status.ContainerStatuses},
	}
	for _, name := range []string{kafkav1.AnnotationManualRollingUpdate, kafkav1.AnnotationRevision} {
		if value, ok := pod.Annotations[name]; ok {
			out.Annotations[name] = value
		}
	}
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodReady {
			out.Status.Conditions = append(out.Status.Conditions, condition)
		}
	}
	return out, nil
}

// stripMetadata takes managedFields and annotations away.
func stripMetadata(in any) (any, error) {
	object, err := meta.Accessor(in)
	if err != nil {
		return in, nil //nolint:nilerr // a tombstone, which holds one that was here before
	}
	object.SetManagedFields(nil)
	object.SetAnnotations(nil)
	return in, nil
}

// stripPodSet leaves of the pods of a pod set what is looked at.
func stripPodSet(in any) (any, error) {
	set, ok := in.(*unstructured.Unstructured)
	if !ok {
		return in, nil // a tombstone, which holds one that was here before
	}
	set.SetManagedFields(nil)
	set.SetAnnotations(nil)
	pods, _, _ := unstructured.NestedSlice(set.Object, "spec", "pods")
	for i := range pods {
		if pod, ok := pods[i].(map[string]any); ok {
			pods[i] = stripEntry(pod)
		}
	}
	set.Object["spec"] = map[string]any{"pods": pods}
	delete(set.Object, "status")
	return set, nil
}

// stripEntry leaves of a pod set's entry what is looked at.
func stripEntry(pod map[string]any) map[string]any {
	metadata := child(pod, "metadata")
	out := map[string]any{"metadata": pick(metadata, "name", "labels")}
	if revision, ok := child(metadata, "annotations")[kafkav1.AnnotationRevision]; ok {
		child(out, "metadata")["annotations"] = map[string]any{kafkav1.AnnotationRevision: revision}
	}
	spec := child(pod, "spec")
	kept := pick(spec, "volumes")
	for _, field := range []string{"initContainers", "containers"} {
		containers, ok := spec[field].([]any)
		if !ok {
			continue
		}
		var names []any
		for _, c := range containers {
			if c, ok := c.(map[string]any); ok {
				names = append(names, pick(c, "name", "volumeMounts"))
			}
		}
		kept[field] = names
	}
	out["spec"] = kept
	return out
}

// readEntry decodes a pod set's entry; the name is known even where the rest
// cannot be read.
func readEntry(entry any) (name string, pod *corev1.Pod, err error) {
	content, ok := entry.(map[string]any)
	if !ok {
		return "", nil, fmt.Errorf("it is a %T, not an object", entry)
	}
	name, _ = child(content, "metadata")["name"].(string)
	pod = &corev1.Pod{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(stripEntry(content), pod); err != nil {
		return name, nil, err
	}
	return name, pod, nil
}

func child(m map[string]any, field string) map[string]any {
	c, _ := m[field].(map[string]any)
	return c
}

func pick(m map[string]any, fields ...string) map[string]any {
	out := map[string]any{}
	for _, f := range fields {
		if v, ok := m[f]; ok {
			out[f] = v
		}
	}
	return out
}
