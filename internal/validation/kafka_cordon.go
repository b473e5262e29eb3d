package validation

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/util/version"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/nodepool"
)

// cordonVersion is the first Kafka that can cordon a broker (KIP-1066).
var cordonVersion = version.MustParseGeneric("4.3")

func cordonPath() *field.Path {
	return field.NewPath("metadata", "annotations").Key(apiv1.AnnotationCordon)
}

// cordoned returns what the annotation lists. Nothing is listed where it does
// not parse, or where nobody acts on it.
func (in kafkaInput) cordoned() nodepool.IDs {
	ids, err := nodepool.ParseCordon(in.kafka.Annotations[apiv1.AnnotationCordon])
	if err != nil || !in.kafka.HandedOver() {
		return nodepool.IDs{}
	}
	return ids
}

func kafkaCordonUnreadable(in kafkaInput) []Finding {
	text := in.kafka.Annotations[apiv1.AnnotationCordon]
	_, err := nodepool.ParseCordon(text)
	if err == nil {
		return nil
	}
	return []Finding{{
		Severity: Refuse, Path: cordonPath(), Value: text,
		Message: err.Error() + "; write the brokers as 3,4 or [3, 4-6]",
	}}
}

func kafkaCordonUnknown(in kafkaInput) []Finding {
	known := in.brokers()
	if known == nil {
		return nil
	}
	const enough = 6
	unknown := in.cordoned().Without(known, enough)
	if len(unknown) == 0 {
		return nil
	}
	return []Finding{{
		Path: cordonPath(), Value: in.kafka.Annotations[apiv1.AnnotationCordon],
		Message: fmt.Sprintf("there is no %s: correct the list", brokerList(unknown)),
	}}
}

// brokers are the IDs of the brokers that there are; nil where they are not
// known.
func (in kafkaInput) brokers() map[int32]bool {
	if in.facts.Seen != nil {
		return in.facts.Seen.IDs()
	}
	return brokersOfPools(in.facts.Pools, in.facts.AllPools)
}

func brokersOfPools(pools []apiv1.KafkaNodePool, all bool) map[int32]bool {
	if !all {
		return nil
	}
	ids := map[int32]bool{}
	for i := range pools {
		if !isBroker(&pools[i]) {
			continue
		}
		for _, id := range nodeIDs(pools[i].Status.NodeIDs) {
			ids[id] = true
		}
	}
	if len(ids) == 0 {
		return nil
	}
	return ids
}

// kafkaCordonTooMany: Kafka places the replicas of a new topic on uncordoned
// brokers alone, each on another.
func kafkaCordonTooMany(in kafkaInput) []Finding {
	seen, ids := in.facts.Seen, in.cordoned()
	if seen == nil || seen.HighestFactor == nil || ids.Empty() {
		return nil
	}
	var left int64
	for _, b := range seen.Brokers {
		if !b.Draining && !ids.Contains(b.ID) {
			left++
		}
	}
	if left >= seen.HighestFactor.Factor {
		return nil
	}
	return []Finding{{
		Path: cordonPath(), Value: in.kafka.Annotations[apiv1.AnnotationCordon],
		Message: fmt.Sprintf("%s would be left for new replicas, and topic %s has replication factor %d: such topics can neither be created nor grow meanwhile",
			counted(left, "broker"), shown(seen.HighestFactor.Topic), seen.HighestFactor.Factor),
	}}
}

func kafkaCordonWithoutEffect(in kafkaInput) []Finding {
	text, there := in.kafka.Annotations[apiv1.AnnotationCordon]
	if !there {
		return nil
	}
	f := Finding{Path: cordonPath(), Value: text}
	if !in.kafka.HandedOver() {
		f.Message = fmt.Sprintf("Sluice does not run this Kafka, so nobody acts on this: remove it, or hand the Kafka over with the annotation %s: \"true\"",
			apiv1.AnnotationSluiceManaged)
		return []Finding{f}
	}
	v, err := version.ParseGeneric(in.kafka.Spec.Kafka.Version)
	if err != nil || !v.LessThan(cordonVersion) {
		return nil
	}
	f.Element = in.kafka.Spec.Kafka.Version
	f.Message = fmt.Sprintf("Kafka %s cannot cordon brokers, which 4.3 brought: this has no effect before an upgrade", v)
	return []Finding{f}
}
