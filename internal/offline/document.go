package offline

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"unicode"

	"go.yaml.in/yaml/v4"
	sigsyaml "sigs.k8s.io/yaml"
)

// document is one YAML or JSON document of a file.
type document struct {
	line int // of the file, at which text begins; the first is 1
	text []byte

	parse sync.Once
	root  *yaml.Node // nil where the text cannot be parsed
	err   error
}

// split cuts a file into its documents. A file that begins with a brace is a
// stream of JSON documents, as for kubectl, unless it is none.
func split(data []byte) []*document {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if trimmed := bytes.TrimLeftFunc(data, unicode.IsSpace); len(trimmed) > 0 && trimmed[0] == '{' {
		if docs := splitJSON(data); docs != nil {
			return docs
		}
	}
	return splitYAML(data)
}

// splitJSON returns nil where the data is no JSON.
func splitJSON(data []byte) []*document {
	var docs []*document
	decoder := json.NewDecoder(bytes.NewReader(data))
	for decoder.More() {
		var raw json.RawMessage
		if decoder.Decode(&raw) != nil {
			return nil
		}
		start := int(decoder.InputOffset()) - len(raw)
		docs = append(docs, &document{line: 1 + bytes.Count(data[:start], []byte("\n")), text: raw})
	}
	return docs
}

// splitYAML cuts at lines that begin with ---, as kubectl does (YAMLReader in
// k8s.io/apimachinery pkg/util/yaml), and keeps the numbers of the lines.
func splitYAML(data []byte) []*document {
	var docs []*document
	begin, number := 1, 0
	var text []byte
	flush := func() {
		if len(bytes.TrimSpace(text)) > 0 {
			docs = append(docs, &document{line: begin, text: text})
		}
	}
	for line := range bytes.Lines(data) {
		number++
		if separates(line) {
			flush()
			text, begin = nil, number+1
			continue
		}
		text = append(text, line...)
	}
	flush()
	return docs
}

// separates tells whether a line ends one document and begins another; nothing
// but a comment may follow the dashes.
func separates(line []byte) bool {
	rest, ok := bytes.CutPrefix(line, []byte("---"))
	rest = bytes.TrimSpace(rest)
	return ok && (len(rest) == 0 || rest[0] == '#')
}

// toJSON converts the document with the parser that kubectl uses, so that values
// mean here what they mean there. Doubled tells that a key is given twice, of
// which the last counts.
func (d *document) toJSON() (asJSON []byte, doubled bool, err error) {
	if json.Valid(d.text) {
		return d.text, false, nil
	}
	asJSON, err = sigsyaml.YAMLToJSONStrict(d.text)
	if err == nil {
		return asJSON, false, nil
	}
	if asJSON, err = sigsyaml.YAMLToJSON(d.text); err == nil {
		return asJSON, true, nil
	}
	return nil, false, err
}

// node returns the document's tree, for looking up lines; nil where there is
// none.
func (d *document) node() *yaml.Node {
	d.parse.Do(func() {
		var root yaml.Node
		if d.err = yaml.Load(d.text, &root, yaml.WithV3Defaults()); d.err == nil {
			d.root = &root
		}
	})
	return d.root
}

// fault tells at which line of the file the document cannot be read, and why.
// The parser for lines knows better where.
func (d *document) fault(err error) (line int, why string) {
	root := d.node()
	line, why = d.line, strings.TrimSpace(err.Error())
	var load *yaml.LoadError
	if errors.As(d.err, &load) && load.Mark.Line > 0 {
		line, why = d.line+load.Mark.Line-1, load.Message
	} else if k := mapAsKey(root, maxDepth); k != nil {
		line, why = d.line+k.Line-1, "a key has to be a text"
	}
	mend := "correct it, or leave the file out"
	if bytes.Contains(d.text, []byte("{{")) {
		mend = "if it is a template, render it first and judge what comes out"
	}
	// What is missing at the end is missed behind it.
	line = min(line, d.line+bytes.Count(bytes.TrimSpace(d.text), []byte("\n")))
	return line, fmt.Sprintf("this is not YAML: %s; %s", why, mend)
}

// mapAsKey finds a key that is no text. YAML allows it, JSON does not; in
// templates braces come to be read as such.
func mapAsKey(n *yaml.Node, depth int) *yaml.Node {
	if n == nil || depth == 0 {
		return nil
	}
	for i, inner := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 0 && (inner.Kind == yaml.MappingNode || inner.Kind == yaml.SequenceNode) {
			return inner
		}
		if k := mapAsKey(inner, depth-1); k != nil {
			return k
		}
	}
	return nil
}

// firstLine is that of the first field, without taking the document apart: there
// are many documents, and few of them have faults.
func (d *document) firstLine() int {
	n := 0
	for line := range bytes.Lines(d.text) {
		if line = bytes.TrimSpace(line); len(line) > 0 && line[0] != '#' {
			return d.line + n
		}
		n++
	}
	return d.line
}
