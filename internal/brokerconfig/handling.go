package brokerconfig

import (
	"slices"
	"strings"

	"github.com/sluice-kafka/sluice/internal/configdef"
)

// handling is the one way in which a change of an option reaches a broker.
type handling int

const (
	// byRestart: the process reads it when it starts. So do options that the
	// version does not know, which belong to somebody's plugin, and those of the
	// operator's own, which change together with addresses and mounts.
	byRestart handling = iota
	// clusterWide: set for all brokers at once.
	clusterWide
	// perBroker: set on each broker.
	perBroker
	// byOthers: never touched, the limits of throttling, which belong to whoever
	// runs a reassignment (KIP-73, KIP-455).
	byOthers
	// byCordon is the handling of CordonedLogDirs.
	byCordon
)

// listenerLevel are the options that Kafka takes for one listener of all brokers
// (ClusterLevelListenerConfigs in its DynamicBrokerConfig).
var listenerLevel = map[string]bool{"max.connections": true, "max.connection.creation.rate": true, "num.network.threads": true}

// throttles begin the options that limit the copying of replicas. A broker
// calls some of them read-only that are not.
var throttles = []string{"leader.replication.throttled.", "follower.replication.throttled.", "replica.alter.log.dirs."}

// handlingOf tells how a change of an option takes effect in a version of Kafka.
// Its table decides; the option that it returns is that of all listeners for one
// of a listener, and has no name where the version does not know it.
func handlingOf(version, name string) (handling, configdef.Option) {
	_, base, ofListener := configdef.OfListener(name)
	if !ofListener {
		base = name
	}
	o, _ := configdef.Broker(version, base)
	switch {
	case name == CordonedLogDirs:
		return byCordon, o
	case o.Update == configdef.DynamicOnly || hasPrefix(name, throttles):
		return byOthers, o
	case ofListener && listenerLevel[base]:
	case ofListener || restartOnly(name):
		return byRestart, o
	}
	switch o.Update {
	case configdef.ClusterWide:
		return clusterWide, o
	case configdef.PerBroker:
		return perBroker, o
	default:
		return byRestart, o
	}
}

func hasPrefix(name string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(name, p) })
}

// restartOnly tells of an option that it is not changed dynamically, though Kafka
// may say that it can be: what the operator owns, all secrets among it, and the
// config providers, which replace the placeholders in a file while it is read,
// and whose own options are not dynamic.
func restartOnly(name string) bool {
	return Owned{}.Prefix(name) != "" || strings.HasPrefix(name, "config.providers")
}

// handling of an option of the file. A value with a placeholder is resolved by
// the broker alone, when it starts: it cannot be compared.
func (f File) handling(name string) (handling, configdef.Option) {
	h, o := handlingOf(f.Version, name)
	if (h == clusterWide || h == perBroker) && configdef.HasPlaceholder(f.Options[name]) {
		return byRestart, o
	}
	return h, o
}
