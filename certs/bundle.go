package certs

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"slices"
	"time"
)

// bundle is a set of CAs; each is in it once.
type bundle map[fingerprint]*x509.Certificate

func bundleOf(cas ...*x509.Certificate) bundle {
	b := bundle{}
	b.add(cas)
	return b
}

func (b bundle) add(cas []*x509.Certificate) {
	for _, ca := range cas {
		b[fingerprintOf(ca)] = ca
	}
}

func (b bundle) contains(cas []*x509.Certificate) bool {
	for _, ca := range cas {
		if _, ok := b[fingerprintOf(ca)]; !ok {
			return false
		}
	}
	return true
}

func (b bundle) equal(other bundle) bool {
	if len(b) != len(other) {
		return false
	}
	for fp := range b {
		if _, ok := other[fp]; !ok {
			return false
		}
	}
	return true
}

// encode is the bundle as PEM, the longest valid CA first: the same set always
// gives the same bytes, whichever replica writes them.
func (b bundle) encode() []byte {
	cas := make([]*x509.Certificate, 0, len(b))
	for _, ca := range b {
		cas = append(cas, ca)
	}
	slices.SortFunc(cas, func(x, y *x509.Certificate) int {
		if c := y.NotAfter.Compare(x.NotAfter); c != 0 {
			return c
		}
		return bytes.Compare(x.Raw, y.Raw)
	})
	var out []byte
	for _, ca := range cas {
		out = append(out, encodeCertificate(ca.Raw)...)
	}
	return out
}

// parseBundle reads PEM certificates. clean is false where anything else stood
// between them or one could not be read; those that could are returned anyway.
func parseBundle(raw []byte) (cas []*x509.Certificate, clean bool) {
	clean = true
	for len(bytes.TrimSpace(raw)) > 0 {
		block, rest := pem.Decode(raw)
		if block == nil {
			return cas, false
		}
		raw = rest
		ca, err := x509.ParseCertificate(block.Bytes)
		if err != nil || block.Type != "CERTIFICATE" {
			clean = false
			continue
		}
		cas = append(cas, ca)
	}
	return cas, clean
}

// strangers remembers since when a CA has been seen in the published bundles
// that neither the served nor the coming pair needs.
type strangers map[fingerprint]time.Time

// planBundle decides which CAs the webhook configurations have to carry, given
// those that they carry now. What the served and the coming pair need is always
// in it. Other CAs stay for the retirement delay, since another replica may
// still serve a pair that stands under them, and go at once when they expire.
//
// It returns the strangers that are left, and how long until the first of them
// is to go; zero where there is none.
func planBundle(
	now time.Time, retireAfter time.Duration, needed, published bundle, seen strangers,
) (want bundle, left strangers, next time.Duration) {
	want, left = bundle{}, strangers{}
	for fp, ca := range needed {
		want[fp] = ca
	}
	for fp, ca := range published {
		if _, ok := want[fp]; ok || now.After(ca.NotAfter) {
			continue
		}
		since, ok := seen[fp]
		if !ok {
			since = now
		}
		wait := retireAfter - now.Sub(since)
		if wait <= 0 {
			continue
		}
		want[fp], left[fp] = ca, since
		if next == 0 || wait < next {
			next = wait
		}
	}
	return want, left, next
}
