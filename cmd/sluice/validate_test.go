package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sluice-kafka/sluice/test/cases"
)

// run executes the command line as main does, and returns what it prints and its
// exit code.
func run(t *testing.T, stdin string, args ...string) (out, errOut string, code int) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code = execute(t.Context(), args, strings.NewReader(stdin), &stdout, &stderr)
	return stdout.String(), stderr.String(), code
}

func write(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestAdmissionCases runs every case through the whole command.
func TestAdmissionCases(t *testing.T) {
	t.Parallel()
	all, err := cases.Admission()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range all {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			judged := write(t, dir, "new/case.yaml", string(c.Object))
			args := []string{"validate", "-o", "json", "-f", judged}
			if len(c.Existing) > 0 {
				existing := bytes.Join(c.Existing, []byte("\n---\n"))
				args = append(args, "-f", write(t, dir, "new/existing.yaml", string(existing)))
			}
			if c.Before != nil {
				args = append(args, "--old", write(t, dir, "old/case.yaml", string(c.Before)))
			}
			out, errOut, code := run(t, "", args...)
			refusals, warnings := said(t, judged, out)
			if fault := c.Verdict(refusals, warnings); fault != "" {
				t.Errorf("%s\n%s", fault, errOut)
			}
			if want := map[bool]int{true: 1, false: 0}[len(refusals) > 0]; code != want && len(c.Existing) == 0 {
				t.Errorf("exit code %d, want %d", code, want)
			}
		})
	}
}

// said reads a JSON report.
func said(t *testing.T, file, report string) (refusals, warnings []cases.Said) {
	t.Helper()
	var r struct {
		Objects  int
		Messages []struct {
			File, Severity, Path, Message string
			Line                          int
		}
	}
	if err := json.Unmarshal([]byte(report), &r); err != nil || r.Objects == 0 {
		t.Fatalf("no report on any object: %q, %v", report, err)
	}
	for _, m := range r.Messages {
		text := cases.Said{Path: m.Path, Text: m.Path + ": " + m.Message}
		switch {
		case m.File != file:
		case m.Line < 1:
			t.Errorf("no line for %q", text)
		case m.Severity == "error":
			refusals = append(refusals, text)
		case m.Severity == "warning":
			warnings = append(warnings, text)
		}
	}
	return refusals, warnings
}

const (
	goodTopic = `apiVersion: kafka.strimzi.io/v1
kind: KafkaTopic
metadata:
  name: good
  labels: {strimzi.io/cluster: my-cluster}
spec:
  partitions: 3
`
	badTopic = `apiVersion: kafka.strimzi.io/v1
kind: KafkaTopic
metadata:
  name: bad
  labels: {strimzi.io/cluster: my-cluster}
spec:
  partitions: 0
`
	strictTopic = `apiVersion: kafka.strimzi.io/v1
kind: KafkaTopic
metadata:
  name: strict
  labels: {strimzi.io/cluster: my-cluster}
spec:
  replicas: 1
  config: {min.insync.replicas: 2}
`
)

func TestValidateExitsAsItSays(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "good/good.yaml", goodTopic)
	write(t, dir, "good/sub/bad.yml", badTopic)
	write(t, dir, "good/sub/notes.txt", "no manifest")
	write(t, dir, "strict/strict.yaml", strictTopic)
	write(t, dir, "broken/a.yaml", "a: b: c\n")
	write(t, dir, "broken/b.yaml", badTopic)
	write(t, dir, "deep/er/good.yaml", goodTopic)
	// An option that came with Kafka 4.2.
	write(t, dir, "new/new.yaml", strings.Replace(goodTopic, "partitions: 3", "config: {remote.copy.lag.ms: 1000}", 1))
	if err := os.MkdirAll(filepath.Join(dir, "empty"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(dir, "nowhere"), filepath.Join(dir, "broken", "c.yaml")); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		args  []string
		stdin string
		code  int
		want  []string // in what is printed, on either stream
	}{
		"nothing is refused":                    {args: []string{"-f", "good"}, code: 0, want: []string{"1 object judged in 1 file: 0 errors, 0 warnings"}},
		"subfolders hold a fault":               {args: []string{"-R", "-f", "good"}, code: 1, want: []string{"bad.yml:7: error: KafkaTopic/bad: spec.partitions: ", "2 objects judged"}},
		"the standard input":                    {args: []string{"-f", "-"}, stdin: badTopic, code: 1, want: []string{"-:7: error: KafkaTopic/bad: spec.partitions: "}},
		"a warning refuses nothing":             {args: []string{"-f", "strict"}, code: 0, want: []string{"strict.yaml:8: warning: KafkaTopic/strict: "}},
		"unless it is to be strict":             {args: []string{"-f", "strict", "--strict-config"}, code: 1, want: []string{"strict.yaml:8: error: KafkaTopic/strict: "}},
		"a fault that was there before":         {args: []string{"-f", "good/sub", "--old", "good/sub"}, code: 0, want: []string{"0 errors"}},
		"a file that is given twice":            {args: []string{"-f", "strict", "-f", "strict/strict.yaml"}, code: 0, want: []string{"1 object judged in 1 file"}},
		"a file that is not there":              {args: []string{"-f", "nothing.yaml"}, code: 2, want: []string{"--filename", "nothing.yaml"}},
		"a folder without manifests":            {args: []string{"-f", "empty"}, code: 2, want: []string{"empty: no file ends with .yaml"}},
		"a folder with subfolders only":         {args: []string{"-f", "deep"}, code: 2, want: []string{"-R looks into subfolders"}},
		"nothing to judge":                      {code: 2, want: []string{"--filename is missing"}},
		"a format that there is not":            {args: []string{"-f", "good", "-o", "xml"}, code: 2, want: []string{"--output=xml", "junit"}},
		"a version that there is not":           {args: []string{"-f", "good", "--kafka-version", "2.8.0"}, code: 2, want: []string{"--kafka-version=2.8.0", "4.3"}},
		"an option of a newer version":          {args: []string{"-f", "new", "--kafka-version", "4.0.0"}, code: 0, want: []string{"new.yaml:7: warning: KafkaTopic/good: spec.config[remote.copy.lag.ms]"}},
		"an option that some version has":       {args: []string{"-f", "new"}, code: 0, want: []string{"0 warnings"}},
		"a flag that there is not":              {args: []string{"--strickt"}, code: 2, want: []string{"--strickt"}},
		"an argument too many":                  {args: []string{"good"}, code: 2, want: []string{"good"}},
		"a kubeconfig without a context":        {args: []string{"-f", "good", "--kubeconfig", "x"}, code: 2, want: []string{"--kube-context"}},
		"a context that there is not":           {args: []string{"-f", "good", "--kubeconfig", "nowhere", "--kube-context", "prod"}, code: 2, want: []string{"nowhere"}},
		"bad YAML and an unreadable file":       {args: []string{"-f", "broken"}, code: 2, want: []string{"a.yaml:1: error: this is not YAML", "b.yaml:7: error", "opening", "c.yaml"}},
		"the old objects on the standard input": {args: []string{"-f", "good", "--old", "-"}, code: 2, want: []string{"--old=-"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			args := []string{"validate"}
			for i, a := range tc.args {
				if i > 0 && (tc.args[i-1] == "-f" || tc.args[i-1] == "--old" || tc.args[i-1] == "--kubeconfig") && a != "-" {
					a = filepath.Join(dir, a)
				}
				args = append(args, a)
			}
			out, errOut, code := run(t, tc.stdin, args...)
			if code != tc.code {
				t.Errorf("exit code %d, want %d", code, tc.code)
			}
			for _, want := range tc.want {
				if !strings.Contains(out+errOut, want) {
					t.Errorf("it does not say %q but\n%s%s", want, out, errOut)
				}
			}
		})
	}
}
