package validation_test

import (
	"encoding/json"
	"slices"
	"testing"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/validation"
	"github.com/sluice-kafka/sluice/test/cases"
)

// seed adds the cases of a kind as JSON, as an admission request carries them.
func seed(f *testing.F, kind string) {
	f.Helper()
	all, err := cases.Admission()
	if err != nil {
		f.Fatal(err)
	}
	for _, c := range all {
		var meta metav1.TypeMeta
		decode(f, c.Object, &meta)
		if meta.Kind != kind {
			continue
		}
		object := asJSON(f, c.Object)
		f.Add(object, object)
		for _, other := range append(slices.Clone(c.Existing), c.Before) {
			if other != nil {
				f.Add(object, asJSON(f, other))
			}
		}
	}
}

func asJSON(f *testing.F, doc []byte) []byte {
	f.Helper()
	out, err := yaml.YAMLToJSON(doc)
	if err != nil {
		f.Fatal(err)
	}
	return out
}

// fuzz decodes two objects and holds the rules to what is true of any: they say
// the same twice, nothing new of an unchanged object, and within the bounds.
func fuzz[T any](f *testing.F, judge func(obj, old, other *T) validation.Result) {
	f.Helper()
	f.Fuzz(func(t *testing.T, a, b []byte) {
		var obj, other T
		if json.Unmarshal(a, &obj) != nil || json.Unmarshal(b, &other) != nil {
			return
		}
		once, twice := judge(&obj, nil, &other), judge(&obj, nil, &other)
		if !slices.Equal(said(once), said(twice)) {
			t.Errorf("said different things of one object: %v and %v", said(once), said(twice))
		}
		if same := judge(&obj, &obj, &other); len(same.Refusals)+len(same.Warnings) > 0 {
			t.Errorf("faulted an update that changes nothing: %v", said(same))
		}
		update := judge(&obj, &other, &other)
		for _, r := range []validation.Result{once, update} {
			for _, text := range r.WarningTexts() {
				if utf8.RuneCountInString(text) > 256 {
					t.Errorf("a warning is too long: %q", text)
				}
			}
			if n := len(r.WarningTexts()); n > 10 {
				t.Errorf("%d warnings", n)
			}
			for _, e := range r.Errors() {
				if e.Field == "" || e.Detail == "" || len(e.Error()) > 1<<16 {
					t.Errorf("a refusal without a path or a reason, or too long: %q", e.Error())
				}
			}
		}
	})
}

func FuzzKafkaTopic(f *testing.F) {
	seed(f, apiv1.KindKafkaTopic)
	fuzz(f, func(obj, old, other *apiv1.KafkaTopic) validation.Result {
		return validation.KafkaTopic(obj, old, topicFacts(obj, []apiv1.KafkaTopic{*other}), validation.Options{})
	})
}

func FuzzKafka(f *testing.F) {
	seed(f, apiv1.KindKafka)
	fuzz(f, func(obj, old, other *apiv1.Kafka) validation.Result {
		beside := validation.KafkaFacts{Pools: []apiv1.KafkaNodePool{{
			ObjectMeta: other.ObjectMeta, Spec: apiv1.KafkaNodePoolSpec{Template: other.Spec.Kafka.Template},
		}}, AllPools: true, Seen: seen(3, 0, 1)}
		return validation.Kafka(obj, old, beside, validation.Options{StrictConfig: true})
	})
}

func FuzzKafkaNodePool(f *testing.F) {
	seed(f, apiv1.KindKafkaNodePool)
	fuzz(f, func(obj, old, other *apiv1.KafkaNodePool) validation.Result {
		kafka := &apiv1.Kafka{ObjectMeta: other.ObjectMeta}
		kafka.Spec.Kafka.Template = other.Spec.Template
		kafka.Status.ClusterID = "abc"
		known := validation.PoolFacts{Kafka: kafka, Pools: []apiv1.KafkaNodePool{*other}, AllPools: true, Seen: seen(3, 0, 1)}
		validation.KafkaNodePoolDeletion(obj, known)
		return validation.KafkaNodePool(obj, old, known, validation.Options{})
	})
}

func FuzzKafkaRebalance(f *testing.F) {
	seed(f, apiv1.KindKafkaRebalance)
	fuzz(f, func(obj, old, _ *apiv1.KafkaRebalance) validation.Result {
		return validation.KafkaRebalance(obj, old, validation.RebalanceFacts{Seen: seen(3, 0, 1)}, validation.Options{})
	})
}

func FuzzKafkaConnect(f *testing.F) {
	seed(f, apiv1.KindKafkaConnect)
	fuzz(f, func(obj, old, _ *apiv1.KafkaConnect) validation.Result {
		return validation.KafkaConnect(obj, old, validation.Options{})
	})
}

func FuzzKafkaMirrorMaker2(f *testing.F) {
	seed(f, apiv1.KindKafkaMirrorMaker2)
	fuzz(f, func(obj, old, _ *apiv1.KafkaMirrorMaker2) validation.Result {
		return validation.KafkaMirrorMaker2(obj, old, validation.Options{})
	})
}
