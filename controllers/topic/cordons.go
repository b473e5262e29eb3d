package topic

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kafkav1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/facts"
	"github.com/sluice-kafka/sluice/internal/nodepool"
	"github.com/sluice-kafka/sluice/internal/rebalance"
)

// Cordons tells what Kubernetes knows of brokers of a Kafka that are to take no new
// replicas: those that an administrator cordoned, and those that are being emptied, as
// the cluster controller published. Both are read from the API server, since a replica
// that lands on such a broker would have to move again.
func Cordons(live client.Reader, kafka types.NamespacedName) func(context.Context) (map[int32]rebalance.Cordon, error) {
	return func(ctx context.Context) (map[int32]rebalance.Cordon, error) {
		ctx, cancel := context.WithTimeout(ctx, writeLimit)
		defer cancel()
		k := &kafkav1.Kafka{}
		if err := live.Get(ctx, kafka, k); err != nil {
			return nil, fmt.Errorf("reading which brokers of Kafka %s are cordoned: %w", kafka, err)
		}
		byHand, err := nodepool.ParseCordon(k.Annotations[kafkav1.AnnotationCordon])
		if err != nil {
			return nil, fmt.Errorf("reading the annotation %s of Kafka %s: %w", kafkav1.AnnotationCordon, kafka, err)
		}
		seen, found, err := published(ctx, live, kafka)
		if err != nil {
			return nil, fmt.Errorf("reading which brokers of Kafka %s are being emptied: %w", kafka, err)
		}
		if !found {
			return nil, nil // Sluice does not run this cluster
		}
		return rebalance.CordonsOf(seen, byHand), nil
	}
}

// published reads what the cluster controller published of a Kafka, if it did.
func published(ctx context.Context, from client.Reader, kafka types.NamespacedName) (seen facts.Facts, found bool, err error) {
	cm := &corev1.ConfigMap{}
	err = from.Get(ctx, types.NamespacedName{Namespace: kafka.Namespace, Name: facts.Name(kafka.Name)}, cm)
	if apierrors.IsNotFound(err) {
		return facts.Facts{}, false, nil
	}
	if err != nil {
		return facts.Facts{}, false, err
	}
	seen, err = facts.Decode(cm)
	return seen, err == nil, err
}
