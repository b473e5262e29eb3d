package kafka

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"
)

func TestWhatCannotBeALogin(t *testing.T) {
	oauth := OAuth{TokenURL: "https://tokens", ClientID: "client", ClientSecret: "it"}
	tests := map[string]struct {
		security Security
		want     string
	}{
		"no mechanism":      {security: Security{SASL: &SASL{Username: "me", Password: "it"}}, want: "no mechanism"},
		"another mechanism": {security: Security{SASL: &SASL{Mechanism: "GSSAPI", Username: "me", Password: "it"}}, want: "AWS_MSK_IAM"},
		"no user":           {security: Security{SASL: &SASL{Mechanism: MechanismPlain, Password: "it"}}, want: "user name"},
		"no password":       {security: Security{SASL: &SASL{Mechanism: MechanismScramSHA256, Username: "me"}}, want: "password"},
		"half of the keys":  {security: Security{SASL: &SASL{Mechanism: MechanismAWSMSKIAM, Username: "me"}}, want: "secret key"},
		"no OAuth":          {security: Security{SASL: &SASL{Mechanism: MechanismOAuthBearer}}, want: "token endpoint"},
		"no client": {
			security: Security{SASL: &SASL{Mechanism: MechanismOAuthBearer, OAuth: &OAuth{TokenURL: oauth.TokenURL}}}, want: "client ID",
		},
		"no endpoint": {
			security: Security{SASL: &SASL{Mechanism: MechanismOAuthBearer, OAuth: &OAuth{ClientID: "client", ClientSecret: "it"}}}, want: "https://",
		},
		"a CA of the endpoint that is none": {
			security: Security{SASL: &SASL{Mechanism: MechanismOAuthBearer, OAuth: &OAuth{
				TokenURL: oauth.TokenURL, ClientID: "client", ClientSecret: "it", CA: []byte("none"),
			}}},
			want: "token endpoint: the CA bundle has no certificate",
		},
		"a CA that is none":          {security: Security{TLS: &TLS{CA: []byte("none")}}, want: "the CA bundle has no certificate"},
		"half a client certificate":  {security: Security{TLS: &TLS{Certificate: []byte("none")}}, want: "client certificate"},
		"another half a certificate": {security: Security{TLS: &TLS{Key: "none"}}, want: "client certificate"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := New(Config{BootstrapServers: []string{"kafka:9092"}, Security: test.security})
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "kafka:9092") {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

func TestKeysOfAWS(t *testing.T) {
	const broker = "b-1.demo.abcdef.c2.kafka.eu-west-1.amazonaws.com:9098"
	environment := map[string]string{"AWS_ACCESS_KEY_ID": "KEY-OF-ENV", "AWS_SECRET_ACCESS_KEY": "tell-nobody", "AWS_SESSION_TOKEN": "session"}
	tests := map[string]struct {
		given       SASL
		environment map[string]string
		wantKey     string
		wantSession string
		wantErr     bool
	}{
		"given":                {given: SASL{Username: "KEY-GIVEN", Password: "tell-nobody"}, environment: environment, wantKey: "KEY-GIVEN/"},
		"from the environment": {environment: environment, wantKey: "KEY-OF-ENV/", wantSession: "session"},
		"none":                 {wantErr: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			for name := range environment {
				t.Setenv(name, test.environment[name])
			}
			test.given.Mechanism = MechanismAWSMSKIAM
			mechanism, err := test.given.mechanism(time.Second)
			if err != nil {
				t.Fatal(err)
			}
			_, first, err := mechanism.Authenticate(t.Context(), broker)
			if test.wantErr {
				if !errors.Is(err, ErrAuthentication) || !strings.Contains(err.Error(), "AWS_ACCESS_KEY_ID") {
					t.Errorf("got %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var sent map[string]string
			if err := json.Unmarshal(first, &sent); err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(sent["x-amz-credential"], test.wantKey) || !strings.Contains(sent["x-amz-credential"], "/eu-west-1/") || sent["x-amz-security-token"] != test.wantSession {
				t.Errorf("sent %v", sent)
			}
			if strings.Contains(string(first), "tell-nobody") {
				t.Error("the secret key itself was sent")
			}
		})
	}
}

func TestAHostWithoutARegionIsALoginThatFails(t *testing.T) {
	t.Setenv("AWS_REGION", "")
	t.Setenv("AWS_DEFAULT_REGION", "")
	mechanism, err := SASL{Mechanism: MechanismAWSMSKIAM, Username: "KEY", Password: "tell-nobody"}.mechanism(time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := mechanism.Authenticate(t.Context(), "kafka.example.org:9098"); !errors.Is(err, ErrAuthentication) || strings.Contains(err.Error(), "tell-nobody") {
		t.Errorf("got %v", err)
	}
}
