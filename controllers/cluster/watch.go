package cluster

import (
	"context"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/source"

	kafkav1 "github.com/sluice-kafka/sluice/api/v1"
)

// newObjectCache makes the cache of what clusters are made of: of all pods and
// ConfigMaps there are it holds those alone that this operator made.
func (c *Controller) newObjectCache() (cache.Cache, error) {
	ours, err := labels.NewRequirement(labelManagedBy, selection.Equals, []string{kafkav1.FieldManager})
	if err != nil {
		return nil, err
	}
	ofCluster, err := labels.NewRequirement(kafkav1.LabelCluster, selection.Exists, nil)
	if err != nil {
		return nil, err
	}
	by := cache.ByObject{Label: labels.NewSelector().Add(*ours, *ofCluster), Transform: cache.TransformStripManagedFields()}
	return cache.New(c.config, cache.Options{
		HTTPClient: c.httpClient,
		Scheme:     c.scheme,
		Mapper:     c.mapper,
		ByObject: map[client.Object]cache.ByObject{
			&corev1.Pod{}: by, &corev1.ConfigMap{}: by, &corev1.PersistentVolumeClaim{}: by,
			&corev1.Service{}: by, &policyv1.PodDisruptionBudget{}: by,
		},
	})
}

// sources are all changes in Kubernetes that may concern a cluster.
func (c *Controller) sources(objects cache.Cache) []source.TypedSource[key] {
	return []source.TypedSource[key]{
		watch(c.resources, &kafkav1.Kafka{}, func(_ context.Context, o *kafkav1.Kafka) []key {
			return []key{client.ObjectKeyFromObject(o)}
		}, asked[*kafkav1.Kafka]()),
		watch(c.resources, &kafkav1.KafkaNodePool{}, byLabel[*kafkav1.KafkaNodePool], asked[*kafkav1.KafkaNodePool]()),
		watch(c.resources, &kafkav1.KafkaRebalance{}, byLabel[*kafkav1.KafkaRebalance]),
		watch(objects, &corev1.Pod{}, byLabel[*corev1.Pod]),
		watch(objects, &corev1.ConfigMap{}, byLabel[*corev1.ConfigMap]),
		watch(objects, &corev1.PersistentVolumeClaim{}, byLabel[*corev1.PersistentVolumeClaim]),
		watch(objects, &corev1.Service{}, byLabel[*corev1.Service]),
		watch(objects, &policyv1.PodDisruptionBudget{}, byLabel[*policyv1.PodDisruptionBudget]),
	}
}

func watch[T client.Object](from cache.Cache, obj T, clusters func(context.Context, T) []key, only ...predicate.TypedPredicate[T]) source.TypedSource[key] {
	return source.TypedKind(from, obj, handler.TypedEnqueueRequestsFromMapFunc(clusters), only...)
}

// byLabel is the cluster that an object carries the name of.
func byLabel[T client.Object](_ context.Context, o T) []key {
	name := o.GetLabels()[kafkav1.LabelCluster]
	if name == "" {
		return nil
	}
	return []key{{Namespace: o.GetNamespace(), Name: name}}
}

// asked lets those changes of a user's resource pass that ask for something: its
// status alone is written by this controller itself.
func asked[T client.Object]() predicate.TypedPredicate[T] {
	return predicate.TypedFuncs[T]{UpdateFunc: func(e event.TypedUpdateEvent[T]) bool {
		was, is := e.ObjectOld, e.ObjectNew
		return was.GetUID() != is.GetUID() ||
			was.GetGeneration() != is.GetGeneration() ||
			(was.GetDeletionTimestamp() == nil) != (is.GetDeletionTimestamp() == nil) ||
			!maps.Equal(was.GetLabels(), is.GetLabels()) ||
			!maps.Equal(was.GetAnnotations(), is.GetAnnotations()) ||
			!slices.Equal(was.GetFinalizers(), is.GetFinalizers())
	}}
}
