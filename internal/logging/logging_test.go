package logging

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/sluice-kafka/sluice/internal/options"
)

func TestLevels(t *testing.T) {
	tests := map[string]string{
		"error": "bad",
		"info":  "bad told",
		"0":     "bad told",
		"debug": "bad told detail",
		"4":     "bad told detail trace",
	}
	for level, want := range tests {
		t.Run(level, func(t *testing.T) {
			var out bytes.Buffer
			log, err := New(options.Log{Level: level, Format: options.LogFormatJSON}, &out)
			if err != nil {
				t.Fatal(err)
			}
			log.Error(errors.New("cause"), "bad")
			log.Info("told")
			log.V(1).Info("detail")
			log.V(4).Info("trace")
			var got []string
			for line := range strings.Lines(out.String()) {
				var entry struct {
					Message string `json:"msg"`
				}
				if err := json.Unmarshal([]byte(line), &entry); err != nil {
					t.Fatalf("line %q is not JSON: %v", line, err)
				}
				got = append(got, entry.Message)
			}
			if strings.Join(got, " ") != want {
				t.Fatalf("logged %v, want %s", got, want)
			}
		})
	}
}

func TestEntryReadsWell(t *testing.T) {
	tests := map[string]struct{ format, want string }{
		"JSON":    {options.LogFormatJSON, `"msg":"Closing a batch","topic":"kafka/orders","took":"1.5s"}`},
		"console": {options.LogFormatConsole, "Closing a batch"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			log, err := New(options.Log{Level: "info", Format: tc.format}, &out)
			if err != nil {
				t.Fatal(err)
			}
			log.Info("Closing a batch", "topic", "kafka/orders", "took", 1500*time.Millisecond)
			if !strings.Contains(out.String(), tc.want) {
				t.Fatalf("logged %s, want %s in it", out.String(), tc.want)
			}
		})
	}
}

func TestUnknownLevelIsRefused(t *testing.T) {
	if _, err := New(options.Log{Level: "loud"}, &bytes.Buffer{}); err == nil {
		t.Fatal("not refused")
	}
}
