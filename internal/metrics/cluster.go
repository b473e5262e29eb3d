package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// What happened to a broker's cordon.
const (
	CordonSet     = "set"
	CordonLifted  = "lifted"
	CordonRefused = "refused"
	// CordonFailed: Kafka did not answer, or could not for now.
	CordonFailed = "failed"
)

// Cluster measures the cluster controller. Each metric carries the labels
// namespace and cluster, those of the Kafka.
type Cluster struct {
	reconciliations *prometheus.CounterVec
	seconds         *prometheus.HistogramVec
	cordons         *prometheus.CounterVec
	restarts        *prometheus.CounterVec
	removed         *prometheus.CounterVec
	nodes           *prometheus.GaugeVec
	cordoned        *prometheus.GaugeVec
	held            *prometheus.GaugeVec
	draining        *prometheus.GaugeVec
	adminCalls      *prometheus.HistogramVec
	reachable       *prometheus.GaugeVec
}

// NewCluster makes the cluster controller's metrics and registers them; a nil
// registerer leaves them unregistered.
func NewCluster(reg prometheus.Registerer) *Cluster {
	f := promauto.With(reg)
	buckets := prometheus.ExponentialBuckets(0.001, 2, 16)
	of := func(more ...string) []string { return append([]string{"namespace", "cluster"}, more...) }
	gauge := func(name, help string) *prometheus.GaugeVec {
		return f.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, of())
	}
	return &Cluster{
		reconciliations: f.NewCounterVec(prometheus.CounterOpts{
			Name: "sluice_cluster_reconciliations_total",
			Help: "Looks at a Kafka cluster, by result (successful, failed); their sum is the total.",
		}, of("result")),
		seconds: f.NewHistogramVec(prometheus.HistogramOpts{
			Name: "sluice_cluster_reconciliation_duration_seconds",
			Help: "Time that a look at a Kafka cluster took, with all that was done.", Buckets: buckets,
		}, of()),
		cordons: f.NewCounterVec(prometheus.CounterOpts{
			Name: "sluice_cluster_cordon_changes_total",
			Help: "Changes of the cordon of single brokers, by what came of it (set, lifted, refused, failed).",
		}, of("change")),
		restarts: f.NewCounterVec(prometheus.CounterOpts{
			Name: "sluice_cluster_restarts_total",
			Help: "Pods that were deleted to be made anew.",
		}, of()),
		removed: f.NewCounterVec(prometheus.CounterOpts{
			Name: "sluice_cluster_unregistered_brokers_total",
			Help: "Brokers that left and were unregistered.",
		}, of()),
		nodes:    gauge("sluice_cluster_nodes", "Nodes that the cluster is to have at present."),
		cordoned: gauge("sluice_cluster_cordoned_brokers", "Brokers that are to take no new replicas."),
		held:     gauge("sluice_cluster_held_brokers", "Brokers that are to go and are not known to be empty."),
		draining: gauge("sluice_cluster_draining_brokers", "Brokers whose replicas are to be moved away."),
		adminCalls: f.NewHistogramVec(prometheus.HistogramOpts{
			Name: "sluice_cluster_admin_call_duration_seconds",
			Help: "Durations of requests to Kafka, by API and result (successful, failed); their count is the number of requests.", Buckets: buckets,
		}, of("api", "result")),
		reachable: gauge("sluice_cluster_reachable", "1 if the Kafka cluster answered at the last look, else 0."),
	}
}

// Reconciled tells of a look at a cluster.
func (m *Cluster) Reconciled(namespace, cluster string, d time.Duration, err error) {
	m.reconciliations.WithLabelValues(namespace, cluster, result(err)).Inc()
	m.seconds.WithLabelValues(namespace, cluster).Observe(d.Seconds())
}

// Cordon tells of a change of a broker's cordon; change is one of the Cordon
// constants.
func (m *Cluster) Cordon(namespace, cluster, change string) {
	m.cordons.WithLabelValues(namespace, cluster, change).Inc()
}

// Restarted tells of a pod that was deleted to be made anew.
func (m *Cluster) Restarted(namespace, cluster string) {
	m.restarts.WithLabelValues(namespace, cluster).Inc()
}

// Unregistered tells of a broker that left.
func (m *Cluster) Unregistered(namespace, cluster string) {
	m.removed.WithLabelValues(namespace, cluster).Inc()
}

// Brokers tells how many nodes there are to be, and how many brokers are in which
// set.
func (m *Cluster) Brokers(namespace, cluster string, nodes, cordoned, held, draining int) {
	m.nodes.WithLabelValues(namespace, cluster).Set(float64(nodes))
	m.cordoned.WithLabelValues(namespace, cluster).Set(float64(cordoned))
	m.held.WithLabelValues(namespace, cluster).Set(float64(held))
	m.draining.WithLabelValues(namespace, cluster).Set(float64(draining))
}

// Reachable tells whether the cluster answered.
func (m *Cluster) Reachable(namespace, cluster string, yes bool) {
	value := 0.0
	if yes {
		value = 1
	}
	m.reachable.WithLabelValues(namespace, cluster).Set(value)
}

// AdminObserver counts requests to one cluster, in the form that the Kafka client
// takes.
func (m *Cluster) AdminObserver(namespace, cluster string) func(api string, d time.Duration, err error) {
	return func(api string, d time.Duration, err error) {
		m.adminCalls.WithLabelValues(namespace, cluster, api, result(err)).Observe(d.Seconds())
	}
}

// Forget drops what is measured of a cluster that is not run any more.
func (m *Cluster) Forget(namespace, cluster string) {
	labels := prometheus.Labels{"namespace": namespace, "cluster": cluster}
	for _, g := range []*prometheus.GaugeVec{m.nodes, m.cordoned, m.held, m.draining, m.reachable} {
		g.DeletePartialMatch(labels)
	}
}
