package podvolumes

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/utils/ptr"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/templating"
)

func TestFault(t *testing.T) {
	secret := func(change func(*corev1.SecretVolumeSource)) apiv1.TemplatedVolume {
		s := &corev1.SecretVolumeSource{SecretName: "s"}
		change(s)
		return apiv1.TemplatedVolume{Name: "v", Secret: s}
	}
	item := func(key, path string) apiv1.TemplatedVolume {
		return secret(func(s *corev1.SecretVolumeSource) { s.Items = []corev1.KeyToPath{{Key: key, Path: path}} })
	}
	claim := func(name string) apiv1.TemplatedVolume {
		return apiv1.TemplatedVolume{Name: "v", PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name}}
	}
	configMap := func(name string, mode *int32) apiv1.TemplatedVolume {
		return apiv1.TemplatedVolume{Name: "v", ConfigMap: &corev1.ConfigMapVolumeSource{
			LocalObjectReference: corev1.LocalObjectReference{Name: name}, DefaultMode: mode,
		}}
	}
	some := &apiextensionsv1.JSON{Raw: []byte("{}")}

	tests := map[string]struct {
		entry apiv1.TemplatedVolume
		// want is a piece of the fault; "" wants none.
		want string
	}{
		"a Secret":                  {item("k", "a/b..c/..d"), ""},
		"a ConfigMap":               {configMap("c", ptr.To[int32](0o777)), ""},
		"a claim":                   {claim("c-{nodeId}"), ""},
		"a Secret that cannot be":   {templatedSecret("v", "No Such_Secret"), ""},
		"no name":                   {templatedSecret("", "s"), "is not a volume name"},
		"a name with a placeholder": {templatedSecret("v-{nodeId}", "s"), "is not a volume name"},
		"a name that is too long":   {templatedSecret(strings.Repeat("v", 64), "s"), "is not a volume name"},
		"no source":                 {apiv1.TemplatedVolume{Name: "v"}, "has no source"},
		"two sources": {
			apiv1.TemplatedVolume{Name: "v", Secret: &corev1.SecretVolumeSource{}, ConfigMap: &corev1.ConfigMapVolumeSource{}},
			"more than one source: secret, configMap",
		},
		"a source beside one that cannot be templated": {
			apiv1.TemplatedVolume{Name: "v", Secret: &corev1.SecretVolumeSource{SecretName: "s"}, EmptyDir: some},
			"more than one source: secret, emptyDir",
		},
		"emptyDir":             {apiv1.TemplatedVolume{Name: "v", EmptyDir: some}, "emptyDir cannot be templated"},
		"csi":                  {apiv1.TemplatedVolume{Name: "v", CSI: some}, "csi cannot be templated"},
		"image":                {apiv1.TemplatedVolume{Name: "v", Image: some}, "image cannot be templated"},
		"an empty Secret name": {templatedSecret("v", ""), "secret.secretName is empty"},
		"an empty ConfigMap":   {configMap("", nil), "configMap.name is empty"},
		"an empty claim":       {claim(""), "persistentVolumeClaim.claimName is empty"},
		"a claim of the pod's": {claim("c-brokers-{nodeId}-scratch"), "is the claim of an ephemeral volume"},
		"an empty key":         {item("", "p"), "secret.items[0].key is empty"},
		"an empty path":        {item("k", ""), `secret.items[0].path "" is empty`},
		"an absolute path":     {item("k", "/p"), "is not relative"},
		"a path that leaves":   {item("k", "a/../../b"), `has a segment ".."`},
		"a path starting ..":   {item("k", "..p"), `starts with ".."`},
		"a mode out of range": {
			configMap("c", ptr.To[int32](0o1000)), "configMap.defaultMode 512 is not within",
		},
		"an item's mode out of range": {
			secret(func(s *corev1.SecretVolumeSource) {
				s.Items = []corev1.KeyToPath{{Key: "k", Path: "p", Mode: ptr.To[int32](-1)}}
			}), "secret.items[0].mode -1 is not within",
		},
		"a user that is none": {
			secret(func(s *corev1.SecretVolumeSource) { s.DefaultUser = ptr.To[int64](-1) }), "secret.defaultUser -1 is not a user ID",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := fault(tt.entry, templating.Expand(tt.entry, broker7.Node), sets.New("c-brokers-7-scratch"))
			if (tt.want == "") != (got == "") || !strings.Contains(got, tt.want) {
				t.Errorf("fault = %q, want %q in it", got, tt.want)
			}
		})
	}
}

func TestClaimsOfEphemeralVolumesAreThePodsOwn(t *testing.T) {
	pod := brokerPod(nil, corev1.Volume{Name: "scratch", VolumeSource: corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{}}},
		secretVolume("creds", "s"))
	if got := ephemeralClaims(pod); !got.Equal(sets.New("c-brokers-7-scratch")) {
		t.Errorf("ephemeralClaims = %v", got)
	}
}
