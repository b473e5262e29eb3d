package validation

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
)

// choice is an annotation that takes one of two values, and what any other comes to.
// Whoever wrote one expects something else.
type choice struct {
	name    string
	values  [2]string
	instead string
}

var trueOrFalse = [2]string{"true", "false"}

// topicChoices are read in any case, as Strimzi does.
var topicChoices = []choice{
	{apiv1.AnnotationManaged, trueOrFalse, "the topic is managed, and deleted with this resource"},
	{apiv1.AnnotationPauseReconciliation, trueOrFalse, "reconciliation is not paused"},
	{apiv1.AnnotationDeletionPolicy, [2]string{apiv1.DeletionPolicyRetain, apiv1.DeletionPolicyDelete}, "the topic is kept when this resource is deleted"},
}

var kafkaChoices = []choice{
	{apiv1.AnnotationSluiceManaged, trueOrFalse, "Sluice does not run this Kafka"},
	{apiv1.AnnotationSluiceTopics, trueOrFalse, "it hands no topics to Sluice"},
	{apiv1.AnnotationRebalanceEngine, [2]string{apiv1.EngineBuiltin, apiv1.EngineCruiseControl}, "moving replicas is left to Cruise Control"},
	{apiv1.AnnotationRollVolumes, trueOrFalse, "no pod is restarted for its volumes"},
}

func topicAnnotationValue(in topicInput) []Finding {
	return outsideChoice(in.topic.Annotations, topicChoices, strings.EqualFold)
}

func kafkaAnnotationValue(in kafkaInput) []Finding {
	return outsideChoice(in.kafka.Annotations, kafkaChoices, func(a, b string) bool { return a == b })
}

func outsideChoice(annotations map[string]string, choices []choice, same func(a, b string) bool) []Finding {
	var found []Finding
	for _, c := range choices {
		value, there := annotations[c.name]
		if !there || same(value, c.values[0]) || same(value, c.values[1]) {
			continue
		}
		found = append(found, Finding{
			Path: field.NewPath("metadata", "annotations").Key(c.name), Element: c.name, Value: orElse(value, `""`),
			Message: fmt.Sprintf("%s is not known here, so %s: write %q or %q", shown(value), c.instead, c.values[0], c.values[1]),
		})
	}
	return found
}
