package brokerconfig

import apiv1 "github.com/sluice-kafka/sluice/api/v1"

// CordonedLogDirs is the option that keeps new replicas off a broker (KIP-1066).
const CordonedLogDirs = "cordoned.log.dirs"

// Owned tells which options of spec.kafka.config are the operator's own.
type Owned struct {
	exceptions map[string]bool
}

// OwnedWith returns what is the operator's where these listeners are declared:
// a few options of a declared listener are the user's.
func OwnedWith(listeners []apiv1.KafkaListener) Owned { return Owned{} }

// Prefix returns the beginning of a name that makes an option the operator's;
// empty where it is the user's.
func (o Owned) Prefix(key string) string { return "" }
