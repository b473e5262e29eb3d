package offline

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
)

// The form of JUnit's reports that CI systems read: a suite a file, a case an
// object.
type (
	junitSuites struct {
		XMLName  xml.Name      `xml:"testsuites"`
		Name     string        `xml:"name,attr"`
		Tests    int           `xml:"tests,attr"`
		Failures int           `xml:"failures,attr"`
		Suites   []*junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string       `xml:"name,attr"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Cases    []*junitCase `xml:"testcase"`
	}
	junitCase struct {
		Name    string        `xml:"name,attr"`
		Class   string        `xml:"classname,attr"`
		File    string        `xml:"file,attr,omitempty"`
		Line    int           `xml:"line,attr,omitempty"`
		Failure *junitFailure `xml:"failure"`
		Output  string        `xml:"system-out,omitempty"`
	}
	// junitFailure is one at most in a case, since some readers want that.
	junitFailure struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr"`
		Text    string `xml:",chardata"`
	}
)

// object is what a case stands for.
type object struct {
	file, kind, namespace, name string
	line                        int
}

func (r *Report) writeJUnit(w io.Writer) error {
	root := r.junit()
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	encoder := xml.NewEncoder(w)
	encoder.Indent("", "  ")
	if err := encoder.Encode(root); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func (r *Report) junit() *junitSuites {
	b := junitBuilder{root: &junitSuites{Name: "sluice validate"}, suites: map[string]*junitSuite{}, cases: map[object]*junitCase{}}
	for _, o := range r.Objects {
		b.caseOf(object{o.File, o.Kind, o.Namespace, o.Name, o.Line})
	}
	for _, m := range r.Messages {
		b.add(m)
	}
	for _, s := range b.root.Suites {
		b.root.Tests += s.Tests
		b.root.Failures += s.Failures
	}
	return b.root
}

type junitBuilder struct {
	root   *junitSuites
	suites map[string]*junitSuite
	cases  map[object]*junitCase
}

func (b *junitBuilder) caseOf(o object) *junitCase {
	if c := b.cases[o]; c != nil {
		return c
	}
	s := b.suites[o.file]
	if s == nil {
		s = &junitSuite{Name: cmp.Or(o.file, "all files")}
		b.suites[o.file] = s
		b.root.Suites = append(b.root.Suites, s)
	}
	name := fmt.Sprintf("%s %s/%s", o.kind, o.namespace, o.name)
	switch {
	case o.kind == "":
		name = "the file"
	case o.namespace == "":
		name = fmt.Sprintf("%s %s", o.kind, o.name)
	}
	c := &junitCase{Name: name, Class: s.Name, File: o.file, Line: o.line}
	b.cases[o] = c
	s.Cases = append(s.Cases, c)
	s.Tests++
	return c
}

func (b *junitBuilder) add(m Message) {
	c := b.caseOf(object{m.File, m.Kind, m.Namespace, m.Name, m.objectLine})
	line := m.String() + "\n"
	switch {
	case m.Severity != Error:
		c.Output += line
	case c.Failure == nil:
		c.Failure = &junitFailure{Message: m.said(), Type: m.Rule, Text: line}
		b.suites[m.File].Failures++
	default:
		c.Failure.Text += line
	}
}
