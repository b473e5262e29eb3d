package validation

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
)

func autoRebalancePath() *field.Path { return field.NewPath("spec", "cruiseControl", "autoRebalance") }

func autoRebalances(k *apiv1.Kafka) []apiv1.AutoRebalance {
	if k.Spec.CruiseControl == nil {
		return nil
	}
	return k.Spec.CruiseControl.AutoRebalance
}

// TemplatesOf names the KafkaRebalances that a Kafka's auto-rebalance is to copy.
func TemplatesOf(k *apiv1.Kafka) []string {
	var names []string
	for _, a := range autoRebalances(k) {
		if a.Template != nil && a.Template.Name != "" {
			names = append(names, a.Template.Name)
		}
	}
	return names
}

// IsRebalanceTemplate tells whether a KafkaRebalance is a template, which is
// never run.
func IsRebalanceTemplate(r *apiv1.KafkaRebalance) bool {
	return r.Annotations[apiv1.AnnotationRebalanceTemplate] == "true"
}

func kafkaAutoRebalanceMode(in kafkaInput) []Finding {
	var found []Finding
	seen := map[string]int{}
	for i, a := range autoRebalances(in.kafka) {
		path := autoRebalancePath().Index(i).Child("mode")
		found = append(found, unknownWord(path, a.Mode, a.Mode, apiv1.ModeAddBrokers, apiv1.ModeRemoveBrokers)...)
		first, dup := seen[a.Mode]
		switch {
		case a.Mode == "":
		case dup:
			found = append(found, Finding{
				Severity: Refuse, Path: path, Element: a.Mode, Value: a.Mode,
				Message: fmt.Sprintf("%s has this mode too: keep one of them", autoRebalancePath().Index(first)),
			})
		default:
			seen[a.Mode] = i
		}
	}
	return found
}

func kafkaAutoRebalanceTemplate(in kafkaInput) []Finding {
	var found []Finding
	for i, a := range autoRebalances(in.kafka) {
		if a.Template == nil || a.Template.Name == "" {
			continue
		}
		if there, known := in.facts.Templates[a.Template.Name]; there || !known {
			continue
		}
		found = append(found, Finding{
			Path: autoRebalancePath().Index(i).Child("template", "name"), Element: a.Mode, Value: a.Template.Name,
			Message: fmt.Sprintf("there is no KafkaRebalance %s with the annotation %s: \"true\" in this namespace (yet); until then nothing is rebalanced",
				shown(a.Template.Name), apiv1.AnnotationRebalanceTemplate),
		})
	}
	return found
}
