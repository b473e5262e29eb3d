package certs

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"slices"
	"time"

	cmmeta "github.com/cert-manager/cert-manager/pkg/apis/meta/v1"
	corev1 "k8s.io/api/core/v1"
)

// keyCA is the key of the CA's certificates in the Secret. In self-signed mode it
// is the same, so that one mode can follow the other in the same Secret.
const keyCA = cmmeta.TLSCAKey

// backdating lets a replica or API server whose clock is behind accept a
// certificate that was just made.
const backdating = time.Hour

// fingerprint identifies a certificate.
type fingerprint [sha256.Size]byte

func fingerprintOf(c *x509.Certificate) fingerprint { return sha256.Sum256(c.Raw) }

// pair is a serving certificate with its key and the CAs that vouch for it.
type pair struct {
	// certificate is the chain and the key; its Leaf is set.
	certificate tls.Certificate
	// cas are empty where the Secret names none: then the certificate is from an
	// authority that the API server trusts without a caBundle.
	cas []*x509.Certificate
}

func (p *pair) leaf() *x509.Certificate { return p.certificate.Leaf }

// same tells whether both are the same certificate under the same CAs; nil is
// the same as nil.
func (p *pair) same(other *pair) bool {
	if p == nil || other == nil {
		return p == other
	}
	return p.leaf().Equal(other.leaf()) && bundleOf(p.cas...).equal(bundleOf(other.cas...))
}

// vouchedFor tells why an API server that has the CAs in its bundle would not
// trust the certificate; nil where it would. Whether the certificate itself is
// valid now is another matter.
func (p *pair) vouchedFor(now time.Time) error {
	roots, between := x509.NewCertPool(), x509.NewCertPool()
	for _, ca := range p.cas {
		roots.AddCert(ca)
	}
	for _, der := range p.certificate.Certificate[1:] {
		ca, err := x509.ParseCertificate(der)
		if err != nil {
			return fmt.Errorf("reading the chain in %s: %w", corev1.TLSCertKey, err)
		}
		between.AddCert(ca)
	}
	at := now
	if at.Before(p.leaf().NotBefore) {
		at = p.leaf().NotBefore
	} else if at.After(p.leaf().NotAfter) {
		at = p.leaf().NotAfter
	}
	_, err := p.leaf().Verify(x509.VerifyOptions{
		Roots:         roots,
		Intermediates: between,
		CurrentTime:   at,
		KeyUsages:     []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	})
	return err
}

func (p *pair) expired(now time.Time) bool { return now.After(p.leaf().NotAfter) }

// hosts that the certificate is for, sorted.
func (p *pair) hosts() []string {
	hosts := slices.Clone(p.leaf().DNSNames)
	for _, ip := range p.leaf().IPAddresses {
		hosts = append(hosts, ip.String())
	}
	slices.Sort(hosts)
	return hosts
}

// parsePair reads the pair in the Secret's data.
func parsePair(data map[string][]byte) (*pair, error) {
	for _, key := range []string{corev1.TLSCertKey, corev1.TLSPrivateKeyKey} {
		if len(data[key]) == 0 {
			return nil, fmt.Errorf("key %s is missing or empty", key)
		}
	}
	certificate, err := tls.X509KeyPair(data[corev1.TLSCertKey], data[corev1.TLSPrivateKeyKey])
	if err != nil {
		return nil, fmt.Errorf("reading %s with %s: %w", corev1.TLSCertKey, corev1.TLSPrivateKeyKey, err)
	}
	if certificate.Leaf == nil {
		if certificate.Leaf, err = x509.ParseCertificate(certificate.Certificate[0]); err != nil {
			return nil, fmt.Errorf("reading %s: %w", corev1.TLSCertKey, err)
		}
	}
	cas, clean := parseBundle(data[keyCA])
	if !clean {
		return nil, fmt.Errorf("key %s does not hold PEM certificates alone", keyCA)
	}
	return &pair{certificate: certificate, cas: cas}, nil
}

// issued is a new pair in the form that the Secret holds.
type issued struct{ cert, key, ca []byte }

// issue makes a CA and a serving certificate for the hosts, which are DNS names
// or IP addresses. Both are valid for the same time from now. The CA's key is
// forgotten at once: it never leaves this function, so nothing that can be read
// anywhere lets anyone sign another certificate that the API server would trust.
func issue(now time.Time, hosts []string, validity time.Duration) (issued, error) {
	if len(hosts) == 0 {
		return issued{}, errors.New("a serving certificate needs at least one host")
	}
	notBefore, notAfter := now.Add(-backdating), now.Add(validity)
	ca, caKey, caDER, err := issueCA(notBefore, notAfter)
	if err != nil {
		return issued{}, err
	}
	serial, err := newSerial()
	if err != nil {
		return issued{}, err
	}
	leaf := &x509.Certificate{
		SerialNumber:          serial,
		Subject:               pkix.Name{CommonName: "sluice"},
		NotBefore:             notBefore,
		NotAfter:              notAfter,
		KeyUsage:              x509.KeyUsageDigitalSignature,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true,
	}
	for _, h := range hosts {
		if ip := net.ParseIP(h); ip != nil {
			leaf.IPAddresses = append(leaf.IPAddresses, ip)
		} else {
			leaf.DNSNames = append(leaf.DNSNames, h)
		}
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return issued{}, fmt.Errorf("generating the serving key: %w", err)
	}
	leafDER, err := x509.CreateCertificate(rand.Reader, leaf, ca, key.Public(), caKey)
	if err != nil {
		return issued{}, fmt.Errorf("signing the serving certificate: %w", err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return issued{}, fmt.Errorf("encoding the serving key: %w", err)
	}
	return issued{
		cert: encodeCertificate(leafDER),
		key:  pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER}),
		ca:   encodeCertificate(caDER),
	}, nil
}

func issueCA(notBefore, notAfter time.Time) (*x509.Certificate, *ecdsa.PrivateKey, []byte, error) {
	serial, err := newSerial()
	if err != nil {
		return nil, nil, nil, err
	}
	// A subject of its own, so that two CAs in one bundle are told apart by
	// verifiers that look at names alone.
	template := &x509.Certificate{
		SerialNumber:          serial,
		Subject:               pkix.Name{CommonName: fmt.Sprintf("sluice-ca-%x", serial.Bytes()[:4])},
		NotBefore:             notBefore,
		NotAfter:              notAfter,
		KeyUsage:              x509.KeyUsageCertSign,
		IsCA:                  true,
		MaxPathLenZero:        true,
		BasicConstraintsValid: true,
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("generating the CA's key: %w", err)
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("signing the CA: %w", err)
	}
	ca, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("reading the CA back: %w", err)
	}
	return ca, key, der, nil
}

// newSerial has 127 random bits with the top one set: positive, and never
// short, as RFC 5280 (4.1.2.2) allows up to 20 octets.
func newSerial() (*big.Int, error) {
	limit := new(big.Int).Lsh(big.NewInt(1), 126)
	n, err := rand.Int(rand.Reader, limit)
	if err != nil {
		return nil, fmt.Errorf("drawing a serial number: %w", err)
	}
	return n.Add(n, limit), nil
}

func encodeCertificate(der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}
