package v1

import "strings"

// EffectiveName is the name in Kafka that a resource asks for. An empty
// spec.topicName asks for nothing: admission refuses it, and where it slipped past
// metadata.name stands.
func (t *KafkaTopic) EffectiveName() string {
	if t.Spec.TopicName != nil && *t.Spec.TopicName != "" {
		return *t.Spec.TopicName
	}
	return t.Name
}

// ClaimedName is the name in Kafka that a resource has a claim on: the one that
// it manages already, else the one that it asks for. A new name for a topic that
// was created is refused and never claimed, so it can neither lock nor delete
// another's topic.
func (t *KafkaTopic) ClaimedName() string {
	if t.Status.TopicName != "" {
		return t.Status.TopicName
	}
	return t.EffectiveName()
}

// Managed tells whether the topic of a resource may be touched at all.
func (t *KafkaTopic) Managed() bool {
	return !strings.EqualFold(t.Annotations[AnnotationManaged], "false")
}
