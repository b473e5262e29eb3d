package offline

import (
	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/validation"
)

// The facts of each kind are those that the webhook gathers from its cache.

func (l *lookup) topicFacts(t *apiv1.KafkaTopic) validation.TopicFacts {
	cluster := t.Labels[apiv1.LabelCluster]
	if cluster == "" {
		return validation.TopicFacts{}
	}
	name, namespace := validation.ClaimedName(t), l.from.namespace
	facts := validation.TopicFacts{SameName: l.topics(l.set.topicsByClaim[scoped(namespace, cluster, name)])}
	if t.Status.TopicName == "" {
		facts.SameMetric = l.topics(l.set.topicsByMetric[scoped(namespace, cluster, validation.MetricName(name))])
	}
	return facts
}

func (l *lookup) topics(keys []key) []apiv1.KafkaTopic {
	var topics []apiv1.KafkaTopic
	for _, k := range keys {
		if m := l.find(k); m != nil {
			if t, ok := m.object.(*apiv1.KafkaTopic); ok {
				topics = append(topics, *t)
			}
		}
	}
	return topics
}

func (l *lookup) kafkaFacts(k *apiv1.Kafka) validation.KafkaFacts {
	var facts validation.KafkaFacts
	for _, key := range l.set.poolsByCluster[scoped(l.from.namespace, k.Name)] {
		m := l.find(key)
		if m == nil {
			continue
		}
		if pool, ok := m.object.(*apiv1.KafkaNodePool); ok && pool.Labels[apiv1.LabelCluster] == k.Name {
			facts.Pools = append(facts.Pools, *pool)
			facts.OneSet = facts.OneSet || m.doc != nil
		}
	}
	return facts
}

func (l *lookup) poolFacts(p *apiv1.KafkaNodePool) validation.PoolFacts {
	var facts validation.PoolFacts
	cluster := p.Labels[apiv1.LabelCluster]
	if cluster == "" {
		return facts
	}
	if m := l.find(key{kind: apiv1.KindKafka, namespace: l.from.namespace, name: cluster}); m != nil {
		facts.Kafka, _ = m.object.(*apiv1.Kafka)
		facts.OneSet = m.doc != nil
	}
	return facts
}
