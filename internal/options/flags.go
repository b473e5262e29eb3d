package options

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
)

// envPrefix begins the name of each option's environment variable.
const envPrefix = "SLUICE_"

// envName is the environment variable of a flag.
func envName(flag string) string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// AddFlags adds the options to fs; what they hold are the defaults. Each
// usage text names the environment variable.
func (o *Operator) AddFlags(fs *pflag.FlagSet) {
	fs.StringVar(&o.Kubeconfig, "kubeconfig", o.Kubeconfig, "kubeconfig file; without it $KUBECONFIG counts, else the pod's service account")
	fs.StringVar(&o.Namespace, "namespace", o.Namespace, "the operator's own namespace, where its lease and its Secret are")
	fs.StringSliceVar(&o.Controllers, "controllers", o.Controllers, "controllers to run, of: "+strings.Join(knownControllers, ", ")+"; empty for none")
	fs.BoolVar(&o.LeaderElect, "leader-elect", o.LeaderElect, "run the controllers on one replica at a time; webhooks are served by all")
	fs.Float32Var(&o.KubeAPIQPS, "kube-api-qps", o.KubeAPIQPS, "requests a second to the API server; 0 for no bound")
	fs.IntVar(&o.KubeAPIBurst, "kube-api-burst", o.KubeAPIBurst, "requests to the API server that may exceed kube-api-qps for a moment")
	o.addWebhookFlags(fs)
	o.addCertificateFlags(fs)
	o.addTopicFlags(fs)
	o.addClusterFlags(fs)
	o.addServingFlags(fs)
	fs.VisitAll(func(f *pflag.Flag) { f.Usage += " [" + envName(f.Name) + "]" })
}

func (o *Operator) addWebhookFlags(fs *pflag.FlagSet) {
	w := &o.Webhooks
	fs.BoolVar(&w.Enabled, "webhooks", w.Enabled, "serve the admission webhooks")
	fs.StringVar(&w.BindAddress, "webhook-bind-address", w.BindAddress, "address that the webhooks are served on; empty for all")
	fs.IntVar(&w.Port, "webhook-port", w.Port, "port that the webhooks are served on")
	fs.StringVar(&w.ValidatingConfiguration, "validating-webhook-configuration", w.ValidatingConfiguration,
		"ValidatingWebhookConfiguration whose caBundle is kept up to date; empty for none")
	fs.StringVar(&w.MutatingConfiguration, "mutating-webhook-configuration", w.MutatingConfiguration,
		"MutatingWebhookConfiguration whose caBundle is kept up to date; empty for none")
	fs.BoolVar(&w.StrictConfig, "strict-config", w.StrictConfig, "refuse options that are ignored or make writes fail, instead of warning of them")
}

func (o *Operator) addCertificateFlags(fs *pflag.FlagSet) {
	c := &o.Certificates
	fs.StringVar(&c.Mode, "cert-mode", c.Mode, "who fills the certificate's Secret: "+CertModeSelfSigned+" or "+CertModeCertManager)
	fs.StringVar(&c.Secret, "cert-secret", c.Secret, "Secret with the serving certificate, in the operator's namespace")
	fs.StringVar(&c.Service, "webhook-service", c.Service, "Service in front of the webhooks, which the certificate is for")
	fs.StringSliceVar(&c.ExtraHosts, "webhook-cert-hosts", c.ExtraHosts, "more DNS names and IP addresses that a self-signed certificate is for")
	fs.DurationVar(&c.Validity, "cert-validity", c.Validity, "validity of a self-signed certificate; it is renewed when two thirds are over")
	fs.DurationVar(&c.PropagationDelay, "cert-propagation-delay", c.PropagationDelay,
		"how long a new CA is in the webhook configurations before a certificate under it is served; must exceed the time that API servers take to see them")
	fs.DurationVar(&c.RetireAfter, "cert-retire-after", c.RetireAfter, "how long an old CA stays in the webhook configurations after a rotation")
}

func (o *Operator) addTopicFlags(fs *pflag.FlagSet) {
	t := &o.Topics
	fs.StringVar(&t.ExternalClustersFile, "external-clusters", t.ExternalClustersFile,
		"YAML file with a list of the Kafka clusters whose topics are managed, each with name, namespaces, bootstrapServers and, where wanted, tls, credentials, replicasEngine (docs/topics.md); Kafkas that are annotated need no entry")
	fs.StringVar(&t.Selector, "topic-selector", t.Selector,
		"label selector of the KafkaTopics that are kept; a topic that leaves it is let go of and stays in Kafka; empty for all")
	fs.IntVar(&t.MaxBatchSize, "max-batch-size", t.MaxBatchSize, "topics that are reconciled together at most")
	fs.DurationVar(&t.MaxBatchLinger, "max-batch-linger", t.MaxBatchLinger, "how long a batch waits for more topics after its first")
	fs.DurationVar(&t.ResyncInterval, "resync-interval", t.ResyncInterval, "how often every topic is compared with Kafka")
	fs.DurationVar(&t.UnreachableAfter, "unreachable-after", t.UnreachableAfter, "how long Kafka may be unreachable before the status of topics that are not Ready says so")
	fs.IntVar(&t.Workers, "topic-workers", t.Workers, "batches of one Kafka cluster that may run at the same time")
	fs.StringVar(&t.AlterableConfig, "alterable-topic-config", t.AlterableConfig,
		"options of topics that may be set, changed and deleted: ALL, NONE, or names with commas between them; the others stay as Kafka has them")
	fs.BoolVar(&t.UseFinalizers, "use-finalizers", t.UseFinalizers, "have a KafkaTopic wait until its topic is deleted from Kafka; without, "+
		"the topics of those stay that are deleted while no operator leads")
	fs.StringVar(&t.OnUnreachable, "on-unreachable", t.OnUnreachable, "what becomes of KafkaTopics that are deleted while Kafka is unreachable: they "+
		apiv1.OnUnreachableWait+" for it, or "+apiv1.OnUnreachableOrphan+" their topics after orphan-after; the annotation "+
		apiv1.AnnotationOnUnreachable+" of a namespace wins")
	fs.DurationVar(&t.OrphanAfter, "orphan-after", t.OrphanAfter, "how long Kafka has to be unreachable, without a break, before topics are orphaned")
	fs.BoolVar(&t.SkipClusterConfigReview, "skip-cluster-config-review", t.SkipClusterConfigReview,
		"do not look at the brokers' options to warn of auto.create.topics.enable=true, which takes the right to DESCRIBE_CONFIGS on the cluster")
}

func (o *Operator) addClusterFlags(fs *pflag.FlagSet) {
	c := &o.Clusters
	fs.DurationVar(&c.LookInterval, "cluster-look-interval", c.LookInterval, "how often a Kafka cluster is looked at when nothing changes in Kubernetes")
	fs.DurationVar(&c.EmptyFor, "empty-for", c.EmptyFor, "how long a cordoned broker has to be seen without replicas before it is removed")
	fs.DurationVar(&c.EmptyForUncordoned, "empty-for-uncordoned", c.EmptyForUncordoned,
		"how long a broker that cannot be cordoned (it is down, or Kafka is older than 4.3) has to be seen without replicas before it is removed")
	fs.IntVar(&c.Workers, "cluster-workers", c.Workers, "Kafka clusters that may be worked on at the same time")
}

func (o *Operator) addServingFlags(fs *pflag.FlagSet) {
	s, l := &o.Serving, &o.Log
	fs.StringVar(&s.MetricsBindAddress, "metrics-bind-address", s.MetricsBindAddress, "address of the metrics, host:port; "+Disabled+" for none")
	fs.BoolVar(&s.MetricsSecure, "metrics-secure", s.MetricsSecure,
		"serve metrics over TLS, to those alone whose token the API server knows and allows to get /metrics")
	fs.StringVar(&s.HealthProbeBindAddress, "health-probe-bind-address", s.HealthProbeBindAddress, "address of /healthz and /readyz, host:port; "+Disabled+" for none")
	fs.BoolVar(&s.EnableDebug, "enable-debug", s.EnableDebug, "serve /debug/pprof and /debug/resync at the address of the metrics")
	fs.StringVar(&l.Level, "log-level", l.Level, "debug, info, error, or a number: the higher, the more is logged")
	fs.StringVar(&l.Format, "log-format", l.Format, LogFormatJSON+" or "+LogFormatConsole)
}

// BindEnv sets each flag that was not given on the command line from its
// environment variable, where that is set and not empty. All bad values are
// reported at once.
func BindEnv(fs *pflag.FlagSet, lookup func(string) (string, bool)) error {
	var failures []error
	fs.VisitAll(func(f *pflag.Flag) {
		value, ok := lookup(envName(f.Name))
		if f.Changed || !ok || value == "" {
			return
		}
		if err := fs.Set(f.Name, value); err != nil {
			failures = append(failures, fmt.Errorf("environment variable %s=%q: %w", envName(f.Name), value, err))
		}
	})
	return errors.Join(failures...)
}
