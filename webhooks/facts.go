package webhooks

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/facts"
	"github.com/sluice-kafka/sluice/internal/validation"
)

// Indexes of the cache. A look-up costs the same whatever the number of objects.
const (
	indexTopicMetric = "admission.topicMetric"
	indexPoolCluster = "admission.poolCluster"
)

// key joins a cluster with a name. A cluster's name has no slash.
func key(cluster, name string) string { return cluster + "/" + name }

// topicMetricKeys finds those who claim one name, too: they have its metrics' name
// as well. An index of its own for that would cost half a KiB of each topic.
func topicMetricKeys(obj client.Object) []string {
	t, ok := obj.(*apiv1.KafkaTopic)
	if !ok || t.Labels[apiv1.LabelCluster] == "" {
		return nil
	}
	return []string{key(t.Labels[apiv1.LabelCluster], validation.MetricName(t.ClaimedName()))}
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

// namespaces whose topics go to the same Kafka as those of this one, and whether
// that is one of the external clusters.
func (s source) namespaces(cluster, namespace string) (all []string, external bool) {
	for _, c := range s.clusters {
		if c.Name == cluster && slices.Contains(c.Namespaces, namespace) {
			return c.Namespaces, true
		}
	}
	return []string{namespace}, false
}

func (s source) topic(ctx context.Context, t, old *apiv1.KafkaTopic) (validation.TopicFacts, error) {
	cluster := t.Labels[apiv1.LabelCluster]
	if cluster == "" {
		return validation.TopicFacts{}, nil
	}
	var facts validation.TopicFacts
	if validation.NeedsKafka(t, old) {
		kafka, err := get[apiv1.Kafka](ctx, s.reader, t.Namespace, cluster)
		if err != nil {
			return validation.TopicFacts{}, err
		}
		facts.Kafka = kafka
	}
	name := t.ClaimedName()
	namespaces, external := s.namespaces(cluster, t.Namespace)
	facts.External = external
	for _, namespace := range namespaces {
		same, err := s.topics(ctx, namespace, indexTopicMetric, key(cluster, validation.MetricName(name)))
		if err != nil {
			return validation.TopicFacts{}, err
		}
		for _, other := range same {
			if other.ClaimedName() == name {
				facts.SameName = append(facts.SameName, other)
			}
		}
		if t.Status.TopicName == "" { // what Kafka has already does not collide
			facts.SameMetric = append(facts.SameMetric, same...)
		}
	}
	return facts, nil
}

func (s source) topics(ctx context.Context, namespace, index, value string) ([]apiv1.KafkaTopic, error) {
	var list apiv1.KafkaTopicList
	if err := s.reader.List(ctx, &list, client.InNamespace(namespace), client.MatchingFields{index: value}); err != nil {
		return nil, fmt.Errorf("looking up other topics in namespace %s: %w", namespace, err)
	}
	return list.Items, nil
}

func (s source) kafka(ctx context.Context, k *apiv1.Kafka) (validation.KafkaFacts, error) {
	pools, err := s.pools(ctx, k.Namespace, k.Name)
	if err != nil {
		return validation.KafkaFacts{}, err
	}
	seen, err := s.seen(ctx, k.Namespace, k.Name)
	if err != nil {
		return validation.KafkaFacts{}, err
	}
	facts := validation.KafkaFacts{Pools: pools, AllPools: validation.Settled(k), Seen: seen, Templates: map[string]bool{}}
	for _, name := range validation.TemplatesOf(k) {
		template, err := get[apiv1.KafkaRebalance](ctx, s.reader, k.Namespace, name)
		if err != nil {
			return validation.KafkaFacts{}, err
		}
		facts.Templates[name] = template != nil && validation.IsRebalanceTemplate(template)
	}
	return facts, nil
}

func (s source) pool(ctx context.Context, p *apiv1.KafkaNodePool) (validation.PoolFacts, error) {
	cluster := p.Labels[apiv1.LabelCluster]
	if cluster == "" {
		return validation.PoolFacts{}, nil
	}
	kafka, err := get[apiv1.Kafka](ctx, s.reader, p.Namespace, cluster)
	if err != nil {
		return validation.PoolFacts{}, err
	}
	pools, err := s.pools(ctx, p.Namespace, cluster)
	if err != nil {
		return validation.PoolFacts{}, err
	}
	seen, err := s.seen(ctx, p.Namespace, cluster)
	if err != nil {
		return validation.PoolFacts{}, err
	}
	return validation.PoolFacts{Kafka: kafka, Pools: pools, AllPools: validation.Settled(kafka), Seen: seen}, nil
}

func (s source) rebalance(ctx context.Context, r *apiv1.KafkaRebalance) (validation.RebalanceFacts, error) {
	cluster := r.Labels[apiv1.LabelCluster]
	if cluster == "" {
		return validation.RebalanceFacts{}, nil
	}
	kafka, err := get[apiv1.Kafka](ctx, s.reader, r.Namespace, cluster)
	if err != nil {
		return validation.RebalanceFacts{}, err
	}
	pools, err := s.pools(ctx, r.Namespace, cluster)
	if err != nil {
		return validation.RebalanceFacts{}, err
	}
	seen, err := s.seen(ctx, r.Namespace, cluster)
	if err != nil {
		return validation.RebalanceFacts{}, err
	}
	return validation.RebalanceFacts{Pools: pools, AllPools: validation.Settled(kafka), Seen: seen}, nil
}

func (s source) pools(ctx context.Context, namespace, cluster string) ([]apiv1.KafkaNodePool, error) {
	var list apiv1.KafkaNodePoolList
	err := s.reader.List(ctx, &list, client.InNamespace(namespace), client.MatchingFields{indexPoolCluster: cluster})
	if err != nil {
		return nil, fmt.Errorf("looking up the pools of Kafka %s/%s: %w", namespace, cluster, err)
	}
	return list.Items, nil
}

// seen returns what the operator published of a cluster; nil where it published
// nothing, or nothing that can be read.
func (s source) seen(ctx context.Context, namespace, cluster string) (*facts.Facts, error) {
	cm, err := get[corev1.ConfigMap](ctx, s.reader, namespace, facts.Name(cluster))
	if err != nil || cm == nil {
		return nil, err
	}
	seen, err := facts.Decode(cm)
	if err != nil {
		log.FromContext(ctx).Error(err, "Judging without the facts of a cluster", "namespace", namespace, "cluster", cluster)
		return nil, nil
	}
	return &seen, nil
}

// get reads one object; nil is one that does not exist.
func get[T any, P interface {
	*T
	client.Object
}](ctx context.Context, reader client.Reader, namespace, name string) (P, error) {
	obj := P(new(T))
	err := reader.Get(ctx, types.NamespacedName{Namespace: namespace, Name: name}, obj)
	switch {
	case apierrors.IsNotFound(err), meta.IsNoMatchError(err): // a kind that is not installed has no objects
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("looking up %T %s/%s: %w", obj, namespace, name, err)
	}
	return obj, nil
}
