package kafka

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"time"
)

// Authority signs certificates.
type Authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

// NewAuthority makes a CA of that name.
func NewAuthority(name string) (*Authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("making the CA %s: %w", name, err)
	}
	template, err := unsigned(Subject{Name: name})
	if err != nil {
		return nil, fmt.Errorf("making the CA %s: %w", name, err)
	}
	template.IsCA, template.BasicConstraintsValid = true, true
	template.KeyUsage = x509.KeyUsageCertSign
	raw, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("making the CA %s: %w", name, err)
	}
	certificate, err := x509.ParseCertificate(raw)
	if err != nil {
		return nil, fmt.Errorf("making the CA %s: %w", name, err)
	}
	return &Authority{certificate: certificate, key: key}, nil
}

// Subject is whom a certificate is for.
type Subject struct {
	// Name is the common name.
	Name string
	// Hosts are names and IP addresses.
	Hosts []string
	// NotAfter is when it ends; in a day if zero.
	NotAfter time.Time
}

func unsigned(s Subject) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	if err != nil {
		return nil, err
	}
	now := time.Now()
	t := &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: s.Name},
		NotBefore:    now.Add(-24 * time.Hour),
		NotAfter:     s.NotAfter,
	}
	if t.NotAfter.IsZero() {
		t.NotAfter = now.Add(24 * time.Hour)
	}
	for _, host := range s.Hosts {
		if ip := net.ParseIP(host); ip != nil {
			t.IPAddresses = append(t.IPAddresses, ip)
		} else {
			t.DNSNames = append(t.DNSNames, host)
		}
	}
	return t, nil
}

// CA is the authority's own certificate in PEM form.
func (a *Authority) CA() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.certificate.Raw})
}

// Issue makes a certificate for servers and clients, and its key, in PEM form (the
// key in PKCS #8, the only one that Kafka reads).
func (a *Authority) Issue(s Subject) (certificate, key []byte, err error) {
	t, err := unsigned(s)
	if err != nil {
		return nil, nil, fmt.Errorf("issuing a certificate for %s: %w", s.Name, err)
	}
	t.KeyUsage = x509.KeyUsageDigitalSignature
	t.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, fmt.Errorf("issuing a certificate for %s: %w", s.Name, err)
	}
	raw, err := x509.CreateCertificate(rand.Reader, t, a.certificate, private.Public(), a.key)
	if err != nil {
		return nil, nil, fmt.Errorf("issuing a certificate for %s: %w", s.Name, err)
	}
	encoded, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return nil, nil, fmt.Errorf("issuing a certificate for %s: %w", s.Name, err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: encoded}), nil
}
