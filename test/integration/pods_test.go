package integration

import (
	"context"
	"errors"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/test/harness"
)

// installation is the chart in an API server that ends with the test.
func installation(t *testing.T) *harness.Installation {
	t.Helper()
	in, err := controlPlane(t, harness.ControlPlaneOptions{}).InstallChart(t.Context(), os.Stderr, nil)
	if err != nil {
		t.Fatal(err)
	}
	return in
}

func TestPodsGetTheirTemplatedVolumes(t *testing.T) {
	in := installation(t)
	op, err := in.StartOperator(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := op.Stop(); err != nil {
			t.Error(err)
		}
	})
	tests := map[string]func(*testing.T, *harness.Installation, string){
		"pods of all three components are completed":               completesEachComponent,
		"a volume of the pod's creator stands":                     leavesTheCreatorsVolume,
		"a list that changed a moment ago is the one that is used": usesTheNewestList,
		"a dry run shows the same and stores nothing":              answersDryRuns,
		"what cannot be completed is for the API server to say":    leavesRefusalsToTheServer,
		"volumes that other webhooks add later are waited for":     waitsForOtherWebhooks,
		"an owner that cannot be read is no owner that is gone":    asksToTryAgain,
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			test(t, in, createNamespace(t, in, nil))
		})
	}
}

func completesEachComponent(t *testing.T, in *harness.Installation, ns string) {
	list := []apiv1.TemplatedVolume{
		templatedSecret("creds", "creds-{nodeId}"),
		{Name: "audit", PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "{nodePodName}-audit"}},
	}
	createCluster(t, in, ns, list...)
	connect := &apiv1.ConnectTemplate{Pod: &apiv1.PodTemplate{TemplatedVolumes: list}}
	createAll(t, in,
		&apiv1.KafkaConnect{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "c"}, Spec: apiv1.ConnectSpec{Template: connect}},
		&apiv1.KafkaMirrorMaker2{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "m"}, Spec: apiv1.ConnectSpec{Template: connect}},
	)
	tests := map[string]struct {
		pod  *corev1.Pod
		want []string
	}{
		"Kafka":         {brokerPod(ns, "7", "creds", "audit"), []string{"creds=secret/creds-7", "audit=claim/c-brokers-7-audit"}},
		"Connect":       {workerPod(ns, apiv1.ComponentKafkaConnect, "c", "c-connect-1", "audit"), []string{"creds=secret/creds-1", "audit=claim/c-connect-1-audit"}},
		"MirrorMaker 2": {workerPod(ns, apiv1.ComponentMirrorMaker2, "m", "m-mirrormaker2-0", "creds"), []string{"creds=secret/creds-0", "audit=claim/m-mirrormaker2-0-audit"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if err := in.Client.Create(t.Context(), tt.pod); err != nil {
				t.Fatal(err)
			}
			checkVolumes(t, tt.pod, tt.want...)
			if mode := tt.pod.Spec.Volumes[0].Secret.DefaultMode; ptr.Deref(mode, 0) != corev1.SecretVolumeSourceDefaultMode {
				t.Errorf("defaultMode = %v, want the API server's default", mode)
			}
			if tt.pod.Annotations[apiv1.AnnotationTemplatedVolumesHash] == "" {
				t.Error("the pod does not say what was added")
			}
		})
	}
}

func leavesTheCreatorsVolume(t *testing.T, in *harness.Installation, ns string) {
	createCluster(t, in, ns, templatedSecret("creds", "creds-{nodeId}"), templatedSecret("extra", "extra"))
	equal := brokerPod(ns, "0", "creds", "extra")
	equal.Spec.Volumes = []corev1.Volume{secretVolume("creds", "creds-0")}
	different := brokerPod(ns, "1", "creds", "extra")
	different.Spec.Volumes = []corev1.Volume{secretVolume("creds", "the-creators")}
	none := brokerPod(ns, "2", "creds", "extra")
	createAll(t, in, equal, different, none)

	checkVolumes(t, equal, "creds=secret/creds-0", "extra=secret/extra")
	checkVolumes(t, different, "creds=secret/the-creators", "extra=secret/extra")
	hash := func(p *corev1.Pod) string { return p.Annotations[apiv1.AnnotationTemplatedVolumesHash] }
	if hash(different) == hash(equal) {
		t.Error("the hash counts a volume in which the creator's stands")
	}
}

// The operator's cache may not have heard of the change yet.
func usesTheNewestList(t *testing.T, in *harness.Installation, ns string) {
	kafka := createCluster(t, in, ns, templatedSecret("creds", "creds-{nodeId}"))
	createAll(t, in, brokerPod(ns, "0", "creds"))
	patch := `{"metadata":{"annotations":{"sluice.dev/pod-templated-volumes":` +
		`"[{name: creds, secret: {secretName: new}}, {name: extra, configMap: {name: \"extra-{nodeId}\"}}]"}},` +
		`"spec":{"kafka":{"template":{"pod":{"templatedVolumes":null}}}}}`
	if err := in.Client.Patch(t.Context(), kafka, client.RawPatch(types.MergePatchType, []byte(patch))); err != nil {
		t.Fatal(err)
	}
	pod := brokerPod(ns, "1", "extra")
	createAll(t, in, pod)
	checkVolumes(t, pod, "creds=secret/new", "extra=configmap/extra-1")
}

func answersDryRuns(t *testing.T, in *harness.Installation, ns string) {
	createCluster(t, in, ns, templatedSecret("creds", "creds-{nodeId}"))
	pod := brokerPod(ns, "3", "creds")
	if err := in.Client.Create(t.Context(), pod, client.DryRunAll); err != nil {
		t.Fatal(err)
	}
	checkVolumes(t, pod, "creds=secret/creds-3")
	err := in.Client.Get(t.Context(), client.ObjectKeyFromObject(pod), &corev1.Pod{})
	if !apierrors.IsNotFound(err) {
		t.Errorf("after a dry run: %v, want not found", err)
	}
}

func leavesRefusalsToTheServer(t *testing.T, in *harness.Installation, ns string) {
	kafka := createCluster(t, in, ns, templatedSecret("creds", "creds-{nodeId}"))
	copied := brokerPod(ns, "0", "creds")
	copied.Name = "copy"
	generated := brokerPod(ns, "0", "creds")
	generated.Name, generated.GenerateName = "", "copy-"
	for name, pod := range map[string]*corev1.Pod{
		"a mount of a volume that nobody has": brokerPod(ns, "0", "creds", "other"),
		"a copy made for debugging":           copied,
		"a copy with a generated name":        generated,
		"a worker without an owner":           workerPod(ns, apiv1.ComponentKafkaConnect, "none", "none-connect-0", "creds"),
	} {
		t.Run(name, func(t *testing.T) { wantServersOwnRefusal(t, in, pod) })
	}
	t.Run("an owner that was deleted", func(t *testing.T) {
		if err := in.Client.Delete(t.Context(), kafka); err != nil {
			t.Fatal(err)
		}
		// Until the operator's cache hears of it, pods are completed as before.
		pod := brokerPod(ns, "0", "creds")
		err := wait.PollUntilContextTimeout(t.Context(), 20*time.Millisecond, 30*time.Second, true,
			func(ctx context.Context) (bool, error) {
				return in.Client.Create(ctx, pod.DeepCopy(), client.DryRunAll) != nil, nil
			})
		if err != nil {
			t.Fatalf("waiting until the operator hears that the owner is gone: %v", err)
		}
		wantServersOwnRefusal(t, in, pod)
	})
}

// wantServersOwnRefusal checks that a pod is refused as it would be without
// Sluice: not for now, but as invalid.
func wantServersOwnRefusal(t *testing.T, in *harness.Installation, pod *corev1.Pod) {
	t.Helper()
	err := in.Client.Create(t.Context(), pod)
	if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "volumeMounts[0].name") && !strings.Contains(err.Error(), "volumeMounts[1].name") {
		t.Errorf("creating the pod: %v, want that a mount is invalid", err)
	}
}

// asksToTryAgain takes the operator's roles away. What its watches saw is in its
// cache all the same, so only an owner that was never there has to be read.
func asksToTryAgain(t *testing.T, in *harness.Installation, ns string) {
	restore := revokeRoles(t, in)
	pod := workerPod(ns, apiv1.ComponentKafkaConnect, "late", "late-connect-0", "creds")
	err := in.Client.Create(t.Context(), pod.DeepCopy())
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Code != http.StatusServiceUnavailable {
		t.Errorf("creating a pod whose owner cannot be read: %v, want a refusal with 503", err)
	} else if !strings.Contains(err.Error(), "KafkaConnect "+ns+"/late could not be read") {
		t.Errorf("the refusal does not say what could not be read: %v", err)
	}
	restore()
	createAll(t, in, &apiv1.KafkaConnect{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "late"},
		Spec: apiv1.ConnectSpec{Template: &apiv1.ConnectTemplate{Pod: &apiv1.PodTemplate{
			TemplatedVolumes: []apiv1.TemplatedVolume{templatedSecret("creds", "creds-{nodeId}")},
		}}},
	})
	createAll(t, in, pod)
	checkVolumes(t, pod, "creds=secret/creds-0")
}

// revokeRoles takes the chart's cluster roles away until restore is called.
func revokeRoles(t *testing.T, in *harness.Installation) (restore func()) {
	t.Helper()
	var bindings rbacv1.ClusterRoleBindingList
	if err := in.Client.List(t.Context(), &bindings); err != nil {
		t.Fatal(err)
	}
	var taken []client.Object
	var user string
	for i := range bindings.Items {
		b := &bindings.Items[i]
		for _, s := range b.Subjects {
			if s.Kind == rbacv1.ServiceAccountKind && s.Namespace == harness.Namespace {
				user = "system:serviceaccount:" + s.Namespace + ":" + s.Name
				taken = append(taken, b)
				break
			}
		}
	}
	if len(taken) == 0 {
		t.Fatal("the chart binds no cluster role, so there is nothing to take away")
	}
	for _, b := range taken {
		if err := in.Client.Delete(t.Context(), b.DeepCopyObject().(client.Object)); err != nil {
			t.Fatal(err)
		}
	}
	waitAllowed(t, in, user, false)
	back := func() {
		for _, b := range taken {
			b.SetResourceVersion("")
			if err := in.Client.Create(context.WithoutCancel(t.Context()), b); err != nil {
				t.Fatal(err)
			}
		}
		taken = nil
		waitAllowed(t, in, user, true)
	}
	t.Cleanup(func() {
		if len(taken) > 0 {
			back()
		}
	})
	return back
}
