package topicplan

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	kafkav1 "github.com/sluice-kafka/sluice/api/v1"
)

// Words that stand for all options and for no option where the alterable ones are
// named.
const (
	AlterableAll  = "ALL"
	AlterableNone = "NONE"
)

// Alterable tells which options of topics the operator may set and delete. Some
// managed services let their users alter only a few. The zero value lets it alter
// all.
type Alterable struct {
	limited bool
	names   map[string]bool
}

// ParseAlterable reads AlterableAll, AlterableNone or the names of options with
// commas between them; nothing at all counts as AlterableAll. Case and blanks do
// not matter: all options of topics are in small letters.
func ParseAlterable(list string) (Alterable, error) {
	if strings.TrimSpace(list) == "" {
		return Alterable{}, nil
	}
	a := Alterable{limited: true, names: optionNames(list)}
	all, none := a.names[strings.ToLower(AlterableAll)], a.names[strings.ToLower(AlterableNone)]
	switch {
	case len(a.names) == 0:
		return Alterable{}, fmt.Errorf("it names no option: write %s or %s if that is meant", AlterableAll, AlterableNone)
	case (all || none) && len(a.names) > 1:
		return Alterable{}, errors.New(AlterableAll + " and " + AlterableNone + " stand alone: remove the word, or what is named beside it")
	case all:
		return Alterable{}, nil
	case none:
		a.names = nil
	}
	return a, nil
}

// Allows tells whether an option may be altered.
func (a Alterable) Allows(option string) bool {
	return !a.limited || a.names[strings.ToLower(option)]
}

// UnmanagedOptions are the names in the annotation sluice.dev/unmanaged-config of a
// topic, in small letters, which Sluice leaves alone there.
func UnmanagedOptions(t *kafkav1.KafkaTopic) []string {
	return slices.Sorted(maps.Keys(optionNames(t.Annotations[kafkav1.AnnotationUnmanagedConfig])))
}

// optionNames reads names with commas between them.
func optionNames(list string) map[string]bool {
	var names map[string]bool
	for name := range strings.SplitSeq(list, ",") {
		name = strings.ToLower(strings.Map(func(r rune) rune {
			if unicode.IsSpace(r) {
				return -1
			}
			return r
		}, name))
		if name == "" {
			continue
		}
		if names == nil {
			names = map[string]bool{}
		}
		names[name] = true
	}
	return names
}

// scope is which options of one topic are touched: set, changed or deleted.
type scope struct {
	alterable Alterable
	unmanaged map[string]bool
}

func scopeOf(t *kafkav1.KafkaTopic, alterable Alterable) scope {
	return scope{alterable: alterable, unmanaged: optionNames(t.Annotations[kafkav1.AnnotationUnmanagedConfig])}
}

func (s scope) unmanages(option string) bool { return s.unmanaged[strings.ToLower(option)] }

func (s scope) leaves(option string) bool {
	return s.unmanages(option) || !s.alterable.Allows(option)
}

// warnings tell of options that a user set and nobody will apply. What is left
// alone is so from the creation of the topic on: an option that was set once, and
// of which no later change counts, would show in a spec what Kafka does not have.
func (s scope) warnings(set []string) []Problem {
	var unmanaged, forbidden []string
	for _, name := range set {
		switch {
		case s.unmanages(name):
			unmanaged = append(unmanaged, name)
		case !s.alterable.Allows(name):
			forbidden = append(forbidden, name)
		}
	}
	var warnings []Problem
	if len(unmanaged) > 0 {
		warnings = append(warnings, Problem{kafkav1.ReasonInvalidConfig, fmt.Sprintf(
			"spec.config: the annotation %s leaves %s alone, so what is written here does not count. Remove one of the two",
			kafkav1.AnnotationUnmanagedConfig, listed(unmanaged))})
	}
	if len(forbidden) > 0 {
		warnings = append(warnings, Problem{kafkav1.ReasonInvalidConfig, fmt.Sprintf(
			"spec.config: this operator is set to alter %s, so %s is left as Kafka has it. "+
				"Remove the line, or have the operator's --alterable-topic-config name the option",
			s.alterable, listed(forbidden))})
	}
	return warnings
}

// String says what may be altered, for people.
func (a Alterable) String() string {
	switch {
	case !a.limited:
		return "all options of topics"
	case len(a.names) == 0:
		return "no option of topics"
	default:
		return "no options of topics but " + listed(slices.Sorted(maps.Keys(a.names)))
	}
}

// maxListed bounds what a condition lists.
const maxListed = 20

func listed(names []string) string {
	if more := len(names) - maxListed; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:maxListed], ", "), more)
	}
	return strings.Join(names, ", ")
}
