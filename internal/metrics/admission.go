package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// Verdicts of an admission request.
const (
	// VerdictAllowed lets the request through in silence.
	VerdictAllowed = "allowed"
	// VerdictWarned lets it through with a warning.
	VerdictWarned = "warned"
	// VerdictRefused refuses it for what a rule found.
	VerdictRefused = "refused"
	// VerdictUnreadable refuses it since the object cannot be decoded.
	VerdictUnreadable = "unreadable"
	// VerdictUnavailable asks to try again, since a fact could not be had.
	VerdictUnavailable = "unavailable"
	// VerdictFailed is a fault in Sluice.
	VerdictFailed = "failed"
)

// Operations of an admission request.
const (
	OperationCreate = "create"
	OperationUpdate = "update"
	OperationDelete = "delete"
	// OperationScale is an update of the subresource scale.
	OperationScale = "scale"
	// OperationOther is one that no webhook is registered for.
	OperationOther = "other"
)

// Admission measures the webhooks. Kinds are those that webhooks are registered
// for, rules those of the catalogue.
type Admission struct {
	requests *prometheus.CounterVec
	refusals *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
}

// NewAdmission makes the metrics of the webhooks and registers them; a nil
// registerer leaves them unregistered.
func NewAdmission(reg prometheus.Registerer) *Admission {
	f := promauto.With(reg)
	return &Admission{
		requests: f.NewCounterVec(prometheus.CounterOpts{
			Name: "sluice_admission_requests_total",
			Help: "Admission requests, by kind, operation (create, update, delete, scale, other) and verdict (allowed, warned, refused, unreadable, unavailable, failed).",
		}, []string{"kind", "operation", "verdict"}),
		refusals: f.NewCounterVec(prometheus.CounterOpts{
			Name: "sluice_admission_refusals_total",
			Help: "Faults that admission requests were refused for, by kind and rule; one request may have several.",
		}, []string{"kind", "rule"}),
		seconds: f.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "sluice_admission_request_duration_seconds",
			Help:    "Time from an admission request to its answer, by kind and operation.",
			Buckets: prometheus.ExponentialBuckets(0.0001, 2, 16),
		}, []string{"kind", "operation"}),
	}
}

// Answered tells of a request that was answered.
func (m *Admission) Answered(kind, operation, verdict string, d time.Duration) {
	m.requests.WithLabelValues(kind, operation, verdict).Inc()
	m.seconds.WithLabelValues(kind, operation).Observe(d.Seconds())
}

// Refused tells of a fault that a request was refused for.
func (m *Admission) Refused(kind, rule string) {
	m.refusals.WithLabelValues(kind, rule).Inc()
}
