package offline_test

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/sluice-kafka/sluice/internal/offline"
)

var update = flag.Bool("update", false, "write the golden files anew")

func folder(t *testing.T, files fs.FS) []offline.File {
	t.Helper()
	list, err := offline.Folder(files, true, func(s string) string { return s })
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func texts(files map[string]string) fs.FS {
	m := fstest.MapFS{}
	for name, text := range files {
		m[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return m
}

// judge returns the lines of the text format.
func judge(t *testing.T, req offline.Request) []string {
	t.Helper()
	report, err := offline.Run(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := report.Write(&out, offline.FormatText); err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
}

func TestFormats(t *testing.T) {
	t.Parallel()
	report, err := offline.Run(t.Context(), offline.Request{Files: folder(t, os.DirFS("testdata/repo"))})
	if err != nil {
		t.Fatal(err)
	}
	for format, file := range map[string]string{
		offline.FormatText: "report.txt", offline.FormatJSON: "report.json",
		offline.FormatJUnit: "report.xml", offline.FormatGitHub: "report.github.txt",
	} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			if err := report.Write(&out, format); err != nil {
				t.Fatal(err)
			}
			if format == offline.FormatText {
				fmt.Fprintln(&out, report.Summary())
			}
			golden := filepath.Join("testdata/golden", file)
			if *update {
				if err := os.WriteFile(golden, out.Bytes(), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), out.String()); diff != "" {
				t.Errorf("go test ./internal/offline -update writes it anew (-want +got):\n%s", diff)
			}
		})
	}
	if err := report.Write(io.Discard, "yaml"); err == nil {
		t.Error("a format that there is not is written")
	}
}
