package options

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/sluice-kafka/sluice/internal/kafka"
)

// TopicOnlyScript is the path by which Strimzi's Deployments start its topic
// operator, as the only argument of the container (in Strimzi's repository:
// install/topic-operator, EntityTopicOperator.createContainer).
const TopicOnlyScript = "/opt/strimzi/bin/topic_operator_run.sh"

// topicOnlyAddress is where Strimzi's topic operator serves its probes and its
// metrics, over plain HTTP (TopicOperator.HEALTH_CHECK_PORT). It has no variable.
const topicOnlyAddress = ":8080"

// TopicOnly is what Sluice runs with in place of Strimzi's topic operator: its
// topic controller alone, for the resources of one namespace and one Kafka
// cluster.
type TopicOnly struct {
	// Operator holds what a topic-only Sluice has in common with any other. Its
	// Namespace is the one whose KafkaTopics are kept.
	Operator
	// ClusterName stands for the cluster in logs, metrics and conditions.
	ClusterName string
	// BootstrapServers are host:port.
	BootstrapServers []string
	// ClientID names the client to Kafka; the usual one where empty.
	ClientID string
	// Login is how the cluster is connected to.
	Login TopicOnlyLogin
	// Notes are variables that have no effect, or not the one that they have with
	// Strimzi, by name; never with their values.
	Notes []Note
}

// Note is what has to be said of a variable.
type Note struct {
	Variable, Text string
}

// TopicOnlyLogin is how Kafka is connected to. Files and Secrets are named here and
// read elsewhere: they change.
type TopicOnlyLogin struct {
	// Data are settings under the keys of a Secret with credentials: what is the
	// protocol, and how to log in.
	Data Settings
	// TLS tells that connections are encrypted; the fields below count only then.
	TLS bool
	// SystemCA trusts the system's CAs and reads no file.
	SystemCA bool
	// TrustStore and KeyStore are PKCS #12 files.
	TrustStore, KeyStore Store
	// TrustSecret has CAs under all keys that end in .crt; KeySecret has a client
	// certificate and its key under the names given.
	TrustSecret, KeySecret Secret
	CertificateKey, KeyKey string
	// WithoutCertificate presents none from mounted files, and NeedsCertificate
	// fails where there is none.
	WithoutCertificate, NeedsCertificate bool
}

// Settings are values by the keys that kafka.SecurityOf reads. Printed, they are
// hidden, those too that are no secrets.
type Settings map[string]kafka.Secret

// Bytes are a copy of the settings in the form of a Secret's data.
func (s Settings) Bytes() map[string][]byte {
	data := make(map[string][]byte, len(s))
	for key, value := range s {
		data[key] = []byte(value)
	}
	return data
}

// Store is a password-protected file of certificates and keys.
type Store struct {
	Path     string
	Password kafka.Secret
}

// Secret is the place of a Secret.
type Secret struct {
	Namespace, Name string
}

// DefaultTopicOnly are the options of a topic-only Sluice that was told nothing.
func DefaultTopicOnly() TopicOnly {
	t := TopicOnly{Operator: Default()}
	t.Namespace = ""
	t.Controllers = []string{ControllerTopic}
	// Strimzi's Role has no leases, and its Deployment one replica, which is
	// stopped before the next is started.
	t.LeaderElect = false
	t.Webhooks.Enabled = false
	t.Serving = Serving{MetricsBindAddress: topicOnlyAddress, HealthProbeBindAddress: Disabled}
	return t
}

// topicOnlyFlags are the flags beside those of topics that a topic-only Sluice has.
var topicOnlyFlags = []string{"kubeconfig", "kube-api-qps", "kube-api-burst", "metrics-bind-address", "enable-debug", "log-level", "log-format"}

// AddFlags adds those options to fs that count for a topic-only Sluice.
func (t *TopicOnly) AddFlags(fs *pflag.FlagSet) {
	all, topics := pflag.NewFlagSet("", pflag.ContinueOnError), pflag.NewFlagSet("", pflag.ContinueOnError)
	t.addTopicFlags(topics)
	t.Operator.AddFlags(all)
	all.VisitAll(func(f *pflag.Flag) {
		ofTopics := topics.Lookup(f.Name) != nil && f.Name != "external-clusters"
		if ofTopics || slices.Contains(topicOnlyFlags, f.Name) {
			fs.AddFlag(f)
		}
	})
}

// Read takes the options from the environment, NAME=VALUE each: a flag wins over
// its SLUICE_ variable, and that over Strimzi's. It judges them all and reports
// everything that is wrong at once, by the name that it was given with.
func (t *TopicOnly) Read(fs *pflag.FlagSet, environ []string) error {
	env := map[string]string{}
	for _, e := range environ {
		name, value, _ := strings.Cut(e, "=")
		env[name] = value
	}
	lookup := func(name string) (string, bool) { v, ok := env[name]; return v, ok }
	failures := []error{BindEnv(fs, lookup)}
	s := &strimziEnv{env: env, flags: fs, known: map[string]bool{}, given: map[string]string{}, login: &t.Login}
	s.read(t)
	failures = append(append(failures, s.failures...), s.rename(t.Complete())...)
	t.Notes = s.sortedNotes()
	return errors.Join(failures...)
}

// rename words refusals of flags by the variables that set them.
func (s *strimziEnv) rename(err error) []error {
	var list []error
	for _, e := range each(err) {
		r, ok := errors.AsType[*refusal](e)
		name := ""
		if ok {
			name = s.given[r.flag]
		}
		switch {
		case name == "":
			list = append(list, e)
		case s.env[name] == "": // it is missing, and that is said
		case fmt.Sprint(r.value) != s.env[name]:
			list = append(list, fmt.Errorf("%s=%q (%v): %s", name, s.env[name], r.value, r.right))
		default:
			list = append(list, fmt.Errorf("%s=%q: %s", name, s.env[name], r.right))
		}
	}
	return list
}

// each takes joined errors apart.
func each(err error) []error {
	var several interface {
		error
		Unwrap() []error
	}
	if !errors.As(err, &several) {
		if err == nil {
			return nil
		}
		return []error{err}
	}
	var list []error
	for _, e := range several.Unwrap() {
		list = append(list, each(e)...)
	}
	return list
}
