package integration

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	certmanagerv1 "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"
	cmmeta "github.com/cert-manager/cert-manager/pkg/apis/meta/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/test/harness"
)

// hourly has the delays of shortRotation, and the shortest validity that
// cert-manager allows (MinimumCertificateDuration of its API).
var hourly = map[string]any{"propagationDelay": "5s", "retireAfter": "8s", "validity": "1h"}

// withCertManager are values that have cert-manager issue the certificate.
func withCertManager(issuerRef map[string]any) map[string]any {
	certManager := map[string]any{"enabled": true}
	if issuerRef != nil {
		certManager["issuerRef"] = issuerRef
	}
	return map[string]any{
		"certManager":  certManager,
		"certificates": hourly,
	}
}

// certManagerControlPlane is an API server with cert-manager's controllers.
func certManagerControlPlane(t *testing.T) *harness.ControlPlane {
	t.Helper()
	cp := controlPlane(t, harness.ControlPlaneOptions{})
	if err := cp.StartCertManager(t.Context(), os.Stderr); err != nil {
		t.Fatal(err)
	}
	return cp
}

var servingCert = client.ObjectKey{Namespace: harness.Namespace, Name: "sluice"}

// waitReady waits until cert-manager says that the object is Ready.
func waitReady(t *testing.T, cp *harness.ControlPlane, object client.Object, key client.ObjectKey) {
	t.Helper()
	said := "nothing yet"
	err := wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		if err := cp.Client.Get(ctx, key, object); err != nil {
			return false, err
		}
		var ready bool
		said, ready = readyCondition(object)
		return ready, nil
	})
	if err != nil {
		log, _ := os.ReadFile(filepath.Join(cp.Dir, "cert-manager.log"))
		t.Fatalf("waiting for %T %s to be Ready: %v; it says: %s\n%s", object, key, err, said, log)
	}
}

func readyCondition(object client.Object) (said string, ready bool) {
	switch o := object.(type) {
	case *certmanagerv1.Certificate:
		for _, c := range o.Status.Conditions {
			if c.Type == certmanagerv1.CertificateConditionReady {
				return c.Message, c.Status == cmmeta.ConditionTrue
			}
		}
	case *certmanagerv1.Issuer:
		return issuerCondition(o.Status)
	case *certmanagerv1.ClusterIssuer:
		return issuerCondition(o.Status)
	}
	return "no condition", false
}

func issuerCondition(status certmanagerv1.IssuerStatus) (said string, ready bool) {
	for _, c := range status.Conditions {
		if c.Type == certmanagerv1.IssuerConditionReady {
			return c.Message, c.Status == cmmeta.ConditionTrue
		}
	}
	return "no condition", false
}

// reissue asks for a new certificate in the way of `cmctl renew`.
func reissue(t *testing.T, cp *harness.ControlPlane, key client.ObjectKey) {
	t.Helper()
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		c := &certmanagerv1.Certificate{}
		if err := cp.Client.Get(t.Context(), key, c); err != nil {
			return err
		}
		now := metav1.Now()
		c.Status.Conditions = append(c.Status.Conditions, certmanagerv1.CertificateCondition{
			Type: certmanagerv1.CertificateConditionIssuing, Status: cmmeta.ConditionTrue, LastTransitionTime: &now,
			Reason: "ManuallyTriggered", Message: "Certificate re-issuance manually triggered", ObservedGeneration: c.Generation,
		})
		return cp.Client.Status().Update(t.Context(), c)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// issued are the serial number of the certificate in a Secret, and the CA that
// stands beside it.
func issued(t *testing.T, c client.Client, secret string) (serial, ca string) {
	t.Helper()
	s := &corev1.Secret{}
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: harness.Namespace, Name: secret}, s); err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(s.Data[corev1.TLSCertKey])
	if block == nil {
		t.Fatalf("Secret %s has no certificate", secret)
	}
	leaf, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	return leaf.SerialNumber.String(), string(s.Data["ca.crt"])
}

// servesWhatIsIssued fails the test where the replicas serve another
// certificate than cert-manager's, or the API server comes to trust another CA.
// It waits, since a replica that read the configurations while another was
// retiring a CA may publish that once more.
func (r *replicas) servesWhatIsIssued(t *testing.T, served string) (ca string) {
	t.Helper()
	serial, ca := issued(t, r.Client, "sluice-serving-cert")
	if serial != served {
		t.Errorf("served is certificate %s, cert-manager issued %s", served, serial)
	}
	var bundles [][]byte
	err := wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, 30*time.Second, true, func(ctx context.Context) (done bool, err error) {
		bundles, err = r.bundles(ctx)
		return !slices.ContainsFunc(bundles, func(b []byte) bool {
			return strings.TrimSpace(string(b)) != strings.TrimSpace(ca)
		}), err
	})
	if err != nil {
		t.Errorf("waiting for the webhooks' bundles to be the CA: %v; they are\n%s\nthe CA\n%s", err, bytes.Join(bundles, []byte("\n")), ca)
	}
	return ca
}

func TestCertManagerRenewsUnderLoadWithoutARefusedRequest(t *testing.T) {
	cp := certManagerControlPlane(t)
	r := runReplicas(t, cp, withCertManager(nil))
	waitReady(t, cp, &certmanagerv1.Issuer{}, servingCert)
	waitReady(t, cp, &certmanagerv1.Certificate{}, servingCert)
	first := r.settled(t, "")
	r.servesWhatIsIssued(t, first)

	l := startLoad(t, r)
	reissue(t, cp, servingCert)
	second := r.settled(t, first)
	r.servesWhatIsIssued(t, second)
	t.Log("Rotated after a manual renewal")

	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: harness.Namespace, Name: "sluice-serving-cert"}}
	if err := r.Client.Delete(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	third := r.settled(t, second)
	r.servesWhatIsIssued(t, third)
	t.Log("Rotated after the Secret was deleted")
	l.end(t, r)
	waitReady(t, cp, &certmanagerv1.Certificate{}, servingCert)
}

// A company's own CA stays the same when the serving certificate is renewed,
// and is replaced itself some day.
func TestCertManagerIssuesFromACompanysCA(t *testing.T) {
	cp := certManagerControlPlane(t)
	companyCA(t, cp)
	r := runReplicas(t, cp, withCertManager(map[string]any{"name": "company", "kind": "ClusterIssuer", "group": "cert-manager.io"}))
	waitReady(t, cp, &certmanagerv1.Certificate{}, servingCert)
	first := r.settled(t, "")
	ca := r.servesWhatIsIssued(t, first)
	if _, root := issued(t, cp.Client, "company-ca"); root != ca {
		t.Errorf("the CA is\n%s, want the company's\n%s", ca, root)
	}

	l := startLoad(t, r)
	reissue(t, cp, servingCert)
	second := r.settled(t, first)
	if got := r.servesWhatIsIssued(t, second); got != ca {
		t.Errorf("the CA changed from\n%s\nto\n%s", ca, got)
	}
	t.Log("Rotated under the same CA")

	old, _ := issued(t, cp.Client, "company-ca")
	reissue(t, cp, client.ObjectKey{Namespace: harness.Namespace, Name: "company-ca"})
	err := wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
		now, _ := issued(t, cp.Client, "company-ca")
		return now != old, nil
	})
	if err != nil {
		t.Fatalf("waiting for another CA: %v", err)
	}
	reissue(t, cp, servingCert)
	third := r.settled(t, second)
	if got := r.servesWhatIsIssued(t, third); got == ca {
		t.Error("the CA is still the old one")
	}
	t.Log("Rotated under another CA")
	l.end(t, r)
}

// companyCA makes a ClusterIssuer company, whose CA is in the Secret company-ca.
func companyCA(t *testing.T, cp *harness.ControlPlane) {
	t.Helper()
	meta := metav1.ObjectMeta{Namespace: harness.Namespace, Name: "company-ca"}
	issuer := &certmanagerv1.Issuer{ObjectMeta: meta}
	issuer.Spec.SelfSigned = &certmanagerv1.SelfSignedIssuer{}
	root := &certmanagerv1.Certificate{ObjectMeta: meta, Spec: certmanagerv1.CertificateSpec{
		IsCA: true, CommonName: "company", SecretName: "company-ca",
		PrivateKey: &certmanagerv1.CertificatePrivateKey{Algorithm: certmanagerv1.ECDSAKeyAlgorithm, RotationPolicy: certmanagerv1.RotationPolicyAlways},
		IssuerRef:  cmmeta.IssuerReference{Name: "company-ca", Kind: "Issuer", Group: "cert-manager.io"},
	}}
	company := &certmanagerv1.ClusterIssuer{ObjectMeta: metav1.ObjectMeta{Name: "company"}}
	company.Spec.CA = &certmanagerv1.CAIssuer{SecretName: "company-ca"}
	for _, o := range []client.Object{issuer, root, company} {
		if err := cp.Client.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	waitReady(t, cp, company, client.ObjectKey{Name: "company"})
}

// An upgrade that changes who issues the certificate passes through a time when
// replicas of both modes share the Secret; they agree throughout.
func TestCertManagerTakesOverAndHandsBack(t *testing.T) {
	cp := certManagerControlPlane(t)
	r := runReplicas(t, cp, map[string]any{"certificates": hourly})
	own := r.settled(t, "")

	if err := r.Upgrade(t.Context(), os.Stderr, withAbsentKafka(withCertManager(nil))); err != nil {
		t.Fatal(err)
	}
	r.replace(t, 0)
	waitReady(t, cp, &certmanagerv1.Certificate{}, servingCert)
	taken := r.settled(t, own)
	r.servesWhatIsIssued(t, taken)
	r.replace(t, 1)
	if got := r.settled(t, ""); got != taken {
		t.Errorf("the second replica of cert-manager's mode changed the certificate from %s to %s", taken, got)
	}

	if err := r.Upgrade(t.Context(), os.Stderr, withAbsentKafka(map[string]any{"certificates": hourly})); err != nil {
		t.Fatal(err)
	}
	for n := range r.ports {
		r.replace(t, n)
	}
	if got := r.settled(t, ""); got != taken {
		t.Errorf("handing back changed a good certificate from %s to %s", taken, got)
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: harness.Namespace, Name: "sluice-serving-cert"}}
	if err := r.Client.Delete(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	r.servesWhatIsIssued(t, r.settled(t, taken))
	if logs := r.logs(t); strings.Contains(logs, "forbidden") {
		t.Errorf("the chart's roles lack something:\n%s", logs)
	}
}

// An operator that comes before cert-manager is not ready, says what it waits
// for, and needs no restart.
func TestOperatorWaitsForCertManager(t *testing.T) {
	cp := controlPlane(t, harness.ControlPlaneOptions{})
	if err := cp.InstallCertManagerCRDs(t.Context()); err != nil {
		t.Fatal(err)
	}
	in, err := cp.InstallChart(t.Context(), os.Stderr, withCertManager(nil))
	if err != nil {
		t.Fatal(err)
	}
	type started struct {
		op  *harness.Operator
		err error
	}
	ready := make(chan started, 1)
	go func() {
		op, err := in.StartOperator(t.Context())
		ready <- started{op, err}
	}()
	log := filepath.Join(in.Dir, "operator-1", "log")
	err = wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
		raw, err := os.ReadFile(log)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return false, err
		}
		return strings.Contains(string(raw), "Waiting for cert-manager") && strings.Contains(string(raw), "kubectl describe certificate"), nil
	})
	if err != nil {
		raw, _ := os.ReadFile(log)
		t.Errorf("waiting for the operator to say what it waits for: %v\n%s", err, raw)
	}
	select {
	case s := <-ready:
		if s.op != nil {
			s.op.Kill()
		}
		t.Fatalf("the operator is ready without a certificate, or failed: %v", s.err)
	default:
	}
	if err := cp.StartCertManager(t.Context(), os.Stderr); err != nil {
		t.Error(err)
	}
	s := <-ready
	if s.err != nil {
		t.Fatal(s.err)
	}
	t.Cleanup(s.op.Kill)
	topic := &apiv1.KafkaTopic{ObjectMeta: metav1.ObjectMeta{Name: "blanks", Namespace: "default"}}
	topic.Spec.TopicName = new(string)
	*topic.Spec.TopicName = "no blanks"
	if err := cp.Client.Create(t.Context(), topic); err == nil || !strings.Contains(err.Error(), "spec.topicName") {
		t.Errorf("a bad topic was not refused for its name: %v", err)
	}
}

// Without cert-manager's CRDs Helm refuses as a whole, and names what is
// missing.
func TestHelmNamesWhatIsMissingWithoutCertManager(t *testing.T) {
	cp := controlPlane(t, harness.ControlPlaneOptions{})
	helm, chart, err := harness.Helm(t.Context(), os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	install := func(args ...string) (string, error) {
		cmd := exec.CommandContext(t.Context(), helm, append([]string{"install", "sluice", chart, "--namespace", harness.Namespace,
			"--create-namespace", "--kubeconfig", cp.Kubeconfig}, args...)...)
		raw, err := cmd.CombinedOutput()
		return string(raw), err
	}
	out, err := install("--set", "certManager.enabled=true")
	if err == nil {
		t.Fatalf("the chart was installed:\n%s", out)
	}
	for _, want := range []string{`no matches for kind "Certificate" in version "cert-manager.io/v1"`, "CRDs"} {
		if !strings.Contains(out, want) {
			t.Errorf("Helm does not say %q but\n%s", want, out)
		}
	}
	crds := &apiextensionsv1.CustomResourceDefinitionList{}
	if err := cp.Client.List(t.Context(), crds); err != nil {
		t.Fatal(err)
	}
	if len(crds.Items) > 0 {
		t.Errorf("Helm left %d CRDs behind", len(crds.Items))
	}
	// The failure stands in nobody's way.
	if out, err := install(); err != nil {
		t.Error(fmt.Errorf("installing without cert-manager after that: %w\n%s", err, out))
	}
}
