package webhooks

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/validation"
)

// Indexes of the cache. A look-up costs the same whatever the number of objects.
const (
	indexTopicClaim  = "admission.topicClaim"
	indexTopicMetric = "admission.topicMetric"
	indexPoolCluster = "admission.poolCluster"
)

// key joins a cluster with a name. A cluster's name has no slash.
func key(cluster, name string) string { return cluster + "/" + name }

func topicClaimKeys(obj client.Object) []string {
	t, ok := obj.(*apiv1.KafkaTopic)
	if !ok || t.Labels[apiv1.LabelCluster] == "" {
		return nil
	}
	return []string{key(t.Labels[apiv1.LabelCluster], validation.ClaimedName(t))}
}

func topicMetricKeys(obj client.Object) []string {
	t, ok := obj.(*apiv1.KafkaTopic)
	if !ok || t.Labels[apiv1.LabelCluster] == "" {
		return nil
	}
	return []string{key(t.Labels[apiv1.LabelCluster], validation.MetricName(validation.ClaimedName(t)))}
}

func poolClusterKeys(obj client.Object) []string {
	if cluster := obj.GetLabels()[apiv1.LabelCluster]; cluster != "" {
		return []string{cluster}
	}
	return nil
}

// source gathers facts from the cache.
type source struct {
	reader   client.Reader
	clusters []Cluster
}

// namespaces whose topics go to the same Kafka as those of this one.
func (s source) namespaces(cluster, namespace string) []string {
	for _, c := range s.clusters {
		if c.Name == cluster && slices.Contains(c.Namespaces, namespace) {
			return c.Namespaces
		}
	}
	return []string{namespace}
}

func (s source) topic(ctx context.Context, t *apiv1.KafkaTopic) (validation.TopicFacts, error) {
	cluster := t.Labels[apiv1.LabelCluster]
	if cluster == "" {
		return validation.TopicFacts{}, nil
	}
	var facts validation.TopicFacts
	var err error
	if facts.KafkaVersion, err = s.version(ctx, types.NamespacedName{Namespace: t.Namespace, Name: cluster}); err != nil {
		return validation.TopicFacts{}, err
	}
	name := validation.ClaimedName(t)
	for _, namespace := range s.namespaces(cluster, t.Namespace) {
		same, err := s.topics(ctx, namespace, indexTopicClaim, key(cluster, name))
		if err != nil {
			return validation.TopicFacts{}, err
		}
		facts.SameName = append(facts.SameName, same...)
		if t.Status.TopicName != "" {
			continue // what Kafka has already does not collide
		}
		same, err = s.topics(ctx, namespace, indexTopicMetric, key(cluster, validation.MetricName(name)))
		if err != nil {
			return validation.TopicFacts{}, err
		}
		facts.SameMetric = append(facts.SameMetric, same...)
	}
	return facts, nil
}

// version of a Kafka; empty where there is no such resource, as for a cluster
// that nobody here runs.
func (s source) version(ctx context.Context, name types.NamespacedName) (string, error) {
	var kafka apiv1.Kafka
	err := s.reader.Get(ctx, name, &kafka)
	switch {
	case apierrors.IsNotFound(err):
		return "", nil
	case err != nil:
		return "", fmt.Errorf("looking up Kafka %s: %w", name, err)
	}
	return validation.RunningVersion(&kafka), nil
}

func (s source) topics(ctx context.Context, namespace, index, value string) ([]apiv1.KafkaTopic, error) {
	var list apiv1.KafkaTopicList
	if err := s.reader.List(ctx, &list, client.InNamespace(namespace), client.MatchingFields{index: value}); err != nil {
		return nil, fmt.Errorf("looking up other topics in namespace %s: %w", namespace, err)
	}
	return list.Items, nil
}

func (s source) kafka(ctx context.Context, k *apiv1.Kafka) (validation.KafkaFacts, error) {
	var list apiv1.KafkaNodePoolList
	if err := s.reader.List(ctx, &list, client.InNamespace(k.Namespace), client.MatchingFields{indexPoolCluster: k.Name}); err != nil {
		return validation.KafkaFacts{}, fmt.Errorf("looking up the pools of Kafka %s/%s: %w", k.Namespace, k.Name, err)
	}
	return validation.KafkaFacts{Pools: list.Items}, nil
}

func (s source) pool(ctx context.Context, p *apiv1.KafkaNodePool) (validation.PoolFacts, error) {
	cluster := p.Labels[apiv1.LabelCluster]
	if cluster == "" {
		return validation.PoolFacts{}, nil
	}
	var kafka apiv1.Kafka
	err := s.reader.Get(ctx, types.NamespacedName{Namespace: p.Namespace, Name: cluster}, &kafka)
	switch {
	case apierrors.IsNotFound(err):
		return validation.PoolFacts{}, nil
	case err != nil:
		return validation.PoolFacts{}, fmt.Errorf("looking up Kafka %s/%s: %w", p.Namespace, cluster, err)
	}
	return validation.PoolFacts{Kafka: &kafka}, nil
}
