package templating

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
)

func secretVolume(name, secret string) apiv1.TemplatedVolume {
	return apiv1.TemplatedVolume{Name: name, Secret: &corev1.SecretVolumeSource{SecretName: secret}}
}

func TestList(t *testing.T) {
	tests := map[string]struct {
		field          []apiv1.TemplatedVolume
		annotation     string
		want           []apiv1.TemplatedVolume
		wantAnnotation bool
		wantErr        bool
	}{
		"neither": {},
		"the field alone": {
			field: []apiv1.TemplatedVolume{secretVolume("a", "s")},
			want:  []apiv1.TemplatedVolume{secretVolume("a", "s")},
		},
		"the field wins over the annotation, also over one that cannot be read": {
			field:      []apiv1.TemplatedVolume{secretVolume("a", "s")},
			annotation: "{",
			want:       []apiv1.TemplatedVolume{secretVolume("a", "s")},
		},
		"YAML": {
			annotation: `
- name: a
  secret:
    secretName: s-{nodeId}
`,
			want:           []apiv1.TemplatedVolume{secretVolume("a", "s-{nodeId}")},
			wantAnnotation: true,
		},
		"JSON": {
			annotation:     `[{"name":"a","secret":{"secretName":"s-{nodeId}"}}]`,
			want:           []apiv1.TemplatedVolume{secretVolume("a", "s-{nodeId}")},
			wantAnnotation: true,
		},
		"an empty list is a list": {
			annotation:     "[]",
			want:           []apiv1.TemplatedVolume{},
			wantAnnotation: true,
		},
		"blanks are no annotation": {annotation: " \n"},
		"an unknown field is passed over, as the API server does": {
			annotation:     `[{name: a, hostPath: {path: /x}}]`,
			want:           []apiv1.TemplatedVolume{{Name: "a"}},
			wantAnnotation: true,
		},
		"names are case-sensitive": {
			annotation:     `[{Name: a, Secret: {secretName: s}}]`,
			want:           []apiv1.TemplatedVolume{{}},
			wantAnnotation: true,
		},
		"not YAML":                {annotation: "[{", wantAnnotation: true, wantErr: true},
		"a map, not a list":       {annotation: "name: a", wantAnnotation: true, wantErr: true},
		"a word":                  {annotation: "creds", wantAnnotation: true, wantErr: true},
		"a key given twice":       {annotation: "[{name: a, name: b}]", wantAnnotation: true, wantErr: true},
		"a value of a wrong type": {annotation: "[{name: 3}]", wantAnnotation: true, wantErr: true},
		"a source of a wrong type": {
			annotation: `[{name: a, secret: "s"}]`, wantAnnotation: true, wantErr: true,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, fromAnnotation, err := List(tt.field, tt.annotation)
			if tt.wantErr != errors.Is(err, ErrAnnotation) || tt.wantErr != (err != nil) {
				t.Errorf("List error = %v, want one: %v", err, tt.wantErr)
			}
			if fromAnnotation != tt.wantAnnotation {
				t.Errorf("fromAnnotation = %v, want %v", fromAnnotation, tt.wantAnnotation)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("List (-want +got):\n%s", diff)
			}
		})
	}
}

func FuzzList(f *testing.F) {
	for _, s := range []string{"", "[]", "null", "[null]", "[{name: a, secret: {secretName: 's-{nodeId}'}}]", "- &a {name: a}\n- *a", "[{", "\t"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, annotation string) {
		list, fromAnnotation, err := List(nil, annotation)
		if err != nil && (!errors.Is(err, ErrAnnotation) || list != nil || !fromAnnotation) {
			t.Errorf("List(%q) = %v, %v, %v", annotation, list, fromAnnotation, err)
		}
		if fromAnnotation == (strings.TrimSpace(annotation) == "") {
			t.Errorf("List(%q): fromAnnotation = %v", annotation, fromAnnotation)
		}
		for _, v := range list {
			Expand(v, Node{ID: 1, PodName: "c-p-1"})
		}
	})
}
