// Package podsets tells whether Strimzi runs a Kafka cluster: its pods then belong
// to StrimziPodSets.
package podsets

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kafkav1 "github.com/sluice-kafka/sluice/api/v1"
)

// Of are the names of the pod sets of a Kafka, sorted. There are none where the kind
// is not served. The reader should ask the API server: nothing else tells at once
// that Strimzi begins to run the same cluster.
func Of(ctx context.Context, mapper meta.RESTMapper, live client.Reader, kafka types.NamespacedName) ([]string, error) {
	mapping, err := mapper.RESTMapping(schema.GroupKind{Group: kafkav1.GroupStrimziPodSet, Kind: kafkav1.KindStrimziPodSet})
	if meta.IsNoMatchError(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("looking for StrimziPodSets of Kafka %s: %w", kafka, err)
	}
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(mapping.GroupVersionKind.GroupVersion().WithKind(kafkav1.KindStrimziPodSet + "List"))
	err = live.List(ctx, list, client.InNamespace(kafka.Namespace),
		client.MatchingLabels{kafkav1.LabelCluster: kafka.Name, kafkav1.LabelKind: kafkav1.KindKafka})
	if err != nil {
		return nil, fmt.Errorf("listing the StrimziPodSets of Kafka %s: %w", kafka, err)
	}
	var names []string
	for i := range list.Items {
		names = append(names, list.Items[i].Name)
	}
	slices.Sort(names)
	return names, nil
}
