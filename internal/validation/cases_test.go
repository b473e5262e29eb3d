package validation_test

import (
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
			r := judgeCase(t, c)
			var refusals, warnings []cases.Said
			for _, e := range r.Errors() {
				refusals = append(refusals, cases.Said{Path: e.Field, Text: e.Error()})
			}
			for _, text := range r.WarningTexts() {
				warnings = append(warnings, cases.Warning(text))
			}
			if fault := c.Verdict(refusals, warnings); fault != "" {
				t.Error(fault)
			}
		})
	}
	for name := range cases.Pending {
		if !seen[name] {
			t.Errorf("cases.Pending names %s, and there is no such case", name)
		}
	}
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
		obj, old := objects[apiv1.KafkaRebalance](t, c)
		return validation.KafkaRebalance(obj, old, validation.RebalanceFacts{}, validation.Options{})
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
	name := topic.ClaimedName()
	for _, o := range others {
		if o.Labels[apiv1.LabelCluster] != topic.Labels[apiv1.LabelCluster] {
			continue
		}
		if o.ClaimedName() == name {
			facts.SameName = append(facts.SameName, o)
		}
		if validation.MetricName(o.ClaimedName()) == validation.MetricName(name) {
			facts.SameMetric = append(facts.SameMetric, o)
		}
	}
	return facts
}
