// Package validation holds the admission rules. A rule is a pure function of
// the new object, the old one and the facts; it returns findings. The webhook
// and `sluice validate` are thin adapters around them, so that both say the
// same words.
package validation

import "k8s.io/apimachinery/pkg/util/validation/field"

// Severity tells what a finding does to a request.
type Severity int

// Severities of a finding.
const (
	// Warn lets the request through with a warning.
	Warn Severity = iota
	// Refuse refuses the request.
	Refuse
)

// Finding is one fault that a rule found in an object.
type Finding struct {
	// Rule is the rule's stable name, such as "topic-name-illegal".
	Rule string
	// Severity tells whether the fault refuses or warns.
	Severity Severity
	// Path is where the fault stands.
	Path *field.Path
	// Element identifies the faulty element within the object by its name, not
	// by its index, so that reordering a list makes no old fault a new one.
	Element string
	// Value is the faulty value, as it is shown and compared. Empty means that
	// what should be there is missing.
	Value string
	// Message says why it is a fault and what to write instead.
	Message string
	// Joining marks a rule that needs another object, which may arrive later:
	// the webhook warns unless that object is settled.
	Joining bool
}

// identity is what makes a fault the same fault in the old object and in the
// new one. The severity belongs to it: a fault that was a mere warning is new as
// a refusal, as when a topic becomes managed.
type identity struct {
	rule     string
	severity Severity
	element  string
	value    string
}

func (f Finding) identity() identity {
	return identity{rule: f.Rule, severity: f.Severity, element: f.Element, value: f.Value}
}
