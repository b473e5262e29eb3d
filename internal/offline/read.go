package offline

import (
	"strings"

	"go.yaml.in/yaml/v4"
	corev1 "k8s.io/api/core/v1"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/facts"
	"github.com/sluice-kafka/sluice/internal/validation"
)

// content is what one file holds.
type content struct {
	manifests []*manifest
	// messages say where the file cannot be read, and what is odd in it.
	messages []Message
	// skipped counts the documents that are not judged, by what they are.
	skipped map[string]int
	// facts that the operator published, by the key of their Kafka.
	facts map[key]facts.Facts
}

// read takes a file apart. A document that cannot be read does not stand in the
// way of the others.
func read(file File, data []byte, namespace string) content {
	c := content{skipped: map[string]int{}, facts: map[key]facts.Facts{}}
	for _, doc := range split(data) {
		raw, doubled, err := doc.toJSON()
		if err != nil {
			line, why := doc.fault(err)
			c.messages = append(c.messages, Message{File: file.Name, Line: line, Severity: Error, Rule: ruleSyntax, Text: why})
			continue
		}
		before := len(c.manifests)
		c.objects(file, doc, raw, "", namespace)
		if doubled {
			for _, m := range c.manifests[before:] {
				m.faults = append(m.faults, doubledKeys(m)...)
			}
		}
	}
	return c
}

// objects adds the object of a document or, of a list, all of them.
func (c *content) objects(file File, doc *document, raw []byte, prefix, namespace string) {
	var value any
	_ = utiljson.Unmarshal(raw, &value) // it is JSON already
	fields, ok := value.(map[string]any)
	if !ok {
		if value != nil {
			c.skipped["no Kubernetes object"]++
		}
		return
	}
	if list, ok := items(raw, fields); ok {
		for i, item := range list {
			c.objects(file, doc, item, itemPrefix(prefix, i), namespace)
		}
		return
	}
	var h header
	h.fill(fields)
	if k, f, ok := publishedFacts(h, raw, namespace); ok {
		c.facts[k] = f
		return
	}
	if ok, what := h.judged(); !ok {
		c.skipped[what]++
		return
	}
	m := newManifest(h, raw, fields, namespace)
	m.file, m.relative, m.doc, m.prefix = file.Name, file.Relative, doc, prefix
	c.manifests = append(c.manifests, m)
}

// publishedFacts reads a ConfigMap with what the operator saw of a cluster, which
// may have been saved beside the manifests.
func publishedFacts(h header, raw []byte, namespace string) (key, facts.Facts, bool) {
	if h.APIVersion != "v1" || h.Kind != "ConfigMap" {
		return key{}, facts.Facts{}, false
	}
	var cm corev1.ConfigMap
	if utiljson.Unmarshal(raw, &cm) != nil || cm.Labels[apiv1.LabelFacts] != "true" || cm.Name != facts.Name(cm.Labels[apiv1.LabelCluster]) {
		return key{}, facts.Facts{}, false
	}
	if cm.Namespace != "" {
		namespace = cm.Namespace
	}
	f, err := facts.Decode(&cm)
	return key{apiv1.KindKafka, namespace, cm.Labels[apiv1.LabelCluster]}, f, err == nil
}

// doubledKeys warns of keys that an object gives twice.
func doubledKeys(m *manifest) []validation.Finding {
	root := m.doc.node()
	if root == nil {
		return nil
	}
	_, object := find(root, m.prefix, 0, maxDepth)
	if object == nil {
		return nil
	}
	var found []validation.Finding
	walk(nil, object, maxDepth, func(at *field.Path) {
		found = append(found, validation.Finding{
			Rule: ruleDoubled, Path: at, Value: "twice",
			Message: "this key is given twice, and only the last one counts: remove one of them",
		})
	})
	return found
}

// walk calls doubled for every key that a mapping repeats.
func walk(at *field.Path, n *yaml.Node, depth int, doubled func(at *field.Path)) {
	if depth == 0 {
		return
	}
	switch n.Kind {
	case yaml.SequenceNode:
		for i, item := range n.Content {
			walk(at.Index(i), item, depth-1, doubled)
		}
	case yaml.MappingNode:
		seen := map[string]bool{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			k := n.Content[i].Value
			if seen[k] && k != "<<" {
				doubled(child(at, k))
			}
			seen[k] = true
			walk(child(at, k), n.Content[i+1], depth-1, doubled)
		}
	default: // texts have no keys, and an alias was seen at its anchor
	}
}

// child writes the step to a key as the rules do.
func child(at *field.Path, k string) *field.Path {
	if strings.ContainsAny(k, "./[]") {
		return at.Key(k)
	}
	return at.Child(k)
}
