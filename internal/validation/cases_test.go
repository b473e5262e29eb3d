package validation_test

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/validation"
	"github.com/sluice-kafka/sluice/test/cases"
)

// TestAdmissionCases runs every case through the rules alone.
func TestAdmissionCases(t *testing.T) {
	t.Parallel()
	all, err := cases.Admission()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, c := range all {
		seen[c.Name] = true
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			miss := missed(c, judgeCase(t, c))
			reason, pending := cases.Pending[c.Name]
			switch {
			case pending && miss == "":
				t.Errorf("the case gets its answer now: take it off cases.Pending, where it says %q", reason)
			case !pending && miss != "":
				t.Error(miss)
			}
		})
	}
	for name := range cases.Pending {
		if !seen[name] {
			t.Errorf("cases.Pending names %s, and there is no such case", name)
		}
	}
}

// missed says how a result differs from what the case expects; it is empty where
// it does not.
func missed(c cases.Case, r validation.Result) string {
	var refusals []string
	for _, e := range r.Errors() {
		refusals = append(refusals, e.Error())
	}
	warnings := r.WarningTexts()
	said := "; refused: " + strings.Join(refusals, " | ") + "; warned: " + strings.Join(warnings, " | ")
	var texts []string
	switch c.Expect {
	case cases.Allow:
		if len(refusals)+len(warnings) > 0 {
			return "want no word" + said
		}
		return ""
	case cases.Warn:
		if len(refusals) > 0 {
			return "want a warning and no refusal" + said
		}
		texts = warnings
	case cases.Refuse:
		texts = refusals
	}
	for _, text := range texts {
		path, _, _ := strings.Cut(text, ": ")
		if strings.Contains(path, c.Path) && strings.Contains(text, c.Text) {
			return ""
		}
	}
	return "want " + c.Expect + " at " + c.Path + " with " + c.Text + said
}

func judgeCase(t *testing.T, c cases.Case) validation.Result {
	t.Helper()
	var meta metav1.TypeMeta
	decode(t, c.Object, &meta)
	switch meta.Kind {
	case apiv1.KindKafka:
		obj, old := objects[apiv1.Kafka](t, c)
		if old != nil {
			obj.Status, obj.Generation = old.Status, old.Generation
		}
		return validation.Kafka(obj, old, validation.KafkaFacts{}, validation.Options{})
	case apiv1.KindKafkaNodePool:
		obj, old := objects[apiv1.KafkaNodePool](t, c)
		if old != nil {
			obj.Status, obj.Generation = old.Status, old.Generation
		}
		return validation.KafkaNodePool(obj, old, validation.PoolFacts{}, validation.Options{})
	case apiv1.KindKafkaTopic:
		obj, old := objects[apiv1.KafkaTopic](t, c)
		if old != nil {
			obj.Status, obj.Generation = old.Status, old.Generation
		}
		return validation.KafkaTopic(obj, old, topicFacts(obj, existingTopics(t, c)), validation.Options{})
	case apiv1.KindKafkaConnect:
		obj, old := objects[apiv1.KafkaConnect](t, c)
		return validation.KafkaConnect(obj, old, validation.Options{})
	case apiv1.KindKafkaMirrorMaker2:
		obj, old := objects[apiv1.KafkaMirrorMaker2](t, c)
		return validation.KafkaMirrorMaker2(obj, old, validation.Options{})
	case apiv1.KindKafkaRebalance:
		objects[apiv1.KafkaRebalance](t, c)
		return validation.Result{}
	}
	t.Fatalf("no rules for kind %q", meta.Kind)
	return validation.Result{}
}

func objects[T any](t *testing.T, c cases.Case) (obj, old *T) {
	t.Helper()
	obj = new(T)
	decode(t, c.Object, obj)
	if c.Before != nil {
		old = new(T)
		decode(t, c.Before, old)
	}
	return obj, old
}

func decode(t testing.TB, data []byte, into any) {
	t.Helper()
	if err := yaml.Unmarshal(data, into); err != nil {
		t.Fatalf("decoding a case: %v", err)
	}
}

func existingTopics(t *testing.T, c cases.Case) []apiv1.KafkaTopic {
	t.Helper()
	var topics []apiv1.KafkaTopic
	for _, doc := range c.Existing {
		var topic apiv1.KafkaTopic
		decode(t, doc, &topic)
		topics = append(topics, topic)
	}
	return topics
}

// topicFacts looks others up as the webhook's index does.
func topicFacts(topic *apiv1.KafkaTopic, others []apiv1.KafkaTopic) validation.TopicFacts {
	var facts validation.TopicFacts
	name := validation.ClaimedName(topic)
	for _, o := range others {
		if o.Labels[apiv1.LabelCluster] != topic.Labels[apiv1.LabelCluster] {
			continue
		}
		if validation.ClaimedName(&o) == name {
			facts.SameName = append(facts.SameName, o)
		}
		if validation.MetricName(validation.ClaimedName(&o)) == validation.MetricName(name) {
			facts.SameMetric = append(facts.SameMetric, o)
		}
	}
	return facts
}
