package metrics

import (
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Queue is what is measured of a queue when metrics are read, so that a loop
// that has stopped does not freeze them.
type Queue interface {
	Len() int
	OldestAge() time.Duration
}

// queues collects the length and age of each cluster's queue, and the states of
// its topics.
type queues struct {
	length *prometheus.Desc
	oldest *prometheus.Desc
	states *prometheus.Desc

	mu      sync.Mutex
	sources map[string]Queue
	counts  map[string]func() map[string]int
}

func newQueues() *queues {
	return &queues{
		length: prometheus.NewDesc("sluice_topic_queue_length",
			"Topics that wait to be worked on, those with a delay among them.", []string{"cluster"}, nil),
		oldest: prometheus.NewDesc("sluice_topic_oldest_key_age_seconds",
			"How long the topic that has waited longest has waited.", []string{"cluster"}, nil),
		states: prometheus.NewDesc("sluice_topic_resources",
			"KafkaTopics of the cluster, by state (deleting, unmanaged, paused, pending, ready, not_ready).", []string{"cluster", "state"}, nil),
		sources: map[string]Queue{},
		counts:  map[string]func() map[string]int{},
	}
}

// Describe implements prometheus.Collector.
func (q *queues) Describe(ch chan<- *prometheus.Desc) {
	ch <- q.length
	ch <- q.oldest
	ch <- q.states
}

// Collect implements prometheus.Collector.
func (q *queues) Collect(ch chan<- prometheus.Metric) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, cluster := range slices.Sorted(maps.Keys(q.sources)) {
		s := q.sources[cluster]
		ch <- prometheus.MustNewConstMetric(q.length, prometheus.GaugeValue, float64(s.Len()), cluster)
		ch <- prometheus.MustNewConstMetric(q.oldest, prometheus.GaugeValue, s.OldestAge().Seconds(), cluster)
	}
	for _, cluster := range slices.Sorted(maps.Keys(q.counts)) {
		counts := q.counts[cluster]()
		for _, state := range slices.Sorted(maps.Keys(counts)) {
			ch <- prometheus.MustNewConstMetric(q.states, prometheus.GaugeValue, float64(counts[state]), cluster, state)
		}
	}
}

// WatchQueue measures the queue of a cluster from now on.
func (m *Topic) WatchQueue(cluster string, q Queue) {
	m.queues.mu.Lock()
	defer m.queues.mu.Unlock()
	m.queues.sources[cluster] = q
}

// WatchTopics measures from now on how many topics of a cluster are in which
// state, with a zero for a state that none is in.
func (m *Topic) WatchTopics(cluster string, count func() map[string]int) {
	m.queues.mu.Lock()
	defer m.queues.mu.Unlock()
	m.queues.counts[cluster] = count
}
