package certs

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
)

func secretOf(t *testing.T, issuedAt time.Time, validity time.Duration, hosts ...string) *corev1.Secret {
	t.Helper()
	i, err := issue(issuedAt, hosts, validity)
	if err != nil {
		t.Fatal(err)
	}
	return &corev1.Secret{Data: map[string][]byte{
		corev1.TLSCertKey: i.cert, corev1.TLSPrivateKeyKey: i.key, keyCA: i.ca,
	}}
}

func with(s *corev1.Secret, key string, value []byte) *corev1.Secret {
	s.Data[key] = value
	return s
}

func TestRenewalIsDue(t *testing.T) {
	const day = 24 * time.Hour
	other := secretOf(t, testStart, testValid, testHost)
	tests := map[string]struct {
		secret *corev1.Secret
		hosts  []string
		at     time.Duration
		// want is part of the reason; empty for a good pair.
		want      string
		keepHosts bool
	}{
		"no Secret":                           {nil, nil, 0, "there is no Secret", false},
		"a fresh pair":                        {secretOf(t, testStart, testValid, testHost), nil, 0, "", false},
		"a fresh pair of a short life":        {secretOf(t, testStart, time.Minute, testHost), nil, 0, "", false},
		"short of two thirds of its life":     {secretOf(t, testStart, testValid, testHost), nil, 60*day - time.Second, "", false},
		"two thirds of its life":              {secretOf(t, testStart, testValid, testHost), nil, 60 * day, "due for renewal", false},
		"expired":                             {secretOf(t, testStart, testValid, testHost), nil, 91 * day, "due for renewal", false},
		"made where the clock is ahead":       {secretOf(t, testStart.Add(30*time.Minute), testValid, testHost), nil, 0, "", false},
		"no data at all":                      {&corev1.Secret{}, nil, 0, "tls.crt is missing", false},
		"no key":                              {with(secretOf(t, testStart, testValid, testHost), corev1.TLSPrivateKeyKey, nil), nil, 0, "tls.key is missing", false},
		"a key of another pair":               {with(secretOf(t, testStart, testValid, testHost), corev1.TLSPrivateKeyKey, other.Data[corev1.TLSPrivateKeyKey]), nil, 0, "private key does not match", false},
		"garbage for a CA":                    {with(secretOf(t, testStart, testValid, testHost), keyCA, []byte("garbage")), nil, 0, "ca.crt", false},
		"no CA":                               {with(secretOf(t, testStart, testValid, testHost), keyCA, nil), nil, 0, "does not stand under ca.crt", false},
		"another CA":                          {with(secretOf(t, testStart, testValid, testHost), keyCA, other.Data[keyCA]), nil, 0, "does not stand under ca.crt", false},
		"a host too few":                      {secretOf(t, testStart, testValid, testHost), []string{testHost, "127.0.0.1"}, 0, "not for 127.0.0.1", true},
		"a host too many":                     {secretOf(t, testStart, testValid, testHost, "127.0.0.1"), []string{testHost}, 0, "", false},
		"an address written in another way":   {secretOf(t, testStart, testValid, testHost, "::1"), []string{"0:0:0:0:0:0:0:1"}, 0, "", false},
		"near its end and with a host to few": {secretOf(t, testStart, testValid, testHost), []string{"else"}, 80 * day, "due for renewal", false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			hosts := tc.hosts
			if hosts == nil {
				hosts = []string{testHost}
			}
			got, p := judge(tc.secret, hosts, testStart.Add(tc.at))
			if got.due() != (tc.want != "") || !strings.Contains(got.reason, tc.want) || got.keepHosts != tc.keepHosts {
				t.Errorf("judged %+v, want a reason with %q, keepHosts %v", got, tc.want, tc.keepHosts)
			}
			if !got.due() && p == nil {
				t.Error("a good pair was not returned")
			}
		})
	}
}

func TestACertificateNeedsAHost(t *testing.T) {
	if _, err := issue(testStart, nil, testValid); err == nil {
		t.Fatal("issued for nobody")
	}
}

// What the API server reads is the same whichever replica wrote it.
func TestBundleIsTheSameInAnyOrder(t *testing.T) {
	var raw []byte
	for i := range 5 {
		made, err := issue(testStart, []string{testHost}, testValid+time.Duration(i%2)*time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		raw = append(raw, made.ca...)
	}
	cas, clean := parseBundle(raw)
	if len(cas) != 5 || !clean {
		t.Fatalf("read %d CAs, clean %v", len(cas), clean)
	}
	want := string(bundleOf(cas...).encode())
	for range 20 {
		cas = append(cas[1:], cas[0])
		if got := string(bundleOf(cas...).encode()); got != want {
			t.Fatal("another order of the same CAs gave other bytes")
		}
	}
}
