package validation

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
)

// topicAnnotations are those with a choice of values, in any case, and what
// another value comes to. Whoever wrote one expects something else.
var topicAnnotations = []struct {
	name    string
	values  []string
	instead string
}{
	{apiv1.AnnotationManaged, []string{"true", "false"}, "the topic is managed, and deleted with this resource"},
	{apiv1.AnnotationPauseReconciliation, []string{"true", "false"}, "reconciliation is not paused"},
	{apiv1.AnnotationDeletionPolicy, []string{apiv1.DeletionPolicyRetain, apiv1.DeletionPolicyDelete}, "the topic is kept when this resource is deleted"},
}

func topicAnnotationValue(in topicInput) []Finding {
	var found []Finding
	for _, a := range topicAnnotations {
		value, there := in.topic.Annotations[a.name]
		if !there || isOneOf(value, a.values) {
			continue
		}
		found = append(found, Finding{
			Path: field.NewPath("metadata", "annotations").Key(a.name), Element: a.name, Value: orElse(value, `""`),
			Message: fmt.Sprintf("%s is not known here, so %s: write %q or %q", shown(value), a.instead, a.values[0], a.values[1]),
		})
	}
	return found
}

func isOneOf(value string, values []string) bool {
	for _, v := range values {
		if strings.EqualFold(value, v) {
			return true
		}
	}
	return false
}
