package topicplan

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	kafkav1 "github.com/sluice-kafka/sluice/api/v1"
)

// stored is a resource as the API server sends it.
const stored = `{"apiVersion":"kafka.strimzi.io/v1","kind":"KafkaTopic","metadata":{"name":"orders","namespace":"kafka",
"labels":{"strimzi.io/cluster":"east"},"annotations":{"team":"a"},"finalizers":["strimzi.io/topic-operator"],"generation":2,"uid":"u","resourceVersion":"7",
"managedFields":[
{"manager":"kubectl","operation":"Apply","apiVersion":"kafka.strimzi.io/v1","time":"2026-03-01T12:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:partitions":{}}}},
{"manager":"sluice","operation":"Update","apiVersion":"kafka.strimzi.io/v1","time":"2026-03-01T12:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:finalizers":{".":{},"v:\"strimzi.io/topic-operator\"":{}}}}},
{"manager":"other","operation":"Update","apiVersion":"kafka.strimzi.io/v1","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:finalizers":{"v:\"example.com/other\"":{}}}}},
{"manager":"sluice","operation":"Update","subresource":"status","apiVersion":"kafka.strimzi.io/v1","fieldsType":"FieldsV1","fieldsV1":{"f:status":{"f:conditions":{}}}}]},
"spec":{"topicName":"orders","partitions":3,"config":{"retention.ms":1000,"cleanup.policy":"compact"}},
"status":{"conditions":[{"type":"Ready","status":"True","lastTransitionTime":"2026-03-01T12:00:00Z"}],"observedGeneration":2,"topicName":"orders","topicId":"id"}}`

func decoded(t *testing.T) *kafkav1.KafkaTopic {
	t.Helper()
	kt := &kafkav1.KafkaTopic{}
	if err := json.Unmarshal([]byte(stored), kt); err != nil {
		t.Fatal(err)
	}
	return kt
}

func TestACompactResourceSaysWhatItSaid(t *testing.T) {
	kt, want := decoded(t), decoded(t)
	Compact(kt)
	if !ownsFinalizer(kt) {
		t.Error("it no longer tells that our finalizer is our own")
	}
	if len(kt.ManagedFields) != 1 || kt.ManagedFields[0].Manager != kafkav1.FieldManager {
		t.Errorf("managedFields: %+v, want the owner of our finalizer", kt.ManagedFields)
	}
	kt.ManagedFields, want.ManagedFields = nil, nil
	if diff := cmp.Diff(want, kt); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestACompactResourceTellsEveryOwnerOfOurFinalizer(t *testing.T) {
	kt := decoded(t)
	kt.ManagedFields[1].Manager = "somebody"
	Compact(kt)
	if ownsFinalizer(kt) || len(kt.ManagedFields) != 1 || kt.ManagedFields[0].Manager != "somebody" {
		t.Errorf("managedFields: %+v, want somebody's", kt.ManagedFields)
	}
	// A second time changes nothing.
	again := kt.DeepCopy()
	Compact(again)
	if diff := cmp.Diff(kt, again); diff != "" {
		t.Errorf("(-first +second):\n%s", diff)
	}
}

func TestCompactTakesResourcesThatLackEverything(t *testing.T) {
	kt := &kafkav1.KafkaTopic{ObjectMeta: metav1.ObjectMeta{ManagedFields: []metav1.ManagedFieldsEntry{{Manager: kafkav1.FieldManager}}}}
	Compact(kt)
	if diff := cmp.Diff(&kafkav1.KafkaTopic{}, kt); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
