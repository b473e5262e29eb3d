package volumes

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kafkav1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/volumedrift"
)

// gatherer observes clusters, from caches or live.
type gatherer struct {
	owners, pods client.Reader
	podSets      schema.GroupVersionKind
}

// gather reads everything about one cluster. Whatever cannot be read is an
// error: only NotFound means that something is not there.
func (g gatherer) gather(ctx context.Context, k key) (*volumedrift.Cluster, error) {
	seen := &volumedrift.Cluster{Component: k.component}
	if err := g.gatherOwners(ctx, k, seen); err != nil {
		return nil, err
	}
	ns := newNamespaceMetadata()
	if err := g.pods.Get(ctx, client.ObjectKey{Name: k.namespace}, ns); err != nil {
		return nil, fmt.Errorf("reading namespace %s: %w", k.namespace, err)
	}
	seen.AdmissionDisabled = ns.Labels[kafkav1.LabelAdmission] == kafkav1.AdmissionDisabled
	return seen, g.gatherPods(ctx, k, seen)
}

func (g gatherer) gatherOwners(ctx context.Context, k key, seen *volumedrift.Cluster) (err error) {
	switch k.component {
	case kafkav1.ComponentKafkaConnect:
		seen.Owners.Connect, err = get[kafkav1.KafkaConnect](ctx, g.owners, k)
	case kafkav1.ComponentMirrorMaker2:
		seen.Owners.MirrorMaker2, err = get[kafkav1.KafkaMirrorMaker2](ctx, g.owners, k)
	default:
		if seen.Owners.Kafka, err = get[kafkav1.Kafka](ctx, g.owners, k); err != nil {
			return err
		}
		var pools kafkav1.KafkaNodePoolList
		err = g.owners.List(ctx, &pools, client.InNamespace(k.namespace), client.MatchingLabels{kafkav1.LabelCluster: k.name})
		if err != nil {
			return fmt.Errorf("listing the node pools of Kafka %s/%s: %w", k.namespace, k.name, err)
		}
		seen.Pools = make(map[string]*kafkav1.KafkaNodePool, len(pools.Items))
		for i := range pools.Items {
			seen.Pools[pools.Items[i].Name] = &pools.Items[i]
		}
	}
	return err
}

// gatherPods reads the cluster's pod sets, and the pods that were made from them.
func (g gatherer) gatherPods(ctx context.Context, k key, seen *volumedrift.Cluster) error {
	var pods corev1.PodList
	err := g.pods.List(ctx, &pods, client.InNamespace(k.namespace),
		client.MatchingLabels{kafkav1.LabelCluster: k.name, kafkav1.LabelComponentType: k.component})
	if err != nil {
		return fmt.Errorf("listing the pods of %s %s/%s: %w", k.component, k.namespace, k.name, err)
	}
	live := make(map[string]*corev1.Pod, len(pods.Items))
	for i := range pods.Items {
		live[pods.Items[i].Name] = &pods.Items[i]
	}
	sets := &unstructured.UnstructuredList{}
	sets.SetGroupVersionKind(g.podSets.GroupVersion().WithKind(g.podSets.Kind + "List"))
	err = g.pods.List(ctx, sets, client.InNamespace(k.namespace),
		client.MatchingLabels{kafkav1.LabelCluster: k.name, kafkav1.LabelKind: kindOf(k.component)})
	if err != nil {
		return fmt.Errorf("listing the StrimziPodSets of %s %s/%s: %w", k.component, k.namespace, k.name, err)
	}
	for i := range sets.Items {
		set := &sets.Items[i]
		entries, _, err := unstructured.NestedSlice(set.Object, "spec", "pods")
		if err != nil {
			return fmt.Errorf("reading StrimziPodSet %s/%s: %w", k.namespace, set.GetName(), err)
		}
		for j, entry := range entries {
			name, pod, err := readEntry(entry)
			if err != nil {
				ctrl.LoggerFrom(ctx).Info("Leaving alone a pod whose entry in its StrimziPodSet cannot be read",
					"podSet", set.GetName(), "index", j, "pod", name, "reason", err.Error())
			}
			p := volumedrift.Pod{Name: name, Entry: pod}
			if made := live[name]; made != nil && madeFrom(made, set) {
				p.Live = made
			}
			seen.Pods = append(seen.Pods, p)
		}
	}
	return nil
}

// madeFrom tells whether a pod belongs to a pod set.
func madeFrom(pod *corev1.Pod, set metav1.Object) bool {
	return slices.ContainsFunc(pod.OwnerReferences, func(r metav1.OwnerReference) bool { return r.UID == set.GetUID() })
}

// get reads one resource; nil is one that does not exist.
func get[T any, P interface {
	*T
	client.Object
}](ctx context.Context, from client.Reader, k key) (P, error) {
	obj := P(new(T))
	err := from.Get(ctx, client.ObjectKey{Namespace: k.namespace, Name: k.name}, obj)
	switch {
	case err == nil:
		return obj, nil
	case apierrors.IsNotFound(err):
		return nil, nil
	}
	return nil, fmt.Errorf("reading %s %s/%s: %w", kindOf(k.component), k.namespace, k.name, err)
}
