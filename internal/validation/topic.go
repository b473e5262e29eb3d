package validation

import (
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
)

// TopicFacts is what the rules need to know of other topics. They are looked up
// by index, so that judging one topic costs the same beside ten others or ten
// thousand.
type TopicFacts struct {
	// SameName are the topics that go to the same Kafka and claim the name that
	// the judged one claims; itself may be among them.
	SameName []apiv1.KafkaTopic
	// SameMetric are the topics that go to the same Kafka and whose claimed names
	// Kafka's metrics cannot tell from the judged one's; itself may be among them.
	SameMetric []apiv1.KafkaTopic
	// Kafka that the topic belongs to; nil where it is not known.
	Kafka *apiv1.Kafka
	// External tells that the topic goes to a Kafka of the operator's table of
	// external clusters.
	External bool
}

// topicInput is what a topic rule sees. Old is nil on creation.
type topicInput struct {
	topic, old *apiv1.KafkaTopic
	facts      TopicFacts
	opts       Options
}

var topicRules = []rule[topicInput]{
	{"topic-cluster-label-missing", topicClusterLabel},
	{"topic-annotation-value", topicAnnotationValue},
	{"topic-name-illegal", topicNameLegal},
	{"topic-renamed", topicRenamed},
	{"topic-name-internal", topicNameInternal},
	{"topic-duplicate", topicDuplicate},
	{"topic-metric-collision", topicMetricCollision},
	{"topic-partitions-range", topicPartitionsRange},
	{"topic-partitions-shrink", topicPartitionsShrink},
	{"topic-replicas-range", topicReplicasRange},
	{"topic-config-shape", topicConfigShape},
	{"topic-option-value", topicOptionValues},
	{"topic-option-unknown", topicOptionNames},
	{"topic-option-left-alone", topicOptionLeftAlone},
	{"topic-min-isr-above-replicas", topicMinISR},
	{"topic-replicas-without-engine", topicReplicasWithoutEngine},
}

// KafkaTopic judges a topic; old is nil on creation. What would be refused is a
// warning for a topic that is not managed.
func KafkaTopic(topic, old *apiv1.KafkaTopic, facts TopicFacts, opts Options) Result {
	return judge(topic, old, old != nil, func(topic, old *apiv1.KafkaTopic) []Finding {
		found := run(topicRules, topicInput{topic: topic, old: old, facts: facts, opts: opts})
		if !topic.Managed() {
			for i := range found {
				found[i].Severity = Warn
			}
		}
		return found
	})
}

// MetricName is the name by which Kafka's metrics know a topic: dots become
// underscores (Topic.unifyCollisionChars in Kafka's clients,
// org/apache/kafka/common/internals/Topic.java).
func MetricName(name string) string {
	return strings.ReplaceAll(name, ".", "_")
}

// observed returns the status that counts: a new object carries none of its own
// through the API server, and one in a file may carry anything.
func (in topicInput) observed() apiv1.KafkaTopicStatus {
	if in.old != nil {
		return in.old.Status
	}
	return in.topic.Status
}

// namePath is where the name in Kafka is given.
func (in topicInput) namePath() *field.Path {
	if in.topic.Spec.TopicName != nil {
		return field.NewPath("spec", "topicName")
	}
	return field.NewPath("metadata", "name")
}
