// Package options holds everything that `sluice operator` can be told: each
// option is a flag and an environment variable, is documented by --help, and is
// refused with the flag's name, the value and what is right.
package options

import (
	"time"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/scaledown"
	"github.com/sluice-kafka/sluice/internal/topicplan"
)

// Controllers that --controllers may name.
const (
	// ControllerTopic keeps KafkaTopic resources and Kafka's topics in step.
	ControllerTopic = "topic"
	// ControllerCluster runs Kafka clusters from Kafka and KafkaNodePool resources.
	ControllerCluster = "cluster"
	// ControllerVolumes has pods restarted for their templated volumes.
	ControllerVolumes = "volumes"
)

// knownControllers are what --controllers accepts, in the order in which they
// are named to the user.
var knownControllers = []string{ControllerTopic, ControllerCluster, ControllerVolumes}

// Values of --cert-mode.
const (
	// CertModeSelfSigned has the replicas make and renew the certificate.
	CertModeSelfSigned = "self-signed"
	// CertModeCertManager serves what cert-manager puts into the Secret.
	CertModeCertManager = "cert-manager"
)

// Values of --log-format.
const (
	LogFormatJSON    = "json"
	LogFormatConsole = "console"
)

// Disabled as an address switches a server off.
const Disabled = "0"

// Operator is what `sluice operator` runs with.
type Operator struct {
	// Kubeconfig is the path of a kubeconfig file; empty for $KUBECONFIG, else
	// the pod's service account.
	Kubeconfig string
	// Namespace is the operator's own: its lease and its Secret are there.
	Namespace string
	// Controllers to run, each once.
	Controllers []string
	// LeaderElect has controllers run on one replica at a time.
	LeaderElect bool
	// KubeAPIQPS and KubeAPIBurst bound the requests to the API server a second;
	// a QPS of 0 leaves that to the API server's own fairness.
	KubeAPIQPS   float32
	KubeAPIBurst int

	Webhooks     Webhooks
	Certificates Certificates
	Topics       Topics
	Clusters     Clusters
	Serving      Serving
	Log          Log
}

// Webhooks of the operator.
type Webhooks struct {
	// Enabled serves admission webhooks.
	Enabled bool
	// BindAddress and Port that they are served on; an empty address is all.
	BindAddress string
	Port        int
	// ValidatingConfiguration and MutatingConfiguration name the webhook
	// configurations whose caBundle is kept; empty for none.
	ValidatingConfiguration, MutatingConfiguration string
	// StrictConfig turns warnings about options into refusals.
	StrictConfig bool
}

// Certificates that webhooks and metrics are served with.
type Certificates struct {
	// Mode is CertModeSelfSigned or CertModeCertManager.
	Mode string
	// Secret's name, in Operator.Namespace.
	Secret string
	// Service is the name of the Service before the webhooks.
	Service string
	// ExtraHosts are DNS names and IP addresses beside the Service's.
	ExtraHosts []string
	// Validity of a self-signed certificate.
	Validity time.Duration
	// PropagationDelay and RetireAfter frame a rotation; see package certs.
	PropagationDelay, RetireAfter time.Duration
}

// Topics is what the topic controller runs with.
type Topics struct {
	// ExternalClustersFile is the path of the table of external clusters.
	ExternalClustersFile string
	// ExternalClusters as read from that file.
	ExternalClusters []ExternalCluster
	// Selector of the KafkaTopics that are kept, as Kubernetes writes label
	// selectors; all of them where it is empty.
	Selector string
	// MaxBatchSize is the number of topics after which a batch closes.
	MaxBatchSize int
	// MaxBatchLinger is how long after its first topic a batch closes.
	MaxBatchLinger time.Duration
	// ResyncInterval is how often every topic is looked at.
	ResyncInterval time.Duration
	// UnreachableAfter is how long Kafka may be away before resources say so.
	UnreachableAfter time.Duration
	// Workers is the number of batches of one cluster that run at once.
	Workers int
	// AlterableConfig names the options of topics that may be altered, in the form of
	// topicplan.ParseAlterable.
	AlterableConfig string
	// UseFinalizers has a resource wait for its topic's deletion.
	UseFinalizers bool
	// OnUnreachable is OnUnreachableWait or OnUnreachableOrphan of the API: what
	// becomes of a resource that is deleted once Kafka was unreachable for
	// OrphanAfter.
	OnUnreachable string
	OrphanAfter   time.Duration
	// SkipClusterConfigReview leaves out the look at the brokers' own options.
	SkipClusterConfigReview bool
}

// Clusters is what the cluster controller runs with.
type Clusters struct {
	// LookInterval is how often a cluster is looked at without any event.
	LookInterval time.Duration
	// EmptyFor is how long a broker has to be seen empty before it is removed, and
	// EmptyForUncordoned the same where Kafka cannot keep new replicas off it.
	EmptyFor, EmptyForUncordoned time.Duration
	// Workers is the number of clusters that are worked on at once.
	Workers int
}

// Serving is what is served beside the webhooks.
type Serving struct {
	// MetricsBindAddress, or Disabled.
	MetricsBindAddress string
	// MetricsSecure serves metrics over TLS to those alone whose token the API
	// server knows and allows.
	MetricsSecure bool
	// HealthProbeBindAddress, or Disabled.
	HealthProbeBindAddress string
	// EnableDebug serves /debug/pprof and /debug/resync beside the metrics.
	EnableDebug bool
}

// Log is how to log.
type Log struct {
	// Level is debug, info, error, or a number for logr's V.
	Level string
	// Format is LogFormatJSON or LogFormatConsole.
	Format string
}

// Default are the options of an operator that was told nothing.
func Default() Operator {
	return Operator{
		Namespace:   "sluice",
		Controllers: []string{ControllerTopic, ControllerCluster, ControllerVolumes},
		LeaderElect: true,
		// An API server gives way by itself where it has to (API priority and
		// fairness); these only keep a fault from becoming a flood. A thousand
		// topics at once are two thousand writes.
		KubeAPIQPS:   1000,
		KubeAPIBurst: 2000,
		Webhooks: Webhooks{
			Enabled:                 true,
			Port:                    9443,
			ValidatingConfiguration: "sluice",
			MutatingConfiguration:   "sluice",
		},
		Certificates: Certificates{
			Mode:             CertModeSelfSigned,
			Secret:           "sluice-serving-cert",
			Service:          "sluice",
			Validity:         90 * 24 * time.Hour,
			PropagationDelay: 30 * time.Second,
			RetireAfter:      time.Hour,
		},
		Topics: Topics{
			MaxBatchSize:     1000,
			MaxBatchLinger:   100 * time.Millisecond,
			ResyncInterval:   2 * time.Minute,
			UnreachableAfter: 2 * time.Minute,
			Workers:          1,
			AlterableConfig:  topicplan.AlterableAll,
			UseFinalizers:    true,
			OnUnreachable:    apiv1.OnUnreachableWait,
			OrphanAfter:      10 * time.Minute,
		},
		Clusters: Clusters{
			LookInterval:       2 * time.Minute,
			EmptyFor:           scaledown.DefaultInterval,
			EmptyForUncordoned: scaledown.DefaultUncordonedInterval,
			Workers:            4,
		},
		Serving: Serving{
			MetricsBindAddress:     ":8443",
			MetricsSecure:          true,
			HealthProbeBindAddress: ":8081",
		},
		Log: Log{Level: "info", Format: LogFormatJSON},
	}
}

// CertificateHosts are what the serving certificate is for: the name by which
// the API server calls a Service
// (https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/#service-reference),
// and what was named beside it.
func (o *Operator) CertificateHosts() []string {
	hosts := []string{o.Certificates.Service + "." + o.Namespace + ".svc"}
	return append(hosts, o.Certificates.ExtraHosts...)
}
