// Package metrics defines what Sluice measures. All names begin with sluice_,
// and every label takes its values from a closed set, apart from the cluster's
// name: never the name of a topic.
package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// Results of a call or of a reconciliation.
const (
	Successful = "successful"
	Failed     = "failed"
	// Retried is a reconciliation without an outcome yet: it is tried again soon.
	Retried = "retried"
)

// Kinds of Kubernetes writes.
const (
	WriteFinalizer = "finalizer"
	WriteStatus    = "status"
)

// Reasons why a topic is left behind.
const (
	OrphanKafkaGone   = "kafka_gone"
	OrphanUnreachable = "unreachable"
)

// Topic measures the topic controller. Each metric carries the label cluster.
type Topic struct {
	batches          *prometheus.CounterVec
	batchSize        *prometheus.HistogramVec
	batchSeconds     *prometheus.HistogramVec
	queueLength      *prometheus.HistogramVec
	queues           *queues
	reconciliations  *prometheus.CounterVec
	locked           *prometheus.CounterVec
	adminCalls       *prometheus.HistogramVec
	kubernetesWrites *prometheus.HistogramVec
	reachable        *prometheus.GaugeVec
	orphaned         *prometheus.CounterVec
}

// NewTopic makes the topic controller's metrics and registers them; a nil
// registerer leaves them unregistered.
func NewTopic(reg prometheus.Registerer) *Topic {
	f := promauto.With(reg)
	q := newQueues()
	if reg != nil {
		reg.MustRegister(q)
	}
	seconds := prometheus.ExponentialBuckets(0.001, 2, 16)
	return &Topic{
		queues: q,
		batches: f.NewCounterVec(prometheus.CounterOpts{
			Name: "sluice_topic_batches_total",
			Help: "Batches of topics that were worked on.",
		}, []string{"cluster"}),
		batchSize: f.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "sluice_topic_batch_size",
			Help:    "Topics in a batch.",
			Buckets: []float64{1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000},
		}, []string{"cluster"}),
		queueLength: f.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "sluice_topic_batch_queue_length",
			Help:    "Topics that waited when a batch was closed, those of the batch and those with a delay among them.",
			Buckets: []float64{1, 10, 100, 1000, 2000, 5000, 10000, 20000, 50000, 100000},
		}, []string{"cluster"}),
		batchSeconds: f.NewHistogramVec(prometheus.HistogramOpts{
			Name: "sluice_topic_batch_duration_seconds",
			Help: "Time from the closing of a batch to its last status.", Buckets: seconds,
		}, []string{"cluster"}),
		reconciliations: f.NewCounterVec(prometheus.CounterOpts{
			Name: "sluice_topic_reconciliations_total",
			Help: "Reconciliations of single topics, by result (successful, failed; retried where it is tried again soon); their sum is the total.",
		}, []string{"cluster", "result"}),
		locked: f.NewCounterVec(prometheus.CounterOpts{
			Name: "sluice_topic_reconciliations_locked_total",
			Help: "Topics that were set aside because the same topic was being worked on.",
		}, []string{"cluster"}),
		adminCalls: f.NewHistogramVec(prometheus.HistogramOpts{
			Name: "sluice_topic_admin_call_duration_seconds",
			Help: "Durations of requests to Kafka, by API and result (successful, failed); their count is the number of requests.", Buckets: seconds,
		}, []string{"cluster", "api", "result"}),
		kubernetesWrites: f.NewHistogramVec(prometheus.HistogramOpts{
			Name: "sluice_topic_kubernetes_write_duration_seconds",
			Help: "Durations of writes to KafkaTopics, by kind (finalizer, status) and result (successful, failed).", Buckets: seconds,
		}, []string{"cluster", "kind", "result"}),
		orphaned: f.NewCounterVec(prometheus.CounterOpts{
			Name: "sluice_topic_orphaned_total",
			Help: "Topics left behind in Kafka whose resources are deleted, by reason (kafka_gone, unreachable).",
		}, []string{"cluster", "reason"}),
		reachable: f.NewGaugeVec(prometheus.GaugeOpts{
			Name: "sluice_topic_cluster_reachable",
			Help: "1 if the last call to the Kafka cluster was answered, else 0.",
		}, []string{"cluster"}),
	}
}

// Batch tells of a batch that was worked on; queued is how many topics waited
// when it was closed, its own among them.
func (m *Topic) Batch(cluster string, size, queued int, d time.Duration) {
	m.batches.WithLabelValues(cluster).Inc()
	m.batchSize.WithLabelValues(cluster).Observe(float64(size))
	m.queueLength.WithLabelValues(cluster).Observe(float64(queued))
	m.batchSeconds.WithLabelValues(cluster).Observe(d.Seconds())
}

// Reconciliations counts topics by what came of them.
type Reconciliations struct {
	Successful, Failed, Retried int
	// Locked topics were set aside since they were being worked on already.
	Locked int
}

// Reconciled tells of topics that were reconciled.
func (m *Topic) Reconciled(cluster string, n Reconciliations) {
	m.reconciliations.WithLabelValues(cluster, Successful).Add(float64(n.Successful))
	m.reconciliations.WithLabelValues(cluster, Failed).Add(float64(n.Failed))
	m.reconciliations.WithLabelValues(cluster, Retried).Add(float64(n.Retried))
	m.locked.WithLabelValues(cluster).Add(float64(n.Locked))
}

// AdminCall tells of a request to Kafka.
func (m *Topic) AdminCall(cluster, api string, d time.Duration, err error) {
	m.adminCalls.WithLabelValues(cluster, api, result(err)).Observe(d.Seconds())
}

// AdminObserver is AdminCall for one cluster, in the form that the Kafka client
// takes.
func (m *Topic) AdminObserver(cluster string) func(api string, d time.Duration, err error) {
	return func(api string, d time.Duration, err error) { m.AdminCall(cluster, api, d, err) }
}

// KubernetesWrite tells of a write to a KafkaTopic; kind is one of the Write
// constants.
func (m *Topic) KubernetesWrite(cluster, kind string, d time.Duration, err error) {
	m.kubernetesWrites.WithLabelValues(cluster, kind, result(err)).Observe(d.Seconds())
}

// Reachable tells whether the cluster answered.
func (m *Topic) Reachable(cluster string, yes bool) {
	value := 0.0
	if yes {
		value = 1
	}
	m.reachable.WithLabelValues(cluster).Set(value)
}

// Orphaned tells of a topic that was left behind; reason is one of the Orphan
// constants.
func (m *Topic) Orphaned(cluster, reason string) {
	m.orphaned.WithLabelValues(cluster, reason).Inc()
}

func result(err error) string {
	if err != nil {
		return Failed
	}
	return Successful
}

// Forget drops what is measured of a cluster that is not served any more.
func (m *Topic) Forget(cluster string) {
	m.queues.mu.Lock()
	delete(m.queues.sources, cluster)
	delete(m.queues.counts, cluster)
	m.queues.mu.Unlock()
	labels := prometheus.Labels{"cluster": cluster}
	for _, v := range []interface {
		DeletePartialMatch(prometheus.Labels) int
	}{
		m.batches, m.batchSize, m.batchSeconds, m.queueLength, m.reconciliations, m.locked, m.adminCalls, m.kubernetesWrites, m.reachable, m.orphaned,
	} {
		v.DeletePartialMatch(labels)
	}
}
