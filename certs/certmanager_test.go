package certs

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// authority is a CA of somebody else's.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

// sign makes a certificate under the authority, or one that signs itself where
// it is nil.
func (a *authority) sign(t *testing.T, template *x509.Certificate) *authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	if template.SerialNumber, err = newSerial(); err != nil {
		t.Fatal(err)
	}
	template.BasicConstraintsValid = true
	parent, signer := template, key
	if a != nil {
		parent, signer = a.certificate, a.key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return &authority{certificate, key}
}

func (a *authority) ca(t *testing.T, name string, validity time.Duration) *authority {
	t.Helper()
	return a.sign(t, &x509.Certificate{
		Subject: pkix.Name{CommonName: name}, NotBefore: testStart.Add(-time.Hour), NotAfter: testStart.Add(validity),
		IsCA: true, KeyUsage: x509.KeyUsageCertSign,
	})
}

func (a *authority) leaf(t *testing.T, hosts ...string) *authority {
	t.Helper()
	return a.sign(t, &x509.Certificate{
		Subject: pkix.Name{CommonName: "sluice"}, NotBefore: testStart, NotAfter: testStart.Add(testValid),
		DNSNames: hosts, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	})
}

// secretData is what cert-manager writes: the leaf with its chain, and the CA.
func (a *authority) secretData(t *testing.T, ca *authority, chain ...*authority) map[string][]byte {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(a.key)
	if err != nil {
		t.Fatal(err)
	}
	data := map[string][]byte{
		corev1.TLSCertKey:       encodeCertificate(a.certificate.Raw),
		corev1.TLSPrivateKeyKey: pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}),
	}
	for _, c := range chain {
		data[corev1.TLSCertKey] = append(data[corev1.TLSCertKey], encodeCertificate(c.certificate.Raw)...)
	}
	if ca != nil {
		data[keyCA] = encodeCertificate(ca.certificate.Raw)
	}
	return data
}

func certManagerSecret(data map[string][]byte) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "sluice", Name: "sluice-serving-cert"}, Data: data}
}

func TestWhatCertManagerIssuedIsServedWhereAPIServersTrustIt(t *testing.T) {
	root := (*authority)(nil).ca(t, "root", 2*testValid)
	between := root.ca(t, "between", 2*testValid)
	other := (*authority)(nil).ca(t, "root", 2*testValid)
	past := (*authority)(nil).ca(t, "past", -time.Minute)
	self := (*authority)(nil).leaf(t, testHost)
	tests := map[string]struct {
		data map[string][]byte
		// want is part of the error; empty where it is served.
		want []string
	}{
		"under the root":                           {root.leaf(t, testHost).secretData(t, root), nil},
		"signed by itself":                         {self.secretData(t, self), nil},
		"with a chain to the root":                 {between.leaf(t, testHost).secretData(t, root, between), nil},
		"under a CA that is not a root":            {between.leaf(t, testHost).secretData(t, between), nil},
		"without a CA, for all know its authority": {root.leaf(t, testHost).secretData(t, nil), nil},
		"for more hosts than are called":           {root.leaf(t, "example.com", testHost).secretData(t, root), nil},
		"for any host of the namespace":            {root.leaf(t, "*.sluice.svc").secretData(t, root), nil},

		"without the chain to the root":    {between.leaf(t, testHost).secretData(t, root), []string{"does not stand under ca.crt", "issuer"}},
		"beside another CA of this name":   {root.leaf(t, testHost).secretData(t, other), []string{"does not stand under ca.crt"}},
		"under a CA that has expired":      {past.leaf(t, testHost).secretData(t, past), []string{"does not stand under ca.crt", "expired"}},
		"for another host":                 {root.leaf(t, "example.com").secretData(t, root), []string{"for [example.com]", testHost, "dnsNames"}},
		"for another host, without any CA": {root.leaf(t, "example.com").secretData(t, nil), []string{"for [example.com]"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, append(configurations(), certManagerSecret(tc.data))...)
			k := w.replica()
			k.Mode = ModeCertManager
			_, err := k.Reconcile(t.Context(), reconcile.Request{})
			if served := k.source.served() != nil; served != (tc.want == nil) {
				t.Errorf("served: %v, error %v", served, err)
			}
			if (err != nil) != (tc.want != nil) {
				t.Fatalf("error %v, want one that says %q", err, tc.want)
			}
			for _, want := range tc.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %v does not say %q", err, want)
				}
			}
		})
	}
}

// An issuer that gives out something else from one day to the next stops
// nothing: the certificate that API servers trust goes on being served.
func TestUntrustedRenewalLeavesTheOldPair(t *testing.T) {
	root, other := (*authority)(nil).ca(t, "root", 2*testValid), (*authority)(nil).ca(t, "other", 2*testValid)
	w := newWorld(t, append(configurations(), certManagerSecret(root.leaf(t, testHost).secretData(t, root)))...)
	k := w.replica()
	k.Mode = ModeCertManager
	w.turn(k)
	before := k.source.served()
	w.setSecret(func(s *corev1.Secret) { s.Data = root.leaf(t, testHost).secretData(t, other) })
	for range 3 {
		if _, err := k.Reconcile(t.Context(), reconcile.Request{}); err == nil {
			t.Error("the certificate was taken without a word")
		}
		w.clock.Step(testDelay)
	}
	if !k.source.served().same(before) {
		t.Error("the old certificate is no longer served")
	}
	w.mustTrust(k)

	w.setSecret(func(s *corev1.Secret) { s.Data = root.leaf(t, testHost).secretData(t, root) })
	w.settle(2*testDelay, k)
	if k.source.served().same(before) {
		t.Error("a good certificate after that is not served")
	}
	w.mustTrust(k)
}

// A CA may be replaced beside a certificate that stays, as when it is signed
// anew with the same key.
func TestChangedCABesideTheSameCertificateIsPublished(t *testing.T) {
	root := (*authority)(nil).ca(t, "root", 2*testValid)
	leaf := root.leaf(t, testHost)
	der, err := x509.CreateCertificate(rand.Reader, root.certificate, root.certificate, root.key.Public(), root.key)
	if err != nil {
		t.Fatal(err)
	}
	again, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	if again.Equal(root.certificate) {
		t.Fatal("both CAs are the same")
	}
	w := newWorld(t, append(configurations(), certManagerSecret(leaf.secretData(t, root)))...)
	k := w.replica()
	k.Mode = ModeCertManager
	w.turn(k)
	w.setSecret(func(s *corev1.Secret) { s.Data = leaf.secretData(t, &authority{again, root.key}) })
	w.settle(2*testGrace, k)
	for _, b := range w.bundles() {
		if string(b) != string(encodeCertificate(again.Raw)) {
			t.Errorf("the bundle is\n%s, want the new CA alone", b)
		}
	}
	w.mustTrust(k)
}

// cert-manager must not take a self-signed pair for one of its own.
func TestSelfSignedPairSaysWhoMadeIt(t *testing.T) {
	w := newWorld(t, configurations()...)
	k := w.replica()
	said := func() string {
		s := &corev1.Secret{}
		if err := w.client.Get(t.Context(), k.secretKey(), s); err != nil {
			t.Fatal(err)
		}
		return s.Annotations[annotationIssuer]
	}
	w.turn(k)
	if got := said(); got != issuerSelf {
		t.Errorf("the first Secret says %q", got)
	}
	w.setSecret(func(s *corev1.Secret) { s.Annotations[annotationIssuer], s.Data = "company", nil })
	w.turn(k)
	if got := said(); got != issuerSelf {
		t.Errorf("a Secret that was cert-manager's says %q", got)
	}
}
