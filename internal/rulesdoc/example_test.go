package main

import (
	"slices"
	"testing"

	"github.com/sluice-kafka/sluice/internal/offline"
	"github.com/sluice-kafka/sluice/internal/validation"
)

// TestExamplesAreTrue judges each rule's example and its mend.
func TestExamplesAreTrue(t *testing.T) {
	t.Parallel()
	for _, a := range validation.Catalogue() {
		t.Run(a.Rule, func(t *testing.T) {
			t.Parallel()
			said, err := judge(t.Context(), a, a.Example)
			if err != nil {
				t.Fatal(err)
			}
			want := offline.Warning
			if a.Severity == validation.Refuse {
				want = offline.Error
			}
			if !slices.ContainsFunc(said, func(m offline.Message) bool {
				return m.Rule == a.Rule && m.Severity == want && slices.Contains(a.Kinds, m.Kind)
			}) {
				t.Errorf("the example does not give this %s for one of %v; it gives %v", want, a.Kinds, said)
			}
			if said, err = judge(t.Context(), a, a.Mended); err != nil || len(said) > 0 {
				t.Errorf("the mended example gives %v, %v", said, err)
			}
		})
	}
}
