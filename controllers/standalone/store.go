package standalone

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"

	"software.sslmate.com/src/go-pkcs12"

	"github.com/sluice-kafka/sluice/internal/kafka"
	"github.com/sluice-kafka/sluice/internal/options"
)

// javaStore begins a file in Java's own format for stores (JavaKeyStore.MAGIC).
var javaStore = []byte{0xfe, 0xed, 0xfe, 0xed}

// trustStore reads CAs from a PKCS #12 file, those that are marked as trusted; Java
// trusts no others of such a file either.
func (l *login) trustStore(data map[string][]byte) error {
	raw, err := l.readStore(l.TrustStore)
	if err != nil {
		return err
	}
	cas, err := pkcs12.DecodeTrustStore(raw, string(l.TrustStore.Password))
	if err != nil {
		return badStore(l.TrustStore, err)
	}
	var out bytes.Buffer
	for _, ca := range cas {
		writeCertificate(&out, ca)
	}
	data[kafka.KeyBrokerCA] = out.Bytes()
	return nil
}

// keyStore reads the client's certificate and key from a PKCS #12 file.
func (l *login) keyStore(data map[string][]byte) error {
	raw, err := l.readStore(l.KeyStore)
	if err != nil {
		return err
	}
	key, own, chain, err := pkcs12.DecodeChain(raw, string(l.KeyStore.Password))
	if err != nil {
		return badStore(l.KeyStore, err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return badStore(l.KeyStore, err)
	}
	var certificates, private bytes.Buffer
	writeCertificate(&certificates, own)
	for _, c := range chain {
		writeCertificate(&certificates, c)
	}
	_ = pem.Encode(&private, &pem.Block{Type: "PRIVATE KEY", Bytes: der}) // a buffer takes all
	data[kafka.KeyTLSCertificate], data[kafka.KeyTLSKey] = certificates.Bytes(), private.Bytes()
	return nil
}

func (l *login) readStore(store options.Store) ([]byte, error) {
	raw, err := os.ReadFile(l.path(store.Path))
	if err != nil {
		return nil, fmt.Errorf("reading a store of certificates: %w", err)
	}
	if bytes.HasPrefix(raw, javaStore) {
		return nil, fmt.Errorf("%s is in Java's own format, which Sluice does not read: convert it with "+
			"keytool -importkeystore -srckeystore OLD -destkeystore NEW -deststoretype PKCS12", store.Path)
	}
	return raw, nil
}

func badStore(store options.Store, err error) error {
	if errors.Is(err, pkcs12.ErrIncorrectPassword) {
		return fmt.Errorf("%s is not opened by the password that is given for it", store.Path)
	}
	return fmt.Errorf("%s must be a PKCS #12 file: %w", store.Path, err)
}

func writeCertificate(out *bytes.Buffer, c *x509.Certificate) {
	_ = pem.Encode(out, &pem.Block{Type: "CERTIFICATE", Bytes: c.Raw}) // a buffer takes all
}
