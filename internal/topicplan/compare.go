package topicplan

import (
	"slices"
	"strconv"
	"strings"
)

// Kind is the type of an option as far as comparing goes.
type Kind int8

// Kinds of options. Text is everything that is compared as it stands.
const (
	Text Kind = iota
	Boolean
	Integer
	Double
	List
)

// SameValue tells whether Kafka would take both values for the same. It parses
// what it is given by the option's type, trimming blanks, and shows the parsed
// value afterwards: see parseType and convertToString in Kafka's
// org.apache.kafka.common.config.ConfigDef.
func SameValue(kind Kind, a, b string) bool {
	a, b = strings.TrimSpace(a), strings.TrimSpace(b)
	if a == b {
		return true
	}
	switch kind {
	case Boolean:
		return strings.EqualFold(a, b)
	case Integer:
		x, errX := strconv.ParseInt(a, 10, 64)
		y, errY := strconv.ParseInt(b, 10, 64)
		return errX == nil && errY == nil && x == y
	case Double:
		x, errX := strconv.ParseFloat(a, 64)
		y, errY := strconv.ParseFloat(b, 64)
		return errX == nil && errY == nil && x == y
	case List:
		return slices.Equal(elements(a), elements(b))
	default:
		return false
	}
}

// elements splits a list as Kafka does; the order of its elements counts.
func elements(list string) []string {
	if list == "" {
		return nil
	}
	parts := strings.Split(list, ",")
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	return parts
}
