package validation_test

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/validation"
)

// reversed is a template with every list in it the other way round.
func reversed(t *apiv1.KafkaTemplate) *apiv1.KafkaTemplate {
	t = t.DeepCopy()
	slices.Reverse(t.Pod.Volumes)
	slices.Reverse(t.Pod.TemplatedVolumes)
	for _, v := range t.Pod.TemplatedVolumes {
		if v.Secret != nil {
			slices.Reverse(v.Secret.Items)
		}
	}
	slices.Reverse(t.KafkaContainer.VolumeMounts)
	return t
}

func TestReorderingAListBringsNoFault(t *testing.T) {
	t.Parallel()
	items := func(paths ...string) apiv1.TemplatedVolume {
		v := apiv1.TemplatedVolume{Name: "creds", Secret: &corev1.SecretVolumeSource{SecretName: "s"}}
		for _, p := range paths {
			v.Secret.Items = append(v.Secret.Items, corev1.KeyToPath{Key: "k", Path: p})
		}
		return v
	}
	mounts := func(paths ...string) []corev1.VolumeMount {
		var list []corev1.VolumeMount
		for i, p := range paths {
			list = append(list, corev1.VolumeMount{Name: []string{"creds", "other", "creds"}[i], MountPath: p})
		}
		return list
	}
	for name, test := range map[string]struct {
		volumes []apiv1.TemplatedVolume
		mounts  []corev1.VolumeMount
	}{
		"two mounts at one path":                     {mounts: mounts("/mnt/a", "/mnt/a")},
		"one path in two spellings":                  {mounts: mounts("/mnt/a", "/mnt/a/")},
		"three mounts at one path":                   {mounts: mounts("/mnt/a", "/mnt//a", "/mnt/a/.")},
		"two items for one file":                     {volumes: []apiv1.TemplatedVolume{items("f", "f")}},
		"one file in two spellings":                  {volumes: []apiv1.TemplatedVolume{items("f", "./f")}},
		"items that become one file on a node":       {volumes: []apiv1.TemplatedVolume{items("{nodeId}", "0")}},
		"two volumes of one name":                    {volumes: []apiv1.TemplatedVolume{items("f"), items("g")}},
		"a volume of another's name that is no name": {volumes: []apiv1.TemplatedVolume{items("f"), {Name: "A"}, {Name: "A"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before := &apiv1.KafkaTemplate{
				Pod:            &apiv1.PodTemplate{TemplatedVolumes: append(test.volumes, apiv1.TemplatedVolume{Name: "other", Secret: &corev1.SecretVolumeSource{SecretName: "o"}})},
				KafkaContainer: &apiv1.ContainerTemplate{VolumeMounts: test.mounts},
			}
			if len(test.volumes) == 0 {
				before.Pod.TemplatedVolumes = append(before.Pod.TemplatedVolumes, items("f"))
			}
			old := pool("brokers", 3, poolTemplate(before))
			if r := validation.KafkaNodePool(old, nil, validation.PoolFacts{}, validation.Options{}); len(r.Refusals) == 0 {
				t.Fatal("the object has no fault that could move")
			}
			r := validation.KafkaNodePool(pool("brokers", 3, poolTemplate(reversed(before))), old, validation.PoolFacts{}, validation.Options{})
			wantSaid(t, r)
		})
	}
}

func TestAnAnnotationThatExpandsWithoutEndIsRefused(t *testing.T) {
	t.Parallel()
	bomb := "a: &a [x,x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c < 'l'; c++ {
		bomb += string(c) + ": &" + string(c) + " [" + strings.Repeat("*"+string(c-1)+",", 10) + "]\n"
	}
	r := validation.KafkaNodePool(pool("brokers", 3, poolAnnotation(bomb)), nil, validation.PoolFacts{}, validation.Options{})
	wantSaid(t, r, "refuse templated-volumes-unreadable "+atText)
}
