package offline

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// unsettled collects which neighbours were left out, and for whom.
type unsettled map[key][]*manifest

func (u unsettled) add(l *lookup) {
	for _, k := range l.unsettled {
		u[k] = append(u[k], l.from)
	}
}

// notes say it once for each neighbour: a folder may hold ten thousand topics
// beside two Kafkas of one name.
func (u unsettled) notes(s *set) []Message {
	keys := make([]key, 0, len(u))
	for k := range u {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b key) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.namespace, b.namespace), cmp.Compare(a.name, b.name))
	})
	var messages []Message
	for _, k := range keys {
		var files []string
		for _, m := range s.byKey[k] {
			if !slices.Contains(files, m.file) {
				files = append(files, m.file)
			}
		}
		others := ""
		if n := len(u[k]) - 1; n > 0 {
			others = fmt.Sprintf(" (and %s)", counted(n, "other object"))
		}
		messages = append(messages, u[k][0].note(fmt.Sprintf(
			"%s is given %d times, in %s, and it is not settled which of them goes with this object%s, so rules that need it were left out: "+
				"put what belongs together into one file, or judge the alternatives one by one",
			k, len(s.byKey[k]), few(files, "file"), others)))
	}
	return messages
}

// few names the first of many.
func few(names []string, what string) string {
	const shown = 3
	if len(names) <= shown {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %s", strings.Join(names[:shown], ", "), counted(len(names)-shown, "more "+what))
}
