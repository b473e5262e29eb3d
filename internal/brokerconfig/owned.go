package brokerconfig

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
)

// CordonedLogDirs is the option that keeps new replicas off a broker (KIP-1066).
const CordonedLogDirs = "cordoned.log.dirs"

// ownedPrefixes are the beginnings of options that Strimzi's operator sets
// itself and drops from a user's config (forbidden prefixes of KafkaClusterSpec
// in Strimzi's API, compared in lower case).
var ownedPrefixes = []string{
	"listeners", "advertised.", "broker.", "listener.", "host.name", "port", "inter.broker.listener.name",
	"sasl.", "ssl.", "security.", "password.", "log.dir",
	"zookeeper.connect", "zookeeper.set.acl", "zookeeper.ssl", "zookeeper.clientcnxnsocket", "zookeeper.metadata.migration.enable",
	"authorizer.", "super.user",
	"cruise.control.metrics.topic", "cruise.control.metrics.reporter.bootstrap.servers",
	"node.id", "process.roles", "controller.", "metadata.log.dir",
	"client.quota.callback.static.kafka.admin.", "client.quota.callback.static.produce", "client.quota.callback.static.fetch",
	"client.quota.callback.static.storage.per.volume.limit.min.available.",
	"client.quota.callback.static.excluded.principal.name.list",
	"prometheus.metrics.reporter.",
}

// ownedExceptions begin like an owned option and are the user's all the same
// (exceptions to the forbidden prefixes there, compared exactly).
var ownedExceptions = map[string]bool{
	"zookeeper.connection.timeout.ms":                     true,
	"sasl.server.max.receive.size":                        true,
	"ssl.cipher.suites":                                   true,
	"ssl.protocol":                                        true,
	"ssl.enabled.protocols":                               true,
	"ssl.secure.random.implementation":                    true,
	"cruise.control.metrics.topic.num.partitions":         true,
	"cruise.control.metrics.topic.replication.factor":     true,
	"cruise.control.metrics.topic.retention.ms":           true,
	"cruise.control.metrics.topic.auto.create.retries":    true,
	"cruise.control.metrics.topic.auto.create.timeout.ms": true,
	"cruise.control.metrics.topic.min.insync.replicas":    true,
	"broker.session.timeout.ms":                           true,
	"broker.heartbeat.interval.ms":                        true,
	"controller.socket.timeout.ms":                        true,
	"controller.quorum.election.backoff.max.ms":           true,
	"controller.quorum.election.timeout.ms":               true,
	"controller.quorum.fetch.timeout.ms":                  true,
}

// perListenerOptions may be given for a declared listener.
var perListenerOptions = []string{"connections.max.reauth.ms", "max.connections", "max.connection.creation.rate"}

// Owned tells which options of spec.kafka.config are the operator's own.
type Owned struct {
	exceptions map[string]bool
}

// OwnedWith returns what is the operator's where these listeners are declared:
// a few options of a declared listener are the user's.
func OwnedWith(listeners []apiv1.KafkaListener) Owned {
	exceptions := make(map[string]bool, len(listeners)*len(perListenerOptions))
	for _, l := range listeners {
		for _, option := range perListenerOptions {
			exceptions[fmt.Sprintf("listener.name.%s-%d.%s", l.Name, l.Port, option)] = true
		}
	}
	return Owned{exceptions: exceptions}
}

// Prefix returns the beginning of a key that makes an option the operator's:
// empty where it is the user's, and the whole name for CordonedLogDirs.
func (o Owned) Prefix(key string) string {
	if ownedExceptions[key] || o.exceptions[key] {
		return ""
	}
	name := strings.ToLower(OptionName(key))
	if name == CordonedLogDirs {
		return CordonedLogDirs
	}
	i := slices.IndexFunc(ownedPrefixes, func(p string) bool { return strings.HasPrefix(name, p) })
	if i < 0 {
		return ""
	}
	return ownedPrefixes[i]
}

// OptionName is a key of spec.kafka.config as Kafka reads it from a file, where
// blanks around it vanish (java.util.Properties).
func OptionName(key string) string {
	return strings.TrimFunc(key, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) })
}
