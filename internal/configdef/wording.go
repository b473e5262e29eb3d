package configdef

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/agnivade/levenshtein"
)

// Takes describes in words which values Kafka accepts.
func (o Option) Takes() string {
	switch {
	case o.Type == Boolean:
		return "true or false"
	case o.Type == Class:
		return "the name of a Java class"
	case o.Form == formThrottled:
		return "* or a list of partition:broker"
	case o.Type == List:
		return "a list, joined by commas" + o.among()
	case len(o.Values) > 0:
		return "one of " + strings.Join(o.Values, ", ")
	case o.Type == Double:
		return "a number" + o.bounds()
	case o.Type == Short || o.Type == Int || o.Type == Long:
		return "a whole number" + o.unit() + o.bounds()
	default:
		return "a text that is not empty"
	}
}

func (o Option) among() string {
	if len(o.Values) > 0 {
		return ", of " + strings.Join(o.Values, ", ")
	}
	if o.NotEmpty {
		return ", that is not empty"
	}
	return ""
}

func (o Option) unit() string {
	if m, ok := measureOf(o.Name); ok {
		return " of " + m.unit
	}
	return ""
}

func (o Option) bounds() string {
	high := o.Max
	switch {
	case high != "":
	case o.Type == Short:
		high = strconv.Itoa(math.MaxInt16)
	case o.Type == Int:
		high = strconv.Itoa(math.MaxInt32)
	}
	switch {
	case o.Min != "" && high != "":
		return " from " + o.Min + " to " + high
	case o.Min != "":
		return ", " + o.Min + " or more"
	case high != "":
		return ", at most " + high
	default:
		return ""
	}
}

// mend guesses what was meant, and proposes only what the option allows.
func (o Option) mend(value string) string {
	for _, guess := range o.guesses(trim(value)) {
		if o.judge(guess).kind == nil {
			return ": write " + guess
		}
	}
	return ""
}

func (o Option) guesses(value string) []string {
	switch {
	case o.Type == Boolean:
		return words[strings.ToLower(value)]
	case o.Type == Short || o.Type == Int || o.Type == Long:
		return wholeNumbers(o.Name, value)
	case len(o.Values) > 0:
		if near, ok := Nearest(value, o.Values); ok {
			return []string{near}
		}
	}
	return nil
}

// words that people write for true and false.
var words = map[string][]string{
	"yes": {"true"}, "y": {"true"}, "on": {"true"}, "1": {"true"},
	"no": {"false"}, "n": {"false"}, "off": {"false"}, "0": {"false"},
}

func wholeNumbers(name, value string) []string {
	if n, ok := withUnit(name, value); ok {
		return []string{n}
	}
	const exact = 1 << 53 // beyond it a double skips whole numbers
	if n, err := strconv.ParseFloat(value, 64); err == nil && n == math.Trunc(n) && math.Abs(n) < exact {
		return []string{strconv.FormatInt(int64(n), 10)}
	}
	return nil
}

func (o Option) nearest(item string) string {
	if near, ok := Nearest(item, o.Values); ok {
		return ": write " + near
	}
	return ""
}

var amount = regexp.MustCompile(`^([0-9]{1,12})\s*([a-zA-Z]{1,3})$`)

// measure is what an option counts, by the end of its name, with the factors of
// the units that people write.
type measure struct {
	suffix, unit string
	factors      map[string]int64
}

var measures = []measure{
	{".ms", "milliseconds", map[string]int64{
		"ms": 1, "s": 1000, "m": 60_000, "min": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000,
	}},
	{".bytes", "bytes", map[string]int64{
		"b": 1, "k": 1 << 10, "kb": 1 << 10, "ki": 1 << 10, "kib": 1 << 10, "m": 1 << 20, "mb": 1 << 20, "mi": 1 << 20, "mib": 1 << 20,
		"g": 1 << 30, "gb": 1 << 30, "gi": 1 << 30, "gib": 1 << 30, "t": 1 << 40, "tb": 1 << 40, "ti": 1 << 40, "tib": 1 << 40,
	}},
	{".seconds", "seconds", map[string]int64{"s": 1, "m": 60, "min": 60, "h": 3600, "d": 86_400}},
	{".minutes", "minutes", map[string]int64{"m": 1, "min": 1, "h": 60, "d": 1440, "w": 10_080}},
	{".hours", "hours", map[string]int64{"h": 1, "d": 24, "w": 168}},
}

func measureOf(name string) (measure, bool) {
	i := slices.IndexFunc(measures, func(m measure) bool { return strings.HasSuffix(name, m.suffix) })
	if i < 0 {
		return measure{}, false
	}
	return measures[i], true
}

// withUnit converts "7d" for an option that counts milliseconds.
func withUnit(name, value string) (string, bool) {
	written := amount.FindStringSubmatch(value)
	m, ok := measureOf(name)
	if written == nil || !ok {
		return "", false
	}
	factor, ok := m.factors[strings.ToLower(written[2])]
	n, err := strconv.ParseInt(written[1], 10, 64)
	if !ok || err != nil || n > math.MaxInt64/factor {
		return "", false
	}
	return strconv.FormatInt(n*factor, 10), true
}

// maxCompared bounds the work for a name that is no name at all, in bytes.
const maxCompared = 100

// Nearest returns the candidate that a mistyped name most likely stands for. It
// returns false if none is close. Of equally close ones it takes the first.
func Nearest(name string, candidates []string) (string, bool) {
	if len(name) > maxCompared {
		return "", false
	}
	wanted := strings.ToLower(name)
	best, limit := "", min(3, max(1, len(name)/4))+1
	for _, c := range candidates {
		if len(c) >= len(name)+limit || len(name) >= len(c)+limit {
			continue
		}
		if d := levenshtein.ComputeDistance(wanted, strings.ToLower(c)); d < limit {
			best, limit = c, d
		}
	}
	return best, best != ""
}

// shown quotes a value and bounds its length.
func shown(s string) string {
	const most = 60
	if r := []rune(s); len(r) > most {
		s = string(r[:most]) + "…"
	}
	return strconv.Quote(s)
}
