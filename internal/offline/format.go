package offline

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// Formats of a report.
const (
	FormatText   = "text"
	FormatJSON   = "json"
	FormatJUnit  = "junit"
	FormatGitHub = "github"
)

// Formats are those that Write knows.
var Formats = []string{FormatText, FormatJSON, FormatJUnit, FormatGitHub}

// Write prints a report in a format.
func (r *Report) Write(w io.Writer, format string) error {
	write := map[string]func(io.Writer) error{
		FormatText: r.writeText, FormatJSON: r.writeJSON, FormatJUnit: r.writeJUnit, FormatGitHub: r.writeGitHub,
	}[format]
	if write == nil {
		return fmt.Errorf("format %q is none of %s", format, strings.Join(Formats, ", "))
	}
	if err := write(w); err != nil {
		return fmt.Errorf("writing the report as %s: %w", format, err)
	}
	return nil
}

// said is a message without its place.
func (m Message) said() string {
	var b strings.Builder
	if m.Kind != "" {
		fmt.Fprintf(&b, "%s/%s: ", m.Kind, m.Name)
	}
	if m.Path != "" {
		fmt.Fprintf(&b, "%s: ", m.Path)
	}
	b.WriteString(m.Text)
	return b.String()
}

// String is the line of the text format.
func (m Message) String() string {
	place := m.File
	if m.Line > 0 {
		place = fmt.Sprintf("%s:%d", m.File, m.Line)
	}
	if place != "" {
		place += ": "
	}
	return fmt.Sprintf("%s%s: %s", place, m.Severity, m.said())
}

func (r *Report) writeText(w io.Writer) error {
	for _, m := range r.Messages {
		if _, err := fmt.Fprintln(w, m); err != nil {
			return err
		}
	}
	return nil
}

// fewKinds is how many of the skipped kinds the summary names.
const fewKinds = 5

// Summary counts in one line what was done.
func (r *Report) Summary() string {
	skipped := 0
	kinds := slices.SortedFunc(maps.Keys(r.Skipped), func(a, b string) int {
		return cmp.Or(cmp.Compare(r.Skipped[b], r.Skipped[a]), cmp.Compare(a, b))
	})
	var what []string
	for i, k := range kinds {
		skipped += r.Skipped[k]
		if i < fewKinds {
			what = append(what, fmt.Sprintf("%d %s", r.Skipped[k], k))
		}
	}
	if len(kinds) > fewKinds {
		what = append(what, fmt.Sprintf("and of %d more kinds", len(kinds)-fewKinds))
	}
	s := fmt.Sprintf("%s judged in %s: %s, %s",
		counted(len(r.Objects), "object"), counted(r.Files, "file"),
		counted(r.Count(Error), "error"), counted(r.Count(Warning), "warning"))
	if n := r.Count(Note); n > 0 {
		s += ", " + counted(n, "note")
	}
	if skipped > 0 {
		s += fmt.Sprintf("; %s of other kinds skipped (%s)", counted(skipped, "document"), strings.Join(what, ", "))
	}
	return s
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func (r *Report) writeJSON(w io.Writer) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(struct {
		Files    int            `json:"files"`
		Objects  int            `json:"objects"`
		Errors   int            `json:"errors"`
		Warnings int            `json:"warnings"`
		Skipped  map[string]int `json:"skipped"`
		Messages []Message      `json:"messages"`
	}{r.Files, len(r.Objects), r.Count(Error), r.Count(Warning), r.Skipped, append([]Message{}, r.Messages...)})
}

// gitHubLevels are the workflow commands that annotate a file.
var gitHubLevels = map[Severity]string{Error: "error", Warning: "warning", Note: "notice"}

var (
	gitHubText     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	gitHubProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// writeGitHub prints the workflow commands of GitHub Actions
// (docs.github.com, "Workflow commands for GitHub Actions").
func (r *Report) writeGitHub(w io.Writer) error {
	for _, m := range r.Messages {
		var properties []string
		if m.File != "" && m.File != Stdin {
			properties = append(properties, "file="+gitHubProperty.Replace(m.File))
			if m.Line > 0 {
				properties = append(properties, fmt.Sprintf("line=%d", m.Line))
			}
		}
		if m.Rule != "" {
			properties = append(properties, "title="+gitHubProperty.Replace("sluice: "+m.Rule))
		}
		command := gitHubLevels[m.Severity]
		if len(properties) > 0 {
			command += " " + strings.Join(properties, ",")
		}
		if _, err := fmt.Fprintf(w, "::%s::%s\n", command, gitHubText.Replace(m.said())); err != nil {
			return err
		}
	}
	return nil
}
