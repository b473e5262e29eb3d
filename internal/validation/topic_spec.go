package validation

import (
	"fmt"
	"math"
	"strconv"

	"k8s.io/apimachinery/pkg/util/validation/field"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/configdef"
)

const minInsyncReplicas = "min.insync.replicas"

// topicPartitionsRange: the number is an INT32 in Kafka's CreateTopics request
// (clients/src/main/resources/common/message/CreateTopicsRequest.json).
func topicPartitionsRange(in topicInput) []Finding {
	p := in.topic.Spec.Partitions
	if p == nil || *p >= 1 && *p <= math.MaxInt32 {
		return nil
	}
	if *p > math.MaxInt32 {
		return []Finding{{
			Severity: Refuse, Path: field.NewPath("spec", "partitions"), Value: strconv.FormatInt(*p, 10),
			Message: fmt.Sprintf("Kafka counts partitions to %d: write what the topic needs, usually fewer than a hundred", math.MaxInt32),
		}}
	}
	return []Finding{{
		Severity: Refuse, Path: field.NewPath("spec", "partitions"), Value: strconv.FormatInt(*p, 10),
		Message: "a topic has at least one partition: write 1 or more, or leave it out for the broker's num.partitions",
	}}
}

// topicPartitionsShrink knows how many partitions there are from the status, and
// from the old specification where that was carried out. A number that Kafka
// never created may be taken back.
func topicPartitionsShrink(in topicInput) []Finding {
	p := in.topic.Spec.Partitions
	if p == nil || *p < 1 {
		return nil
	}
	have := in.observed().Partitions
	if old := in.old; old != nil && old.Spec.Partitions != nil &&
		readyAtGeneration(old.Status.Conditions, old.Status.ObservedGeneration, old.Generation) {
		have = max(have, *old.Spec.Partitions)
	}
	if *p >= have {
		return nil
	}
	return []Finding{{
		Severity: Refuse, Path: field.NewPath("spec", "partitions"), Value: strconv.FormatInt(*p, 10),
		Message: fmt.Sprintf("the topic has %d partitions and Kafka cannot take any away: write %d or more, "+
			"or move to a new topic", have, have),
	}}
}

// topicReplicasRange: the factor is an INT16 in Kafka's CreateTopics request
// (clients/src/main/resources/common/message/CreateTopicsRequest.json).
func topicReplicasRange(in topicInput) []Finding {
	r := in.topic.Spec.Replicas
	if r == nil || *r >= 1 && *r <= math.MaxInt16 {
		return nil
	}
	return []Finding{{
		Severity: Refuse, Path: field.NewPath("spec", "replicas"), Value: strconv.FormatInt(*r, 10),
		Message: fmt.Sprintf("a replication factor is 1 to %d: write one in that range, or leave it out for the broker's default.replication.factor", math.MaxInt16),
	}}
}

// changesReplicas tells whether an update asks for another replication factor
// than before, or than the topic has.
func changesReplicas(topic, old *apiv1.KafkaTopic) bool {
	if old == nil || topic.Spec.Replicas == nil || old.Status.TopicName == "" {
		return false
	}
	before := old.Status.Replicas
	if old.Spec.Replicas != nil {
		before = *old.Spec.Replicas
	}
	return before != 0 && *topic.Spec.Replicas != before
}

// topicReplicasWithoutEngine: replicas are moved by Sluice itself where the topics
// are its own, and by Cruise Control, which it does not drive, where Strimzi's topic
// operator is at work.
func topicReplicasWithoutEngine(in topicInput) []Finding {
	k := in.facts.Kafka
	if k == nil || !changesReplicas(in.topic, in.old) {
		return nil
	}
	why := ""
	engine := k.Annotations[apiv1.AnnotationRebalanceEngine]
	switch {
	case !k.TopicsHandedOver() && k.Spec.CruiseControl == nil:
		why = "has no Cruise Control to move replicas with, so this stays undone: set spec.cruiseControl there, or set the number back"
	case k.TopicsHandedOver() && engine != apiv1.EngineBuiltin && (k.Spec.CruiseControl != nil || engine != ""):
		why = "leaves moving replicas to Cruise Control, which Sluice does not drive yet, so this stays undone: annotate it " +
			apiv1.AnnotationRebalanceEngine + ": " + apiv1.EngineBuiltin + ", or set the number back"
	default:
		return nil
	}
	return []Finding{{
		Path: field.NewPath("spec", "replicas"), Value: strconv.FormatInt(*in.topic.Spec.Replicas, 10),
		Message: fmt.Sprintf("Kafka %s %s", k.Name, why),
	}}
}

func topicConfigShape(in topicInput) []Finding {
	var found []Finding
	config := in.topic.Spec.Config
	for _, key := range optionKeys(config) {
		why := ""
		switch shapeOf(config[key]) {
		case shapeNull:
			why = "null is no value: remove the key to use Kafka's default, or name it in the annotation " +
				apiv1.AnnotationUnmanagedConfig + " to leave alone what Kafka has"
		case shapeMap:
			why = "an option's value is a text, a number, true or false, or a list of these, not a map: write it as Kafka's documentation does"
		case shapeNestedList:
			why = "a list holds only texts, numbers, true or false: write its items plainly"
		default:
			value, err := configdef.RenderValue(config[key].Raw)
			if err != nil || len(value) <= configdef.MaxTextBytes {
				continue
			}
			why = fmt.Sprintf("Kafka takes %d bytes of one text, and this has %d: make it shorter", configdef.MaxTextBytes, len(value))
		}
		found = append(found, Finding{
			Severity: Refuse, Path: topicConfigPath(key), Element: key,
			Value: optionText(config[key]), Message: why,
		})
	}
	return found
}

func topicConfigPath(key string) *field.Path {
	return field.NewPath("spec", "config").Key(key)
}

func topicMinISR(in topicInput) []Finding {
	isr, ok := optionInt(in.topic.Spec.Config, minInsyncReplicas)
	r := in.topic.Spec.Replicas
	if !ok || r == nil || isr <= *r {
		return nil
	}
	return []Finding{minISRFinding(in.opts, topicConfigPath(minInsyncReplicas), isr, *r, "replicas")}
}

// minISRFinding words the same fault for a topic and for a cluster's defaults.
// Kafka accepts it, and then asks for as many replicas in sync as there are
// (effectiveMinIsr in kafka.cluster.Partition).
func minISRFinding(opts Options, path *field.Path, isr, factor int64, of string) Finding {
	f := Finding{
		Path: path, Element: strconv.FormatInt(factor, 10), Value: strconv.FormatInt(isr, 10),
		Message: fmt.Sprintf("with %s %d there are never %d replicas in sync, so Kafka asks for all of them, and writes with acks=all fail "+
			"while any is down: lower it to %d or less, usually %d", of, factor, isr, factor, max(factor-1, 1)),
	}
	if opts.StrictConfig {
		f.Severity = Refuse
	}
	return f
}
