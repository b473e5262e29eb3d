package kafka_test

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/sluice-kafka/sluice/internal/kafka"
	testkafka "github.com/sluice-kafka/sluice/test/kafka"
	"github.com/sluice-kafka/sluice/test/kafka/kafkatest"
)

func newAuthority(t *testing.T, name string) *testkafka.Authority {
	t.Helper()
	authority, err := testkafka.NewAuthority(name)
	if err != nil {
		t.Fatal(err)
	}
	return authority
}

// encryption is the configuration of a server with a certificate for these hosts.
func encryption(t *testing.T, authority *testkafka.Authority, subject testkafka.Subject) *tls.Config {
	t.Helper()
	certificate, key, err := authority.Issue(subject)
	if err != nil {
		t.Fatal(err)
	}
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		t.Fatal(err)
	}
	return &tls.Config{Certificates: []tls.Certificate{pair}}
}

// newSecured gives a client with a short bound, and its count of requests.
func newSecured(t *testing.T, config kafka.Config) (*kafka.Client, *kafkatest.Calls) {
	t.Helper()
	seen := &kafkatest.Calls{}
	config.Observe = seen.Observe
	if config.Timeout == 0 {
		config.Timeout = 10 * time.Second
	}
	c, err := kafka.New(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c, seen
}

// secureBroker is an embedded broker with TLS on which users log in.
func secureBroker(t *testing.T, authority *testkafka.Authority, hosts ...string) *kfake.Cluster {
	t.Helper()
	fake, err := kfake.NewCluster(
		kfake.NumBrokers(1), kfake.TLS(encryption(t, authority, testkafka.Subject{Name: "broker", Hosts: hosts})), kfake.EnableSASL(),
		kfake.Superuser("PLAIN", "me", "password-of-plain"), kfake.Superuser("SCRAM-SHA-256", "me", "password-of-256"), kfake.Superuser("SCRAM-SHA-512", "me", "password-of-512"),
	)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(fake.Close)
	return fake
}

func TestEveryCallIsSecured(t *testing.T) {
	authority := newAuthority(t, "brokers")
	servers := secureBroker(t, authority, "127.0.0.1").ListenAddrs()
	for mechanism, password := range map[string]kafka.Secret{
		kafka.MechanismPlain: "password-of-plain", kafka.MechanismScramSHA256: "password-of-256", kafka.MechanismScramSHA512: "password-of-512",
	} {
		security := kafka.Security{
			TLS:  &kafka.TLS{CA: authority.CA()},
			SASL: &kafka.SASL{Mechanism: mechanism, Username: "me", Password: password},
		}
		for call, do := range calls {
			t.Run(mechanism+"/"+call, func(t *testing.T) {
				c, _ := newSecured(t, kafka.Config{BootstrapServers: servers, Security: security})
				if err := do(t.Context(), c); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

func TestARefusedLoginEndsEveryCallAtOnce(t *testing.T) {
	authority := newAuthority(t, "brokers")
	fake := secureBroker(t, authority, "127.0.0.1")
	// Left to itself it would just close the connection, which Kafka does not (KIP-152).
	fake.ControlKey(int16(kmsg.SASLAuthenticate), func(req kmsg.Request) (kmsg.Response, error, bool) {
		fake.KeepControl()
		resp := req.ResponseKind().(*kmsg.SASLAuthenticateResponse)
		resp.ErrorCode, resp.ErrorMessage = kerr.SaslAuthenticationFailed.Code, kmsg.StringPtr("no such user")
		return resp, nil, true
	})
	servers := fake.ListenAddrs()
	security := kafka.Security{
		TLS:  &kafka.TLS{CA: authority.CA()},
		SASL: &kafka.SASL{Mechanism: kafka.MechanismPlain, Username: "me", Password: "guessed"},
	}
	for call, do := range every() {
		t.Run(call, func(t *testing.T) {
			t.Parallel()
			c, seen := newSecured(t, kafka.Config{BootstrapServers: servers, Security: security})
			err := do(t.Context(), c)
			if !errors.Is(err, kafka.ErrAuthentication) || errors.Is(err, kafka.ErrUnreachable) || errors.Is(err, kafka.ErrTimeout) {
				t.Fatalf("got %v", err)
			}
			if !kafka.Passing(err) || !kafka.NotConnected(err) {
				t.Errorf("%v is taken for a verdict on what was asked", err)
			}
			for _, part := range []string{"PLAIN", `"me"`, "password", "no such user"} {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%v does not say %s", err, part)
				}
			}
			if strings.Contains(err.Error(), "guessed") {
				t.Errorf("%v has the password", err)
			}
			for api, n := range seen.Take() {
				if n > 1 {
					t.Errorf("%s was tried %d times", api, n)
				}
			}
		})
	}
}

func TestTheHostOfTheBrokerIsWhatItsCertificateIsComparedWith(t *testing.T) {
	authority := newAuthority(t, "brokers")
	_, port, err := net.SplitHostPort(secureBroker(t, authority, "broker.example.org", "127.0.0.1").ListenAddrs()[0])
	if err != nil {
		t.Fatal(err)
	}
	login := &kafka.SASL{Mechanism: kafka.MechanismPlain, Username: "me", Password: "password-of-plain"}
	resolve := func(host string) (string, bool) { return "127.0.0.1", strings.HasSuffix(host, ".example.org") }
	for name, want := range map[string]error{"broker.example.org": nil, "another.example.org": kafka.ErrTLS} {
		t.Run(name, func(t *testing.T) {
			c, _ := newSecured(t, kafka.Config{
				BootstrapServers: []string{net.JoinHostPort(name, port)}, Resolve: resolve,
				Security: kafka.Security{TLS: &kafka.TLS{CA: authority.CA()}, SASL: login},
			})
			if err := calls["DescribeTopics"](t.Context(), c); !errors.Is(err, want) || want != nil && !strings.Contains(err.Error(), "another.example.org") {
				t.Errorf("got %v, want %v", err, want)
			}
		})
	}
}

func TestServersThatCannotBeTrusted(t *testing.T) {
	authority := newAuthority(t, "brokers")
	loopback := []string{"127.0.0.1"}
	old := encryption(t, authority, testkafka.Subject{Name: "broker", Hosts: loopback})
	old.MinVersion, old.MaxVersion = tls.VersionTLS10, tls.VersionTLS11
	expired := encryption(t, authority, testkafka.Subject{Name: "broker", Hosts: loopback, NotAfter: time.Now().Add(-time.Hour)})
	handshake := func(config *tls.Config) func(net.Conn) {
		return func(conn net.Conn) {
			_ = tls.Server(conn, config).Handshake()
			_ = conn.Close()
		}
	}
	tests := map[string]struct {
		handle func(net.Conn)
		tls    kafka.TLS
		want   error
		says   string
	}{
		"a version that is too old": {handle: handshake(old), tls: kafka.TLS{CA: authority.CA()}, want: kafka.ErrTLS, says: "version"},
		"an expired certificate":    {handle: handshake(expired), tls: kafka.TLS{CA: authority.CA()}, want: kafka.ErrTLS, says: "expired"},
		"an expired certificate, names not compared": {
			handle: handshake(expired), tls: kafka.TLS{CA: authority.CA(), SkipHostName: true}, want: kafka.ErrTLS, says: "expired",
		},
		"the CA of somebody else, names not compared": {
			handle: handshake(encryption(t, newAuthority(t, "another"), testkafka.Subject{Name: "broker"})),
			tls:    kafka.TLS{CA: authority.CA(), SkipHostName: true}, want: kafka.ErrTLS, says: "CN=another",
		},
		"a server of something else": {
			handle: func(conn net.Conn) { _, _ = io.WriteString(conn, "HTTP/1.1 400 Bad Request\r\n\r\n"); _ = conn.Close() },
			want:   kafka.ErrTLS, says: "does not speak TLS",
		},
		"a server that closes":       {handle: func(conn net.Conn) { _ = conn.Close() }, want: kafka.ErrUnreachable, says: "in the TLS handshake"},
		"a server that says nothing": {handle: func(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) }, want: kafka.ErrUnreachable, says: "handshake"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := serve(t, test.handle)
			c, _ := newSecured(t, kafka.Config{BootstrapServers: []string{server}, Timeout: 12 * time.Second, Security: kafka.Security{TLS: &test.tls}})
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			err := calls["DescribeTopics"](ctx, c)
			if !errors.Is(err, test.want) || !kafka.NotConnected(err) {
				t.Fatalf("got %v, want %v", err, test.want)
			}
			for _, part := range []string{test.says, server} {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%v does not say %q", err, part)
				}
			}
		})
	}
}

func TestAnEncryptedServerIsToldToAPlainClient(t *testing.T) {
	server := serve(t, func(conn net.Conn) {
		// A fatal alert, as Java sends it.
		_, _ = conn.Write([]byte{21, 3, 3, 0, 2, 2, 80})
		_ = conn.Close()
	})
	c, _ := newSecured(t, kafka.Config{BootstrapServers: []string{server}})
	if err := calls["DescribeTopics"](t.Context(), c); !errors.Is(err, kafka.ErrTLS) || !strings.Contains(err.Error(), server+" speaks TLS") {
		t.Errorf("got %v", err)
	}
}
