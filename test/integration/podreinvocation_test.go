package integration

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	jsonpatch "gomodules.xyz/jsonpatch/v2"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/sluice-kafka/sluice/test/harness"
)

// waitsForOtherWebhooks lets another webhook, which the API server asks after
// Sluice's, add a volume that a mount names: Sluice can complete the pod only
// when it is asked again.
func waitsForOtherWebhooks(t *testing.T, in *harness.Installation, ns string) {
	asked := otherWebhook(t, in, ns)
	createCluster(t, in, ns, templatedSecret("creds", "creds-{nodeId}"))

	pod := brokerPod(ns, "0", "creds", "foreign")
	createAll(t, in, pod)
	checkVolumes(t, pod, "foreign=secret/of-another", "creds=secret/creds-0")

	// Where Sluice could complete the pod at once, it is not asked again: the
	// match condition sees that nothing lacks.
	pod = brokerPod(ns, "1", "creds")
	createAll(t, in, pod)
	checkVolumes(t, pod, "creds=secret/creds-1", "foreign=secret/of-another")
	if asked.Load() == 0 {
		t.Error("the other webhook was never asked")
	}
}

// otherWebhook adds a volume named foreign to every pod of a namespace.
func otherWebhook(t *testing.T, in *harness.Installation, ns string) (asked *atomic.Int32) {
	t.Helper()
	asked = &atomic.Int32{}
	handler, err := admission.StandaloneWebhook(&admission.Webhook{
		Handler: admission.HandlerFunc(func(_ context.Context, req admission.Request) admission.Response {
			asked.Add(1)
			return addForeign(req)
		}),
	}, admission.StandaloneOptions{})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewTLSServer(handler)
	t.Cleanup(server.Close)

	config := &admissionregistrationv1.MutatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "zz-another"},
		Webhooks: []admissionregistrationv1.MutatingWebhook{{
			Name:                    "another.example.org",
			AdmissionReviewVersions: []string{"v1"},
			SideEffects:             ptr.To(admissionregistrationv1.SideEffectClassNone),
			ClientConfig: admissionregistrationv1.WebhookClientConfig{
				URL:      &server.URL,
				CABundle: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}),
			},
			NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: ns}},
			Rules: []admissionregistrationv1.RuleWithOperations{{
				Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
				Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods"}},
			}},
		}},
	}
	createAll(t, in, config)
	t.Cleanup(func() {
		if err := in.Client.Delete(context.WithoutCancel(t.Context()), config); err != nil {
			t.Error(err)
		}
	})
	waitAsked(t, in, ns, asked)
	return asked
}

func addForeign(req admission.Request) admission.Response {
	var pod corev1.Pod
	if err := json.Unmarshal(req.Object.Raw, &pod); err != nil {
		return admission.Errored(400, err)
	}
	foreign := secretVolume("foreign", "of-another")
	if len(pod.Spec.Volumes) == 0 {
		return admission.Patched("", jsonpatch.NewOperation("add", "/spec/volumes", []corev1.Volume{foreign}))
	}
	return admission.Patched("", jsonpatch.NewOperation("add", "/spec/volumes/-", foreign))
}
