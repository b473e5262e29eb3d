package certs

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"math/rand"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

const (
	testHost  = "sluice.sluice.svc"
	testDelay = 30 * time.Second
	testGrace = time.Hour
	testValid = 90 * 24 * time.Hour
)

var testStart = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// world is an API server's store with a clock, and counts what is written.
type world struct {
	t      *testing.T
	clock  *clocktesting.FakeClock
	client client.WithWatch
	// writes by verb and kind.
	writes map[string]int
	// failPatch is returned by the next patches where set.
	failPatch error
	// history is what the validating configuration's first webhook carried, and
	// since when.
	history []published
}

type published struct {
	since time.Time
	pem   []byte
}

func newWorld(t *testing.T, objects ...client.Object) *world {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, clock: clocktesting.NewFakeClock(testStart), writes: map[string]int{}}
	w.client = fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithInterceptorFuncs(interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			w.writes[fmt.Sprintf("create %T", o)]++
			return c.Create(ctx, o, opts...)
		},
		Update: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.UpdateOption) error {
			w.writes[fmt.Sprintf("update %T", o)]++
			return c.Update(ctx, o, opts...)
		},
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
			w.writes[fmt.Sprintf("patch %T", o)]++
			if w.failPatch != nil {
				return w.failPatch
			}
			err := c.Patch(ctx, o, p, opts...)
			w.note()
			return err
		},
	}).Build()
	w.note()
	return w
}

// note remembers the published bundle where it changed.
func (w *world) note() {
	c := &admissionv1.ValidatingWebhookConfiguration{}
	if err := w.client.Get(w.t.Context(), client.ObjectKey{Name: "sluice"}, c); err != nil {
		return
	}
	pem := c.Webhooks[0].ClientConfig.CABundle
	if n := len(w.history); n == 0 || !bytes.Equal(w.history[n-1].pem, pem) {
		w.history = append(w.history, published{since: w.clock.Now(), pem: pem})
	}
}

func (w *world) replica() *keeper {
	return &keeper{
		Options: Options{
			Mode: ModeSelfSigned, Namespace: "sluice", SecretName: "sluice-serving-cert", Hosts: []string{testHost},
			ValidatingConfiguration: "sluice", MutatingConfiguration: "sluice",
			Validity: testValid, PropagationDelay: testDelay, RetireAfter: testGrace, Clock: w.clock,
		},
		reader: w.client, writer: w.client, source: NewSource(w.clock), missing: map[string]bool{},
	}
}

// turn runs one turn of a replica, which may lose a race.
func (w *world) turn(k *keeper) {
	w.t.Helper()
	if _, err := k.Reconcile(w.t.Context(), reconcile.Request{}); err != nil {
		w.t.Fatalf("turn: %v", err)
	}
}

// settle runs turns of the replicas until the time has passed.
func (w *world) settle(d time.Duration, replicas ...*keeper) {
	w.t.Helper()
	step := max(10*time.Second, d/30)
	for end := w.clock.Now().Add(d); w.clock.Now().Before(end); w.clock.Step(step) {
		for _, k := range replicas {
			w.turn(k)
		}
	}
}

func (w *world) bundles() [][]byte {
	w.t.Helper()
	v, m := &admissionv1.ValidatingWebhookConfiguration{}, &admissionv1.MutatingWebhookConfiguration{}
	for _, o := range []client.Object{v, m} {
		if err := w.client.Get(w.t.Context(), client.ObjectKey{Name: "sluice"}, o); err != nil {
			w.t.Fatal(err)
		}
	}
	var out [][]byte
	for _, o := range []client.Object{v, m} {
		for _, cc := range clients(o) {
			out = append(out, cc.CABundle)
		}
	}
	return out
}

func (w *world) setSecret(change func(*corev1.Secret)) {
	w.t.Helper()
	s := &corev1.Secret{}
	key := client.ObjectKey{Namespace: "sluice", Name: "sluice-serving-cert"}
	if err := w.client.Get(w.t.Context(), key, s); err != nil {
		w.t.Fatal(err)
	}
	change(s)
	if err := w.client.Update(w.t.Context(), s); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) deleteSecret() {
	w.t.Helper()
	s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "sluice", Name: "sluice-serving-cert"}}
	if err := w.client.Delete(w.t.Context(), s); err != nil {
		w.t.Fatal(err)
	}
}

// trusted tells whether an API server with the bundle accepts what k serves.
func (w *world) trusted(k *keeper, bundlePEM []byte) error {
	cert, err := k.source.GetCertificate(nil)
	if err != nil {
		return err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(bundlePEM)
	_, err = cert.Leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: testHost, CurrentTime: w.clock.Now()})
	return err
}

func (w *world) mustTrust(k *keeper) {
	w.t.Helper()
	for i, b := range w.bundles() {
		if err := w.trusted(k, b); err != nil {
			w.t.Fatalf("webhook %d: an API server would refuse what is served: %v", i, err)
		}
	}
}

func configurations() []client.Object {
	url := admissionv1.WebhookClientConfig{URL: ptr.To("https://127.0.0.1:9443/x")}
	return []client.Object{
		&admissionv1.ValidatingWebhookConfiguration{
			ObjectMeta: metav1.ObjectMeta{Name: "sluice"},
			Webhooks: []admissionv1.ValidatingWebhook{
				{Name: "topics.sluice.dev", ClientConfig: url, TimeoutSeconds: ptr.To[int32](5)},
				{Name: "pools.sluice.dev", ClientConfig: url},
			},
		},
		&admissionv1.MutatingWebhookConfiguration{
			ObjectMeta: metav1.ObjectMeta{Name: "sluice"},
			Webhooks:   []admissionv1.MutatingWebhook{{Name: "pods.sluice.dev", ClientConfig: url}},
		},
	}
}

func TestFirstReplicaMakesThePairAndTheSecondAdoptsIt(t *testing.T) {
	w := newWorld(t, configurations()...)
	a, b := w.replica(), w.replica()
	if err := a.source.Ready(nil); !errors.Is(err, ErrNotLoaded) {
		t.Fatalf("ready before the first turn: %v", err)
	}
	w.turn(a)
	w.turn(b)
	if !a.source.served().same(b.source.served()) {
		t.Fatal("the replicas serve different certificates")
	}
	w.mustTrust(a)
	if err := a.source.Ready(nil); err != nil {
		t.Fatalf("not ready: %v", err)
	}
	want := map[string]int{
		"create *v1.Secret": 1, "patch *v1.ValidatingWebhookConfiguration": 1, "patch *v1.MutatingWebhookConfiguration": 1,
	}
	if fmt.Sprint(w.writes) != fmt.Sprint(want) {
		t.Fatalf("writes: %v, want %v", w.writes, want)
	}
	c := &admissionv1.ValidatingWebhookConfiguration{}
	if err := w.client.Get(t.Context(), client.ObjectKey{Name: "sluice"}, c); err != nil {
		t.Fatal(err)
	}
	if len(c.Webhooks) != 2 || c.Webhooks[0].Name != "topics.sluice.dev" || *c.Webhooks[0].TimeoutSeconds != 5 {
		t.Fatalf("the patch changed more than the bundle: %+v", c.Webhooks)
	}
}

func TestBothReplicasFindNoSecretAtOnce(t *testing.T) {
	w := newWorld(t, configurations()...)
	a, b := w.replica(), w.replica()
	// b looks while a is about to write: it sees the store as before.
	b.reader = blindToSecrets{w.client}
	w.turn(a)
	w.turn(b)
	if b.source.served() != nil {
		t.Fatal("the loser serves a pair of its own")
	}
	b.reader = w.client
	w.turn(b)
	if !a.source.served().same(b.source.served()) {
		t.Fatal("the loser did not adopt the winner's pair")
	}
	w.mustTrust(b)
}

func TestAConfigurationThatGoesIsSaidOnce(t *testing.T) {
	w := newWorld(t, configurations()...)
	k := w.replica()
	var said []string
	ctx := log.IntoContext(t.Context(), funcr.New(func(_, args string) {
		if strings.Contains(args, "Failed to find") {
			said = append(said, args)
		}
	}, funcr.Options{}))
	turn := func(times, want int) {
		t.Helper()
		for range times {
			if _, err := k.turn(ctx); err != nil {
				t.Fatal(err)
			}
		}
		if len(said) != want {
			t.Fatalf("said %q, want %d", said, want)
		}
	}
	turn(2, 0)
	validating := &admissionv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "sluice"}}
	for times := 1; times <= 2; times++ {
		if err := w.client.Delete(ctx, validating.DeepCopy()); err != nil {
			t.Fatal(err)
		}
		turn(3, times)
		if err := w.client.Create(ctx, validating.DeepCopy()); err != nil {
			t.Fatal(err)
		}
		turn(2, times)
	}
	if !strings.Contains(said[0], "ValidatingWebhookConfiguration") {
		t.Errorf("%q does not say which", said[0])
	}
}

// blindToSecrets sees the store as it was before there was any Secret.
type blindToSecrets struct{ client.Reader }

func (s blindToSecrets) Get(ctx context.Context, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	if _, ok := o.(*corev1.Secret); ok {
		key.Name = "absent"
	}
	return s.Reader.Get(ctx, key, o, opts...)
}

// A replica that read the configurations before another published must not take
// that back, whatever it makes of them.
func TestPublicationFromAnOldReadIsRefused(t *testing.T) {
	w := newWorld(t, configurations()...)
	a, b := w.replica(), w.replica()
	old, err := b.readConfigurations(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	w.turn(a)
	foreign, err := issue(testStart, []string{"else"}, testValid)
	if err != nil {
		t.Fatal(err)
	}
	cas, _ := parseBundle(foreign.ca)
	if err := b.publish(t.Context(), old, bundleOf(cas...)); !lostRace(err) {
		t.Fatalf("error %v, want conflicts", err)
	}
	w.mustTrust(a)
}

func TestQuietOnceConverged(t *testing.T) {
	w := newWorld(t, configurations()...)
	a, b := w.replica(), w.replica()
	w.settle(time.Minute, a, b)
	clear(w.writes)
	w.settle(10*time.Minute, a, b)
	if len(w.writes) > 0 {
		t.Fatalf("writes on converged input: %v", w.writes)
	}
}

func TestRenewalServesTheOldPairUntilTheNewOneIsTrusted(t *testing.T) {
	w := newWorld(t, configurations()...)
	a := w.replica()
	w.turn(a)
	first := a.source.served()
	w.clock.SetTime(renewalTime(first).Add(time.Second))
	w.turn(a)
	if !a.source.served().same(first) {
		t.Fatal("served the new pair at once")
	}
	cas, _ := parseBundle(w.bundles()[0])
	if len(cas) != 2 {
		t.Fatalf("%d CAs published in the overlap, want the old and the new", len(cas))
	}
	w.settle(testDelay+20*time.Second, a)
	if a.source.served().same(first) {
		t.Fatal("still serves the old pair after the propagation delay")
	}
	w.settle(testGrace+10*time.Minute, a)
	cas, _ = parseBundle(w.bundles()[0])
	if len(cas) != 1 || !cas[0].Equal(a.source.served().cas[0]) {
		t.Fatalf("%d CAs are left after the retirement delay, want the new one alone", len(cas))
	}
	w.mustTrust(a)
}

// Replicas turn in any order, pause, restart and lose the Secret, and API
// servers see a changed configuration late: nobody is ever refused.
func TestNoRequestIsRefusedWhateverTheOrder(t *testing.T) {
	for seed := range int64(4) {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			w := newWorld(t, configurations()...)
			random := rand.New(rand.NewSource(seed))
			replicas := []*keeper{w.replica(), w.replica(), w.replica()}
			w.settle(2*testDelay, replicas...)
			rotations := 0
			for step := range 500 {
				w.clock.Step(time.Duration(random.Intn(10)) * time.Second)
				w.turn(replicas[random.Intn(len(replicas))])
				switch {
				case step%200 == 50:
					w.deleteSecret()
					rotations++
				case step%200 == 150:
					w.setSecret(func(s *corev1.Secret) { s.Data[corev1.TLSCertKey] = []byte("garbage") })
					rotations++
				case step%97 == 0:
					i := random.Intn(len(replicas))
					replicas[i] = w.replica()
				}
				w.checkLateAPIServers(replicas)
			}
			w.settle(testGrace+10*time.Minute, replicas...)
			w.settle(testGrace+10*time.Minute, replicas...)
			cas, _ := parseBundle(w.bundles()[0])
			if len(cas) != 1 {
				t.Fatalf("%d CAs are left at the end of %d rotations, want 1", len(cas), rotations)
			}
		})
	}
}

// checkLateAPIServers holds each ready replica against every bundle that an API
// server may still see.
func (w *world) checkLateAPIServers(replicas []*keeper) {
	w.t.Helper()
	for i, k := range replicas {
		if k.source.Ready(nil) != nil {
			// Just restarted: no request is routed to it.
			continue
		}
		for j := len(w.history) - 1; j >= 0; j-- {
			p := w.history[j]
			superseded := j+1 < len(w.history) && w.clock.Since(w.history[j+1].since) >= testDelay
			if superseded || len(p.pem) == 0 {
				break
			}
			if err := w.trusted(k, p.pem); err != nil {
				w.t.Fatalf("%s: replica %d is refused by an API server that sees the bundle of %s: %v",
					w.clock.Now().Format(time.TimeOnly), i, p.since.Format(time.TimeOnly), err)
			}
		}
	}
}

func TestOverwrittenBundleIsRepaired(t *testing.T) {
	foreign, err := issue(testStart, []string{"else"}, testValid)
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		overwrite []byte
		wantCAs   int
		afterward int
	}{
		"with nothing":                    {nil, 1, 1},
		"with what is no certificate":     {[]byte("-----BEGIN NONSENSE-----"), 1, 1},
		"with a certificate and nonsense": {append(bytes.Clone(foreign.ca), "nonsense"...), 2, 1},
		// Another replica may be serving under it.
		"with another CA": {foreign.ca, 2, 1},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, configurations()...)
			a := w.replica()
			w.turn(a)
			c := &admissionv1.ValidatingWebhookConfiguration{}
			if err := w.client.Get(t.Context(), client.ObjectKey{Name: "sluice"}, c); err != nil {
				t.Fatal(err)
			}
			c.Webhooks[1].ClientConfig.CABundle = tc.overwrite
			if err := w.client.Update(t.Context(), c); err != nil {
				t.Fatal(err)
			}
			w.turn(a)
			w.mustTrust(a)
			cas, clean := parseBundle(w.bundles()[1])
			if !clean || len(cas) != tc.wantCAs {
				t.Fatalf("repaired to %d CAs (clean %v), want %d", len(cas), clean, tc.wantCAs)
			}
			w.settle(testGrace+10*time.Minute, a)
			if cas, _ := parseBundle(w.bundles()[1]); len(cas) != tc.afterward {
				t.Fatalf("%d CAs in the end, want %d", len(cas), tc.afterward)
			}
		})
	}
}

func TestFailedPublicationKeepsTheOldPair(t *testing.T) {
	w := newWorld(t, configurations()...)
	a := w.replica()
	w.turn(a)
	first := a.source.served()
	w.deleteSecret()
	w.failPatch = errors.New("no way")
	for range 20 {
		w.clock.Step(time.Minute)
		if _, err := a.Reconcile(t.Context(), reconcile.Request{}); !errors.Is(err, w.failPatch) {
			t.Fatalf("error %v, want the patch's", err)
		}
	}
	if !a.source.served().same(first) {
		t.Fatal("serves a pair that nobody trusts")
	}
	w.failPatch = nil
	w.settle(2*testDelay, a)
	if a.source.served().same(first) {
		t.Fatal("did not recover")
	}
	w.mustTrust(a)
}

func TestExpiredPairIsReplacedAtOnce(t *testing.T) {
	w := newWorld(t, configurations()...)
	a := w.replica()
	w.turn(a)
	w.clock.Step(2 * testValid)
	if err := a.source.Ready(nil); !errors.Is(err, ErrExpired) {
		t.Fatalf("ready with an expired certificate: %v", err)
	}
	b := w.replica() // started after a long stop
	w.turn(b)
	w.mustTrust(b)
	w.turn(a)
	w.mustTrust(a)
}

func TestReplicasThatWantDifferentHostsAgree(t *testing.T) {
	w := newWorld(t, configurations()...)
	a, b := w.replica(), w.replica()
	a.Hosts = []string{testHost, "10.0.0.7"}
	b.Hosts = []string{testHost, "sluice.example.com"}
	w.settle(5*time.Minute, a, b)
	clear(w.writes)
	w.settle(5*time.Minute, a, b)
	if len(w.writes) > 0 {
		t.Fatalf("the replicas undo each other's work: %v", w.writes)
	}
	for _, h := range []string{testHost, "10.0.0.7", "sluice.example.com"} {
		if err := a.source.served().leaf().VerifyHostname(h); err != nil {
			t.Error(err)
		}
	}
}

func TestCertManagerFillsTheSecret(t *testing.T) {
	w := newWorld(t, configurations()...)
	a := w.replica()
	a.Mode = ModeCertManager
	w.turn(a)
	if a.source.served() != nil || len(w.writes) > 0 {
		t.Fatalf("without a Secret: serves %v, wrote %v", a.source.served(), w.writes)
	}
	put := func() *pair {
		fresh, err := issue(w.clock.Now(), []string{testHost}, testValid)
		if err != nil {
			t.Fatal(err)
		}
		data := map[string][]byte{corev1.TLSCertKey: fresh.cert, corev1.TLSPrivateKeyKey: fresh.key, keyCA: fresh.ca}
		p, err := parsePair(data)
		if err != nil {
			t.Fatal(err)
		}
		s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "sluice", Name: "sluice-serving-cert"}, Data: data}
		if err := w.client.Create(t.Context(), s); err != nil {
			w.setSecret(func(s *corev1.Secret) { s.Data = data })
		}
		return p
	}
	first := put()
	w.turn(a)
	if !a.source.served().same(first) {
		t.Fatal("does not serve cert-manager's pair")
	}
	w.mustTrust(a)
	second := put()
	w.turn(a)
	if !a.source.served().same(first) {
		t.Fatal("served the new pair before anyone could trust it")
	}
	w.mustTrust(a)
	w.settle(2*testDelay, a)
	if !a.source.served().same(second) {
		t.Fatal("does not serve the renewed pair")
	}
	clear(w.writes)
	w.setSecret(func(s *corev1.Secret) { s.Data[corev1.TLSPrivateKeyKey] = []byte("garbage") })
	clear(w.writes)
	if _, err := a.Reconcile(t.Context(), reconcile.Request{}); err == nil {
		t.Fatal("garbage from cert-manager went unsaid")
	}
	w.mustTrust(a)
	if len(w.writes) > 0 {
		t.Fatalf("wrote over cert-manager's Secret: %v", w.writes)
	}
}

func TestSourceSpeaksTLS13Alone(t *testing.T) {
	c := &tls.Config{}
	NewSource(clocktesting.NewFakeClock(testStart)).Configure(c)
	if c.MinVersion != tls.VersionTLS13 {
		t.Fatalf("minimum version %x", c.MinVersion)
	}
	if _, err := c.GetCertificate(nil); !errors.Is(err, ErrNotLoaded) {
		t.Fatalf("error %v, want ErrNotLoaded", err)
	}
}
