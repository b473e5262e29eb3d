package offline

import (
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
)

// maxDepth bounds how deep aliases are followed.
const maxDepth = 100

// lineOf returns the line of the file at which the field of a path stands, as
// field.Path writes it, or the nearest one above that is there. Prefix is the
// path of the object in the document.
func (d *document) lineOf(prefix, path string) int {
	root := d.node()
	if root == nil {
		return d.line
	}
	line, _ := find(root, join(prefix, path), first(root), maxDepth)
	return d.line + line - 1
}

// first returns the line of a document's first field.
func first(root *yaml.Node) int {
	if len(root.Content) > 0 {
		return max(root.Content[0].Line, 1)
	}
	return max(root.Line, 1)
}

func join(prefix, path string) string {
	switch {
	case prefix == "":
		return path
	case path == "" || path[0] == '[':
		return prefix + path
	default:
		return prefix + "." + path
	}
}

// find goes down the tree along path as far as it is there. It returns the line
// of the last field that is, and the node of the whole path, nil where the path
// leads nowhere. Line is that of the field above.
func find(n *yaml.Node, path string, line, depth int) (int, *yaml.Node) {
	switch {
	case depth == 0:
		return line, nil
	case n.Kind == yaml.DocumentNode && len(n.Content) > 0:
		return find(n.Content[0], path, line, depth-1)
	case path == "":
		return line, n
	case n.Kind == yaml.AliasNode:
		// Fields of an alias stand where its anchor is.
		return find(n.Alias, path, line, depth-1)
	case n.Kind == yaml.MappingNode:
		if key, value, rest := step(n, path, depth); key != nil {
			return find(value, rest, key.Line, depth-1)
		}
	case n.Kind == yaml.SequenceNode:
		if i, rest, ok := cutIndex(path); ok && i < len(n.Content) {
			return find(n.Content[i], rest, n.Content[i].Line, depth-1)
		}
	case n.Kind == yaml.ScalarNode:
		return insideText(n, path, line, depth), nil
	}
	return line, nil
}

// step finds the entry of a mapping that path goes on with. Keys may hold dots
// and brackets, so the tree decides where one ends: the longest fits best.
func step(n *yaml.Node, path string, depth int) (key, value *yaml.Node, rest string) {
	for i := 0; i+1 < len(n.Content); i += 2 {
		k := n.Content[i]
		after, ok := cutKey(path, k.Value)
		// Of a key that is given twice the last counts.
		if ok && (key == nil || len(after) <= len(rest)) {
			key, value, rest = k, n.Content[i+1], after
		}
	}
	if key != nil || depth == 0 {
		return key, value, rest
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == "<<" {
			if key, value, rest = stepMerged(n.Content[i+1], path, depth-1); key != nil {
				return key, value, rest
			}
		}
	}
	return nil, nil, ""
}

// stepMerged looks into what a merge key brings in.
func stepMerged(n *yaml.Node, path string, depth int) (key, value *yaml.Node, rest string) {
	switch {
	case depth == 0:
	case n.Kind == yaml.AliasNode:
		return stepMerged(n.Alias, path, depth-1)
	case n.Kind == yaml.MappingNode:
		return step(n, path, depth)
	case n.Kind == yaml.SequenceNode:
		for _, item := range n.Content {
			if key, value, rest = stepMerged(item, path, depth-1); key != nil {
				return key, value, rest
			}
		}
	}
	return nil, nil, ""
}

// cutKey takes ".key" or "[key]" from the beginning of a path.
func cutKey(path, key string) (rest string, ok bool) {
	if rest, ok = strings.CutPrefix(path, "["+key+"]"); ok {
		return rest, true
	}
	rest, ok = strings.CutPrefix(strings.TrimPrefix(path, "."), key)
	if !ok || key == "" || rest != "" && rest[0] != '.' && rest[0] != '[' {
		return "", false
	}
	return rest, true
}

func cutIndex(path string) (i int, rest string, ok bool) {
	inner, found := strings.CutPrefix(path, "[")
	number, rest, closed := strings.Cut(inner, "]")
	i, err := strconv.Atoi(number)
	return i, rest, found && closed && err == nil && i >= 0
}

// insideText follows a path into a text that is YAML itself, as annotations are.
// In a literal block its lines are those of the file.
func insideText(n *yaml.Node, path string, line, depth int) int {
	if n.Style&yaml.LiteralStyle == 0 {
		return line
	}
	var inner yaml.Node
	if yaml.Load([]byte(n.Value), &inner, yaml.WithV3Defaults()) != nil {
		return line
	}
	within, _ := find(&inner, path, first(&inner), depth-1)
	return n.Line + within
}
