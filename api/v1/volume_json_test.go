package v1_test

import (
	"encoding/json"
	"testing"

	utiljson "k8s.io/apimachinery/pkg/util/json"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
)

func TestAModeThatDoesNotFitLeavesTheListReadable(t *testing.T) {
	t.Parallel()
	for name, volume := range map[string]string{
		"of a Secret":    `{"name":"v","secret":{"secretName":"s","defaultMode":99999999999}}`,
		"of a ConfigMap": `{"name":"v","configMap":{"name":"s","defaultMode":-99999999999}}`,
		"of an item":     `{"name":"v","secret":{"secretName":"s","items":[{"key":"a","path":"a","mode":420},{"key":"b","path":"b","mode":4294967296}]}}`,
	} {
		for _, field := range []string{"volumes", "templatedVolumes"} {
			t.Run(name+" in "+field, func(t *testing.T) {
				t.Parallel()
				var list apiv1.KafkaNodePoolList
				text := `{"items":[{"metadata":{"name":"a"},"spec":{"template":{"pod":{"` + field + `":[` + volume + `]}}}},{"metadata":{"name":"b"}}]}`
				if err := utiljson.Unmarshal([]byte(text), &list); err != nil {
					t.Fatal(err)
				}
				if len(list.Items) != 2 || list.Items[0].Name != "a" || list.Items[1].Name != "b" {
					t.Errorf("got %+v", list.Items)
				}
				written, err := json.Marshal(list.Items[0].Spec.Template)
				if err != nil {
					t.Fatal(err)
				}
				var again apiv1.KafkaTemplate
				if err := utiljson.Unmarshal(written, &again); err != nil {
					t.Errorf("what was read cannot be read again: %v", err)
				}
			})
		}
	}
}

func TestOtherWrongTypesInAVolumeAreErrors(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`{"name":1}`, `{"secret":"s"}`, `{"secret":{"defaultMode":"0644"}}`, `{"secret":{"defaultMode":1.5}}`, `[]`, `{"secret":`,
		`{"name":1,"secret":{"defaultMode":99999999999}}`,
	} {
		if err := utiljson.Unmarshal([]byte(text), &apiv1.TemplatedVolume{}); err == nil {
			t.Errorf("%s was read", text)
		}
	}
}
