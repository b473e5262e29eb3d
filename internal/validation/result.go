package validation

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// maxRefusals bounds the answer to an object with very many faults.
const maxRefusals = 100

// Result is what the rules say of an object, sorted by path.
type Result struct {
	// Refusals are the faults that refuse the request.
	Refusals []Finding
	// Warnings are the faults that let it through.
	Warnings []Finding
}

// newResult sorts findings. A warning is dropped where the same path is refused
// already.
func newResult(found []Finding) Result {
	var r Result
	refused := map[string]bool{}
	for _, f := range found {
		if f.Severity == Refuse {
			r.Refusals = append(r.Refusals, f)
			refused[f.Path.String()] = true
		}
	}
	for _, f := range found {
		if f.Severity == Warn && !refused[f.Path.String()] {
			r.Warnings = append(r.Warnings, f)
		}
	}
	slices.SortStableFunc(r.Refusals, compareFindings)
	slices.SortStableFunc(r.Warnings, compareFindings)
	return r
}

func compareFindings(a, b Finding) int {
	return cmp.Or(
		compareNatural(a.Path.String(), b.Path.String()),
		cmp.Compare(a.Rule, b.Rule),
		cmp.Compare(a.Value, b.Value),
	)
}

// Errors returns the refusals with path, value, reason and mend. The list is
// empty where nothing is refused.
func (r Result) Errors() field.ErrorList {
	var list field.ErrorList
	for i, f := range r.Refusals {
		if i == maxRefusals {
			more := f.AsError()
			more.Detail = fmt.Sprintf("and %d more faults that are not shown", len(r.Refusals)-i)
			return append(list, more)
		}
		list = append(list, f.AsError())
	}
	return list
}

// AsError words a finding with its path, the value, why and the mend, whatever
// its severity. Very long parts lose some of their text.
func (f Finding) AsError() *field.Error {
	e := &field.Error{
		Type: field.ErrorTypeInvalid, Field: cutMiddle(printable(f.Path.String()), maxField),
		BadValue: cutEnd(printable(f.Value), maxValue), Detail: cutEnd(printable(f.Message), maxDetail),
	}
	if f.Value == "" {
		e.Type = field.ErrorTypeRequired
	}
	return e
}

// WarningTexts returns at most ten texts of at most 256 characters each, every
// one beginning with its path. The API server cuts warnings to that size when
// they exceed 4,096 characters together (k8s.io/apiserver
// pkg/endpoints/filters/warning.go). Where there are more than ten, the tenth
// says how many and at which paths.
func (r Result) WarningTexts() []string {
	var texts []string
	for i, f := range r.Warnings {
		if i == maxWarnings-1 && len(r.Warnings) > maxWarnings {
			return append(texts, moreWarnings(r.Warnings[i:]))
		}
		texts = append(texts, WarningText(f.Path.String(), f.Message))
	}
	return texts
}

func moreWarnings(rest []Finding) string {
	var paths []string
	for i, size := 0, 0; i < len(rest) && size < maxWarning; i++ {
		if p := rest[i].Path.String(); len(paths) == 0 || paths[len(paths)-1] != p {
			paths = append(paths, p)
			size += len(p)
		}
	}
	return WarningText(paths[0], fmt.Sprintf("%d more warnings, at %s", len(rest), strings.Join(paths, ", ")))
}
