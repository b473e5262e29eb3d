package topicplan

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unique"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	kafkav1 "github.com/sluice-kafka/sluice/api/v1"
)

// Compactor makes resources small that are going to be kept in memory, tens of
// thousands of them. What they have in common is held once: resources that are
// compact must not be changed. It can be used concurrently.
type Compactor struct {
	labels shared[map[string]string]
	config shared[kafkav1.Config]
}

// Compact makes a resource small. Of managedFields, which are nearly half of it,
// there remains who owns our finalizer: nothing else of them is ever looked at.
func (c *Compactor) Compact(t *kafkav1.KafkaTopic) {
	t.ManagedFields = compactOwners(t.ManagedFields)
	for _, s := range []*string{&t.Kind, &t.APIVersion, &t.Namespace} {
		share(s)
	}
	for i := range t.Finalizers {
		share(&t.Finalizers[i])
	}
	for i := range t.Status.Conditions {
		c := &t.Status.Conditions[i]
		for _, s := range []*string{&c.Type, &c.Status, &c.Reason, &c.LastTransitionTime} {
			share(s)
		}
	}
	// The resource's name, the one that it asks for and the one that it manages are
	// mostly the same.
	if t.Status.TopicName == t.Name {
		t.Status.TopicName = t.Name
	}
	if name := t.Status.TopicName; t.Spec.TopicName != nil && *t.Spec.TopicName == name {
		t.Spec.TopicName = &name
	}
	t.Labels = c.labels.one(t.Labels, textOf(t.Labels, func(v string) string { return v }))
	t.Spec.Config = c.config.one(t.Spec.Config, textOf(t.Spec.Config, func(v apiextensionsv1.JSON) string { return string(v.Raw) }))
}

// maxShared bounds what is held of maps that nobody may use any longer.
const maxShared = 1000

// shared has one copy of each of the last maps that were seen. Topics are mostly
// made from a few patterns: their labels and options repeat.
type shared[M any] struct {
	mu     sync.Mutex
	byText map[string]M
}

func (s *shared[M]) one(m M, text string) M {
	s.mu.Lock()
	defer s.mu.Unlock()
	if same, ok := s.byText[text]; ok {
		return same
	}
	if s.byText == nil || len(s.byText) >= maxShared {
		s.byText = map[string]M{} // begin anew: who holds the old ones keeps them
	}
	s.byText[text] = m
	return m
}

// textOf is the same for equal maps alone.
func textOf[V any](m map[string]V, text func(V) string) string {
	if m == nil {
		return "" // an empty map has a text
	}
	var b strings.Builder
	for _, k := range slices.Sorted(maps.Keys(m)) {
		fmt.Fprintf(&b, "%q %q\n", k, text(m[k]))
	}
	return "{" + b.String()
}

func compactOwners(all []metav1.ManagedFieldsEntry) []metav1.ManagedFieldsEntry {
	var owners []metav1.ManagedFieldsEntry
	for _, e := range all {
		if !mentionsFinalizers(e) || !coversFinalizer(e) {
			continue
		}
		share(&e.Manager)
		owners = append(owners, metav1.ManagedFieldsEntry{
			Manager: e.Manager, Operation: e.Operation, FieldsType: fieldsType, FieldsV1: finalizerOwned,
		})
	}
	return owners
}

// fieldsType is the only one that Kubernetes knows.
const fieldsType = "FieldsV1"

// finalizerOwned is what is left of the fields of an owner. It is shared, so
// nobody may change it.
var finalizerOwned = metav1.NewFieldsV1(`{"f:metadata":{"f:finalizers":{` + strconv.Quote(ownedFinalizer) + `:{}}}}`)

// mentionsFinalizers spares the decoding of the many fields that do not.
func mentionsFinalizers(e metav1.ManagedFieldsEntry) bool {
	return e.FieldsV1 != nil && bytes.Contains(e.FieldsV1.GetRawBytes(), []byte("f:finalizers"))
}

// share replaces a string by the one copy of it that the process holds for as
// long as anybody does.
func share(s *string) {
	if *s != "" {
		*s = unique.Make(*s).Value()
	}
}
