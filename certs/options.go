package certs

import (
	"time"

	"k8s.io/utils/clock"
)

// Mode tells who fills the Secret.
type Mode string

const (
	// ModeSelfSigned has the replicas make and renew the pair.
	ModeSelfSigned Mode = "self-signed"
	// ModeCertManager leaves that to cert-manager.
	ModeCertManager Mode = "cert-manager"
)

// Options of the keeping of serving certificates.
type Options struct {
	// Mode tells who fills the Secret.
	Mode Mode
	// Namespace and SecretName of the Secret with tls.crt, tls.key and ca.crt.
	Namespace, SecretName string
	// Hosts are the DNS names and IP addresses that API servers may call. The
	// certificate of ModeSelfSigned is for all of them, any other has to be for
	// one.
	Hosts []string
	// ValidatingConfiguration and MutatingConfiguration name the webhook
	// configurations whose caBundle is kept; empty for none.
	ValidatingConfiguration, MutatingConfiguration string
	// Validity of a self-signed pair, which is renewed when two thirds of it are
	// over.
	Validity time.Duration
	// PropagationDelay is how long a CA is published before a pair that needs it
	// is served. It has to exceed the time that an API server takes to see a
	// changed webhook configuration.
	PropagationDelay time.Duration
	// RetireAfter is how long a CA that this replica no longer needs stays
	// published for the sake of others.
	RetireAfter time.Duration
	// Clock for validity and delays.
	Clock clock.PassiveClock
}
