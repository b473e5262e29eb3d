package configdef

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Kafka reads values with ConfigDef.parseType, in
// clients/src/main/java/org/apache/kafka/common/config/ConfigDef.java.

// trim does what Java's String.trim does: control characters count as blanks,
// and blanks beyond ASCII do not.
func trim(s string) string {
	return strings.TrimFunc(s, func(r rune) bool { return r <= ' ' })
}

var (
	listSeparator = regexp.MustCompile(`[ \t\n\v\f\r]*,[ \t\n\v\f\r]*`)
	// javaDouble is the grammar of Java's Double.valueOf.
	javaDouble = regexp.MustCompile(`^[+-]?(?:NaN|Infinity|` +
		`(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?[fFdD]?|` +
		`0[xX](?:[0-9a-fA-F]+\.?|[0-9a-fA-F]*\.[0-9a-fA-F]+)[pP][+-]?[0-9]+[fFdD]?)$`)
)

// items splits a list; the order of its items counts.
func items(list string) []string {
	list = trim(list)
	if list == "" {
		return nil
	}
	return listSeparator.Split(list, -1)
}

func (t Type) bits() int {
	switch t {
	case Short:
		return 16
	case Int:
		return 32
	default:
		return 64
	}
}

func parseInteger(t Type, value string) (int64, bool) {
	n, err := strconv.ParseInt(trim(value), 10, t.bits())
	return n, err == nil
}

func parseDouble(value string) (float64, bool) {
	value = trim(value)
	if !javaDouble.MatchString(value) {
		return 0, false
	}
	switch strings.TrimLeft(value, "+-") {
	case "NaN":
		return math.NaN(), true
	case "Infinity":
	default:
		value = strings.TrimRight(value, "fFdD")
	}
	// What is too large becomes infinite, in Java too.
	n, _ := strconv.ParseFloat(value, 64)
	return n, true
}

func parseBoolean(value string) (parsed, ok bool) {
	switch value = trim(value); {
	case strings.EqualFold(value, "true"):
		return true, true
	case strings.EqualFold(value, "false"):
		return false, true
	default:
		return false, false
	}
}

// Same tells whether Kafka takes both for the same value of this type. It parses
// what it is given, and shows the parsed value afterwards: "0.50" comes back as
// 0.5, "TRUE" as true.
func (t Type) Same(a, b string) bool {
	if trim(a) == trim(b) {
		return true
	}
	switch t {
	case Boolean:
		return equal(a, b, parseBoolean, func(x bool) bool { return x })
	case Short, Int, Long:
		return equal(a, b, func(v string) (int64, bool) { return parseInteger(t, v) }, func(x int64) int64 { return x })
	case Double:
		// Kafka tells -0.0 from 0.0, and takes NaN for itself.
		return equal(a, b, parseDouble, math.Float64bits)
	case List:
		return slices.Equal(items(a), items(b))
	default:
		return false
	}
}

// equal compares two values by what identifies them once they are parsed.
func equal[T any, I comparable](a, b string, parse func(string) (T, bool), identity func(T) I) bool {
	x, okX := parse(a)
	y, okY := parse(b)
	return okX && okY && identity(x) == identity(y)
}

// placeholder is what a config provider replaces when the broker starts
// (DEFAULT_PATTERN in Kafka's org.apache.kafka.common.config.ConfigTransformer).
var placeholder = regexp.MustCompile(`\$\{[^}]*?:[^}]*?\}`)

// HasPlaceholder tells whether a value holds something that a config provider
// (KIP-297) replaces when the broker starts: what the option's value is then,
// only the broker knows.
func HasPlaceholder(value string) bool { return placeholder.MatchString(value) }
