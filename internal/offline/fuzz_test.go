package offline_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/sluice-kafka/sluice/internal/offline"
)

// FuzzRun wants an answer to whatever a file holds, with a line of that file.
func FuzzRun(f *testing.F) {
	for _, pattern := range []string{"testdata/repo/*", "testdata/repo/*/*/*", "../../examples/*.yaml", "../../test/cases/admission/*.yaml", "../../test/examples/valid/*/*"} {
		names, err := filepath.Glob(pattern)
		if err != nil {
			f.Fatal(err)
		}
		for _, name := range names {
			if data, err := os.ReadFile(name); err == nil {
				f.Add(data)
			}
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		file := func() []offline.File {
			return []offline.File{offline.OneFile("f.yaml", func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil })}
		}
		report, err := offline.Run(t.Context(), offline.Request{Files: file(), Old: file()})
		if err != nil {
			t.Fatal(err)
		}
		lines := 1 + bytes.Count(data, []byte("\n"))
		for _, m := range report.Messages {
			if m.File != "" && (m.Line < 1 || m.Line > lines) {
				t.Errorf("line %d of %d: %s", m.Line, lines, m)
			}
			if m.Text == "" {
				t.Errorf("nothing is said by rule %s at %s", m.Rule, m.Path)
			}
		}
		for _, format := range offline.Formats {
			if err := report.Write(io.Discard, format); err != nil {
				t.Error(err)
			}
		}
	})
}
