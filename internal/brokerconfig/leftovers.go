package brokerconfig

import (
	"maps"
	"slices"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/configdef"
	"github.com/sluice-kafka/sluice/internal/observed"
)

// Leftovers are the dynamic options to clear of a broker that leaves, sorted:
// they outlive its registration, and would be those of the next node with its
// ID. They are exactly those that the broker was seen to carry or, where its
// configuration was not seen, all that it may carry: to delete what is not there
// is no error.
//
// Kafka refuses a whole call for an option that no broker can have in the first
// place. So min.insync.replicas is only among them where it is known not to be
// refused, and cordoned.log.dirs is not where the metadata version is known to be
// too low.
func Leftovers(kafka *apiv1.Kafka, version string, broker int32, live Live) []string {
	config, seen := live.Brokers[broker].Get()
	var names []string
	if seen {
		for name, entry := range config {
			if _, overridden := entry.Synonym(name, observed.SourceBroker); overridden {
				names = append(names, name)
			}
		}
	} else {
		names = carriable(kafka, version)
	}
	slices.Sort(names)
	features, known := live.Features.Get()
	return slices.DeleteFunc(names, func(name string) bool {
		return name == minInsyncReplicas && !live.minISRSettable() ||
			name == CordonedLogDirs && known && features.MetadataLevel < cordonLevel
	})
}

// carriable are the options that can be set dynamically on one broker.
func carriable(kafka *apiv1.Kafka, version string) []string {
	listeners := []string{listenerPrefix(replicationListener)}
	for _, l := range Listeners(kafka) {
		listeners = append(listeners, listenerPrefix(listenerName(l)))
	}
	names := map[string]bool{}
	for _, name := range configdef.BrokerNames() {
		o, known := configdef.Broker(version, name)
		if !known || o.Update == configdef.ReadOnly {
			continue
		}
		names[name] = true
		if o.Update == configdef.PerBroker && name != CordonedLogDirs || listenerLevel[name] {
			for _, prefix := range listeners {
				names[prefix+name] = true
			}
		}
	}
	return slices.Collect(maps.Keys(names))
}
