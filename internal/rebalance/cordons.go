package rebalance

import (
	"github.com/sluice-kafka/sluice/internal/facts"
	"github.com/sluice-kafka/sluice/internal/nodepool"
)

// CordonsOf tells which brokers are to take no new replicas, and for whose sake, by
// what the cluster controller published of a cluster and by the list of the Kafka's
// annotation sluice.dev/cordon. Without a cordon, as on Kafka 4.2, it is the only way
// to know that a broker is being removed.
func CordonsOf(seen facts.Facts, byHand nodepool.IDs) map[int32]Cordon {
	cordons := map[int32]Cordon{}
	for _, b := range seen.Brokers {
		switch {
		case b.Draining:
			cordons[b.ID] = Draining
		case byHand.Contains(b.ID):
			cordons[b.ID] = CordonedByHand
		case b.Cordoned != nil && *b.Cordoned:
			cordons[b.ID] = Cordoned
		}
	}
	return cordons
}
