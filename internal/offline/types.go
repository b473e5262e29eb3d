package offline

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/validation"
)

// Rules of this package's own: the API server refuses these before it asks a
// webhook.
const (
	ruleType     = "manifest-wrong-type"
	ruleMetadata = "manifest-metadata"
	ruleDoubled  = "manifest-key-twice"
	ruleSyntax   = "manifest-syntax"
)

// unmarshaler is implemented by types that read more than one form.
var unmarshaler = reflect.TypeFor[json.Unmarshaler]()

var ownTypes = reflect.TypeFor[apiv1.Kafka]().PkgPath()

// wrongTypes compares what is written with the types that the installed schema
// has for the fields that Sluice knows. Unknown fields are left alone, and so is
// a null, which the API server takes as not given.
func wrongTypes(content map[string]any, object metav1.Object) []validation.Finding {
	var c typeCheck
	c.fields(nil, content, reflect.TypeOf(object).Elem())
	return c.found
}

type typeCheck struct {
	found []validation.Finding
}

func (c *typeCheck) refuse(at *field.Path, v any, why string) {
	text, ok := v.(string)
	if asJSON, err := json.Marshal(v); err == nil && (!ok || text == "") {
		text = string(asJSON)
	}
	c.found = append(c.found, validation.Finding{
		Rule: ruleType, Severity: validation.Refuse, Path: at, Value: text, Message: why,
	})
}

// value checks one value against the type that is wanted.
func (c *typeCheck) value(at *field.Path, v any, want reflect.Type) {
	for want.Kind() == reflect.Pointer {
		want = want.Elem()
	}
	// The API's own types keep their form, whatever else they let through.
	if reflect.PointerTo(want).Implements(unmarshaler) && want.PkgPath() != ownTypes {
		c.special(at, v, want)
		return
	}
	switch want.Kind() {
	case reflect.Struct:
		if m, ok := c.object(at, v); ok {
			c.fields(at, m, want)
		}
	case reflect.Map:
		m, _ := c.object(at, v)
		for _, k := range slices.Sorted(maps.Keys(m)) {
			if m[k] != nil {
				c.value(at.Key(k), m[k], want.Elem())
			}
		}
	case reflect.Slice:
		c.list(at, v, want)
	default:
		c.scalar(at, v, want)
	}
}

// special knows the one type among those with a form of their own for which not
// every value will do.
func (c *typeCheck) special(at *field.Path, v any, want reflect.Type) {
	if want != reflect.TypeFor[metav1.Time]() {
		return
	}
	s, ok := v.(string)
	if _, err := time.Parse(time.RFC3339, s); !ok || err != nil {
		c.refuse(at, v, "this is a time: write it like 2026-01-31T12:00:00Z, or leave it out")
	}
}

func (c *typeCheck) object(at *field.Path, v any) (map[string]any, bool) {
	m, ok := v.(map[string]any)
	if !ok {
		c.refuse(at, v, fmt.Sprintf("this has to be an object with fields of its own, and it is %s: indent its fields under it, or leave it out", a(v)))
	}
	return m, ok
}

// fields checks those that a struct names; at is nil for the object itself.
func (c *typeCheck) fields(at *field.Path, m map[string]any, of reflect.Type) {
	for i := range of.NumField() {
		f := of.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" && (f.Anonymous || strings.Contains(options, "inline")) {
			c.fields(at, m, f.Type)
			continue
		}
		if v := m[name]; v != nil {
			c.value(at.Child(name), v, f.Type)
		}
	}
}

func (c *typeCheck) list(at *field.Path, v any, want reflect.Type) {
	items, ok := v.([]any)
	if !ok {
		c.refuse(at, v, fmt.Sprintf("this has to be a list, and it is %s: write each item on a line of its own that begins with a dash", a(v)))
		return
	}
	for i, item := range items {
		c.value(at.Index(i), item, want.Elem())
	}
}

func (c *typeCheck) scalar(at *field.Path, v any, want reflect.Type) {
	switch want.Kind() {
	case reflect.String:
		if _, ok := v.(string); !ok {
			c.refuse(at, v, fmt.Sprintf("this has to be a text, and it is %s: %s", a(v), asText(v)))
		}
	case reflect.Bool:
		if _, ok := v.(bool); !ok {
			c.refuse(at, v, fmt.Sprintf("this has to be true or false without quotes, and it is %s", a(v)))
		}
	case reflect.Int, reflect.Int32, reflect.Int64:
		c.integer(at, v, want)
	default:
	}
}

func (c *typeCheck) integer(at *field.Path, v any, want reflect.Type) {
	low, high := int64(math.MinInt64), int64(math.MaxInt64)
	if want.Kind() == reflect.Int32 {
		low, high = math.MinInt32, math.MaxInt32
	}
	n, ok := v.(int64)
	switch {
	case ok && (n < low || n > high):
		c.refuse(at, v, fmt.Sprintf("this has to be a number from %d to %d", low, high))
	case ok:
	default:
		mend := "write digits only"
		if s, ok := v.(string); ok {
			if _, err := strconv.ParseInt(strings.TrimSpace(s), 10, 64); err == nil {
				mend = "take away the quotes"
			}
		}
		c.refuse(at, v, fmt.Sprintf("this has to be a whole number, and it is %s: %s", a(v), mend))
	}
}

// a names the type of a value that was written.
func a(v any) string {
	switch v.(type) {
	case nil:
		return "empty"
	case string:
		return "a text"
	case bool:
		return "a truth value"
	case int64, float64:
		return "a number"
	case []any:
		return "a list"
	default:
		return "an object"
	}
}

func asText(v any) string {
	switch v.(type) {
	case bool, int64, float64:
		return "put it in quotes"
	default:
		return "write a single value"
	}
}

// unreadable is the last resort, where the types are right and the value is not.
func unreadable(err error) validation.Finding {
	return validation.Finding{
		Rule: ruleType, Severity: validation.Refuse, Path: field.NewPath("spec"), Value: "unreadable",
		Message: fmt.Sprintf("the object cannot be read: %v; compare it with kubectl explain", err),
	}
}

// badMetadata applies Kubernetes' own rules for names, labels, annotations and
// the like.
func badMetadata(object metav1.Object) []validation.Finding {
	_, topic := object.(*apiv1.KafkaTopic)
	namespace := object.GetNamespace()
	if namespace == "" {
		object.SetNamespace(metav1.NamespaceDefault)
		defer object.SetNamespace("")
	}
	if prefix := object.GetGenerateName(); prefix != "" && object.GetName() == "" {
		// The API server completes the name before it looks at it.
		object.SetName(prefix + "x")
		defer object.SetName("")
	}
	var found []validation.Finding
	for _, e := range apivalidation.ValidateObjectMetaAccessor(object, true, apivalidation.NameIsDNSSubdomain, field.NewPath("metadata")) {
		f := validation.Finding{
			Rule: ruleMetadata, Severity: validation.Refuse, Path: field.NewPath(e.Field), Message: e.Detail,
		}
		if e.BadValue != nil {
			f.Value = fmt.Sprint(e.BadValue)
		}
		if topic && e.Field == "metadata.name" && f.Value != "" {
			f.Message += "; a topic's name in Kafka may differ: give it as spec.topicName"
		}
		found = append(found, f)
	}
	return found
}
