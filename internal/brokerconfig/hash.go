package brokerconfig

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// Hash is over all that a running process does not take up without a restart:
// on a broker the options that cannot be set dynamically, those that its version
// does not know, those whose value the broker resolves itself, and the operator's
// own. It never depends on cordoned.log.dirs, nor on the limits of throttling.
//
// On a node that is a controller alone it is over the whole file, for brokers
// cannot reach it; the cordon is not in that. A node with both roles counts as a broker: what its
// controller decides by, as min.insync.replicas and
// unclean.leader.election.enable, it takes from the metadata log, where dynamic
// options outrank the file (ConfigurationControlManager), and the sizes and
// limits of its own threads and connections it changes like a broker
// (addReconfigurables in DynamicBrokerConfig). What it leaves alone is
// num.network.threads, the number of threads of its own listener, and
// max.connection.creation.rate there: these wait for its next restart, and are
// no reason for one.
func (f File) Hash() string {
	counted := make(map[string]string, len(f.Options))
	for name, value := range f.Options {
		if h, _ := f.handling(name); h == byRestart || !f.Node.Broker {
			counted[name] = value
		}
	}
	// A map of strings always has a JSON form, sorted by key.
	text, _ := json.Marshal(counted)
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}
