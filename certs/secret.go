package certs

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// What the Secret of a self-signed pair says to cert-manager, should it be asked
// to take the Secret over: another issuer than any that it knows, since no
// object can have this name. It issues its own certificate at once then, and
// keeps the pair until its renewal otherwise (SecretIssuerAnnotationsMismatch in
// cert-manager's internal/controller/certificates/policies/checks.go).
const (
	annotationIssuer = "cert-manager.io/issuer-name"
	issuerSelf       = "Sluice (self-signed)"
)

// ensurePair returns the pair that is to be served, and in self-signed mode
// puts it into the Secret first where it is missing, unusable or due for
// renewal. It returns nil where cert-manager has not filled the Secret yet.
//
// Of several replicas that write, one wins; the others get an error that is
// AlreadyExists or Conflict, and adopt at their next try what the winner wrote.
func (k *keeper) ensurePair(ctx context.Context) (*pair, error) {
	secret, err := k.readSecret(ctx)
	if err != nil {
		return nil, err
	}
	if k.Mode == ModeCertManager {
		return k.pairOfCertManager(ctx, secret)
	}
	due, current := judge(secret, k.Hosts, k.Clock.Now())
	if !due.due() {
		return current, nil
	}
	return k.renew(ctx, secret, due, current)
}

// readSecret returns nil where there is none. The read is of the API server
// itself: what is published must not rest on an informer that is behind.
func (k *keeper) readSecret(ctx context.Context) (*corev1.Secret, error) {
	secret := &corev1.Secret{}
	err := k.reader.Get(ctx, k.secretKey(), secret)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading Secret %s with the serving certificate: %w", k.secretKey(), err)
	}
	return secret, nil
}

func (k *keeper) pairOfCertManager(ctx context.Context, secret *corev1.Secret) (*pair, error) {
	if secret == nil {
		k.logger(ctx).Info("Waiting for cert-manager to issue the serving certificate; `kubectl describe certificate` in this namespace tells why it has not",
			"secret", k.secretKey())
		return nil, nil
	}
	p, err := parsePair(secret.Data)
	if err != nil {
		return nil, fmt.Errorf("reading the pair that cert-manager keeps in Secret %s: %w", k.secretKey(), err)
	}
	if err := usable(p, k.Hosts, k.Clock.Now()); err != nil {
		return nil, fmt.Errorf("not serving the certificate that cert-manager keeps in Secret %s, which API servers would refuse: %w", k.secretKey(), err)
	}
	return p, nil
}

// usable tells why API servers would refuse a certificate that somebody else
// issued, though it is well-formed: an issuer may put into it, and beside it,
// other things than it was asked for. One host of several is enough, since it is
// not known here by which of them the API servers call.
func usable(p *pair, hosts []string, now time.Time) error {
	if len(p.cas) > 0 {
		if err := p.vouchedFor(now); err != nil {
			return fmt.Errorf("it does not stand under %s: %w; look at what its issuer gives out as its CA", keyCA, err)
		}
	}
	covered := slices.ContainsFunc(hosts, func(h string) bool { return p.leaf().VerifyHostname(h) == nil })
	if !covered && len(hosts) > 0 {
		return fmt.Errorf("it is for [%s] and not for %s; see dnsNames and ipAddresses of the Certificate, and what its issuer allows",
			strings.Join(p.hosts(), ", "), strings.Join(hosts, " or "))
	}
	return nil
}

func (k *keeper) renew(ctx context.Context, old *corev1.Secret, due renewal, current *pair) (*pair, error) {
	hosts := hostsFor(due, current, k.Hosts)
	k.logger(ctx).Info("Renewing the serving certificate", "secret", k.secretKey(), "reason", due.reason, "hosts", hosts)
	fresh, err := issue(k.Clock.Now(), hosts, k.Validity)
	if err != nil {
		return nil, err
	}
	data := map[string][]byte{
		corev1.TLSCertKey:       fresh.cert,
		corev1.TLSPrivateKeyKey: fresh.key,
		keyCA:                   fresh.ca,
	}
	p, err := parsePair(data)
	if err != nil {
		return nil, fmt.Errorf("reading back a new pair: %w", err)
	}
	if old == nil {
		secret := &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{
				Namespace:   k.Namespace,
				Name:        k.SecretName,
				Labels:      map[string]string{"app.kubernetes.io/managed-by": "sluice"},
				Annotations: map[string]string{annotationIssuer: issuerSelf},
			},
			Type: corev1.SecretTypeTLS,
			Data: data,
		}
		if err := k.writer.Create(ctx, secret, fieldOwner); err != nil {
			return nil, fmt.Errorf("creating Secret %s: %w", k.secretKey(), err)
		}
		return p, nil
	}
	// An update carries the resource version that was read. The type cannot be
	// changed, and the keys that are read are the same for every type.
	secret := old.DeepCopy()
	secret.Data = data
	metav1.SetMetaDataAnnotation(&secret.ObjectMeta, annotationIssuer, issuerSelf)
	if err := k.writer.Update(ctx, secret, fieldOwner); err != nil {
		return nil, fmt.Errorf("updating Secret %s: %w", k.secretKey(), err)
	}
	return p, nil
}

func (k *keeper) secretKey() client.ObjectKey {
	return client.ObjectKey{Namespace: k.Namespace, Name: k.SecretName}
}
