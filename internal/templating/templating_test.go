package templating

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
)

var node7 = Node{ID: 7, PodName: "my-cluster-brokers-7"}

func TestExpand(t *testing.T) {
	tests := map[string]struct {
		in   apiv1.TemplatedVolume
		want corev1.Volume
	}{
		"a Secret's name and its items' keys and paths are expanded, modes are copied": {
			in: apiv1.TemplatedVolume{Name: "creds", Secret: &corev1.SecretVolumeSource{
				SecretName:  "creds-{nodeId}",
				DefaultMode: ptr.To[int32](0o400),
				Optional:    ptr.To(true),
				Items: []corev1.KeyToPath{
					{Key: "key-{nodeId}", Path: "{nodePodName}/api.key", Mode: ptr.To[int32](0o440)},
					{Key: "plain", Path: "plain"},
				},
			}},
			want: corev1.Volume{Name: "creds", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{
				SecretName:  "creds-7",
				DefaultMode: ptr.To[int32](0o400),
				Optional:    ptr.To(true),
				Items: []corev1.KeyToPath{
					{Key: "key-7", Path: "my-cluster-brokers-7/api.key", Mode: ptr.To[int32](0o440)},
					{Key: "plain", Path: "plain"},
				},
			}}},
		},
		"a ConfigMap's name and its items' keys and paths are expanded": {
			in: apiv1.TemplatedVolume{Name: "conf", ConfigMap: &corev1.ConfigMapVolumeSource{
				LocalObjectReference: corev1.LocalObjectReference{Name: "{nodePodName}-authz"},
				Items:                []corev1.KeyToPath{{Key: "{nodeId}.yaml", Path: "{nodeId}/conf.yaml"}},
			}},
			want: corev1.Volume{Name: "conf", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
				LocalObjectReference: corev1.LocalObjectReference{Name: "my-cluster-brokers-7-authz"},
				Items:                []corev1.KeyToPath{{Key: "7.yaml", Path: "7/conf.yaml"}},
			}}},
		},
		"a claim's name is expanded, readOnly is copied": {
			in: apiv1.TemplatedVolume{Name: "audit", PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{
				ClaimName: "audit-{nodeId}-{nodeId}", ReadOnly: true,
			}},
			want: corev1.Volume{Name: "audit", VolumeSource: corev1.VolumeSource{
				PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "audit-7-7", ReadOnly: true},
			}},
		},
		"the volume's own name is never expanded": {
			in: apiv1.TemplatedVolume{Name: "v-{nodeId}", Secret: &corev1.SecretVolumeSource{SecretName: "s"}},
			want: corev1.Volume{Name: "v-{nodeId}", VolumeSource: corev1.VolumeSource{
				Secret: &corev1.SecretVolumeSource{SecretName: "s"},
			}},
		},
		"an entry without a source gives a volume with a name alone": {
			in:   apiv1.TemplatedVolume{Name: "v"},
			want: corev1.Volume{Name: "v"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			before := tt.in.DeepCopy()
			if diff := cmp.Diff(tt.want, Expand(tt.in, node7)); diff != "" {
				t.Errorf("Expand (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(*before, tt.in); diff != "" {
				t.Errorf("Expand changed its input (-before +after):\n%s", diff)
			}
		})
	}
}

func TestExpandSharesNothingWithItsInput(t *testing.T) {
	in := apiv1.TemplatedVolume{Name: "v", Secret: &corev1.SecretVolumeSource{
		SecretName: "s", DefaultMode: ptr.To[int32](1), Items: []corev1.KeyToPath{{Key: "k", Path: "p"}},
	}}
	out := Expand(in, node7)
	out.Secret.Items[0].Key = "changed"
	*out.Secret.DefaultMode = 2
	if in.Secret.Items[0].Key != "k" || *in.Secret.DefaultMode != 1 {
		t.Errorf("a change of the result changed the input: %+v", in.Secret)
	}
}

func TestText(t *testing.T) {
	tests := map[string]struct{ in, want string }{
		"no placeholder":                         {"plain", "plain"},
		"both":                                   {"{nodePodName}-{nodeId}", "my-cluster-brokers-7-7"},
		"another case is not a placeholder":      {"{nodeID}", "{nodeID}"},
		"unknown and unclosed braces stay":       {"{podName}{nodeId", "{podName}{nodeId"},
		"doubled braces keep the outer pair":     {"{{nodeId}}", "{7}"},
		"blanks inside make it another text":     {"{ nodeId }", "{ nodeId }"},
		"what is left does not form another one": {"{node{nodeId}Id}", "{node7Id}"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := Text(tt.in, node7); got != tt.want {
				t.Errorf("Text(%q) = %q, want %q", tt.in, got, tt.want)
			}
		})
	}
}

func TestPlaceholders(t *testing.T) {
	tests := map[string]struct {
		in             string
		known, unknown []string
		unclosed       bool
	}{
		"empty":                        {},
		"no brace":                     {in: "plain"},
		"known ones in order":          {in: "a-{nodePodName}-{nodeId}", known: []string{"{nodePodName}", "{nodeId}"}},
		"unknown ones":                 {in: "{nodeID}/{podName}/{}", unknown: []string{"{nodeID}", "{podName}", "{}"}},
		"never closed":                 {in: "a-{nodeId", unclosed: true},
		"opened twice":                 {in: "{{nodeId}}", known: []string{"{nodeId}"}, unclosed: true},
		"known, then never closed":     {in: "{nodeId}{", known: []string{"{nodeId}"}, unclosed: true},
		"a closing brace alone":        {in: "a}b"},
		"a closing brace before a set": {in: "}{nodeId}", known: []string{"{nodeId}"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			known, unknown, unclosed := Placeholders(tt.in)
			if !cmp.Equal(known, tt.known) || !cmp.Equal(unknown, tt.unknown) || unclosed != tt.unclosed {
				t.Errorf("Placeholders(%q) = %q, %q, %v, want %q, %q, %v",
					tt.in, known, unknown, unclosed, tt.known, tt.unknown, tt.unclosed)
			}
			if got := HasPlaceholder(tt.in); got != (len(tt.known) > 0) {
				t.Errorf("HasPlaceholder(%q) = %v", tt.in, got)
			}
		})
	}
}

func FuzzText(f *testing.F) {
	for _, s := range []string{"", "{nodeId}", "{nodePodName}", "{{nodeId}}", "a{", "}{", "{node{nodeId}Id}", "{nodeID}"} {
		f.Add(s, int64(3), "c-p-3")
	}
	f.Fuzz(func(t *testing.T, s string, id int64, podName string) {
		n := Node{ID: id, PodName: podName}
		got := Text(s, n)
		known, unknown, unclosed := Placeholders(s)
		if len(known) == 0 && got != s {
			t.Errorf("Text(%q) = %q without a placeholder", s, got)
		}
		if HasPlaceholder(s) != (len(known) > 0) {
			t.Errorf("HasPlaceholder(%q) and Placeholders disagree", s)
		}
		if !strings.Contains(s, "{") && (len(unknown) > 0 || unclosed) {
			t.Errorf("Placeholders(%q) found %q, unclosed %v, without a brace", s, unknown, unclosed)
		}
		if strings.ContainsAny(podName, "{}") {
			return
		}
		// What is left in braces is exactly what was unknown before: an expansion
		// makes no new placeholder, except where braces were nested.
		left, stillUnknown, _ := Placeholders(got)
		if !unclosed && (len(left) > 0 || !cmp.Equal(stillUnknown, unknown)) {
			t.Errorf("Text(%q) = %q has %q and %q left, want none and %q", s, got, left, stillUnknown, unknown)
		}
	})
}
