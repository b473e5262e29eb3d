// Package nodepool decides on node IDs: it reads the lists of them that
// annotations carry, and assigns IDs to the nodes of pools.
package nodepool

import (
	"errors"
	"fmt"
	"iter"
	"regexp"
	"strconv"
	"strings"
)

// ErrIDs says that a text is no list of node IDs.
var ErrIDs = errors.New("not a list of node IDs")

// IDs is a list of node IDs and of ranges of them, in the order in which they
// are to be used. It is kept as ranges: a user may write a very long one.
type IDs struct {
	spans []span
}

// span runs from first to last, upwards or downwards, both included.
type span struct {
	first, last int32
}

func (s span) bounds() (low, high int32) {
	return min(s.first, s.last), max(s.first, s.last)
}

// one is an ID or a range, as in NodeIdRange of Strimzi's cluster operator.
var one = regexp.MustCompile(`^([0-9]+)(?:\s*-\s*([0-9]+))?$`)

// ParseIDs reads a list in the form of Strimzi's annotations
// strimzi.io/next-node-ids and strimzi.io/remove-node-ids: [0, 1, 10-20]. A range
// may run downwards ([60-50]), and nothing or [] is the empty list. An error is
// ErrIDs.
func ParseIDs(text string) (IDs, error) {
	inner := strings.TrimSpace(text)
	if inner == "" {
		return IDs{}, nil
	}
	inner, opened := strings.CutPrefix(inner, "[")
	inner, closed := strings.CutSuffix(inner, "]")
	if !opened || !closed {
		return IDs{}, fmt.Errorf("%w: it has to stand in brackets, as in [0, 1, 10-20]", ErrIDs)
	}
	if strings.TrimSpace(inner) == "" {
		return IDs{}, nil
	}
	return parseSpans(inner)
}

// ParseCordon reads the list of the annotation sluice.dev/cordon: plain IDs with
// commas (3,4) or the form of ParseIDs. An error is ErrIDs.
func ParseCordon(text string) (IDs, error) {
	trimmed := strings.TrimSpace(text)
	if trimmed == "" || strings.HasPrefix(trimmed, "[") {
		return ParseIDs(trimmed)
	}
	return parseSpans(trimmed)
}

// maxSpans bounds the work that a list can cause; nobody needs as many.
const maxSpans = 1000

func parseSpans(text string) (IDs, error) {
	if n := strings.Count(text, ",") + 1; n > maxSpans {
		return IDs{}, fmt.Errorf("%w: it has %d items, more than %d; use ranges", ErrIDs, n, maxSpans)
	}
	var ids IDs
	for item := range strings.SplitSeq(text, ",") {
		item = strings.TrimSpace(item)
		m := one.FindStringSubmatch(item)
		if m == nil {
			return IDs{}, fmt.Errorf("%w: %q is neither an ID such as 3 nor a range such as 10-20", ErrIDs, cut(item))
		}
		if m[2] == "" {
			m[2] = m[1]
		}
		first, err1 := strconv.ParseInt(m[1], 10, 32)
		last, err2 := strconv.ParseInt(m[2], 10, 32)
		if err1 != nil || err2 != nil {
			return IDs{}, fmt.Errorf("%w: %q is above the largest node ID, 2147483647", ErrIDs, cut(item))
		}
		ids.spans = append(ids.spans, span{first: int32(first), last: int32(last)})
	}
	return ids, nil
}

// cut keeps a message short.
func cut(s string) string {
	const longest = 40
	if r := []rune(s); len(r) > longest {
		return string(r[:longest]) + "…"
	}
	return s
}

// All yields the IDs in order, an ID as often as it is listed. There may be
// billions: stop early.
func (ids IDs) All() iter.Seq[int32] {
	return func(yield func(int32) bool) {
		for _, s := range ids.spans {
			step := int64(1)
			if s.first > s.last {
				step = -1
			}
			for id := int64(s.first); ; id += step {
				if !yield(int32(id)) {
					return
				}
				if id == int64(s.last) {
					break
				}
			}
		}
	}
}

// Contains tells whether an ID is in the list.
func (ids IDs) Contains(id int32) bool {
	for _, s := range ids.spans {
		if low, high := s.bounds(); low <= id && id <= high {
			return true
		}
	}
	return false
}

// Empty tells whether nothing is listed.
func (ids IDs) Empty() bool { return len(ids.spans) == 0 }

// Without returns up to limit different IDs of the list that are not in known, in
// the order of the list.
func (ids IDs) Without(known map[int32]bool, limit int) []int32 {
	var found []int32
	seen := map[int32]bool{}
	for id := range ids.All() {
		if len(found) >= limit {
			break
		}
		if known[id] || seen[id] {
			continue
		}
		seen[id] = true
		found = append(found, id)
	}
	return found
}
