package certs

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"k8s.io/utils/clock"
)

// ErrNotLoaded tells that there is no serving certificate yet.
var ErrNotLoaded = errors.New("no serving certificate loaded yet")

// ErrExpired tells that the served certificate is no longer valid.
var ErrExpired = errors.New("the serving certificate has expired")

// Source hands the current serving certificate to TLS servers. It may be used
// before there is one.
type Source struct {
	clock   clock.PassiveClock
	current atomic.Pointer[pair]
}

// NewSource returns a Source without a certificate.
func NewSource(c clock.PassiveClock) *Source { return &Source{clock: c} }

// Configure makes a TLS server take its certificate from the Source at every
// handshake, and accept TLS 1.3 alone.
func (s *Source) Configure(c *tls.Config) {
	c.MinVersion = tls.VersionTLS13
	c.GetCertificate = s.GetCertificate
}

// GetCertificate is for tls.Config. It fails with ErrNotLoaded while there is
// no certificate.
func (s *Source) GetCertificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	p := s.current.Load()
	if p == nil {
		return nil, ErrNotLoaded
	}
	return &p.certificate, nil
}

// Ready is a readiness check: it fails while there is no valid certificate.
func (s *Source) Ready(*http.Request) error {
	p := s.current.Load()
	if p == nil {
		return ErrNotLoaded
	}
	if now := s.clock.Now(); p.expired(now) {
		return fmt.Errorf("%w at %s; see the log of the certificates controller",
			ErrExpired, p.leaf().NotAfter.UTC().Format(time.RFC3339))
	}
	return nil
}

func (s *Source) served() *pair { return s.current.Load() }

func (s *Source) serve(p *pair) { s.current.Store(p) }
