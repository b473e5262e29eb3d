package validation

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/brokerconfig"
	"github.com/sluice-kafka/sluice/internal/facts"
)

// KafkaFacts is what the rules need to know of the other side of a Kafka.
type KafkaFacts struct {
	// Pools of the Kafka that are known, in any order. None means that none is
	// known yet, not that there is none.
	Pools []apiv1.KafkaNodePool
	// OneSet tells that the Kafka and pools of it come from one set of manifests:
	// nothing of them is on its way any more, and joining rules refuse.
	OneSet bool
	// AllPools tells that no pool is missing in Pools.
	AllPools bool
	// Seen is what the operator saw of the running cluster; nil where that is not
	// known.
	Seen *facts.Facts
	// Templates tells of each KafkaRebalance that the Kafka names as a template
	// whether there is one; a name that is absent is not known.
	Templates map[string]bool
}

// kafkaInput is what a rule for a Kafka alone sees.
type kafkaInput struct {
	kafka *apiv1.Kafka
	facts KafkaFacts
	opts  Options
}

var kafkaRules = []rule[kafkaInput]{
	{"kafka-cordoned-log-dirs", kafkaCordonedLogDirs},
	{"kafka-option-owned", kafkaOwnedOptions},
	{"kafka-option-value", kafkaOptionValues},
	{"kafka-option-unknown", kafkaOptionNames},
	{"kafka-min-isr-above-factor", kafkaMinISR},
	{"kafka-version-unknown", kafkaVersionKnown},
	{"kafka-metadata-version", kafkaMetadataVersion},
	{"kafka-listener-name", kafkaListenerName},
	{"kafka-listener-duplicate", kafkaListenerDuplicate},
	{"kafka-listener-port", kafkaListenerPort},
	{"kafka-listener-type-unknown", kafkaListenerType},
	{"kafka-listener-tls-without-cert-manager", kafkaListenerTLS},
	{"kafka-auto-rebalance-mode", kafkaAutoRebalanceMode},
	{"kafka-auto-rebalance-template-missing", kafkaAutoRebalanceTemplate},
	{"kafka-annotation-value", kafkaAnnotationValue},
	{"kafka-cordon-unreadable", kafkaCordonUnreadable},
	{"kafka-cordon-unknown-broker", kafkaCordonUnknown},
	{"kafka-cordon-too-many", kafkaCordonTooMany},
	{"kafka-cordon-without-effect", kafkaCordonWithoutEffect},
	{"kafka-field-without-effect", kafkaFieldsWithoutEffect},
	{"kafka-field-unreadable", kafkaFieldsUnreadable},
}

// Kafka judges a Kafka; old is nil on creation. Joining rules refuse only where
// the stored Kafka is Ready at its generation, or in one set.
func Kafka(kafka, old *apiv1.Kafka, facts KafkaFacts, opts Options) Result {
	settled := Settled(old) || facts.OneSet
	return judge(kafka, old, old != nil, func(kafka, old *apiv1.Kafka) []Finding {
		found := run(kafkaRules, kafkaInput{kafka: kafka, facts: facts, opts: opts})
		found = append(found, run(podRules, podsOfKafka(kafka, old, facts))...)
		found = append(found, run(joinKafkaRules, joinOfKafka(kafka, facts))...)
		return settle(found, settled)
	})
}

// Settled tells whether both sides of a joining rule had the time to
// arrive: the operator finished with this Kafka as it is.
func Settled(k *apiv1.Kafka) bool {
	return k != nil && readyAtGeneration(k.Status.Conditions, k.Status.ObservedGeneration, k.Generation)
}

func kafkaConfigPath(key string) *field.Path {
	return field.NewPath("spec", "kafka", "config").Key(key)
}

// kafkaCordonedLogDirs guards the option of KIP-1066. A value in the broker's
// file would outlast every scale-down. Blanks around a key vanish when the file
// is read (java.util.Properties), so they do not hide it.
func kafkaCordonedLogDirs(in kafkaInput) []Finding {
	owned := brokerconfig.OwnedWith(nil)
	var found []Finding
	for _, key := range optionKeys(in.kafka.Spec.Kafka.Config) {
		if owned.Prefix(key) != brokerconfig.CordonedLogDirs {
			continue
		}
		found = append(found, Finding{
			Severity: Refuse, Path: kafkaConfigPath(key), Element: key,
			Value: optionText(in.kafka.Spec.Kafka.Config[key]),
			Message: "this option belongs to the operator that runs the cluster, which sets it on brokers that are " +
				"to go and takes it off again: set here it would keep brokers closed to new replicas for good. Remove it",
		})
	}
	return found
}

func kafkaOwnedOptions(in kafkaInput) []Finding {
	owned := brokerconfig.OwnedWith(in.kafka.Spec.Kafka.Listeners)
	severity := Warn
	if in.opts.StrictConfig {
		severity = Refuse
	}
	var found []Finding
	for _, key := range optionKeys(in.kafka.Spec.Kafka.Config) {
		prefix := owned.Prefix(key)
		if prefix == "" || prefix == brokerconfig.CordonedLogDirs {
			continue
		}
		found = append(found, Finding{
			Severity: severity, Path: kafkaConfigPath(key), Element: key, Value: optionText(in.kafka.Spec.Kafka.Config[key]),
			Message: fmt.Sprintf("the operator sets the options that start with %q itself, so this one is ignored: remove it", prefix),
		})
	}
	return found
}

func kafkaMinISR(in kafkaInput) []Finding {
	isr, haveISR := optionInt(in.kafka.Spec.Kafka.Config, minInsyncReplicas)
	factor, haveFactor := optionInt(in.kafka.Spec.Kafka.Config, "default.replication.factor")
	if !haveISR || !haveFactor || isr <= factor {
		return nil
	}
	return []Finding{minISRFinding(in.opts, kafkaConfigPath(minInsyncReplicas), isr, factor, "default.replication.factor")}
}
