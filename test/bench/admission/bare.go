package main

import (
	"context"
	"encoding/pem"
	"fmt"
	"net/http/httptest"
	"sync/atomic"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/test/bench/workload"
)

// bareNamespace is where admission by Sluice is switched off and a bare webhook
// is called in its place.
const bareNamespace = "bare"

// bareWebhook answers every request with yes. What the API server's calls of it
// take is the cost of any webhook on this machine.
type bareWebhook struct {
	server *httptest.Server
	calls  atomic.Int64
}

func startBareWebhook() *bareWebhook {
	b := &bareWebhook{}
	b.server = httptest.NewUnstartedServer(&webhook.Admission{Handler: admission.HandlerFunc(
		func(context.Context, admission.Request) admission.Response {
			b.calls.Add(1)
			return admission.Allowed("")
		})})
	b.server.EnableHTTP2 = true
	b.server.StartTLS()
	return b
}

// bareName is the bare webhook's for a resource.
func bareName(resource string) string { return resource + ".bare.example.com" }

// register has the API server call it for the same requests as Sluice's, in
// bareNamespace, and waits until it does.
func (w *bareWebhook) register(ctx context.Context, c client.Client) error {
	to := admissionregistrationv1.WebhookClientConfig{
		URL: ptr.To(w.server.URL), CABundle: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: w.server.Certificate().Raw}),
	}
	in := &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: bareNamespace}}
	none := ptr.To(admissionregistrationv1.SideEffectClassNone)
	rule := func(group, version, resource string, operations ...admissionregistrationv1.OperationType) []admissionregistrationv1.RuleWithOperations {
		return []admissionregistrationv1.RuleWithOperations{{Operations: operations, Rule: admissionregistrationv1.Rule{
			APIGroups: []string{group}, APIVersions: []string{version}, Resources: []string{resource},
		}}}
	}
	validating := &admissionregistrationv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "bare"}}
	for _, resource := range []string{"kafkas", "kafkatopics"} {
		validating.Webhooks = append(validating.Webhooks, admissionregistrationv1.ValidatingWebhook{
			Name: bareName(resource), ClientConfig: to, NamespaceSelector: in, SideEffects: none, AdmissionReviewVersions: []string{"v1"},
			Rules: rule(apiv1.GroupVersion.Group, apiv1.GroupVersion.Version, resource, admissionregistrationv1.Create, admissionregistrationv1.Update),
		})
	}
	mutating := &admissionregistrationv1.MutatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "bare"}}
	mutating.Webhooks = []admissionregistrationv1.MutatingWebhook{{
		Name: bareName("pods"), ClientConfig: to, NamespaceSelector: in, SideEffects: none, AdmissionReviewVersions: []string{"v1"},
		Rules: rule("", "v1", "pods", admissionregistrationv1.Create),
	}}
	for _, o := range []client.Object{validating, mutating} {
		if err := c.Create(ctx, o); err != nil {
			return fmt.Errorf("registering the bare webhook: %w", err)
		}
	}
	for _, o := range []client.Object{workload.Kafka(fresh), workload.Topic(fresh, bareTopics), podWithVolumes()} {
		if err := w.waitCalled(ctx, c, o); err != nil {
			return fmt.Errorf("waiting until the bare webhook is called for a %T: %w", o, err)
		}
	}
	return nil
}

func (w *bareWebhook) waitCalled(ctx context.Context, c client.Client, o client.Object) error {
	o.SetNamespace(bareNamespace)
	before := w.calls.Load()
	return wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, cacheTimeout, true, func(ctx context.Context) (bool, error) {
		err := c.Create(ctx, o.DeepCopyObject().(client.Object), client.DryRunAll)
		return w.calls.Load() > before, err
	})
}
