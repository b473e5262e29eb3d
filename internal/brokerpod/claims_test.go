package brokerpod_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sluice-kafka/sluice/internal/brokerpod"
)

func claim(t *testing.T, kafka, pool string) *corev1.PersistentVolumeClaim {
	t.Helper()
	in, _ := read(t, "plain")
	claims, err := brokerpod.Claims(changed(t, in, kafka, pool))
	if err != nil || len(claims) != 1 {
		t.Fatalf("got %d claims, %v", len(claims), err)
	}
	return claims[0]
}

func TestClaimChange(t *testing.T) {
	t.Parallel()
	const goes = `{spec: {storage: {deleteClaim: true}}}`
	for name, tc := range map[string]struct {
		before   string
		pool     string
		kafka    string
		want     []string
		wantSize string
		wantUIDs []string
	}{
		"nothing":                    {wantUIDs: []string{"someone"}},
		"a larger disk":              {pool: `{spec: {storage: {size: 200Gi}}}`, want: []string{"size 200Gi"}, wantSize: "200Gi", wantUIDs: []string{"someone"}},
		"a smaller one is not tried": {pool: `{spec: {storage: {size: 50Gi}}}`, wantUIDs: []string{"someone"}},
		"the same in other words":    {pool: `{spec: {storage: {size: 102400Mi}}}`, wantUIDs: []string{"someone"}},
		"another class cannot be":    {pool: `{spec: {storage: {class: fast, selector: {a: b}}}}`, wantUIDs: []string{"someone"}},
		"another attributes class": {
			pool: `{spec: {storage: {volumeAttributesClass: gold}}}`, want: []string{"volume attributes class gold"}, wantUIDs: []string{"someone"},
		},
		"it is to go with its node": {
			pool: goes, want: []string{"annotations strimzi.io/delete-claim", "owners"},
			wantUIDs: []string{"someone", "11111111-1111-1111-1111-111111111111"},
		},
		"it is to stay after all": {
			before: goes, want: []string{"annotations strimzi.io/delete-claim", "owners"}, wantUIDs: []string{"someone"},
		},
		"the Kafka was made anew": {
			before: goes, pool: goes, kafka: `{metadata: {uid: "2"}}`, want: []string{"owners"}, wantUIDs: []string{"someone", "2"},
		},
		"a label": {
			kafka: `{spec: {kafka: {template: {persistentVolumeClaim: {metadata: {labels: {a: b}}}}}}}`,
			want:  []string{"labels a"}, wantUIDs: []string{"someone"},
		},
		"two things": {
			pool: `{spec: {storage: {size: 1Ti}, template: {persistentVolumeClaim: {metadata: {annotations: {c: d}}}}}}`,
			want: []string{"annotations c", "size 1Ti"}, wantSize: "1Ti", wantUIDs: []string{"someone"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			live := claim(t, "", tc.before)
			// What others and the API server add.
			live.ResourceVersion = "7"
			live.Labels["theirs"] = "1"
			live.Annotations["pv.kubernetes.io/bind-completed"] = "yes"
			live.OwnerReferences = append([]metav1.OwnerReference{{APIVersion: "v1", Kind: "Thing", UID: "someone"}}, live.OwnerReferences...)
			live.Spec.VolumeName = "pv-1"
			asSeen := live.DeepCopy()

			change, what := brokerpod.ClaimChange(live, claim(t, tc.kafka, tc.pool))
			if diff := cmp.Diff(tc.want, what); diff != "" {
				t.Errorf("what changes (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(asSeen, live); diff != "" {
				t.Errorf("the claim that was seen changed:\n%s", diff)
			}
			if (change == nil) != (tc.want == nil) {
				t.Fatalf("got change %v", change)
			}
			if change == nil {
				return
			}
			size := change.Spec.Resources.Requests[corev1.ResourceStorage]
			if want := tc.wantSize; want == "" && size.String() != "100Gi" || want != "" && size.String() != want {
				t.Errorf("size %s, want %s", size.String(), want)
			}
			var uids []string
			for _, o := range change.OwnerReferences {
				uids = append(uids, string(o.UID))
			}
			if diff := cmp.Diff(tc.wantUIDs, uids); diff != "" {
				t.Errorf("owners (-want +got):\n%s", diff)
			}
			if change.Labels["theirs"] != "1" || change.Annotations["pv.kubernetes.io/bind-completed"] != "yes" ||
				change.Spec.VolumeName != "pv-1" || change.ResourceVersion != "7" {
				t.Errorf("what others wrote is lost: %+v", change)
			}
			if again, what := brokerpod.ClaimChange(change, claim(t, tc.kafka, tc.pool)); again != nil {
				t.Errorf("changed once, it is to be changed again: %v", what)
			}
		})
	}
}

func TestClaimsThatCannotBeMade(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ pool, want string }{
		"no size":                       {`{spec: {storage: {size: ""}}}`, "KafkaNodePool dual: spec.storage.size: a persistent claim needs a size"},
		"a size that is none":           {`{spec: {storage: {size: 10 GB}}}`, `KafkaNodePool dual: spec.storage.size: "10 GB"`},
		"the same of a JBOD volume":     {`{spec: {storage: {type: jbod, volumes: [{id: 5, type: ephemeral}, {id: 2, type: persistent-claim, size: x}]}}}`, `spec.storage.volumes[1].size: "x"`},
		"a selector that is none":       {`{spec: {storage: {selector: nvme}}}`, "spec.storage.selector: "},
		"labels of the template's pool": {`{spec: {template: {persistentVolumeClaim: {metadata: {labels: {a: [1]}}}}}}`, "KafkaNodePool dual: spec.template.persistentVolumeClaim.metadata.labels[a]: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in, _ := read(t, "plain")
			_, err := brokerpod.Claims(changed(t, in, "", tc.pool))
			if !errors.Is(err, brokerpod.ErrInvalid) || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want ErrInvalid with %s", err, tc.want)
			}
		})
	}
}

func TestAnEphemeralDiskHasNoClaim(t *testing.T) {
	t.Parallel()
	in, _ := read(t, "controller")
	if claims, err := brokerpod.Claims(in); err != nil || len(claims) != 0 {
		t.Errorf("got %v, %v", claims, err)
	}
}
