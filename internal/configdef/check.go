package configdef

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Faults of a value; errors.Is tells them apart.
var (
	// ErrType marks a value that is not of the option's type.
	ErrType = errors.New("the value is not of the option's type")
	// ErrRange marks a value of the right type that the option does not allow.
	ErrRange = errors.New("the option does not allow the value")
)

// fault says what would be right, which is more than its kind.
type fault struct {
	kind error
	text string
}

func (f fault) Error() string { return f.text }
func (f fault) Unwrap() error { return f.kind }

// formThrottled is how replicas are listed for throttling: as
// [partition]:[broker], or * for all (org.apache.kafka.storage.internals.log.
// ThrottledReplicaListValidator).
const formThrottled = "throttled-replicas"

// throttled lets an empty item through, as Kafka does.
var throttled = regexp.MustCompile(`^(?:[0-9]+:[0-9]+)?$`)

// Check tells whether Kafka would accept a value, as far as the option alone
// decides it. The error is ErrType or ErrRange, says what Kafka takes and, where
// it can be guessed, what to write.
func (o Option) Check(value string) error {
	f := o.judge(value)
	switch {
	case f.kind == nil:
		return nil
	case f.text == "":
		f.text = "Kafka takes " + o.Takes() + o.mend(value)
	}
	return f
}

// judge returns what is wrong with a value: no kind where nothing is, and no text
// where what the option takes says enough.
func (o Option) judge(value string) fault {
	switch o.Type {
	case Boolean:
		if _, ok := parseBoolean(value); !ok {
			return fault{kind: ErrType}
		}
	case Short, Int, Long:
		n, ok := parseInteger(o.Type, value)
		if !ok {
			return fault{kind: ErrType}
		}
		return o.judgeNumber(float64(n), strconv.FormatInt(n, 10))
	case Double:
		n, ok := parseDouble(value)
		if !ok {
			return fault{kind: ErrType}
		}
		return o.judgeNumber(n, trim(value))
	case List:
		return o.judgeList(items(value))
	case Class:
		// Which classes there are only the broker knows.
		if trim(value) == "" {
			return fault{kind: ErrType}
		}
	default:
		return o.judgeText(trim(value))
	}
	return fault{}
}

// judgeNumber compares as doubles, like Kafka's ConfigDef.Range.
func (o Option) judgeNumber(n float64, plain string) fault {
	if limit, ok := bound(o.Min); ok && n < limit {
		return fault{kind: ErrRange}
	}
	if limit, ok := bound(o.Max); ok && n > limit {
		return fault{kind: ErrRange}
	}
	if len(o.Values) > 0 && !slices.Contains(o.Values, plain) {
		return fault{kind: ErrRange}
	}
	return fault{}
}

func bound(text string) (float64, bool) {
	if text == "" {
		return 0, false
	}
	n, err := strconv.ParseFloat(text, 64)
	return n, err == nil
}

func (o Option) judgeText(value string) fault {
	if o.NotEmpty && value == "" || len(o.Values) > 0 && !o.has(value) {
		return fault{kind: ErrRange}
	}
	return fault{}
}

func (o Option) has(value string) bool {
	if o.IgnoreCase {
		return slices.ContainsFunc(o.Values, func(v string) bool { return strings.EqualFold(v, value) })
	}
	return slices.Contains(o.Values, value)
}

func (o Option) judgeList(list []string) fault {
	if o.NotEmpty && len(list) == 0 {
		return fault{kind: ErrRange}
	}
	if o.Form == formThrottled {
		return judgeThrottled(list)
	}
	seen := make(map[string]bool, len(list))
	for _, item := range list {
		switch {
		case len(o.Values) > 0 && !o.has(item):
			return fault{ErrRange, fmt.Sprintf("%s is none of %s%s", shown(item), strings.Join(o.Values, ", "), o.nearest(item))}
		case o.NoEmptyItem && item == "":
			return fault{ErrRange, "Kafka takes no empty item in this list: remove the superfluous comma"}
		case o.Unique && seen[item]:
			return fault{ErrRange, fmt.Sprintf("Kafka takes no item twice in this list: write %s once", shown(item))}
		}
		seen[item] = true
	}
	return fault{}
}

func judgeThrottled(list []string) fault {
	if strings.Join(list, "") == "*" {
		return fault{}
	}
	if slices.ContainsFunc(list, func(item string) bool { return !throttled.MatchString(item) }) {
		return fault{kind: ErrRange}
	}
	return fault{}
}
