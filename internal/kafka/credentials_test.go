package kafka_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluice-kafka/sluice/internal/kafka"
	testkafka "github.com/sluice-kafka/sluice/test/kafka"
)

// identity is a CA, and a client certificate of it with its key.
func identity(tb testing.TB) (ca, certificate, key string) {
	tb.Helper()
	authority, err := testkafka.NewAuthority("clients")
	if err != nil {
		tb.Fatal(err)
	}
	c, k, err := authority.Issue(testkafka.Subject{Name: "somebody"})
	if err != nil {
		tb.Fatal(err)
	}
	return string(authority.CA()), string(c), string(k)
}

func raw(data map[string]string) map[string][]byte {
	out := make(map[string][]byte)
	for key, value := range data {
		out[key] = []byte(value)
	}
	return out
}

func TestSecurityOf(t *testing.T) {
	ca, certificate, key := identity(t)
	const scram = `org.apache.kafka.common.security.scram.ScramLoginModule required username="me" password="it";`
	oauth := &kafka.OAuth{TokenURL: "https://tokens.example.org/token", ClientID: "me", ClientSecret: "it", Scopes: []string{"a", "b"}}
	tests := map[string]struct {
		data map[string]string
		want kafka.Security
	}{
		"nothing": {},
		"the CA of the brokers encrypts": {
			data: map[string]string{"broker-ca.crt": ca},
			want: kafka.Security{TLS: &kafka.TLS{CA: []byte(ca)}},
		},
		"so does the protocol": {
			data: map[string]string{"security.protocol": "SSL\n"},
			want: kafka.Security{TLS: &kafka.TLS{}},
		},
		"host names are not compared": {
			data: map[string]string{"broker-ca.crt": ca, "ssl.endpoint.identification.algorithm": ""},
			want: kafka.Security{TLS: &kafka.TLS{CA: []byte(ca), SkipHostName: true}},
		},
		"host names are compared": {
			data: map[string]string{"broker-ca.crt": ca, "ssl.endpoint.identification.algorithm": "HTTPS"},
			want: kafka.Security{TLS: &kafka.TLS{CA: []byte(ca)}},
		},
		"a client certificate of cert-manager": {
			data: map[string]string{"ca.crt": "unused", "tls.crt": certificate, "tls.key": key},
			want: kafka.Security{TLS: &kafka.TLS{Certificate: []byte(certificate), Key: kafka.Secret(key)}},
		},
		"a KafkaUser with TLS": {
			data: map[string]string{"ca.crt": ca, "user.crt": certificate, "user.key": key, "user.p12": "\x00", "user.password": "unused"},
			want: kafka.Security{TLS: &kafka.TLS{Certificate: []byte(certificate), Key: kafka.Secret(key)}},
		},
		"a KafkaUser with SCRAM": {
			data: map[string]string{"password": "it", "sasl.jaas.config": scram},
			want: kafka.Security{SASL: &kafka.SASL{Mechanism: "SCRAM-SHA-512", Username: "me", Password: "it"}},
		},
		"the other SCRAM by its name": {
			data: map[string]string{"sasl.jaas.config": scram, "sasl.mechanism": "scram-sha-256"},
			want: kafka.Security{SASL: &kafka.SASL{Mechanism: "SCRAM-SHA-256", Username: "me", Password: "it"}},
		},
		"values with a line break at their end": {
			data: map[string]string{"username": "me\n", "password": "i t \r\n", "sasl.mechanism": "PLAIN\n", "security.protocol": "SASL_PLAINTEXT"},
			want: kafka.Security{SASL: &kafka.SASL{Mechanism: "PLAIN", Username: "me", Password: "i t "}},
		},
		"a login over TLS": {
			data: map[string]string{"username": "me", "password": "it", "sasl.mechanism": "PLAIN", "security.protocol": "sasl_ssl"},
			want: kafka.Security{TLS: &kafka.TLS{}, SASL: &kafka.SASL{Mechanism: "PLAIN", Username: "me", Password: "it"}},
		},
		"OAuth": {
			data: map[string]string{
				"oauth.token.endpoint.uri": oauth.TokenURL, "oauth.client.id": "me", "oauth.client.secret": "it", "oauth.scope": " a  b ",
				"username": "of another purpose",
			},
			want: kafka.Security{SASL: &kafka.SASL{Mechanism: "OAUTHBEARER", OAuth: oauth}},
		},
		"OAuth in Kafka's words": {
			data: map[string]string{
				"sasl.mechanism": "OAUTHBEARER", "sasl.oauthbearer.token.endpoint.url": oauth.TokenURL,
				"sasl.oauthbearer.client.credentials.client.id": "me", "sasl.oauthbearer.client.credentials.client.secret": "it",
				"sasl.oauthbearer.scope": "a b", "sasl.login.callback.handler.class": "of.no.effect",
			},
			want: kafka.Security{SASL: &kafka.SASL{Mechanism: "OAUTHBEARER", OAuth: oauth}},
		},
		"OAuth in Kafka's older words": {
			data: map[string]string{
				"sasl.oauthbearer.token.endpoint.url": oauth.TokenURL,
				"sasl.jaas.config":                    `x.OAuthBearerLoginModule required clientId="me" clientSecret="it" scope="a b";`,
			},
			want: kafka.Security{SASL: &kafka.SASL{Mechanism: "OAUTHBEARER", OAuth: oauth}},
		},
		"OAuth as Strimzi's own library has it": {
			data: map[string]string{"sasl.jaas.config": `x.OAuthBearerLoginModule required oauth.token.endpoint.uri="` + oauth.TokenURL +
				`" oauth.client.id="me" oauth.client.secret="it" oauth.scope="a b";`},
			want: kafka.Security{SASL: &kafka.SASL{Mechanism: "OAUTHBEARER", OAuth: oauth}},
		},
		"AWS with keys": {
			data: map[string]string{"sasl.mechanism": "AWS_MSK_IAM", "username": "me", "password": "it"},
			want: kafka.Security{SASL: &kafka.SASL{Mechanism: "AWS_MSK_IAM", Username: "me", Password: "it"}},
		},
		"AWS with those of the environment": {
			data: map[string]string{
				"sasl.jaas.config":                   "software.amazon.msk.auth.iam.IAMLoginModule required;",
				"sasl.client.callback.handler.class": "software.amazon.msk.auth.iam.IAMClientCallbackHandler",
			},
			want: kafka.Security{SASL: &kafka.SASL{Mechanism: "AWS_MSK_IAM"}},
		},
		"keys of others": {data: map[string]string{"ca.crt": "unused", "note": "unused", "ca.password": "unused"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := kafka.SecurityOf(raw(test.data))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if _, err := kafka.New(kafka.Config{BootstrapServers: []string{"kafka:9092"}, Security: got}); err != nil {
				t.Errorf("it cannot be used: %v", err)
			}
		})
	}
}

func TestWhatIsWrongWithCredentialsIsSaidByKey(t *testing.T) {
	ca, certificate, key := identity(t)
	_, _, other := identity(t)
	tests := map[string]struct {
		data map[string]string
		// want are keys with a part of what is said of each.
		want map[string]string
	}{
		"all at once": {
			data: map[string]string{
				"broker-ca.crt": "no-PEM", "tls.crt": certificate, "sasl.mechanism": "GSSAPI-4", "security.protocol": "TLS-1",
				"oauth.scpoe": "x1y", "ssl.endpoint.identification.algorithm": "none",
			},
			want: map[string]string{
				"broker-ca.crt": "BEGIN CERTIFICATE", "tls.key": "missing", "sasl.mechanism": "none of PLAIN", "security.protocol": "none of PLAINTEXT",
				"oauth.scpoe": "not known", "ssl.endpoint.identification.algorithm": "neither",
			},
		},
		"a user without a mechanism":       {data: map[string]string{"username": "u-1", "password": "p-1"}, want: map[string]string{"sasl.mechanism": "missing"}},
		"a user without a password":        {data: map[string]string{"username": "u-1", "sasl.mechanism": "PLAIN"}, want: map[string]string{"password": "missing"}},
		"a password without a user":        {data: map[string]string{"password": "p-1", "sasl.mechanism": "SCRAM-SHA-512"}, want: map[string]string{"username": "missing"}},
		"a mechanism alone":                {data: map[string]string{"sasl.mechanism": "PLAIN"}, want: map[string]string{"username": "missing", "password": "missing"}},
		"half of the keys of AWS":          {data: map[string]string{"sasl.mechanism": "AWS_MSK_IAM", "username": "u-1"}, want: map[string]string{"password": "missing"}},
		"a key without its certificate":    {data: map[string]string{"user.key": key}, want: map[string]string{"user.crt": "missing"}},
		"a key of another certificate":     {data: map[string]string{"user.crt": certificate, "user.key": other}, want: map[string]string{"user.key": "not that of the certificate"}},
		"a certificate that is none":       {data: map[string]string{"tls.crt": "no-PEM", "tls.key": key}, want: map[string]string{"tls.key": "the certificate is not one"}},
		"a key that is none":               {data: map[string]string{"tls.crt": certificate, "tls.key": "no-PEM"}, want: map[string]string{"tls.key": "the key is not one"}},
		"a key with a password":            {data: map[string]string{"tls.crt": certificate, "tls.key": "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n"}, want: map[string]string{"tls.key": "encrypted with a password"}},
		"two client certificates":          {data: map[string]string{"tls.crt": certificate, "tls.key": key, "user.crt": certificate, "user.key": key}, want: map[string]string{"user.crt": "second"}},
		"a certificate that is broken":     {data: map[string]string{"broker-ca.crt": ca + "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"}, want: map[string]string{"broker-ca.crt": "number 2"}},
		"a CA that is yet to be filled in": {data: map[string]string{"broker-ca.crt": "\n", "username": "u-1", "password": "p-1", "sasl.mechanism": "PLAIN"}, want: map[string]string{"broker-ca.crt": "BEGIN CERTIFICATE"}},
		"a password of two minds":          {data: map[string]string{"password": "p-1", "sasl.jaas.config": `x.ScramLoginModule required username="u-1" password="p-2";`}, want: map[string]string{"sasl.jaas.config": "something else than password"}},
		"a module of another mechanism":    {data: map[string]string{"sasl.mechanism": "PLAIN", "sasl.jaas.config": `x.ScramLoginModule required username="u-1" password="p-2";`}, want: map[string]string{"sasl.jaas.config": "another mechanism"}},
		"a JAAS that is none":              {data: map[string]string{"sasl.jaas.config": `u-1:p-1`}, want: map[string]string{"sasl.jaas.config": "not of the form"}},
		"a module that is not known":       {data: map[string]string{"sasl.jaas.config": `x.MyOwnModule1 required;`}, want: map[string]string{"sasl.jaas.config": "login module other than"}},
		"OAuth and another mechanism":      {data: map[string]string{"sasl.mechanism": "PLAIN", "username": "u-1", "password": "p-1", "oauth.client.id": "c-1"}, want: map[string]string{"sasl.mechanism": "not OAUTHBEARER"}},
		"OAuth without all of it":          {data: map[string]string{"sasl.mechanism": "OAUTHBEARER", "oauth.ca.crt": "no-PEM"}, want: map[string]string{"oauth.ca.crt": "PEM", "oauth.client.id": "missing", "oauth.client.secret": "missing", "oauth.token.endpoint.uri": "missing"}},
		"a token endpoint that is none":    {data: map[string]string{"oauth.token.endpoint.uri": "tokens:8080", "oauth.client.id": "c-1", "oauth.client.secret": "s-1"}, want: map[string]string{"oauth.token.endpoint.uri": "https://"}},
		"a password in a URL":              {data: map[string]string{"oauth.token.endpoint.uri": "https://u:p-1@host/", "oauth.client.id": "c-1", "oauth.client.secret": "s-1"}, want: map[string]string{"oauth.token.endpoint.uri": "https://"}},
		"a protocol with no login there":   {data: map[string]string{"security.protocol": "SASL_SSL"}, want: map[string]string{"sasl.mechanism": "missing"}},
		"a login that the protocol lacks": {
			data: map[string]string{"security.protocol": "SSL", "username": "u-1", "password": "p-1", "sasl.mechanism": "PLAIN"},
			want: map[string]string{"security.protocol": "no login"},
		},
		"certificates that the protocol lacks": {
			data: map[string]string{"security.protocol": "PLAINTEXT", "broker-ca.crt": ca}, want: map[string]string{"security.protocol": "not encrypted"},
		},
		"control characters": {
			data: map[string]string{"username": "u\x00-1", "password": "p\n-1", "sasl.mechanism": "PLAIN"}, want: map[string]string{"username": "control", "password": "control"},
		},
		"no text": {data: map[string]string{"password": "\xff\xfe-1", "sasl.mechanism": "PLAIN", "username": "u-1"}, want: map[string]string{"password": "UTF-8"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := kafka.SecurityOf(raw(test.data))
			if err == nil {
				t.Fatal("no error")
			}
			lines := strings.Split(err.Error(), "\n")
			keys := slices.Sorted(maps.Keys(test.want))
			if len(lines) != len(keys) {
				t.Fatalf("%d lines, want one for each of %v:\n%v", len(lines), keys, err)
			}
			for i, key := range keys {
				if !strings.HasPrefix(lines[i], `key "`+key+`" `) || !strings.Contains(lines[i], test.want[key]) {
					t.Errorf("%s\nshould say of %q: %s", lines[i], key, test.want[key])
				}
			}
			for key, value := range test.data {
				if strings.Contains(value, "-1") && strings.Contains(err.Error(), value) {
					t.Errorf("the value of %s is in %v", key, err)
				}
			}
		})
	}
}

func TestWithTLSFillsInWhatIsKnownOfTheCluster(t *testing.T) {
	own := kafka.TLS{CA: []byte("own"), Certificate: []byte("certificate"), Key: "key", SkipHostName: true}
	cluster := kafka.TLS{CA: []byte("cluster")}
	login := &kafka.SASL{Mechanism: "PLAIN", Username: "me", Password: "it"}
	tests := map[string]struct{ given, want kafka.Security }{
		"nothing":              {want: kafka.Security{TLS: &cluster}},
		"a login":              {given: kafka.Security{SASL: login}, want: kafka.Security{TLS: &cluster, SASL: login}},
		"all of it":            {given: kafka.Security{TLS: &own}, want: kafka.Security{TLS: &own}},
		"a client certificate": {given: kafka.Security{TLS: &kafka.TLS{Certificate: own.Certificate, Key: own.Key}}, want: kafka.Security{TLS: &kafka.TLS{CA: cluster.CA, Certificate: own.Certificate, Key: own.Key}}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, test.given.WithTLS(cluster)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// FuzzSecurityOf puts data under all keys. What is accepted can be used, and what is
// not is never quoted.
func FuzzSecurityOf(f *testing.F) {
	ca, certificate, key := identity(f)
	keys := []string{
		kafka.KeyBrokerCA, kafka.KeyTLSCertificate, kafka.KeyTLSKey, kafka.KeySASLMechanism, kafka.KeyUsername, kafka.KeyPassword,
		kafka.KeyJAAS, kafka.KeyOAuthTokenURL, kafka.KeyOAuthSecret, kafka.KeySecurityProtocol, kafka.KeyHostNameCheck,
	}
	f.Add(ca, certificate, key, "", "", "", "", "", "", "", "")
	f.Add("", "", "", "PLAIN", "me", "it", "", "", "", "SASL_PLAINTEXT", "https")
	f.Add("", "", "", "", "", "", `x.ScramLoginModule required username="me" password="it";`, "", "", "SASL_SSL", "")
	f.Add("", "", "", "OAUTHBEARER", "me", "", `x.OAuthBearerLoginModule required clientId="me";`, "https://tokens/", "it", "", "")
	f.Add("", "", "", "AWS_MSK_IAM", "", "", "", "", "", "", "")
	f.Fuzz(func(t *testing.T, v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10 string) {
		const mark = "tell-nobody-"
		data, marked := map[string][]byte{}, map[string][]byte{}
		for i, value := range []string{v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10} {
			if value != "" || i == 10 {
				data[keys[i]], marked[keys[i]] = []byte(value), []byte(mark+value)
			}
		}
		security, err := kafka.SecurityOf(data)
		if err == nil {
			c, err := kafka.New(kafka.Config{BootstrapServers: []string{"kafka:9092"}, Security: security})
			if err != nil {
				t.Fatalf("accepted, but cannot be used: %v", err)
			}
			c.Close()
		}
		if len(marked) == 0 {
			return
		}
		if _, err := kafka.SecurityOf(marked); err != nil && strings.Contains(err.Error(), mark) {
			t.Errorf("a value is quoted: %v", err)
		}
	})
}
