package integration

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	client "github.com/sluice-kafka/sluice/internal/kafka"
	"github.com/sluice-kafka/sluice/test/kafka"
	"github.com/sluice-kafka/sluice/test/kafka/kafkatest"
)

const (
	secureUser     = "topic-operator"
	securePassword = `pa"ss;w\ord=1`
	secureSecret   = "client secret+/&"
)

// secured is one broker with listeners of every kind, and who issues what they ask for.
type secured struct {
	cluster   *kafka.Cluster
	authority *kafka.Authority
	issuer    *kafka.Issuer
	// tokens is where endpoints issue tokens over TLS, with a CA of their own.
	tokens, tokensCA string
	// short counts the tokens that soon end.
	short atomic.Int64
}

func startSecured(t *testing.T, version string) *secured {
	t.Helper()
	kafkatest.Require(t)
	s := &secured{}
	var err error
	if s.authority, err = kafka.NewAuthority("brokers"); err != nil {
		t.Fatal(err)
	}
	if s.issuer, err = kafka.NewIssuer(map[string]string{secureUser: secureSecret}); err != nil {
		t.Fatal(err)
	}
	s.serveTokens(t)
	s.cluster = kafkatest.Start(t, kafka.Options{
		Version:   version,
		Authority: s.authority,
		Issuer:    s.issuer,
		Users:     map[string]string{secureUser: securePassword},
		Listeners: []kafka.Listener{
			{Name: "ENCRYPTED", TLS: true},
			{Name: "MUTUAL", TLS: true, Mutual: true},
			{Name: "ELSEWHERE", TLS: true, Hosts: []string{"kafka.example.org"}},
			{
				Name: "LOGIN", Mechanisms: []string{"PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER"},
				// The broker asks for a new login before a token ends (KIP-368).
				Config: map[string]string{"oauthbearer.connections.max.reauth.ms": "3600000"},
			},
			{Name: "BOTH", TLS: true, Mechanisms: []string{"PLAIN", "SCRAM-SHA-512"}},
		},
	})
	return s
}

func (s *secured) serveTokens(t *testing.T) {
	t.Helper()
	// One of another authority than the brokers'.
	authority, err := kafka.NewAuthority("tokens")
	if err != nil {
		t.Fatal(err)
	}
	certificate, key, err := authority.Issue(kafka.Subject{Name: "tokens", Hosts: []string{"127.0.0.1"}})
	if err != nil {
		t.Fatal(err)
	}
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		t.Fatal(err)
	}
	forger, err := kafka.NewIssuer(map[string]string{secureUser: secureSecret})
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/good", s.issuer.Endpoint(time.Hour))
	// Kafka takes a second login on a connection after a second at the earliest.
	short := s.issuer.Endpoint(12 * time.Second)
	mux.HandleFunc("/short", func(w http.ResponseWriter, r *http.Request) { s.short.Add(1); short.ServeHTTP(w, r) })
	mux.Handle("/expired", s.issuer.Endpoint(-time.Hour))
	mux.Handle("/forged", forger.Endpoint(time.Hour))
	server := httptest.NewUnstartedServer(mux)
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.TLS = &tls.Config{Certificates: []tls.Certificate{pair}}
	server.StartTLS()
	t.Cleanup(server.Close)
	s.tokens, s.tokensCA = server.URL, string(authority.CA())
}

// data is the data of a Secret.
type data map[string]string

// with is a copy with some keys changed; an empty value leaves one out.
func (d data) with(changes data) data {
	out := data{}
	for _, from := range []data{d, changes} {
		for key, value := range from {
			if out[key] = value; value == "" {
				delete(out, key)
			}
		}
	}
	return out
}

// ways are those to connect, by name, with their listener.
func (s *secured) ways(t *testing.T) map[string]way {
	t.Helper()
	certificate, key, err := s.authority.Issue(kafka.Subject{Name: secureUser})
	if err != nil {
		t.Fatal(err)
	}
	ca := string(s.authority.CA())
	jaas := `org.apache.kafka.common.security.scram.ScramLoginModule required username="` + secureUser + `" password="` +
		strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(securePassword) + `";`
	user := data{"username": secureUser, "password": securePassword}
	return map[string]way{
		"TLS":           {at: "ENCRYPTED", data: data{"broker-ca.crt": ca}},
		"mTLS":          {at: "MUTUAL", data: data{"broker-ca.crt": ca, "tls.crt": string(certificate), "tls.key": string(key)}},
		"PLAIN":         {at: "LOGIN", data: user.with(data{"sasl.mechanism": "PLAIN"})},
		"SCRAM-SHA-256": {at: "LOGIN", data: user.with(data{"sasl.mechanism": "SCRAM-SHA-256"})},
		"SCRAM-SHA-512": {at: "LOGIN", data: user.with(data{"sasl.mechanism": "SCRAM-SHA-512"})},
		"OAUTHBEARER": {at: "LOGIN", data: data{
			"oauth.token.endpoint.uri": s.tokens + "/good", "oauth.ca.crt": s.tokensCA, "oauth.client.id": secureUser, "oauth.client.secret": secureSecret,
		}},
		"PLAIN over TLS": {at: "BOTH", data: user.with(data{"sasl.mechanism": "PLAIN", "broker-ca.crt": ca, "security.protocol": "SASL_SSL"})},
		// As Strimzi's user operator writes them; the CA of the brokers comes from elsewhere.
		"a KafkaUser with TLS": {at: "MUTUAL", cluster: ca, data: data{
			"ca.crt": "the clients' own", "user.crt": string(certificate), "user.key": string(key), "user.p12": "\x00\x01", "user.password": "unused",
		}},
		"a KafkaUser with SCRAM": {at: "BOTH", cluster: ca, data: data{"password": securePassword, "sasl.jaas.config": jaas}},
		"another host name":      {at: "ELSEWHERE", data: data{"broker-ca.crt": ca, "ssl.endpoint.identification.algorithm": ""}},
	}
}

// way is one to connect.
type way struct {
	// at is the listener.
	at   string
	data data
	// cluster, if not empty, is the CA that is known of the cluster.
	cluster string
}

func (w way) client(t *testing.T, s *secured) *client.Client {
	t.Helper()
	security := client.Security{}
	if w.data != nil {
		raw := map[string][]byte{}
		for key, value := range w.data {
			raw[key] = []byte(value)
		}
		var err error
		if security, err = client.SecurityOf(raw); err != nil {
			t.Fatal(err)
		}
	}
	if w.cluster != "" {
		security = security.WithTLS(client.TLS{CA: []byte(w.cluster)})
	}
	c, err := client.New(client.Config{BootstrapServers: s.cluster.At(w.at), Security: security})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// TestKafkaSecurity connects to one broker in every way, and in every wrong one: of the
// default version, and of every known one with SLUICE_KAFKA_VERSIONS=all.
func TestKafkaSecurity(t *testing.T) {
	versions := []string{kafka.DefaultVersion}
	if os.Getenv("SLUICE_KAFKA_VERSIONS") == "all" {
		versions = kafka.Versions()
	}
	for _, version := range versions {
		t.Run(version, func(t *testing.T) { startSecured(t, version).run(t) })
	}
}

func (s *secured) run(t *testing.T) {
	for name, w := range s.ways(t) {
		t.Run(name+" works on a topic", func(t *testing.T) { workOnTopic(t, w.client(t, s)) })
	}
	t.Run("one token serves all connections", func(t *testing.T) {
		if issued := s.issuer.Issued(); issued != 1 {
			t.Errorf("%d tokens were asked for", issued)
		}
	})
	t.Run("side by side", func(t *testing.T) {
		t.Run("a token is renewed before it ends", func(t *testing.T) { t.Parallel(); s.renewToken(t) })
		for name, test := range s.wrongWays(t) {
			t.Run(name, func(t *testing.T) { t.Parallel(); test.check(t, s) })
		}
	})
	t.Run("a changed password", s.changePassword)
}

// workOnTopic creates, describes, changes and deletes a topic.
func workOnTopic(t *testing.T, c *client.Client) {
	const name = "secured"
	created, err := c.CreateTopics(t.Context(), []client.NewTopic{{Name: name, Partitions: 1, ReplicationFactor: 1}})
	if err = errors.Join(err, created[name].Err); err != nil {
		t.Fatal(err)
	}
	kafkatest.Eventually(t, func(ctx context.Context) error {
		seen, err := c.DescribeTopics(ctx, []string{name})
		return errors.Join(err, seen[name].Err)
	})
	altered, err := c.AlterTopicConfigs(t.Context(), []client.TopicConfigChange{{Name: name, Ops: []client.ConfigOp{{Name: "retention.ms", Value: "5000"}}}})
	if err = errors.Join(err, altered[name]); err != nil {
		t.Error(err)
	}
	kafkatest.Eventually(t, func(ctx context.Context) error {
		configs, err := c.DescribeTopicConfigs(ctx, []string{name})
		if err == nil && configs[name].Entries["retention.ms"].Value != "5000" {
			err = errors.New("the change does not show")
		}
		return err
	})
	grown, err := c.CreatePartitions(t.Context(), []client.PartitionGrowth{{Name: name, Total: 2}})
	if err = errors.Join(err, grown[name]); err != nil {
		t.Error(err)
	}
	deleted, err := c.DeleteTopics(t.Context(), []client.TopicDeletion{{Name: name}})
	if err = errors.Join(err, deleted[name]); err != nil {
		t.Error(err)
	}
	kafkatest.Eventually(t, func(ctx context.Context) error {
		seen, err := c.DescribeTopics(ctx, []string{name})
		if err == nil && !errors.Is(seen[name].Err, client.ErrUnknownTopic) {
			err = errors.New("it is still there")
		}
		return err
	})
}

// wrongWay is one to connect that fails.
type wrongWay struct {
	way
	want error
	// says are parts of what a person reads.
	says []string
}

func (s *secured) wrongWays(t *testing.T) map[string]wrongWay {
	t.Helper()
	ways := s.ways(t)
	change := func(name string, changes data) way {
		w := ways[name]
		w.data = w.data.with(changes)
		return w
	}
	other, err := kafka.NewAuthority("somebody else")
	if err != nil {
		t.Fatal(err)
	}
	strangeCertificate, strangeKey, err := other.Issue(kafka.Subject{Name: secureUser})
	if err != nil {
		t.Fatal(err)
	}
	authentication, untrusted, unreachable := client.ErrAuthentication, client.ErrTLS, client.ErrUnreachable
	wrong := data{"password": "guessed-password"}
	return map[string]wrongWay{
		"a wrong password of PLAIN":         {way: change("PLAIN", wrong), want: authentication, says: []string{`PLAIN as "topic-operator"`, "password"}},
		"a wrong password of SCRAM-SHA-256": {way: change("SCRAM-SHA-256", wrong), want: authentication, says: []string{`SCRAM-SHA-256 as "topic-operator"`, "password"}},
		"a wrong password of SCRAM-SHA-512": {way: change("SCRAM-SHA-512", wrong), want: authentication, says: []string{`SCRAM-SHA-512 as "topic-operator"`, "password"}},
		"an unknown user":                   {way: change("SCRAM-SHA-512", data{"username": "nobody"}), want: authentication, says: []string{`"nobody"`, "user exists"}},
		"a mechanism that is not offered": {
			way:  change("PLAIN over TLS", data{"sasl.mechanism": "SCRAM-SHA-256"}),
			want: authentication, says: []string{"SCRAM-SHA-256", "does not offer"},
		},
		"a client that the token endpoint refuses": {
			way:  change("OAUTHBEARER", data{"oauth.client.secret": "guessed-secret"}),
			want: authentication, says: []string{s.tokens, `"topic-operator"`, "invalid_client", "secret"},
		},
		"an expired token": {
			way:  change("OAUTHBEARER", data{"oauth.token.endpoint.uri": s.tokens + "/expired"}),
			want: authentication, says: []string{`OAUTHBEARER as "topic-operator"`, "invalid_token", s.tokens},
		},
		"a token that another has signed": {
			way:  change("OAUTHBEARER", data{"oauth.token.endpoint.uri": s.tokens + "/forged"}),
			want: authentication, says: []string{`OAUTHBEARER as "topic-operator"`, "invalid_token", "issuer"},
		},
		"an endpoint that has no tokens": {
			way:  change("OAUTHBEARER", data{"oauth.token.endpoint.uri": s.tokens + "/nothing"}),
			want: authentication, says: []string{s.tokens + "/nothing", "404", "address"},
		},
		"a token endpoint that is away": {
			way:  change("OAUTHBEARER", data{"oauth.token.endpoint.uri": "https://127.0.0.1:1/good"}),
			want: unreachable, says: []string{"https://127.0.0.1:1/good"},
		},
		"a token endpoint that is not trusted": {way: change("OAUTHBEARER", data{"oauth.ca.crt": ""}), want: untrusted, says: []string{s.tokens, "CA"}},
		"an unknown CA": {
			way:  change("TLS", data{"broker-ca.crt": string(other.CA())}),
			want: untrusted, says: []string{"CN=somebody else", "CN=brokers", "127.0.0.1", "CA"},
		},
		"the system's CAs": {way: change("TLS", data{"broker-ca.crt": "", "security.protocol": "SSL"}), want: untrusted, says: []string{"the system's CAs", "CN=brokers"}},
		"a wrong host name": {
			way:  change("another host name", data{"ssl.endpoint.identification.algorithm": "https"}),
			want: untrusted, says: []string{"127.0.0.1", "host name"},
		},
		"an unknown CA, host names not compared": {
			way:  way{at: "ELSEWHERE", data: data{"broker-ca.crt": string(other.CA()), "ssl.endpoint.identification.algorithm": ""}},
			want: untrusted, says: []string{"CN=brokers"},
		},
		"a missing client certificate": {way: change("mTLS", data{"tls.crt": "", "tls.key": ""}), want: untrusted, says: []string{"no certificate", "mTLS"}},
		"a client certificate of a strange CA": {
			way:  change("mTLS", data{"tls.crt": string(strangeCertificate), "tls.key": string(strangeKey)}),
			want: untrusted, says: []string{"CN=" + secureUser, "CN=somebody else", "CA"},
		},
		"no TLS on an encrypted listener": {way: way{at: "ENCRYPTED"}, want: untrusted, says: []string{"speaks TLS"}},
		"TLS on a plain listener":         {way: way{at: "LOGIN", cluster: string(s.authority.CA())}, want: unreachable, says: []string{"TLS handshake", "encrypted?"}},
		"no login where one is asked for": {way: way{at: "LOGIN"}, want: unreachable, says: []string{"not encrypted", "listener"}},
		"a login where none is asked for": {
			way:  way{at: "ENCRYPTED", cluster: string(s.authority.CA()), data: ways["PLAIN"].data},
			want: authentication, says: []string{"expects no login"},
		},
	}
}

// check makes two calls, the second of which nothing may have been learnt for.
func (w wrongWay) check(t *testing.T, s *secured) {
	c := w.client(t, s)
	for range 2 {
		_, err := c.DescribeTopics(t.Context(), []string{"secured"})
		for _, sentinel := range []error{client.ErrAuthentication, client.ErrTLS, client.ErrUnreachable} {
			if got := errors.Is(err, sentinel); got != errors.Is(w.want, sentinel) {
				t.Errorf("is %q: %t, of %v", sentinel, got, err)
			}
		}
		if err == nil {
			return
		}
		if !client.Passing(err) || !client.NotConnected(err) {
			t.Errorf("taken for a fault of the topic: %v", err)
		}
		for _, part := range w.says {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%v\ndoes not say %q", err, part)
			}
		}
		for _, secret := range []string{securePassword, secureSecret, "guessed"} {
			if strings.Contains(err.Error(), secret) {
				t.Errorf("%v\nhas a secret in it", err)
			}
		}
	}
}

// renewToken uses one connection for longer than a token lasts.
func (s *secured) renewToken(t *testing.T) {
	w := s.ways(t)["OAUTHBEARER"]
	w.data = w.data.with(data{"oauth.token.endpoint.uri": s.tokens + "/short"})
	c := w.client(t, s)
	kafkatest.Eventually(t, func(ctx context.Context) error {
		if _, err := c.DescribeTopics(ctx, []string{"any"}); err != nil {
			t.Error(err)
		}
		if asked := s.short.Load(); asked < 2 {
			return fmt.Errorf("%d tokens were asked for", asked)
		}
		return nil
	})
	if _, err := c.DescribeTopics(t.Context(), []string{"any"}); err != nil {
		t.Error(err)
	}
}

// changePassword changes the password of the user: connections that are there stay,
// new ones need the new one.
func (s *secured) changePassword(t *testing.T) {
	old := s.ways(t)["SCRAM-SHA-512"]
	before := old.client(t, s)
	if _, err := before.DescribeTopics(t.Context(), []string{"any"}); err != nil {
		t.Fatal(err)
	}
	raw, err := kgo.NewClient(kgo.SeedBrokers(s.cluster.Bootstrap()...))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(raw.Close)
	const changed = "changed-password"
	if _, err := kadm.NewClient(raw).AlterUserSCRAMs(t.Context(), nil, []kadm.UpsertSCRAM{{
		User: secureUser, Mechanism: kadm.ScramSha512, Iterations: 4096, Password: changed,
	}}); err != nil {
		t.Fatal(err)
	}
	fresh := old
	fresh.data = fresh.data.with(data{"password": changed})
	kafkatest.Eventually(t, func(ctx context.Context) error {
		_, err := fresh.client(t, s).DescribeTopics(ctx, []string{"any"})
		return err
	})
	if _, err := before.DescribeTopics(t.Context(), []string{"any"}); err != nil {
		t.Errorf("a connection that was there: %v", err)
	}
	if _, err := old.client(t, s).DescribeTopics(t.Context(), []string{"any"}); !errors.Is(err, client.ErrAuthentication) {
		t.Errorf("a new connection with the old password: %v", err)
	}
}
