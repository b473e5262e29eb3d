package validation

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Sizes of what is shown, in characters.
const (
	maxWarnings = 10
	maxWarning  = 256
	maxPath     = 120
	maxField    = 400
	maxValue    = 300
	maxDetail   = 1000
)

// WarningText joins path and message to a warning of at most 256 characters. A
// long path loses its middle, a long message its end.
func WarningText(path, message string) string {
	return cutEnd(cutMiddle(printable(path), maxPath)+": "+printable(message), maxWarning)
}

// Text is what is said of a finding after its path: of a refusal the same words
// as in AsError, of a warning the whole message.
func (f Finding) Text() string {
	if f.Severity == Refuse {
		return f.AsError().ErrorBody()
	}
	return printable(f.Message)
}

// printable escapes what a warning header may not carry: it is dropped whole
// where it holds control characters or is not UTF-8 (k8s.io/apimachinery
// pkg/util/net, NewWarningHeader).
func printable(s string) string {
	clean := func(r rune) bool { return unicode.IsPrint(r) && r != unicode.ReplacementChar }
	if strings.IndexFunc(s, func(r rune) bool { return !clean(r) }) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if clean(r) {
			b.WriteRune(r)
			continue
		}
		b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
	}
	return b.String()
}

func cutEnd(s string, limit int) string {
	r := []rune(s)
	if len(r) <= limit {
		return s
	}
	return string(r[:limit-1]) + "…"
}

func cutMiddle(s string, limit int) string {
	r := []rune(s)
	if len(r) <= limit {
		return s
	}
	head := (limit - 1) / 2
	tail := limit - 1 - head
	return string(r[:head]) + "…" + string(r[len(r)-tail:])
}

// shown quotes a value for a message and bounds its length.
func shown(s string) string {
	return strconv.Quote(cutMiddle(s, 80))
}

// listed joins names for a message; of very many it shows the first few.
func listed(names []string) string {
	const few = 5
	if len(names) <= few {
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:few], ", ") + " and " + strconv.Itoa(len(names)-few) + " more"
}

// known lists in order the names that there are, for whoever mistyped one.
func known(names map[string]bool) string {
	if len(names) == 0 {
		return ""
	}
	return " (there are " + listed(slices.Sorted(maps.Keys(names))) + ")"
}

// compareNatural orders texts with the numbers in them by value, so that
// volumes[2] stands before volumes[10].
func compareNatural(a, b string) int {
	for a != "" && b != "" {
		da, db := digits(a), digits(b)
		if da > 0 && db > 0 {
			na, nb := strings.TrimLeft(a[:da], "0"), strings.TrimLeft(b[:db], "0")
			if c := cmp.Or(cmp.Compare(len(na), len(nb)), cmp.Compare(na, nb), cmp.Compare(da, db)); c != 0 {
				return c
			}
			a, b = a[da:], b[db:]
			continue
		}
		if a[0] != b[0] {
			return cmp.Compare(a[0], b[0])
		}
		a, b = a[1:], b[1:]
	}
	return cmp.Compare(len(a), len(b))
}

// digits returns how many digits s begins with.
func digits(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}

// oneOf joins words as a choice.
func oneOf(words []string) string {
	if len(words) == 1 {
		return words[0]
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}

// counted is a number with its noun.
func counted(n int64, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return strconv.FormatInt(n, 10) + " " + noun
}

// brokerList names brokers; of very many the first few.
func brokerList(ids []int32) string {
	texts := make([]string, 0, len(ids))
	for _, id := range ids {
		texts = append(texts, strconv.Itoa(int(id)))
	}
	if len(texts) == 1 {
		return "broker " + texts[0]
	}
	return "brokers " + listed(texts)
}

// sizeText is a number of bytes with two significant digits and a unit.
func sizeText(bytes int64) string {
	units := []string{"bytes", "kB", "MB", "GB", "TB", "PB", "EB"}
	value, unit := float64(bytes), 0
	for value >= 999.5 && unit < len(units)-1 {
		value /= 1000
		unit++
	}
	return strconv.FormatFloat(value, 'g', 3, 64) + " " + units[unit]
}
