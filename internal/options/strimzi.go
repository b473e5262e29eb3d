package options

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/kafka"
)

// strimziPrefix begins the variables of Strimzi's topic operator. Their names,
// meanings and defaults are those of TopicOperatorConfig of Strimzi 1.x, and of 0.51
// for those of TLS that 1.0 dropped. There as here an empty one counts as not set.
const strimziPrefix = "STRIMZI_"

// strimziEnv reads them.
type strimziEnv struct {
	env   map[string]string
	flags *pflag.FlagSet
	// known are the variables that were looked at, or need not be.
	known map[string]bool
	// given names the variable that set a flag.
	given    map[string]string
	login    *TopicOnlyLogin
	notes    []Note
	failures []error
}

// withoutEffect are variables that are accepted, with the reason why they do
// nothing here. They stay unread, whatever they say.
var withoutEffect = map[string]string{
	"STRIMZI_MAX_QUEUE_SIZE":                    "a topic is queued once however often it changes, so the queue needs no bound and never stops the operator",
	"STRIMZI_ENABLE_ADDITIONAL_METRICS":         "all metrics are always on",
	"STRIMZI_FEATURE_GATES":                     "Sluice has none of Strimzi's feature gates",
	"STRIMZI_TOPIC_OPERATIONS_THREAD_POOL_SIZE": "Sluice has no thread pool",
	"STRIMZI_JAVA_OPTS":                         "Sluice does not run on a JVM",
	"STRIMZI_JAVA_SYSTEM_PROPERTIES":            "Sluice does not run on a JVM",
	"STRIMZI_GC_LOG_ENABLED":                    "Sluice does not run on a JVM",
	"STRIMZI_DNS_CACHE_TTL":                     "Sluice keeps no cache of DNS",
	"STRIMZI_LABELS_EXCLUSION_PATTERN":          "Sluice copies no labels",
	"STRIMZI_VERSION":                           "it is the version of Strimzi's image",
	"STRIMZI_HOME":                              "it is a folder of Strimzi's image",
}

// noCruiseControl is why the variables of Cruise Control do nothing yet.
const noCruiseControl = "Cruise Control is not driven yet: a changed replication factor is refused in the topic's status"

func (s *strimziEnv) read(t *TopicOnly) {
	t.Namespace = s.required("STRIMZI_NAMESPACE", "name the namespace whose KafkaTopics are kept")
	s.given["namespace"] = "STRIMZI_NAMESPACE"
	t.BootstrapServers = s.servers("STRIMZI_KAFKA_BOOTSTRAP_SERVERS")
	t.ClientID = s.value("STRIMZI_CLIENT_ID")
	s.linger()
	s.flag("STRIMZI_RESOURCE_LABELS", "topic-selector", equalities)
	s.flag("STRIMZI_FULL_RECONCILIATION_INTERVAL_MS", "resync-interval", milliseconds)
	s.flag("STRIMZI_MAX_BATCH_SIZE", "max-batch-size", asItIs)
	s.flag("STRIMZI_MAX_BATCH_LINGER_MS", "max-batch-linger", milliseconds)
	s.flag("STRIMZI_USE_FINALIZERS", "use-finalizers", boolean)
	s.flag("STRIMZI_ALTERABLE_TOPIC_CONFIG", "alterable-topic-config", asItIs)
	s.flag("STRIMZI_SKIP_CLUSTER_CONFIG_REVIEW", "skip-cluster-config-review", boolean)
	s.flag("STRIMZI_LOG_LEVEL", "log-level", logLevel)
	s.readLogin(t.Namespace)
	t.ClusterName = clusterName(t.Topics.Selector)
	s.noteTheRest()
}

// value is that of a variable, without blanks around it.
func (s *strimziEnv) value(name string) string {
	s.known[name] = true
	return strings.TrimSpace(s.env[name])
}

// secret is the value of a variable as it is.
func (s *strimziEnv) secret(name string) kafka.Secret {
	s.known[name] = true
	return kafka.Secret(s.env[name])
}

func (s *strimziEnv) isTrue(name string) bool {
	text, err := boolean(cmp.Or(s.value(name), "false"))
	if err != nil {
		s.wrong(name, err.Error())
	}
	return text == "true"
}

func (s *strimziEnv) required(name, what string) string {
	value := s.value(name)
	if value == "" {
		s.missing(name, what)
	}
	return value
}

// wrong tells what is right; the value is shown.
func (s *strimziEnv) wrong(name, right string) {
	s.failures = append(s.failures, fmt.Errorf("%s=%q: %s", name, s.env[name], right))
}

// missing tells what is needed; it also words what is wrong with a secret.
func (s *strimziEnv) missing(name, what string) {
	if s.env[name] == "" {
		what = "is missing: " + what
	}
	s.failures = append(s.failures, fmt.Errorf("%s %s", name, what))
}

func (s *strimziEnv) note(name, text string) {
	s.notes = append(s.notes, Note{Variable: name, Text: text})
}

// flag sets a flag that neither the command line nor its own variable set.
func (s *strimziEnv) flag(name, flag string, convert func(string) (string, error)) {
	value := s.value(name)
	if value == "" {
		return
	}
	if s.flags.Changed(flag) {
		s.note(name, fmt.Sprintf("--%s (or %s) is given too, and wins", flag, envName(flag)))
		return
	}
	text, err := convert(value)
	if err == nil {
		err = s.flags.Set(flag, text)
		if invalid, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
			err = invalid.Unwrap()
		}
	}
	if err != nil {
		s.wrong(name, err.Error())
		return
	}
	s.given[flag] = name
}

func asItIs(value string) (string, error) { return value, nil }

// equalities leaves out commas at the end, as Strimzi does (Labels.fromString).
func equalities(value string) (string, error) { return strings.TrimRight(value, ", "), nil }

func boolean(value string) (string, error) {
	switch text := strings.ToLower(value); text {
	case "true", "false":
		return text, nil
	}
	return "", errors.New("must be true or false")
}

func milliseconds(value string) (string, error) {
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil || n < 1 || n > int64(time.Duration(1<<63-1)/time.Millisecond) {
		return "", errors.New("must be a number of milliseconds, 1 or more")
	}
	return (time.Duration(n) * time.Millisecond).String(), nil
}

// logLevel translates the levels of Log4j. Sluice has no warnings: what others warn
// of it tells at info, where a look that finds nothing to do says nothing.
func logLevel(value string) (string, error) {
	switch strings.ToUpper(value) {
	case "OFF", "FATAL", "ERROR":
		return "error", nil
	case "WARN", "WARNING", "INFO":
		return "info", nil
	case "DEBUG":
		return "debug", nil
	case "TRACE", "ALL":
		return "4", nil
	}
	return "", errors.New("must be ERROR, WARNING, INFO, DEBUG or TRACE")
}

// linger reads the name that Strimzi's documentation has for
// STRIMZI_MAX_BATCH_LINGER_MS (con-tuning-topic-request-batches), though its
// operator never read that.
func (s *strimziEnv) linger() {
	const documented, read = "MAX_BATCH_LINGER_MS", "STRIMZI_MAX_BATCH_LINGER_MS"
	switch {
	case s.env[documented] == "":
	case s.env[read] == "":
		s.flag(documented, "max-batch-linger", milliseconds)
	default:
		s.note(documented, read+" is given too, and wins")
	}
}

// servers reads a list of host:port. Kafka's clients leave out a protocol before
// a server (Utils.getHost), so it is left out here.
func (s *strimziEnv) servers(name string) []string {
	const form = "name at least one broker as host:port; several are separated by commas"
	var list []string
	for server := range strings.SplitSeq(s.required(name, form), ",") {
		server = strings.TrimSpace(server)
		if _, after, ok := strings.Cut(server, "://"); ok {
			server = after
		}
		if server == "" {
			continue
		}
		if !isServer(server) {
			s.wrong(name, fmt.Sprintf("%q is not host:port: %s", server, form))
		}
		list = append(list, server)
	}
	if len(list) == 0 && s.value(name) != "" {
		s.wrong(name, form)
	}
	return list
}

// clusterName is that of the selector's label strimzi.io/cluster, which Strimzi's
// Deployment has. The cluster needs a name only to be talked about.
func clusterName(selector string) string {
	const any = "kafka"
	parsed, err := labels.Parse(selector)
	if err != nil {
		return any
	}
	requirements, _ := parsed.Requirements()
	for _, r := range requirements {
		if r.Key() == apiv1.LabelCluster && (r.Operator() == selection.Equals || r.Operator() == selection.DoubleEquals) {
			return cmp.Or(r.Values().UnsortedList()[0], any)
		}
	}
	return any
}

// noteTheRest says of all other variables of Strimzi's why they do nothing.
func (s *strimziEnv) noteTheRest() {
	for name, value := range s.env {
		if s.known[name] || !strings.HasPrefix(name, strimziPrefix) || value == "" {
			continue
		}
		why, known := withoutEffect[name]
		switch {
		case known:
			s.note(name, why)
		case strings.HasPrefix(name, "STRIMZI_CRUISE_CONTROL_"):
			s.note(name, noCruiseControl)
		default:
			s.note(name, "it is not a variable of Strimzi's topic operator that Sluice knows")
		}
	}
}

func (s *strimziEnv) sortedNotes() []Note {
	slices.SortFunc(s.notes, func(a, b Note) int {
		return cmp.Or(strings.Compare(a.Variable, b.Variable), strings.Compare(a.Text, b.Text))
	})
	return s.notes
}
