package topicplan

import (
	"encoding/json"
	"reflect"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
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
	new(Compactor).Compact(kt)
	if !OwnsFinalizer(kt) {
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
	new(Compactor).Compact(kt)
	if OwnsFinalizer(kt) || len(kt.ManagedFields) != 1 || kt.ManagedFields[0].Manager != "somebody" {
		t.Errorf("managedFields: %+v, want somebody's", kt.ManagedFields)
	}
	// A second time changes nothing.
	again := kt.DeepCopy()
	new(Compactor).Compact(again)
	if diff := cmp.Diff(kt, again); diff != "" {
		t.Errorf("(-first +second):\n%s", diff)
	}
}

func TestCompactTakesResourcesThatLackEverything(t *testing.T) {
	kt := &kafkav1.KafkaTopic{ObjectMeta: metav1.ObjectMeta{ManagedFields: []metav1.ManagedFieldsEntry{{Manager: kafkav1.FieldManager}}}}
	new(Compactor).Compact(kt)
	if diff := cmp.Diff(&kafkav1.KafkaTopic{}, kt); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestCompactResourcesShareWhatIsEqual(t *testing.T) {
	c := new(Compactor)
	a, b, other := decoded(t), decoded(t), decoded(t)
	other.Labels["strimzi.io/cluster"] = "west"
	other.Spec.Config["retention.ms"] = apiextensionsv1.JSON{Raw: []byte("2000")}
	for _, kt := range []*kafkav1.KafkaTopic{a, b, other} {
		c.Compact(kt)
	}
	same := func(x, y any) bool { return reflect.ValueOf(x).Pointer() == reflect.ValueOf(y).Pointer() }
	if !same(a.Labels, b.Labels) || !same(a.Spec.Config, b.Spec.Config) {
		t.Error("equal maps are held twice")
	}
	if other.Labels["strimzi.io/cluster"] != "west" || string(other.Spec.Config["retention.ms"].Raw) != "2000" {
		t.Errorf("another's maps were taken for its own: %v %v", other.Labels, other.Spec.Config)
	}
}

func TestMapsThatAreSharedAreBounded(t *testing.T) {
	c := new(Compactor)
	for i := range 3 * maxShared {
		kt := &kafkav1.KafkaTopic{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"n": strconv.Itoa(i)}}}
		c.Compact(kt)
		if kt.Labels["n"] != strconv.Itoa(i) {
			t.Fatalf("labels of number %d: %v", i, kt.Labels)
		}
	}
	if n := len(c.labels.byText); n > maxShared {
		t.Errorf("%d maps are held", n)
	}
}

func TestEqualTextsAreOfEqualMaps(t *testing.T) {
	it := func(v string) string { return v }
	texts := map[string]map[string]string{}
	for _, m := range []map[string]string{nil, {}, {"a": "b"}, {"a": "b", "c": "d"}, {"a": "b\"\n\"c\" \"d"}, {"a b": ""}, {"a": "b "}} {
		text := textOf(m, it)
		if other, ok := texts[text]; ok {
			t.Errorf("%v and %v have one text", m, other)
		}
		texts[text] = m
	}
}
