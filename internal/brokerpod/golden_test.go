package brokerpod_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/sluice-kafka/sluice/internal/brokerpod"
)

var update = flag.Bool("update", false, "write the golden files anew")

// rendered returns everything that is made for a node and its cluster.
func rendered(t *testing.T, in brokerpod.Input, rack *string) []byte {
	t.Helper()
	claims, err := brokerpod.Claims(in)
	if err != nil {
		t.Fatal(err)
	}
	services, err := brokerpod.Services(in.Kafka)
	if err != nil {
		t.Fatal(err)
	}
	budget, err := brokerpod.DisruptionBudget(in.Kafka, 3)
	if err != nil {
		t.Fatal(err)
	}
	objects := []any{pod(t, in), brokerpod.ConfigMap(in, "node.id=4\n", "4.3-IV0", rack)}
	for _, c := range claims {
		objects = append(objects, c)
	}
	for _, s := range services {
		objects = append(objects, s)
	}
	var out bytes.Buffer
	for _, o := range append(objects, budget) {
		text, err := yaml.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		out.WriteString("---\n")
		out.Write(text)
	}
	return out.Bytes()
}

func TestWhatIsMade(t *testing.T) {
	inputs, err := filepath.Glob("testdata/*.in.yaml")
	if err != nil || len(inputs) == 0 {
		t.Fatalf("no input: %v", err)
	}
	for _, input := range inputs {
		name := strings.TrimSuffix(filepath.Base(input), ".in.yaml")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in, rack := read(t, name)
			got := rendered(t, in, rack)
			golden := filepath.Join("testdata", name+".out.yaml")
			if *update {
				if err := os.WriteFile(golden, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatalf("%v; go test ./internal/brokerpod -update writes it", err)
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			for range 20 {
				if again := rendered(t, in, rack); !bytes.Equal(got, again) {
					t.Fatalf("the same input gave something else:\n%s", cmp.Diff(string(got), string(again)))
				}
			}
		})
	}
}
