// Package cases holds requests with the answer that each must get. Several tests
// run the same cases, so that the rules alone and the whole webhook agree.
package cases

import (
	"bytes"
	"embed"
	"fmt"
	"path"
	"regexp"
	"strings"
)

//go:embed admission/*.yaml
var admission embed.FS

// Answers that a case may expect.
const (
	Allow  = "allow"
	Warn   = "warn"
	Refuse = "refuse"
)

// Case is one request with its expected answer.
type Case struct {
	// Name of the file, without its ending.
	Name string
	// Expect is Allow, Warn or Refuse.
	Expect string
	// Path is part of the path that the answer names; empty if any will do.
	Path string
	// Text is part of the answer's text; empty if any will do.
	Text string
	// Existing are YAML documents of objects that exist before.
	Existing [][]byte
	// Before is the object as it was, in YAML; nil for a creation.
	Before []byte
	// Object is the object to be judged, in YAML.
	Object []byte
}

var (
	header    = regexp.MustCompile(`(?m)^# (expect|at|with|because): (.*)$`)
	separator = regexp.MustCompile(`(?m)^---\s*$`)
)

// Admission returns the admission cases, sorted by name.
func Admission() ([]Case, error) {
	files, err := admission.ReadDir("admission")
	if err != nil {
		return nil, fmt.Errorf("listing the admission cases: %w", err)
	}
	list := make([]Case, 0, len(files))
	for _, f := range files {
		data, err := admission.ReadFile(path.Join("admission", f.Name()))
		if err != nil {
			return nil, fmt.Errorf("reading admission case %s: %w", f.Name(), err)
		}
		c, err := parse(strings.TrimSuffix(f.Name(), ".yaml"), data)
		if err != nil {
			return nil, err
		}
		list = append(list, c)
	}
	return list, nil
}

func parse(name string, data []byte) (Case, error) {
	c := Case{Name: name}
	for _, m := range header.FindAllSubmatch(data, -1) {
		switch value := string(bytes.TrimSpace(m[2])); string(m[1]) {
		case "expect":
			c.Expect = value
		case "at":
			c.Path = value
		case "with":
			c.Text = value
		}
	}
	if c.Expect != Allow && c.Expect != Warn && c.Expect != Refuse {
		return Case{}, fmt.Errorf("admission case %s expects %q, which is none of %s, %s and %s", name, c.Expect, Allow, Warn, Refuse)
	}
	for _, part := range separator.Split(string(data), -1) {
		doc := []byte(part)
		switch {
		case strings.Contains(part, "# before\n"):
			c.Before = doc
		case c.Object != nil:
			c.Existing = append(c.Existing, c.Object)
			fallthrough
		default:
			c.Object = doc
		}
	}
	if c.Object == nil {
		return Case{}, fmt.Errorf("admission case %s has no object to judge", name)
	}
	return c, nil
}

// Said is one refusal or warning of an answer.
type Said struct {
	Path, Text string
}

// Warning splits a warning's text, which begins with its path.
func Warning(text string) Said {
	path, _, _ := strings.Cut(text, ": ")
	return Said{Path: path, Text: text}
}

// Missed says how an answer differs from what the case expects; it is empty
// where it does not.
func (c Case) Missed(refusals, warnings []Said) string {
	texts := warnings
	ok := len(refusals) == 0
	switch c.Expect {
	case Allow:
		ok, texts = ok && len(warnings) == 0, nil
	case Refuse:
		ok, texts = len(refusals) > 0, refusals
	}
	if ok && c.Expect == Allow {
		return ""
	}
	for _, s := range texts {
		if ok && strings.Contains(s.Path, c.Path) && strings.Contains(s.Text, c.Text) {
			return ""
		}
	}
	return fmt.Sprintf("want %s at %q with %q; it was refused with %q and warned with %q", c.Expect, c.Path, c.Text, refusals, warnings)
}

// Verdict checks an answer: a case that is pending must miss, any other must
// not. It is empty where all is well.
func (c Case) Verdict(refusals, warnings []Said) string {
	miss := c.Missed(refusals, warnings)
	reason, pending := Pending[c.Name]
	if pending && miss == "" {
		return fmt.Sprintf("the case gets its answer now: take it off Pending, where it says %q", reason)
	}
	if pending {
		return ""
	}
	return miss
}
