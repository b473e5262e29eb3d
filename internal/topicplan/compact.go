package topicplan

import (
	"bytes"
	"strconv"
	"unique"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	kafkav1 "github.com/sluice-kafka/sluice/api/v1"
)

// Compact makes a resource small that is going to be kept in memory, with tens of
// thousands of others. Of managedFields, which are nearly half of a resource,
// there remains who owns our finalizer: nothing else of them is ever looked at.
// Strings that resources have in common are held once.
func Compact(t *kafkav1.KafkaTopic) {
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
	// The resource's name, the one that is asked for and the one that is managed
	// are mostly the same.
	if t.Status.TopicName == t.Name {
		t.Status.TopicName = t.Name
	}
	if t.Spec.TopicName != nil && *t.Spec.TopicName == t.ClaimedName() {
		name := t.ClaimedName()
		t.Spec.TopicName = &name
	}
	if t.Labels != nil {
		labels := make(map[string]string, len(t.Labels))
		for k, v := range t.Labels {
			share(&k)
			share(&v)
			labels[k] = v
		}
		t.Labels = labels
	}
	if t.Spec.Config != nil {
		config := make(kafkav1.Config, len(t.Spec.Config))
		for k, v := range t.Spec.Config {
			share(&k)
			config[k] = v
		}
		t.Spec.Config = config
	}
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
