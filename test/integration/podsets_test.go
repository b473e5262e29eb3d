package integration

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/test/harness"
)

// missingSecret is a Secret without which a pod hangs.
const missingSecret = "missing"

// installPodSets makes the API server serve StrimziPodSets, as Strimzi's own CRD
// has them where it matters: each pod is an object with whatever is in it.
func installPodSets(t *testing.T, cp *harness.ControlPlane) {
	t.Helper()
	crd := map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": "strimzipodsets.core.strimzi.io"},
		"spec": map[string]any{
			"group": apiv1.GroupStrimziPodSet, "scope": "Namespaced",
			"names": map[string]any{"kind": apiv1.KindStrimziPodSet, "listKind": "StrimziPodSetList", "plural": "strimzipodsets", "singular": "strimzipodset"},
			"versions": []any{map[string]any{
				"name": "v1", "served": true, "storage": true,
				"schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "properties": map[string]any{
					"spec": map[string]any{"type": "object", "properties": map[string]any{
						"selector": map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true},
						"pods": map[string]any{"type": "array", "items": map[string]any{
							"type": "object", "x-kubernetes-preserve-unknown-fields": true,
						}},
					}},
				}}},
			}},
		},
	}
	if err := cp.Install(t.Context(), []*unstructured.Unstructured{{Object: crd}}); err != nil {
		t.Fatal(err)
	}
}

// creator does what Strimzi does with one pod set: it creates the pods that are
// missing, restarts a ready one that is marked, and says what it has reconciled.
// It also is the kubelet of its pods.
type creator struct {
	in      *harness.Installation
	set     *unstructured.Unstructured
	entries []*corev1.Pod
	// extra are volumes that some other webhook adds to every pod.
	extra []corev1.Volume

	mu sync.Mutex
	// made counts the pods by name.
	made map[string]int
	// mostMarked is the largest number of pods that were marked or missing at a
	// time, once all had been there.
	mostMarked int
	complete   bool
	failure    error
}

// startCreator creates a pod set of the entries, and keeps its pods until the
// test ends.
func startCreator(t *testing.T, in *harness.Installation, ns string, extra []corev1.Volume, entries ...*corev1.Pod) *creator {
	t.Helper()
	c := &creator{in: in, entries: entries, extra: extra, made: map[string]int{}}
	pods := make([]any, 0, len(entries))
	for _, e := range entries {
		e.Annotations = map[string]string{apiv1.AnnotationRevision: "1"}
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(e)
		if err != nil {
			t.Fatal(err)
		}
		pods = append(pods, content)
	}
	c.set = &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"selector": map[string]any{}, "pods": pods}}}
	c.set.SetAPIVersion(apiv1.GroupStrimziPodSet + "/v1")
	c.set.SetKind(apiv1.KindStrimziPodSet)
	c.set.SetNamespace(ns)
	c.set.SetName("c-brokers")
	c.set.SetLabels(map[string]string{apiv1.LabelCluster: "c", apiv1.LabelKind: apiv1.KindKafka, apiv1.LabelPoolName: "brokers"})
	createAll(t, in, c.set)

	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	var done sync.WaitGroup
	done.Go(func() {
		wait.UntilWithContext(ctx, func(ctx context.Context) {
			if err := c.step(ctx); err != nil && ctx.Err() == nil && !apierrors.IsConflict(err) {
				c.mu.Lock()
				c.failure = errors.Join(c.failure, err)
				c.mu.Unlock()
			}
		}, 30*time.Millisecond)
	})
	t.Cleanup(func() {
		stop()
		done.Wait()
		if c.failure != nil {
			t.Errorf("the creator of pods in %s: %v", ns, c.failure)
		}
	})
	return c
}

func (c *creator) step(ctx context.Context) error {
	if err := c.observe(ctx); err != nil {
		return err
	}
	// One list is one moment; pods read one after the other would show two away
	// where the second was marked once the first was back.
	var list corev1.PodList
	if err := c.in.Client.List(ctx, &list, client.InNamespace(c.set.GetNamespace())); err != nil {
		return err
	}
	live := map[string]*corev1.Pod{}
	for i := range list.Items {
		live[list.Items[i].Name] = &list.Items[i]
	}
	marked, all := 0, true
	for _, e := range c.entries {
		pod := live[e.Name]
		switch {
		case pod == nil:
			marked, all = marked+1, false
			if err := c.create(ctx, e); err != nil {
				return err
			}
		case pod.Annotations[apiv1.AnnotationManualRollingUpdate] == "true" && pod.Status.Phase == corev1.PodRunning:
			marked++
			if err := c.in.Client.Delete(ctx, pod, client.Preconditions{UID: &pod.UID}); err != nil {
				return err
			}
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.complete {
		c.mostMarked = max(c.mostMarked, marked)
	}
	c.complete = c.complete || all
	return nil
}

// create makes a pod and has it start, unless it names a Secret that is missing.
func (c *creator) create(ctx context.Context, e *corev1.Pod) error {
	pod := e.DeepCopy()
	pod.OwnerReferences = []metav1.OwnerReference{{
		APIVersion: c.set.GetAPIVersion(), Kind: c.set.GetKind(), Name: c.set.GetName(), UID: c.set.GetUID(),
	}}
	pod.Spec.Volumes = append(pod.Spec.Volumes, c.extra...)
	if err := c.in.Client.Create(ctx, pod); err != nil {
		return err
	}
	c.mu.Lock()
	c.made[pod.Name]++
	c.mu.Unlock()
	for _, v := range pod.Spec.Volumes {
		if v.Secret != nil && v.Secret.SecretName == missingSecret {
			return nil // pending for ever
		}
	}
	pod.Status.Phase = corev1.PodRunning
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	return c.in.Client.Status().Update(ctx, pod)
}

// observe says that the latest of the resources is reconciled.
func (c *creator) observe(ctx context.Context) error {
	for name, o := range map[string]client.Object{"c": &apiv1.Kafka{}, "brokers": &apiv1.KafkaNodePool{}} {
		if err := c.in.Client.Get(ctx, client.ObjectKey{Namespace: c.set.GetNamespace(), Name: name}, o); err != nil {
			return err
		}
		var observed int64
		switch o := o.(type) {
		case *apiv1.Kafka:
			observed = o.Status.ObservedGeneration
		case *apiv1.KafkaNodePool:
			observed = o.Status.ObservedGeneration
		}
		if observed == o.GetGeneration() {
			continue
		}
		patch := fmt.Sprintf(`{"status":{"observedGeneration":%d}}`, o.GetGeneration())
		if err := c.in.Client.Status().Patch(ctx, o, client.RawPatch(types.MergePatchType, []byte(patch))); err != nil {
			return err
		}
	}
	return nil
}

// counts returns how many pods of each name were made.
func (c *creator) counts() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.made)
}

// waitFor waits until every pod is ready with that Secret as its volume creds;
// "{nodeId}" in it stands for the pod's number.
func (c *creator) waitFor(t *testing.T, secret func(pod string) string) {
	t.Helper()
	var last string
	err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		for _, e := range c.entries {
			pod := &corev1.Pod{}
			if err := c.in.Client.Get(ctx, client.ObjectKeyFromObject(e), pod); err != nil {
				last = err.Error()
				return false, client.IgnoreNotFound(err)
			}
			if got := credsOf(pod); got != secret(pod.Name) || pod.Status.Phase != corev1.PodRunning && got != missingSecret {
				last = fmt.Sprintf("pod %s has Secret %q, wanted is %q; it is %s", pod.Name, got, secret(pod.Name), pod.Status.Phase)
				return false, nil
			}
		}
		return true, nil
	})
	if err != nil {
		t.Fatalf("waiting for the pods: %v: %s", err, last)
	}
}

func credsOf(pod *corev1.Pod) string {
	for _, v := range pod.Spec.Volumes {
		if v.Name == "creds" && v.Secret != nil {
			return v.Secret.SecretName
		}
	}
	return ""
}
