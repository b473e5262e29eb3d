// Package standalone reads how to connect to Kafka from where Strimzi's topic operator
// is given it: Secrets, stores and mounted files.
package standalone

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sluice-kafka/sluice/internal/kafka"
	"github.com/sluice-kafka/sluice/internal/options"
)

// Folders that Strimzi's Deployments up to 0.51 mount certificates at, and their
// content (topic-operator/scripts/tls_prepare_certificates.sh): the CAs of the brokers,
// and the operator's own certificate.
const (
	brokerCAs       = "/etc/cluster-ca-certs"
	caSuffix        = ".crt"
	ownCertificates = "/etc/eto-certs"
	ownCertificate  = "entity-operator.crt"
	ownKey          = "entity-operator.key"
)

// secretLimit bounds the reading of one Secret.
const secretLimit = 30 * time.Second

// login reads how to connect to Kafka, anew each time that it is asked.
type login struct {
	options.TopicOnlyLogin
	secrets client.Reader
	// root has the files; "" for the machine's own.
	root string
}

// Login returns a function that reads how to connect, from what the settings name, as
// it is each time that it is called. It fails if a named file is not as it should be.
func Login(settings options.TopicOnlyLogin, secrets client.Reader) (func(context.Context) (kafka.Security, error), error) {
	l := &login{TopicOnlyLogin: settings, secrets: secrets}
	return l.security, l.files()
}

// security reads everything that is named, now.
func (l *login) security(ctx context.Context) (kafka.Security, error) {
	data := l.Data.Bytes()
	if l.TLS {
		if err := errors.Join(l.trust(ctx, data), l.identify(ctx, data)); err != nil {
			return kafka.Security{}, err
		}
	}
	return kafka.SecurityOf(data)
}

// files tells what is wrong with the files that variables name. Others, and Secrets,
// may still come.
func (l *login) files() error {
	if !l.TLS {
		return nil
	}
	data := map[string][]byte{}
	var errs []error
	if l.TrustSecret.Name == "" && l.TrustStore.Path != "" {
		errs = append(errs, l.trustStore(data))
	}
	if l.KeySecret.Name == "" && l.KeyStore.Path != "" {
		errs = append(errs, l.keyStore(data))
	}
	return errors.Join(errs...)
}

// trust finds the CAs of the brokers: in a Secret, a store or mounted files; the
// system's count where there are none of these.
func (l *login) trust(ctx context.Context, data map[string][]byte) error {
	switch {
	case l.TrustSecret.Name != "":
		secret, err := l.secret(ctx, l.TrustSecret)
		if err != nil {
			return err
		}
		data[kafka.KeyBrokerCA] = allCAs(secret)
		if len(data[kafka.KeyBrokerCA]) == 0 {
			return fmt.Errorf("the Secret %s/%s has no CA: put each under a key that ends in %s", l.TrustSecret.Namespace, l.TrustSecret.Name, caSuffix)
		}
		return nil
	case l.TrustStore.Path != "":
		return l.trustStore(data)
	case l.SystemCA:
		return nil
	}
	return l.mountedCAs(data)
}

func (l *login) mountedCAs(data map[string][]byte) error {
	mounted := map[string][]byte{}
	// Files of a mounted Secret are links to a folder that is replaced as a whole.
	entries, err := os.ReadDir(l.path(brokerCAs))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("looking for the CAs of the brokers: %w", err)
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), caSuffix) {
			continue
		}
		if mounted[e.Name()], err = os.ReadFile(l.path(brokerCAs, e.Name())); err != nil {
			return fmt.Errorf("reading a CA of the brokers: %w", err)
		}
	}
	if len(mounted) == 0 {
		return nil
	}
	if data[kafka.KeyBrokerCA] = allCAs(mounted); len(data[kafka.KeyBrokerCA]) == 0 {
		return fmt.Errorf("there is nothing in the files %s/*%s: they are to have the CAs of the brokers", brokerCAs, caSuffix)
	}
	return nil
}

// identify finds the client's own certificate, if it is to show one.
func (l *login) identify(ctx context.Context, data map[string][]byte) error {
	switch {
	case l.KeySecret.Name != "":
		return l.identifyBySecret(ctx, data)
	case l.KeyStore.Path != "":
		return l.keyStore(data)
	case l.WithoutCertificate:
		return nil
	}
	certificate, err := os.ReadFile(l.path(ownCertificates, ownCertificate))
	if errors.Is(err, fs.ErrNotExist) && !l.NeedsCertificate {
		return nil
	}
	key, keyErr := os.ReadFile(l.path(ownCertificates, ownKey))
	if err := errors.Join(err, keyErr); err != nil {
		return fmt.Errorf("reading the client's certificate and its key: %w", err)
	}
	data[kafka.KeyTLSCertificate], data[kafka.KeyTLSKey] = certificate, key
	return nil
}

func (l *login) identifyBySecret(ctx context.Context, data map[string][]byte) error {
	secret, err := l.secret(ctx, l.KeySecret)
	if err != nil {
		return err
	}
	for _, name := range []string{l.CertificateKey, l.KeyKey} {
		if len(secret[name]) == 0 {
			return fmt.Errorf("the Secret %s/%s has nothing under the key %q: put the client's certificate and its private key under the keys that are named for them",
				l.KeySecret.Namespace, l.KeySecret.Name, name)
		}
	}
	data[kafka.KeyTLSCertificate], data[kafka.KeyTLSKey] = secret[l.CertificateKey], secret[l.KeyKey]
	return nil
}

func (l *login) secret(ctx context.Context, at options.Secret) (map[string][]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, secretLimit)
	defer cancel()
	secret := &corev1.Secret{}
	if err := l.secrets.Get(ctx, client.ObjectKey{Namespace: at.Namespace, Name: at.Name}, secret); err != nil {
		return nil, fmt.Errorf("reading the Secret %s/%s with what is needed to connect to Kafka (the service account needs the right to get it): %w",
			at.Namespace, at.Name, err)
	}
	return secret.Data, nil
}

func (l *login) path(elements ...string) string {
	return filepath.Join(append([]string{l.root}, elements...)...)
}

// allCAs joins all that end as CAs do, in the order of their names. Those that are yet
// to be filled in are left out: nothing but them is no CA at all, for which the system's
// must not stand in.
func allCAs(data map[string][]byte) []byte {
	var names []string
	for name, ca := range data {
		if strings.HasSuffix(name, caSuffix) && len(bytes.TrimSpace(ca)) > 0 {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	var all []byte
	for _, name := range names {
		all = append(append(all, bytes.TrimSpace(data[name])...), '\n')
	}
	return all
}
