package brokerpod

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
)

// object reads a part that was kept as it was written; nil where it is absent.
// Fields that its type lacks are passed over, as the API server passes them over.
func object[T any](j *apiextensionsv1.JSON, at place) *T {
	if j == nil || len(j.Raw) == 0 {
		return nil
	}
	var v T
	if err := utiljson.Unmarshal(j.Raw, &v); err != nil {
		at.fault("it is no %s: %s; correct it", kindOf[T](), reason(err))
		return nil
	}
	return &v
}

// list reads the elements of a list that were kept as they were written.
func list[T any](js []apiextensionsv1.JSON, at place) []T {
	var all []T
	for i := range js {
		if len(js[i].Raw) == 0 {
			at.index(i).fault("it is null; remove it")
			continue
		}
		if v := object[T](&js[i], at.index(i)); v != nil {
			all = append(all, *v)
		}
	}
	return all
}

// kindOf is how Kubernetes' documentation calls a type.
func kindOf[T any]() string {
	if name := reflect.TypeFor[T]().Name(); name != "" {
		return "Kubernetes " + name
	}
	return "map"
}

// reason leaves Go's words out of what users read, where it can.
func reason(err error) string {
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return cmp.Or(wrong.Field, "it") + " is a JSON " + wrong.Value
	}
	return err.Error()
}

// quantity reads a Kubernetes quantity; nil where it is absent or at fault.
func quantity(text string, at place) *resource.Quantity {
	if text == "" {
		return nil
	}
	q, err := resource.ParseQuantity(text)
	if err != nil {
		at.fault("%q is no Kubernetes quantity; write one such as 10Gi", text)
		return nil
	}
	return &q
}

// metadata returns the labels and annotations of a template.
func metadata(m *apiv1.MetadataTemplate, at place) (labels, annotations map[string]string) {
	if m == nil {
		return nil, nil
	}
	at = at.child("metadata")
	return texts(m.Labels, at.child("labels")), texts(m.Annotations, at.child("annotations"))
}

// texts reads a map of texts; one that is null is left out.
func texts(j *apiextensionsv1.JSON, at place) map[string]string {
	all := object[map[string]apiextensionsv1.JSON](j, at)
	if all == nil {
		return nil
	}
	out := make(map[string]string, len(*all))
	for _, key := range slices.Sorted(maps.Keys(*all)) {
		raw := (*all)[key].Raw
		if len(raw) == 0 {
			continue
		}
		var text string
		if err := utiljson.Unmarshal(raw, &text); err != nil {
			at.key(key).fault("it is no text; put it in quotes")
			continue
		}
		out[key] = text
	}
	return out
}

// scalar reads a text, a number or a truth value as the text that it was written
// as.
func scalar(j apiextensionsv1.JSON) (string, bool) {
	raw := bytes.TrimSpace(j.Raw)
	if len(raw) == 0 || raw[0] == '{' || raw[0] == '[' {
		return "", false
	}
	if raw[0] != '"' {
		return string(raw), true
	}
	var text string
	err := utiljson.Unmarshal(raw, &text)
	return text, err == nil
}
