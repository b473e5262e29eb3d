package volumes

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/selection"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/source"

	kafkav1 "github.com/sluice-kafka/sluice/api/v1"
)

// key names a cluster: a Kafka, KafkaConnect or KafkaMirrorMaker2.
type key struct {
	component, namespace, name string
}

// components and the kinds that stand for them.
var components = map[string]string{
	kafkav1.KindKafka:             kafkav1.ComponentKafka,
	kafkav1.KindKafkaConnect:      kafkav1.ComponentKafkaConnect,
	kafkav1.KindKafkaMirrorMaker2: kafkav1.ComponentMirrorMaker2,
}

func kindOf(component string) string {
	for kind, c := range components {
		if c == component {
			return kind
		}
	}
	return ""
}

// newPodCache makes the cache of pods, pod sets and namespaces: it exists only
// where this controller runs, and holds only what is looked at.
func (c *Controller) newPodCache(podSets schema.GroupVersionKind) (cache.Cache, error) {
	ours, err := labels.NewRequirement(kafkav1.LabelComponentType, selection.In,
		[]string{kafkav1.ComponentKafka, kafkav1.ComponentKafkaConnect, kafkav1.ComponentMirrorMaker2})
	if err != nil {
		return nil, err
	}
	return cache.New(c.config, cache.Options{
		HTTPClient: c.httpClient,
		Scheme:     c.scheme,
		Mapper:     c.mapper,
		ByObject: map[client.Object]cache.ByObject{
			&corev1.Pod{}:          {Label: labels.NewSelector().Add(*ours), Transform: stripPod},
			newPodSet(podSets):     {Transform: stripPodSet},
			newNamespaceMetadata(): {Transform: stripMetadata},
		},
	})
}

func newPodSet(gvk schema.GroupVersionKind) *unstructured.Unstructured {
	set := &unstructured.Unstructured{}
	set.SetGroupVersionKind(gvk)
	return set
}

func newNamespaceMetadata() *metav1.PartialObjectMetadata {
	ns := &metav1.PartialObjectMetadata{}
	ns.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Namespace"))
	return ns
}

// sources are all changes that may concern a cluster.
func (c *Controller) sources(pods cache.Cache, podSets schema.GroupVersionKind) []source.TypedSource[key] {
	return []source.TypedSource[key]{
		watch(c.owners, &kafkav1.Kafka{}, func(_ context.Context, o *kafkav1.Kafka) []key { return one(kafkav1.KindKafka, o, o.Name) }),
		watch(c.owners, &kafkav1.KafkaNodePool{}, func(_ context.Context, o *kafkav1.KafkaNodePool) []key {
			return one(kafkav1.KindKafka, o, o.Labels[kafkav1.LabelCluster])
		}),
		watch(c.owners, &kafkav1.KafkaConnect{}, func(_ context.Context, o *kafkav1.KafkaConnect) []key {
			return one(kafkav1.KindKafkaConnect, o, o.Name)
		}),
		watch(c.owners, &kafkav1.KafkaMirrorMaker2{}, func(_ context.Context, o *kafkav1.KafkaMirrorMaker2) []key {
			return one(kafkav1.KindKafkaMirrorMaker2, o, o.Name)
		}),
		watch(pods, &corev1.Pod{}, func(_ context.Context, o *corev1.Pod) []key {
			return one(kindOf(o.Labels[kafkav1.LabelComponentType]), o, o.Labels[kafkav1.LabelCluster])
		}),
		watch(pods, newPodSet(podSets), func(_ context.Context, o *unstructured.Unstructured) []key {
			return one(o.GetLabels()[kafkav1.LabelKind], o, o.GetLabels()[kafkav1.LabelCluster])
		}),
		watch(pods, newNamespaceMetadata(), c.inNamespace),
	}
}

func watch[T client.Object](from cache.Cache, obj T, clusters func(context.Context, T) []key) source.TypedSource[key] {
	return source.TypedKind(from, obj, handler.TypedEnqueueRequestsFromMapFunc(clusters))
}

// one is the cluster of that kind and name beside an object, if there may be one.
func one(kind string, beside client.Object, name string) []key {
	component, ok := components[kind]
	if !ok || name == "" {
		return nil
	}
	return []key{{component: component, namespace: beside.GetNamespace(), name: name}}
}

// inNamespace lists the clusters of a namespace: its label switches them off.
func (c *Controller) inNamespace(ctx context.Context, ns *metav1.PartialObjectMetadata) []key {
	var keys []key
	for _, list := range []client.ObjectList{&kafkav1.KafkaList{}, &kafkav1.KafkaConnectList{}, &kafkav1.KafkaMirrorMaker2List{}} {
		if err := c.owners.List(ctx, list, client.InNamespace(ns.Name)); err != nil {
			ctrl.LoggerFrom(ctx).Error(err, "Failed to list the clusters of a namespace", "namespace", ns.Name)
			continue
		}
		switch list := list.(type) {
		case *kafkav1.KafkaList:
			for i := range list.Items {
				keys = append(keys, one(kafkav1.KindKafka, &list.Items[i], list.Items[i].Name)...)
			}
		case *kafkav1.KafkaConnectList:
			for i := range list.Items {
				keys = append(keys, one(kafkav1.KindKafkaConnect, &list.Items[i], list.Items[i].Name)...)
			}
		case *kafkav1.KafkaMirrorMaker2List:
			for i := range list.Items {
				keys = append(keys, one(kafkav1.KindKafkaMirrorMaker2, &list.Items[i], list.Items[i].Name)...)
			}
		}
	}
	return keys
}
