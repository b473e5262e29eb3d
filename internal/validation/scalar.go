package validation

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
)

// optionShape is what form an option's value has.
type optionShape int

const (
	shapeNull optionShape = iota
	shapeScalar
	shapeList
	shapeNestedList
	shapeMap
)

// shapeOf tells the form of a value. Anything in a list that is no text, number
// or truth value makes it a nested one.
func shapeOf(v apiextensionsv1.JSON) optionShape {
	raw := bytes.TrimSpace(v.Raw)
	if len(raw) == 0 || string(raw) == "null" {
		return shapeNull
	}
	switch raw[0] {
	case '{':
		return shapeMap
	case '[':
		var items []json.RawMessage
		if json.Unmarshal(raw, &items) != nil {
			return shapeNestedList
		}
		for _, item := range items {
			if len(item) == 0 || item[0] == '{' || item[0] == '[' || item[0] == 'n' {
				return shapeNestedList
			}
		}
		return shapeList
	default:
		return shapeScalar
	}
}

// optionText returns a scalar value as text, without quotes. Anything else gives
// its JSON.
func optionText(v apiextensionsv1.JSON) string {
	var s string
	if json.Unmarshal(v.Raw, &s) == nil && len(v.Raw) > 0 && v.Raw[0] == '"' {
		return s
	}
	if len(v.Raw) == 0 {
		return "null"
	}
	return string(v.Raw)
}

// optionInt returns an option's value where it is there and a whole number,
// given as a number or as text.
func optionInt(config apiv1.Config, key string) (int64, bool) {
	v, ok := config[key]
	if !ok || shapeOf(v) != shapeScalar {
		return 0, false
	}
	n, err := strconv.ParseInt(strings.TrimSpace(optionText(v)), 10, 64)
	return n, err == nil
}

// optionKeys returns the keys of config in order.
func optionKeys(config apiv1.Config) []string {
	return slices.Sorted(maps.Keys(config))
}
