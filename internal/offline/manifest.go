package offline

import (
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/validation"
)

// key says which object a manifest is of.
type key struct {
	kind, namespace, name string
}

func (k key) String() string { return k.kind + "/" + k.name }

// manifest is one object of a kind that is judged.
type manifest struct {
	key
	// file as it is shown, and its name below what was given; empty for an object
	// of the live cluster, which has no document either.
	file, relative string
	doc            *document
	prefix         string // path of the object in its document

	// object is nil where the manifest has values of a wrong type: it is there, and
	// what it says is not known.
	object metav1.Object
	// faults for which the API server itself would refuse it, and what else there
	// is to say of how it is written.
	faults []validation.Finding

	// old is the object that this one updates; nil where it is new.
	old          metav1.Object
	oldUnsettled bool
}

// newObject returns an empty object of a kind that is judged, else nil.
func newObject(kind string) metav1.Object {
	switch kind {
	case apiv1.KindKafka:
		return &apiv1.Kafka{}
	case apiv1.KindKafkaNodePool:
		return &apiv1.KafkaNodePool{}
	case apiv1.KindKafkaTopic:
		return &apiv1.KafkaTopic{}
	case apiv1.KindKafkaRebalance:
		return &apiv1.KafkaRebalance{}
	case apiv1.KindKafkaConnect:
		return &apiv1.KafkaConnect{}
	case apiv1.KindKafkaMirrorMaker2:
		return &apiv1.KafkaMirrorMaker2{}
	default:
		return nil
	}
}

// header is what is read of every document.
type header struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name         string `json:"name"`
		GenerateName string `json:"generateName"`
		Namespace    string `json:"namespace"`
	} `json:"metadata"`
}

// fill completes a header from what can be read of a document, whose other
// fields may have any type.
func (h *header) fill(content map[string]any) {
	text := func(m map[string]any, field string) string {
		s, _ := m[field].(string)
		return s
	}
	h.APIVersion, h.Kind = text(content, "apiVersion"), text(content, "kind")
	meta, _ := content["metadata"].(map[string]any)
	h.Metadata.Name, h.Metadata.GenerateName, h.Metadata.Namespace =
		text(meta, "name"), text(meta, "generateName"), text(meta, "namespace")
}

// judged tells whether the rules judge the kind; skipped names it where they do
// not.
func (h *header) judged() (ok bool, skipped string) {
	gv, err := schema.ParseGroupVersion(h.APIVersion)
	switch {
	case err == nil && gv == apiv1.GroupVersion && newObject(h.Kind) != nil:
		return true, ""
	case h.APIVersion == "" || h.Kind == "":
		return false, "no Kubernetes object"
	default:
		return false, h.APIVersion + " " + h.Kind
	}
}

// newManifest reads one object. Content is that of raw.
func newManifest(h header, raw []byte, content map[string]any, namespace string) *manifest {
	m := &manifest{key: key{kind: h.Kind, namespace: h.Metadata.Namespace, name: h.Metadata.Name}}
	if m.namespace == "" {
		m.namespace = namespace
	}
	if m.name == "" {
		m.name = h.Metadata.GenerateName
	}
	object := newObject(h.Kind)
	if m.faults = wrongTypes(content, object); len(m.faults) > 0 {
		return m
	}
	if err := utiljson.Unmarshal(raw, object); err != nil {
		m.faults = []validation.Finding{unreadable(err)}
		return m
	}
	object.SetNamespace(m.namespace)
	m.faults, m.object = badMetadata(object), object
	return m
}

// items returns the objects of a list, or of any other document itself.
func items(raw []byte, content map[string]any) (objects []json.RawMessage, list bool) {
	if _, ok := content["items"].([]any); !ok || !isList(content) {
		return []json.RawMessage{raw}, false
	}
	var l struct {
		Items []json.RawMessage `json:"items"`
	}
	if json.Unmarshal(raw, &l) != nil {
		return []json.RawMessage{raw}, false
	}
	return l.Items, true
}

// isList tells a v1 List and the lists of the kinds that are judged.
func isList(content map[string]any) bool {
	var h header
	h.fill(content)
	if h.APIVersion == "v1" && h.Kind == "List" {
		return true
	}
	const suffix = "List"
	if h.APIVersion != apiv1.GroupVersion.String() || len(h.Kind) <= len(suffix) {
		return false
	}
	kind := h.Kind[:len(h.Kind)-len(suffix)]
	return kind+suffix == h.Kind && newObject(kind) != nil
}

func itemPrefix(prefix string, i int) string {
	return join(prefix, fmt.Sprintf("items[%d]", i))
}
