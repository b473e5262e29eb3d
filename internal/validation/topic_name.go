package validation

import (
	"cmp"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
)

// maxTopicName is the longest name that Kafka accepts (MAX_NAME_LENGTH in
// org/apache/kafka/common/internals/Topic.java).
const maxTopicName = 249

func topicClusterLabel(in topicInput) []Finding {
	if in.topic.Labels[apiv1.LabelCluster] != "" {
		return nil
	}
	return []Finding{{
		Path: field.NewPath("metadata", "labels").Key(apiv1.LabelCluster),
		Message: "without this label no operator creates the topic: set it to the name of the Kafka " +
			"that the topic belongs to",
	}}
}

// topicNameLegal follows Topic.validate in Kafka's clients
// (org/apache/kafka/common/internals/Topic.java).
func topicNameLegal(in topicInput) []Finding {
	name, why := in.topic.EffectiveName(), ""
	if given := in.topic.Spec.TopicName; given != nil {
		name = *given
	}
	switch {
	case name == "":
		why = "a topic needs a name: give one, or leave topicName out to use metadata.name"
	case name == "." || name == "..":
		why = "Kafka refuses a topic named . or ..: choose another name"
	case len(name) > maxTopicName:
		why = fmt.Sprintf("Kafka refuses a topic name of more than %d characters, this one has %d: shorten it", maxTopicName, len(name))
	default:
		i := slices.IndexFunc([]byte(name), func(c byte) bool { return !legalInTopicName(c) })
		if i < 0 {
			return nil
		}
		why = fmt.Sprintf("Kafka accepts only letters, digits, '.', '_' and '-' in a topic name: replace %q", firstRune(name[i:]))
	}
	return []Finding{{Severity: Refuse, Path: in.namePath(), Value: name, Message: why}}
}

func legalInTopicName(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '.' || c == '_' || c == '-'
}

func firstRune(s string) string {
	for _, r := range s {
		return string(r)
	}
	return ""
}

func topicRenamed(in topicInput) []Finding {
	name, was := in.topic.EffectiveName(), in.observed().TopicName
	if was == "" || was == name {
		return nil
	}
	return []Finding{{
		Severity: Refuse, Path: in.namePath(), Value: name,
		Message: fmt.Sprintf("the topic exists in Kafka as %s and Kafka cannot rename a topic: set the name back, "+
			"or create another KafkaTopic for the new name", shown(was)),
	}}
}

func topicNameInternal(in topicInput) []Finding {
	name := in.topic.EffectiveName()
	if len(name) < 2 || name[:2] != "__" {
		return nil
	}
	return []Finding{{
		Path: in.namePath(), Value: name,
		Message: "names that start with __ are for Kafka's own topics, which their owners configure: " +
			"manage such a topic only if you mean to",
	}}
}

// topicDuplicate lets a second claimant be neither created nor become managed:
// two resources for one topic would undo each other's changes.
func topicDuplicate(in topicInput) []Finding {
	name := in.topic.ClaimedName()
	other := firstClaimant(in, in.facts.SameName, func(claim string) bool { return claim == name })
	if other == nil {
		return nil
	}
	return []Finding{{
		Severity: Refuse, Path: in.namePath(), Value: name,
		Message: fmt.Sprintf("KafkaTopic %s manages this topic already: delete this resource or choose another name "+
			"(to hand the topic over, annotate the other one %s: \"false\" first)", other.Namespace+"/"+other.Name, apiv1.AnnotationManaged),
	}}
}

// topicMetricCollision refuses what the controller refuses at creation with
// INVALID_TOPIC_EXCEPTION (ReplicationControlManager in Kafka's metadata module).
func topicMetricCollision(in topicInput) []Finding {
	if in.observed().TopicName != "" {
		return nil
	}
	name := in.topic.EffectiveName()
	other := firstClaimant(in, in.facts.SameMetric, func(claim string) bool {
		return claim != name && MetricName(claim) == MetricName(name)
	})
	if other == nil {
		return nil
	}
	return []Finding{{
		Severity: Refuse, Path: in.namePath(), Value: name,
		Message: fmt.Sprintf("Kafka refuses a topic beside %s of KafkaTopic %s, since its metrics cannot tell '.' from '_': choose another name",
			other.ClaimedName(), other.Namespace+"/"+other.Name),
	}}
}

// firstClaimant returns the oldest managed topic of others, except the judged
// one, whose claimed name matches.
func firstClaimant(in topicInput, others []apiv1.KafkaTopic, matches func(claim string) bool) *apiv1.KafkaTopic {
	var first *apiv1.KafkaTopic
	for i := range others {
		o := &others[i]
		switch {
		case o.Namespace == in.topic.Namespace && o.Name == in.topic.Name,
			// The old object may have belonged to another Kafka than the facts do.
			o.Labels[apiv1.LabelCluster] != in.topic.Labels[apiv1.LabelCluster],
			o.DeletionTimestamp != nil, !o.Managed(), !matches(o.ClaimedName()):
			continue
		}
		if first == nil || olderTopic(o, first) < 0 {
			first = o
		}
	}
	return first
}

func olderTopic(a, b *apiv1.KafkaTopic) int {
	return cmp.Or(
		a.CreationTimestamp.Compare(b.CreationTimestamp.Time),
		cmp.Compare(a.Namespace, b.Namespace),
		cmp.Compare(a.Name, b.Name),
	)
}
