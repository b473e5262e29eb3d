package kafka

import (
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
)

// Security is how a client proves who it is, and whom it believes. The zero value
// is neither encrypted nor authenticated.
type Security struct {
	// TLS, if set, encrypts all connections.
	TLS *TLS
	// SASL, if set, authenticates them.
	SASL *SASL
}

// TLS is how connections are encrypted: with TLS 1.2 or newer.
type TLS struct {
	// CA holds certificates in PEM form; the system's count where it is empty.
	CA []byte
	// Certificate and Key, in PEM form, prove who the client is (mTLS); both or
	// none.
	Certificate []byte
	Key         Secret
	// SkipHostName leaves out the comparison of a broker's certificate with its
	// host name. The chain up to a CA is verified all the same.
	SkipHostName bool
}

// SASL is how a client logs in.
type SASL struct {
	// Mechanism is one of the Mechanism constants.
	Mechanism string
	// Username and Password of PLAIN and SCRAM. For AWS_MSK_IAM they are the access
	// key and the secret key; both empty takes them from the variables
	// AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN.
	Username string
	Password Secret
	// OAuth of OAUTHBEARER.
	OAuth *OAuth
}

// OAuth are client credentials (RFC 6749, section 4.4) that a token is asked for
// with.
type OAuth struct {
	// TokenURL is the endpoint that issues tokens.
	TokenURL string
	// ClientID and ClientSecret.
	ClientID     string
	ClientSecret Secret
	// Scopes that are asked for; none where it is empty.
	Scopes []string
	// CA of the endpoint in PEM form; the system's count where it is empty.
	CA []byte
}

// Mechanisms of SASL, by their registered names.
const (
	MechanismPlain       = "PLAIN"
	MechanismScramSHA256 = "SCRAM-SHA-256"
	MechanismScramSHA512 = "SCRAM-SHA-512"
	MechanismOAuthBearer = "OAUTHBEARER"
	MechanismAWSMSKIAM   = "AWS_MSK_IAM"
)

// mechanisms are all of them, in the order in which errors name them.
var mechanisms = []string{MechanismPlain, MechanismScramSHA256, MechanismScramSHA512, MechanismOAuthBearer, MechanismAWSMSKIAM}

// Secret is text that prints as "[hidden]", whatever prints it: fmt with any verb,
// slog, or an encoder of JSON, also as a field of a struct. Convert it to a string to
// use it.
type Secret string

const hidden = "[hidden]"

// String hides the text; an empty one is shown as such.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return hidden
}

// Format implements fmt.Formatter: verbs that do not ask for String print no more.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, s.String()) }

// LogValue implements slog.LogValuer.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText implements encoding.TextMarshaler, which encoders of JSON ask for.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// String says in a few words how a client connects, without secrets.
func (s Security) String() string {
	encrypted, login := "not encrypted", "no login"
	if s.TLS != nil {
		encrypted = s.TLS.String()
	}
	if s.SASL != nil {
		login = s.SASL.String()
	}
	return encrypted + ", " + login
}

// String says whom a client believes.
func (t TLS) String() string {
	parts := []string{"TLS with the system's CAs"}
	if len(t.CA) > 0 {
		parts[0] = "TLS with a CA that was given"
	}
	if t.SkipHostName {
		parts = append(parts, "host names not compared")
	}
	if len(t.Certificate) > 0 {
		parts = append(parts, "client certificate")
	}
	return strings.Join(parts, ", ")
}

// String names the mechanism and whom it logs in.
func (s SASL) String() string {
	name := s.Username
	if s.OAuth != nil && s.Mechanism == MechanismOAuthBearer {
		name = s.OAuth.ClientID
	}
	if name == "" {
		return s.Mechanism
	}
	return fmt.Sprintf("%s as %q", s.Mechanism, name)
}

// String names the endpoint and the client.
func (o OAuth) String() string {
	return fmt.Sprintf("tokens of %s for %q", endpoint(o.TokenURL), o.ClientID)
}

// Format implements fmt.Formatter: a verb that does not suit would print the fields
// without asking their own Format.
func (s Security) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, s.String()) }

// Format implements fmt.Formatter, as that of Security.
func (t TLS) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, t.String()) }

// Format implements fmt.Formatter, as that of Security.
func (s SASL) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, s.String()) }

// Format implements fmt.Formatter, as that of Security.
func (o OAuth) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, o.String()) }

// withoutSecrets has what errors need.
func (s Security) withoutSecrets() Security {
	if s.TLS != nil {
		s.TLS = &TLS{CA: s.TLS.CA, Certificate: s.TLS.Certificate, SkipHostName: s.TLS.SkipHostName}
	}
	if s.SASL == nil {
		return s
	}
	known := SASL{Mechanism: s.SASL.Mechanism, Username: s.SASL.Username}
	if s.SASL.OAuth != nil {
		known.OAuth = &OAuth{TokenURL: s.SASL.OAuth.TokenURL, ClientID: s.SASL.OAuth.ClientID}
	}
	s.SASL = &known
	return s
}

// WithTLS returns s encrypted: what s does not say of TLS itself (its CA and its own
// certificate) is taken from the given, which is what is known of the cluster.
func (s Security) WithTLS(cluster TLS) Security {
	out := TLS{SkipHostName: cluster.SkipHostName}
	if s.TLS != nil {
		out = *s.TLS
		out.SkipHostName = out.SkipHostName || cluster.SkipHostName
	}
	if len(out.CA) == 0 {
		out.CA = slices.Clone(cluster.CA)
	}
	if len(out.Certificate) == 0 && out.Key == "" {
		out.Certificate, out.Key = slices.Clone(cluster.Certificate), cluster.Key
	}
	s.TLS = &out
	return s
}
