package offline

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/facts"
	"github.com/sluice-kafka/sluice/internal/validation"
)

// The facts of each kind are those that the webhook gathers from its cache.

func (l *lookup) topicFacts(t, old *apiv1.KafkaTopic) validation.TopicFacts {
	cluster := t.Labels[apiv1.LabelCluster]
	if cluster == "" {
		return validation.TopicFacts{}
	}
	name, namespace := t.ClaimedName(), l.from.namespace
	facts := validation.TopicFacts{SameName: l.topics(l.set.topicsByClaim[scoped(namespace, cluster, name)])}
	if validation.NeedsKafka(t, old) {
		if m := l.find(key{apiv1.KindKafka, namespace, cluster}); m != nil {
			facts.Kafka, _ = m.object.(*apiv1.Kafka)
		}
	}
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
	c := l.cluster(l.from.key)
	facts := validation.KafkaFacts{Pools: c.pools, AllPools: c.allPools, Seen: c.seen, OneSet: c.poolsOfFiles, Templates: map[string]bool{}}
	for _, name := range validation.TemplatesOf(k) {
		at := key{apiv1.KindKafkaRebalance, l.from.namespace, name}
		if m := l.find(at); m != nil {
			r, ok := m.object.(*apiv1.KafkaRebalance)
			facts.Templates[name] = ok && validation.IsRebalanceTemplate(r)
		} else if len(l.set.byKey[at]) == 0 && (l.set.complete || l.set.templates[l.from.namespace]) {
			// Files alone do not tell that there is no template, unless they are where
			// templates are kept.
			facts.Templates[name] = false
		}
	}
	return facts
}

func (l *lookup) poolFacts(p *apiv1.KafkaNodePool) validation.PoolFacts {
	kafka, c := l.clusterOf(p)
	facts := validation.PoolFacts{Pools: c.pools, AllPools: c.allPools, Seen: c.seen}
	if kafka != nil {
		facts.Kafka, _ = kafka.object.(*apiv1.Kafka)
		facts.OneSet = kafka.doc != nil
	}
	return facts
}

func (l *lookup) rebalanceFacts(r *apiv1.KafkaRebalance) validation.RebalanceFacts {
	_, c := l.clusterOf(r)
	return validation.RebalanceFacts{Pools: c.pools, AllPools: c.allPools, Seen: c.seen}
}

// clusterOf returns what is known of the cluster that an object is labelled
// with; its Kafka is nil where that is not known.
func (l *lookup) clusterOf(o metav1.Object) (*manifest, cluster) {
	at := key{apiv1.KindKafka, l.from.namespace, o.GetLabels()[apiv1.LabelCluster]}
	kafka := l.find(at)
	switch {
	case at.name == "" || kafka == nil && len(l.set.byKey[at]) > 0:
		return nil, cluster{}
	case kafka == nil:
		c := (&lookup{set: l.set, from: l.from}).cluster(at)
		c.allPools = false
		return nil, c
	}
	// A Kafka knows best which pools go with it.
	return kafka, (&lookup{set: l.set, from: kafka}).cluster(at)
}

// cluster is what is known of a Kafka besides itself.
type cluster struct {
	pools        []apiv1.KafkaNodePool
	allPools     bool
	poolsOfFiles bool // one of them at least
	seen         *facts.Facts
}

// cluster gathers it. That a folder holds all pools of a Kafka that it holds is
// taken for granted, unless it is not settled which they are.
func (l *lookup) cluster(kafka key) cluster {
	var c cluster
	before := len(l.unsettled)
	for _, k := range l.set.poolsByCluster[scoped(kafka.namespace, kafka.name)] {
		m := l.find(k)
		if m == nil {
			continue
		}
		if pool, ok := m.object.(*apiv1.KafkaNodePool); ok && pool.Labels[apiv1.LabelCluster] == kafka.name {
			c.pools = append(c.pools, *pool)
			c.poolsOfFiles = c.poolsOfFiles || m.doc != nil
		}
	}
	c.allPools = len(c.pools) > 0 && len(l.unsettled) == before
	if seen, ok := l.set.facts[kafka]; ok {
		c.seen = &seen
	}
	return c
}
