package topicplan

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	kafkav1 "github.com/sluice-kafka/sluice/api/v1"
)

// MinInSync is the option that says how many replicas must have a record before a
// producer with acks=all is told that it is written.
const MinInSync = "min.insync.replicas"

// inSyncWarning tells of a replication factor below min.insync.replicas, the
// topic's own or the cluster's. Kafka takes it, and then asks for as many replicas
// in sync as there are (effectiveMinIsr in kafka.cluster.Partition): whoever raised
// the option to stay able to write with a broker down is not.
func inSyncWarning(w Wanted, seen *Seen) []Problem {
	factor, least, whose := int64(w.Replicas), int64(0), ""
	if w.Replicas == BrokerDefault {
		factor = lowest(seen)
	}
	if least, whose = minInSync(w, seen); least <= factor || factor < 1 {
		return nil
	}
	return []Problem{{kafkav1.ReasonInvalidConfig, fmt.Sprintf(
		"spec.replicas: a replication factor of %d is below %s, which is %d (%s). Kafka then asks for every replica: "+
			"writes with acks=all fail while any of them is down. Raise the one or lower the other",
		factor, MinInSync, least, whose)}}
}

// lowest is the smallest number of replicas of any partition; 0 if not known.
func lowest(seen *Seen) int64 {
	if seen == nil || len(seen.Replicas) == 0 {
		return 0
	}
	return int64(slices.Min(seen.Replicas))
}

// minInSync is the value that will be in effect and whose it is; 0 if not known. A
// description shows what is in effect, the cluster's value where the topic has none.
func minInSync(w Wanted, seen *Seen) (int64, string) {
	if value, set := w.Config[MinInSync]; set {
		return parseCount(value), "in spec.config"
	}
	if seen == nil {
		return 0, ""
	}
	switch o, shown := seen.Options[MinInSync]; {
	case !shown, o.Dynamic && w.removes(MinInSync):
		return 0, "" // what comes to light when it is removed is looked at then
	case o.Dynamic:
		return parseCount(o.Value), "set on the topic"
	default:
		return parseCount(o.Value), "the cluster's default"
	}
}

func parseCount(value string) int64 {
	n, err := strconv.ParseInt(strings.TrimSpace(value), 10, 32)
	if err != nil {
		return 0 // Kafka refuses it and says so
	}
	return n
}
