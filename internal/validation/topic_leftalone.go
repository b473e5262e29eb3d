package validation

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/topicplan"
)

// topicOptionLeftAlone tells of options that are set and that nobody applies: the
// resource itself leaves them to Kafka, or the operator may not alter them. It also
// tells of a name in the annotation that is no option's, since then another is not
// left alone.
func topicOptionLeftAlone(in topicInput) []Finding {
	unmanaged := topicplan.UnmanagedOptions(in.topic)
	found := in.unknownUnmanaged(unmanaged)
	ours := in.served()
	config := in.topic.Spec.Config
	for _, key := range optionKeys(config) {
		why := ""
		switch {
		case slices.Contains(unmanaged, strings.ToLower(key)):
			why = fmt.Sprintf("the annotation %s leaves this option alone, so what is written here does not count: remove one of the two",
				apiv1.AnnotationUnmanagedConfig)
		case ours && !in.opts.Alterable.Allows(key):
			why = fmt.Sprintf("this operator is set to alter %s, so what is written here does not count: "+
				"remove the line, or have the operator's --alterable-topic-config name the option", in.opts.Alterable)
		default:
			continue
		}
		found = append(found, Finding{Path: topicConfigPath(key), Element: key, Value: optionText(config[key]), Message: why})
	}
	return found
}

func (in topicInput) unknownUnmanaged(names []string) []Finding {
	versions := in.versions()
	var found []Finding
	for _, name := range names {
		if versions.unknown(topicOptions, name) {
			found = append(found, Finding{
				Path: field.NewPath("metadata", "annotations").Key(apiv1.AnnotationUnmanagedConfig), Element: name, Value: name,
				Message: versions.absence(topicOptions, brokerOptions, name, len(found) < maxSuggested),
			})
		}
	}
	return found
}

// served tells whether it is Sluice that works on the topic, as far as is known.
func (in topicInput) served() bool {
	return in.facts.External || in.facts.Kafka.TopicsHandedOver()
}
