package kafka

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/aws"
	"github.com/twmb/franz-go/pkg/sasl/oauth"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"
)

// secure makes the options of franz-go that connections are secured by.
func (c *Client) secure(s Security, resolve func(string) (string, bool)) error {
	// One connection that hangs must leave time for another broker.
	timeout := c.timeout / 6
	c.dialer = dialer{resolve: resolve, timeout: timeout}
	if s.TLS != nil {
		if err := c.dialer.encrypt(s.TLS); err != nil {
			return fmt.Errorf("TLS: %w", err)
		}
	}
	c.options = append(c.options, kgo.Dialer(c.dialer.dial))
	if s.SASL == nil {
		return nil
	}
	mechanism, err := s.SASL.mechanism(timeout)
	if err != nil {
		return fmt.Errorf("SASL: %w", err)
	}
	c.options = append(c.options, kgo.SASL(mechanism))
	return nil
}

// mechanism makes franz-go's mechanism. The timeout bounds what it asks of others.
func (s SASL) mechanism(timeout time.Duration) (sasl.Mechanism, error) {
	switch s.Mechanism {
	case MechanismOAuthBearer:
		if s.OAuth == nil {
			return nil, fmt.Errorf("%s needs a token endpoint and client credentials", s.Mechanism)
		}
		tokens, err := newTokens(*s.OAuth, timeout)
		if err != nil {
			return nil, err
		}
		return login{Mechanism: oauth.Oauth(tokens.auth), as: s.String(), refused: tokens.forget}, nil
	case MechanismAWSMSKIAM:
		if (s.Username == "") != (s.Password == "") {
			return nil, fmt.Errorf("%s needs both an access key and a secret key, or none to take them from the environment", s.Mechanism)
		}
		return login{Mechanism: aws.ManagedStreamingIAM(s.aws), as: s.String()}, nil
	}
	if s.Username == "" || s.Password == "" {
		return nil, fmt.Errorf("%s needs a user name and a password", cmp.Or(s.Mechanism, "a login"))
	}
	auth := scram.Auth{User: s.Username, Pass: string(s.Password)}
	l := login{as: s.String()}
	switch s.Mechanism {
	case MechanismPlain:
		l.Mechanism = plain.Auth{User: s.Username, Pass: string(s.Password)}.AsMechanism()
	case MechanismScramSHA256:
		l.Mechanism = auth.AsSha256Mechanism()
	case MechanismScramSHA512:
		l.Mechanism = auth.AsSha512Mechanism()
	default:
		return nil, fmt.Errorf("there is no mechanism %q; it is one of %s", s.Mechanism, strings.Join(mechanisms, ", "))
	}
	return l, nil
}

// aws gives the keys; those of the environment are read anew for each login.
func (s SASL) aws(context.Context) (aws.Auth, error) {
	if s.Username != "" {
		return aws.Auth{AccessKey: s.Username, SecretKey: string(s.Password)}, nil
	}
	auth := aws.Auth{
		AccessKey: os.Getenv("AWS_ACCESS_KEY_ID"), SecretKey: os.Getenv("AWS_SECRET_ACCESS_KEY"), SessionToken: os.Getenv("AWS_SESSION_TOKEN"),
	}
	if auth.AccessKey == "" || auth.SecretKey == "" {
		return aws.Auth{}, errors.New("no keys are given, and AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not set")
	}
	return auth, nil
}

// login classifies what a mechanism itself fails with.
type login struct {
	sasl.Mechanism
	// as names mechanism and user.
	as string
	// refused, if set, is told that the broker did not take what was sent.
	refused func()
}

// Authenticate implements sasl.Mechanism.
func (l login) Authenticate(ctx context.Context, host string) (sasl.Session, []byte, error) {
	session, first, err := l.Mechanism.Authenticate(ctx, host)
	if err != nil {
		return nil, nil, l.failed(err)
	}
	return loginSession{Session: session, login: l}, first, nil
}

func (l login) failed(err error) error {
	if NotConnected(err) || errors.Is(err, ErrClosed) {
		return err
	}
	return fmt.Errorf("%w with %s: %w", ErrAuthentication, l.as, err)
}

type loginSession struct {
	sasl.Session
	login login
}

// Challenge implements sasl.Session.
func (s loginSession) Challenge(answer []byte) (bool, []byte, error) {
	// A broker answers a good token with nothing (RFC 7628, section 3.2.2).
	if s.login.refused != nil && len(answer) > 0 {
		s.login.refused()
	}
	done, next, err := s.Session.Challenge(answer)
	if err != nil {
		err = s.login.failed(err)
	}
	return done, next, err
}

// loginError is not nil where Kafka refused a login, and then says as whom and what to
// look at.
func (c *Client) loginError(known *kerr.Error, err error) error {
	advice := ""
	switch s := c.security.SASL; known {
	case kerr.SaslAuthenticationFailed:
		advice = s.advice()
	case kerr.UnsupportedSaslMechanism:
		advice = "the listener does not offer this mechanism: choose another, or another listener"
	case kerr.IllegalSaslState:
		advice = "the listener expects no login: connect without, or to another listener"
	default:
		return nil
	}
	as := "without SASL"
	if c.security.SASL != nil {
		as = "with " + c.security.SASL.String()
	}
	a := answer{code: known.Code}
	// franz-go puts what the broker says of it behind its own text for the code.
	if message, ok := strings.CutPrefix(err.Error(), known.Error()+": "); ok {
		a.message = &message
	}
	return fmt.Errorf("%w %s: %w; %s", ErrAuthentication, as, kafkaError(a), advice)
}

// advice says what to look at where a broker refuses a login.
func (s *SASL) advice() string {
	switch {
	case s == nil:
		return "the listener wants a login: give a mechanism and credentials"
	case s.Mechanism == MechanismOAuthBearer:
		return fmt.Sprintf("see which issuer, audience and keys the broker asks for, and that its clock and that of %s agree", endpoint(s.OAuth.TokenURL))
	case s.Mechanism == MechanismAWSMSKIAM:
		return "see that the access key is valid, and that its policy allows kafka-cluster:Connect"
	default:
		return "see that the user exists for this mechanism, and that the password is its own"
	}
}
