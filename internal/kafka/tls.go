package kafka

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"
)

// authorities reads certificates in PEM form; anything else between them is left out,
// but a block that is broken is an error, which quotes nothing.
func authorities(bundle []byte) ([]*x509.Certificate, error) {
	var out []*x509.Certificate
	for rest := bundle; ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		if block.Type != "CERTIFICATE" {
			continue
		}
		certificate, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("has a certificate (number %d) that cannot be read", len(out)+1)
		}
		out = append(out, certificate)
	}
	if len(out) == 0 {
		return nil, errors.New("has no certificate in PEM form (-----BEGIN CERTIFICATE-----)")
	}
	return out, nil
}

// pair reads the client's certificate and key. Its errors quote nothing.
func (t *TLS) pair() (*tls.Certificate, error) {
	pair, err := tls.X509KeyPair(t.Certificate, []byte(t.Key))
	if err == nil {
		return &pair, nil
	}
	if strings.Contains(string(t.Key), "ENCRYPTED") {
		return nil, errors.New("the key is encrypted with a password, which cannot be used; store it without one")
	}
	if _, err := authorities(t.Certificate); err != nil {
		return nil, errors.New("the certificate is not one in PEM form")
	}
	if block, _ := pem.Decode([]byte(t.Key)); block == nil {
		return nil, errors.New("the key is not one in PEM form")
	}
	return nil, errors.New("the key cannot be read, or it is not that of the certificate")
}

// trust makes the part of a configuration that says whom a client believes, and
// describes it.
func trust(bundle []byte) (roots *x509.CertPool, whom string, err error) {
	if len(bundle) == 0 {
		return nil, "the system's CAs", nil
	}
	certificates, err := authorities(bundle)
	if err != nil {
		return nil, "", fmt.Errorf("the CA bundle %w", err)
	}
	roots = x509.NewCertPool()
	var names []string
	for _, c := range certificates {
		roots.AddCert(c)
		names = append(names, fmt.Sprintf("%q", c.Subject))
	}
	const most = 3
	if more := len(names) - most; more > 0 {
		names = append(names[:most], fmt.Sprintf("%d more", more))
	}
	return roots, "the CA that was given (" + strings.Join(names, ", ") + ")", nil
}

// dialer makes the connections of a client.
type dialer struct {
	// resolve, if set, is asked for the address of a host before DNS is.
	resolve func(string) (string, bool)
	// timeout bounds dialling and the handshake, each.
	timeout time.Duration
	// tls, if set, encrypts.
	tls *tls.Config
	// whom says who is believed, as who the client presents itself.
	whom, as string
}

// encrypt makes Go's configuration; its ServerName is set for each connection.
func (d *dialer) encrypt(t *TLS) error {
	roots, whom, err := trust(t.CA)
	if err != nil {
		return err
	}
	d.whom, d.as = whom, "this client has no certificate; where the listener asks for one (mTLS), give it one"
	d.tls = &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots}
	if len(t.Certificate) > 0 || t.Key != "" {
		pair, err := t.pair()
		if err != nil {
			return fmt.Errorf("the client certificate: %w", err)
		}
		// Chosen by whom the broker says that it believes, none might be sent, and the
		// broker could not tell what is wrong with it.
		d.tls.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return pair, nil }
		d.as = fmt.Sprintf("this client's certificate is that of %q, issued by %q, valid until %s; see that the broker trusts its CA",
			pair.Leaf.Subject, pair.Leaf.Issuer, pair.Leaf.NotAfter.UTC().Format(time.RFC3339))
	}
	if t.SkipHostName {
		// Go's own check cannot do without the name: this one is it, without the name.
		d.tls.InsecureSkipVerify = true
		d.tls.VerifyConnection = func(state tls.ConnectionState) error { return verifyChain(state, roots) }
	}
	return nil
}

func verifyChain(state tls.ConnectionState, roots *x509.CertPool) error {
	options := x509.VerifyOptions{Roots: roots, Intermediates: x509.NewCertPool()}
	for _, c := range state.PeerCertificates[1:] {
		options.Intermediates.AddCert(c)
	}
	if _, err := state.PeerCertificates[0].Verify(options); err != nil {
		return &tls.CertificateVerificationError{UnverifiedCertificates: state.PeerCertificates, Err: err}
	}
	return nil
}

// dial connects to a host:port.
func (d dialer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("%q is not host:port: %w", address, err)
	}
	at := address
	if d.resolve != nil {
		if ip, ok := d.resolve(host); ok {
			at = net.JoinHostPort(ip, port)
		}
	}
	conn, err := (&net.Dialer{Timeout: d.timeout}).DialContext(ctx, network, at)
	if err != nil {
		return nil, err
	}
	conn = farConn{conn}
	if d.tls == nil {
		return &plainConn{Conn: conn, address: address}, nil
	}
	config := d.tls.Clone()
	config.ServerName = host
	secured := tls.Client(conn, config)
	within, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()
	if err := secured.HandshakeContext(within); err != nil {
		_ = conn.Close()
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, d.handshakeError(address, err)
	}
	return secured, nil
}

// handshakeError tells a broker that went away from one that is not trusted, or does
// not trust.
func (d dialer) handshakeError(address string, err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("%w: %s did not answer the TLS handshake within %s; is its listener encrypted?", ErrUnreachable, address, d.timeout)
	}
	if invalid, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return fmt.Errorf("%w: the certificate of %s is not accepted: %w; %s", ErrTLS, address, invalid.Err, d.advice(invalid))
	}
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		return fmt.Errorf("%w: %s does not speak TLS: connect without encryption, or to the encrypted listener", ErrTLS, address)
	}
	if alert := d.alert(err); alert != nil {
		return alert
	}
	if unreachable(err) {
		return fmt.Errorf("%w: %s closed the connection in the TLS handshake; is its listener encrypted? (%w)", ErrUnreachable, address, err)
	}
	return fmt.Errorf("%w: the TLS handshake with %s failed: %w", ErrTLS, address, err)
}

func (d dialer) advice(invalid *tls.CertificateVerificationError) string {
	if _, ok := errors.AsType[x509.HostnameError](invalid); ok {
		return "connect to a name that the certificate has, or leave out the comparison of host names"
	}
	if _, ok := errors.AsType[x509.UnknownAuthorityError](invalid); ok {
		issuer := "its issuer"
		if len(invalid.UnverifiedCertificates) > 0 {
			issuer = fmt.Sprintf("%q", invalid.UnverifiedCertificates[0].Issuer)
		}
		return fmt.Sprintf("it is verified by %s; give the CA certificate of %s", d.whom, issuer)
	}
	return "it is verified by " + d.whom
}

// alert is not nil where the broker ended the connection with an alert of TLS (RFC 8446,
// section 6). Go has no type for them, but a name of the operation (crypto/tls, Conn).
// That a broker does not accept a client's certificate comes with the first answer,
// after the handshake.
func (d dialer) alert(err error) error {
	if op, ok := errors.AsType[*net.OpError](err); !ok || op.Op != "remote error" {
		return nil
	}
	return fmt.Errorf("%w: the broker ended the connection: %w; %s", ErrTLS, err, d.as)
}

// farConn leaves its own end out of its errors: it has another port each time, and the
// statuses that quote an error would change with every attempt.
type farConn struct{ net.Conn }

// Read implements net.Conn.
func (c farConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	return n, withoutSource(err)
}

// Write implements net.Conn.
func (c farConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	return n, withoutSource(err)
}

// withoutSource changes an error that nobody else has seen yet: each call makes its own.
func withoutSource(err error) error {
	if op, ok := errors.AsType[*net.OpError](err); ok {
		op.Source = nil
	}
	return err
}

// plainConn recognises a server that speaks TLS by its alert: the first byte of its
// record is the type 21, the second the major version 3 (RFC 8446, section 5.1). As
// the length of an answer from Kafka they would be 336 MiB.
type plainConn struct {
	net.Conn
	address string
	read    bool
}

// Read implements net.Conn.
func (c *plainConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if !c.read && n > 0 {
		c.read = true
		if n > 1 && p[0] == 21 && p[1] == 3 {
			return 0, fmt.Errorf("%w: %s speaks TLS: connect with encryption, or to the listener without", ErrTLS, c.address)
		}
	}
	return n, err
}
