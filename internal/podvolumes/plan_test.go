package podvolumes

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/validation"
)

func TestDecide(t *testing.T) {
	creds := templatedSecret("creds", "creds-{nodeId}")
	extra := templatedSecret("extra", "{nodePodName}")
	claim := apiv1.TemplatedVolume{Name: "audit", PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "audit-{nodeId}"}}
	data := corev1.Volume{Name: "data", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}
	bothHash := mustHash(t, secretVolume("creds", "creds-7"), secretVolume("extra", "c-brokers-7"))

	tests := map[string]struct {
		pod          *corev1.Pod
		owners       Owners
		wantAdd      []corev1.Volume
		wantHash     string
		wantDangling []string
		// wantWarnings are pieces of the warnings, one each and in order.
		wantWarnings []string
	}{
		"a pod that lacks nothing stays as it is, whatever its annotation says": {
			pod:    annotated(brokerPod([]string{"data"}, data), "stale"),
			owners: owners(creds),
		},
		"the whole list is added once one mount dangles": {
			pod:      brokerPod([]string{"creds"}, data),
			owners:   owners(creds, extra),
			wantAdd:  []corev1.Volume{secretVolume("creds", "creds-7"), secretVolume("extra", "c-brokers-7")},
			wantHash: bothHash,
		},
		"a mount of an init container counts": {
			pod: func() *corev1.Pod {
				p := brokerPod(nil)
				p.Spec.InitContainers = []corev1.Container{{Name: "kafka-init", VolumeMounts: []corev1.VolumeMount{{Name: "creds"}}}}
				return p
			}(),
			owners:   owners(creds),
			wantAdd:  []corev1.Volume{secretVolume("creds", "creds-7")},
			wantHash: mustHash(t, secretVolume("creds", "creds-7")),
		},
		"an incoming annotation is overwritten": {
			pod:      annotated(brokerPod([]string{"creds", "extra"}), "forged"),
			owners:   owners(creds, extra),
			wantAdd:  []corev1.Volume{secretVolume("creds", "creds-7"), secretVolume("extra", "c-brokers-7")},
			wantHash: bothHash,
		},
		"an annotation that is right already is not written": {
			pod:     annotated(brokerPod([]string{"creds", "extra"}), bothHash),
			owners:  owners(creds, extra),
			wantAdd: []corev1.Volume{secretVolume("creds", "creds-7"), secretVolume("extra", "c-brokers-7")},
		},
		"a volume that the creator made equal counts as carried, once defaulted": {
			pod:      brokerPod([]string{"creds", "extra"}, defaulted(secretVolume("creds", "creds-7"))),
			owners:   owners(creds, extra),
			wantAdd:  []corev1.Volume{secretVolume("extra", "c-brokers-7")},
			wantHash: bothHash,
		},
		"a volume that the creator made differently stands, with a warning, and is not in the hash": {
			pod:          brokerPod([]string{"creds", "extra"}, secretVolume("creds", "another")),
			owners:       owners(creds, extra),
			wantAdd:      []corev1.Volume{secretVolume("extra", "c-brokers-7")},
			wantHash:     mustHash(t, secretVolume("extra", "c-brokers-7")),
			wantWarnings: []string{"spec.volumes[creds]: the one of the pod's creator stands; it is not the templated one (Kafka c)"},
		},
		"of two entries of one name the first stands": {
			pod:          brokerPod([]string{"creds"}),
			owners:       owners(creds, templatedSecret("creds", "second")),
			wantAdd:      []corev1.Volume{secretVolume("creds", "creds-7")},
			wantHash:     mustHash(t, secretVolume("creds", "creds-7")),
			wantWarnings: []string{`spec.kafka.template.pod.templatedVolumes[1]: left out of the pod: "creds" is there already`},
		},
		"an entry that would make the pod invalid is passed over": {
			pod:      brokerPod([]string{"creds"}),
			owners:   owners(templatedSecret("Bad_Name", "s"), creds, apiv1.TemplatedVolume{Name: "none"}),
			wantAdd:  []corev1.Volume{secretVolume("creds", "creds-7")},
			wantHash: mustHash(t, secretVolume("creds", "creds-7")),
			wantWarnings: []string{
				`templatedVolumes[0]: left out of the pod: "Bad_Name" is not a volume name`,
				"templatedVolumes[2]: left out of the pod: it has no source",
			},
		},
		"an invalid entry does not stand in the way of a valid one of its name": {
			pod:          brokerPod([]string{"creds"}),
			owners:       owners(templatedSecret("creds", ""), creds),
			wantAdd:      []corev1.Volume{secretVolume("creds", "creds-7")},
			wantHash:     mustHash(t, secretVolume("creds", "creds-7")),
			wantWarnings: []string{"templatedVolumes[0]: left out of the pod: secret.secretName is empty"},
		},
		"a mount that dangles even then leaves all as it is": {
			pod:          brokerPod([]string{"creds", "foreign"}),
			owners:       owners(creds),
			wantDangling: []string{"foreign"},
			wantWarnings: []string{`nothing added, since mounts would still name no volume: "foreign" of container kafka`},
		},
		"a claim is added without defaults": {
			pod:    brokerPod([]string{"audit"}),
			owners: owners(claim),
			wantAdd: []corev1.Volume{{Name: "audit", VolumeSource: corev1.VolumeSource{
				PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "audit-7"},
			}}},
			wantHash: mustHash(t, corev1.Volume{Name: "audit", VolumeSource: corev1.VolumeSource{
				PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "audit-7"},
			}}),
		},
		"no Kafka: nothing is added": {
			pod:          brokerPod([]string{"creds"}),
			owners:       Owners{Pool: owners().Pool},
			wantDangling: []string{"creds"},
			wantWarnings: []string{"Kafka c does not exist", "nothing added"},
		},
		"no pool: nothing is added, though the Kafka has a list": {
			pod:          brokerPod([]string{"creds"}),
			owners:       Owners{Kafka: owners(creds).Kafka},
			wantDangling: []string{"creds"},
			wantWarnings: []string{"KafkaNodePool brokers does not exist", "nothing added"},
		},
		"a pool of another cluster is not the pod's": {
			pod: brokerPod([]string{"creds"}),
			owners: func() Owners {
				o := owners(creds)
				o.Pool.Labels[apiv1.LabelCluster] = "other"
				return o
			}(),
			wantDangling: []string{"creds"},
			wantWarnings: []string{`belongs to cluster "other", not to "c"`, "nothing added"},
		},
		"an annotation that cannot be read adds nothing and says so": {
			pod: brokerPod([]string{"creds"}),
			owners: func() Owners {
				o := owners(creds)
				o.Pool.Annotations = map[string]string{apiv1.AnnotationPodTemplatedVolumes: "["}
				return o
			}(),
			wantDangling: []string{"creds"},
			wantWarnings: []string{"metadata.annotations[sluice.dev/pod-templated-volumes]: ", "nothing added"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := Decide(tt.pod, broker7, tt.owners)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.wantAdd, got.Add); diff != "" {
				t.Errorf("Add (-want +got):\n%s", diff)
			}
			if got.Hash != tt.wantHash {
				t.Errorf("Hash = %q, want %q", got.Hash, tt.wantHash)
			}
			var dangling []string
			for _, m := range got.Dangling {
				dangling = append(dangling, m.Volume)
			}
			if diff := cmp.Diff(tt.wantDangling, dangling); diff != "" {
				t.Errorf("Dangling (-want +got):\n%s", diff)
			}
			checkWarnings(t, got.Warnings, tt.wantWarnings)
			if got.Reason == "" {
				t.Error("no reason is given")
			}
		})
	}
}

func checkWarnings(t *testing.T, findings []validation.Finding, want []string) {
	t.Helper()
	var got []string
	for _, f := range findings {
		got = append(got, f.Path.String()+": "+f.Message)
	}
	if len(got) != len(want) {
		t.Errorf("warnings %q, want %d", got, len(want))
		return
	}
	for i := range want {
		if !strings.Contains(got[i], want[i]) {
			t.Errorf("warning %q, want %q in it", got[i], want[i])
		}
	}
}

// The API server defaults what a patch added before it asks again.
func TestASecondPassFindsNothingToDo(t *testing.T) {
	list := owners(
		templatedSecret("creds", "creds-{nodeId}"),
		apiv1.TemplatedVolume{Name: "conf", ConfigMap: &corev1.ConfigMapVolumeSource{
			LocalObjectReference: corev1.LocalObjectReference{Name: "{nodePodName}"}, Optional: ptr.To(false),
		}},
		templatedSecret("creds", "twice"),
	)
	pod := brokerPod([]string{"creds", "conf"})
	first, err := Decide(pod, broker7, list)
	if err != nil || first.Empty() {
		t.Fatalf("the first pass plans nothing: %+v, %v", first, err)
	}
	annotated(pod, first.Hash)
	for _, v := range first.Add {
		pod.Spec.Volumes = append(pod.Spec.Volumes, defaulted(v))
	}
	second, err := Decide(pod, broker7, list)
	if err != nil || !second.Empty() || len(second.Warnings) > 0 || len(second.Dangling) > 0 {
		t.Errorf("the second pass plans %+v, %v", second, err)
	}

	// A pass that has to add one of them again finds the same hash.
	pod.Spec.Volumes = pod.Spec.Volumes[:1]
	third, err := Decide(pod, broker7, list)
	if err != nil || len(third.Add) != 1 || third.Hash != "" {
		t.Errorf("a pass after one volume went plans %+v, %v", third, err)
	}
}

func TestManyDanglingMountsAreNamedInFew(t *testing.T) {
	var mounts []string
	for i := range 60 {
		mounts = append(mounts, fmt.Sprintf("v%d", i))
	}
	plan, err := Decide(brokerPod(mounts), broker7, owners())
	if err != nil || len(plan.Dangling) != 60 {
		t.Fatalf("plan %+v, %v", plan, err)
	}
	checkWarnings(t, plan.Warnings, []string{`"v0" of container kafka, "v1" of container kafka, "v2" of container kafka and 57 more`})
}

func TestTheHashIsThatOfTheContent(t *testing.T) {
	a, b := secretVolume("a", "1"), secretVolume("b", "2")
	if mustHash(t, a, b) != mustHash(t, b, a) {
		t.Error("the order changes the hash")
	}
	if mustHash(t, a) != mustHash(t, defaulted(a)) {
		t.Error("defaulting changes the hash")
	}
	if mustHash(t, a) == mustHash(t, secretVolume("a", "2")) {
		t.Error("another Secret does not change the hash")
	}
	// Pods keep it over releases of Sluice.
	if got, want := mustHash(t, a), "2a5181ff2a08d775"; got != want {
		t.Errorf("hash = %s, want %s", got, want)
	}
}

func mustHash(t *testing.T, volumes ...corev1.Volume) string {
	t.Helper()
	h, err := Hash(volumes)
	if err != nil {
		t.Fatal(err)
	}
	return h
}
