package offline

import (
	"cmp"
	"slices"
)

// Severity of a message.
type Severity string

// Severities.
const (
	// Error is said of what would be refused.
	Error Severity = "error"
	// Warning is said of what is let through.
	Warning Severity = "warning"
	// Note tells of something that was not judged.
	Note Severity = "note"
)

// Message is one thing that there is to say.
type Message struct {
	// File as it was given; "-" is the standard input, and none stands for all.
	File string `json:"file,omitempty"`
	// Line of the field, counted from 1; 0 where none is known.
	Line     int      `json:"line,omitempty"`
	Severity Severity `json:"severity"`
	// Kind, Namespace and Name of the object; empty where there is none.
	Kind      string `json:"kind,omitempty"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name,omitempty"`
	// Rule that says it; docs/rules.md describes it.
	Rule string `json:"rule,omitempty"`
	// Path of the field in the object.
	Path string `json:"path,omitempty"`
	// Text says why and what to write instead.
	Text string `json:"message"`

	// objectLine is where the object begins, which tells alternatives of one file
	// apart.
	objectLine int
}

// Object is one that was judged.
type Object struct {
	File      string `json:"file"`
	Line      int    `json:"line"`
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
}

// Report is what came of a run.
type Report struct {
	// Files that were read.
	Files int
	// Objects that were judged, in the order of the files.
	Objects []Object
	// Skipped counts the documents of other kinds by what they are.
	Skipped map[string]int
	// Messages in the order of files and lines.
	Messages []Message
}

// Count returns how many messages of a severity there are.
func (r *Report) Count(s Severity) int {
	n := 0
	for _, m := range r.Messages {
		if m.Severity == s {
			n++
		}
	}
	return n
}

// sort orders messages by place. Files keep the order in which they were given.
func (r *Report) sort(files []File) {
	order := make(map[string]int, len(files))
	for i, f := range files {
		order[f.Name] = i + 1
	}
	slices.SortStableFunc(r.Messages, func(a, b Message) int {
		return cmp.Or(
			cmp.Compare(order[a.File], order[b.File]),
			cmp.Compare(a.Line, b.Line),
		)
	})
}
