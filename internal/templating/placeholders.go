package templating

import "strings"

// Placeholders lists what stands in braces in s, braces included and in order
// of appearance: known are the two placeholders that Text replaces, unknown is
// everything else in braces, such as {nodeID} or {}. Unclosed tells that a
// brace is opened and never closed, or opened again before it is closed.
//
// A closing brace that nothing opened is not reported: no expansion touches it.
func Placeholders(s string) (known, unknown []string, unclosed bool) {
	for {
		open := strings.IndexByte(s, '{')
		if open < 0 {
			return known, unknown, unclosed
		}
		s = s[open:]
		end := strings.IndexAny(s[1:], "{}") + 1
		if end == 0 {
			return known, unknown, true
		}
		if s[end] == '{' {
			unclosed = true
			s = s[end:]
			continue
		}
		switch p := s[:end+1]; p {
		case PlaceholderNodeID, PlaceholderNodePodName:
			known = append(known, p)
		default:
			unknown = append(unknown, p)
		}
		s = s[end+1:]
	}
}

// HasPlaceholder tells whether s has a placeholder that Text replaces.
func HasPlaceholder(s string) bool {
	return strings.Contains(s, PlaceholderNodeID) || strings.Contains(s, PlaceholderNodePodName)
}
