package options

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// login is an environment that logs in with SCRAM over TLS, changed by pairs of
// names and values.
func login(pairs ...string) map[string]string {
	env := map[string]string{
		"STRIMZI_SECURITY_PROTOCOL": "SASL_SSL", "STRIMZI_SASL_ENABLED": "true",
		"STRIMZI_SASL_MECHANISM": "scram-sha-512", "STRIMZI_SASL_USERNAME": "me", "STRIMZI_SASL_PASSWORD": " letmein ",
	}
	for i := 0; i < len(pairs); i += 2 {
		env[pairs[i]] = pairs[i+1]
	}
	return env
}

func TestTopicOnlyLogins(t *testing.T) {
	scram := Settings{"security.protocol": "SASL_SSL", "sasl.mechanism": "SCRAM-SHA-512", "username": "me", "password": " letmein "}
	tests := map[string]struct {
		env  map[string]string
		want TopicOnlyLogin
		// notes are the variables of which something is said.
		notes []string
	}{
		"the switch of Strimzi 0.51": {
			env:  map[string]string{"STRIMZI_TLS_ENABLED": "true"},
			want: TopicOnlyLogin{TLS: true, Data: Settings{"security.protocol": "SSL"}},
		},
		"public CAs and no certificate": {
			env:  map[string]string{"STRIMZI_TLS_ENABLED": "true", "STRIMZI_PUBLIC_CA": "true", "STRIMZI_TLS_AUTH_ENABLED": "false"},
			want: TopicOnlyLogin{TLS: true, SystemCA: true, WithoutCertificate: true, Data: Settings{"security.protocol": "SSL"}},
		},
		"stores": {
			env: map[string]string{
				"STRIMZI_SECURITY_PROTOCOL": "SSL", "STRIMZI_TRUSTSTORE_LOCATION": "/t.p12", "STRIMZI_TRUSTSTORE_PASSWORD": "a",
				"STRIMZI_KEYSTORE_LOCATION": "/k.p12", "STRIMZI_KEYSTORE_PASSWORD": "b", "STRIMZI_TLS_AUTH_ENABLED": "true",
			},
			want: TopicOnlyLogin{
				TLS: true, TrustStore: Store{"/t.p12", "a"}, KeyStore: Store{"/k.p12", "b"}, NeedsCertificate: true,
				Data: Settings{"security.protocol": "SSL"},
			},
		},
		"the CAs of Java": {
			env: map[string]string{
				"STRIMZI_SECURITY_PROTOCOL": "SSL", "STRIMZI_PUBLIC_CA": "true",
				"STRIMZI_TRUSTSTORE_LOCATION": "/etc/pki/java/cacerts", "STRIMZI_TRUSTSTORE_PASSWORD": "changeit",
			},
			want:  TopicOnlyLogin{TLS: true, SystemCA: true, Data: Settings{"security.protocol": "SSL"}},
			notes: []string{"STRIMZI_TRUSTSTORE_LOCATION"},
		},
		"the Secrets of Strimzi 1.0, in the namespace of the cluster": {
			env: map[string]string{
				"STRIMZI_CLUSTER_NAMESPACE": "there", "STRIMZI_TLS_TRUSTED_CERTS_SECRET_NAME": "ca",
				"STRIMZI_TLS_SECRET_NAME": "mine", "STRIMZI_TLS_CERT_NAME": "c", "STRIMZI_TLS_KEY_NAME": "k",
			},
			want: TopicOnlyLogin{
				TLS: true, TrustSecret: Secret{"there", "ca"}, KeySecret: Secret{"there", "mine"}, CertificateKey: "c", KeyKey: "k",
				Data: Settings{"security.protocol": "SSL"},
			},
		},
		"a Secret by the documentation's name, in the namespace of the topics": {
			env:  map[string]string{"STRIMZI_TRUSTSTORE_SECRET_NAME": "ca"},
			want: TopicOnlyLogin{TLS: true, TrustSecret: Secret{"kafka", "ca"}, Data: Settings{"security.protocol": "SSL"}},
		},
		"a Secret for connections that are not encrypted": {
			env:   map[string]string{"STRIMZI_SECURITY_PROTOCOL": "PLAINTEXT", "STRIMZI_TLS_TRUSTED_CERTS_SECRET_NAME": "ca"},
			want:  TopicOnlyLogin{TrustSecret: Secret{"kafka", "ca"}, Data: Settings{"security.protocol": "PLAINTEXT"}},
			notes: []string{"STRIMZI_TLS_TRUSTED_CERTS_SECRET_NAME"},
		},
		"no comparison of host names": {
			env:   map[string]string{"STRIMZI_SECURITY_PROTOCOL": "SSL", "STRIMZI_SSL_ENDPOINT_IDENTIFICATION_ALGORITHM": ""},
			want:  TopicOnlyLogin{TLS: true, Data: Settings{"security.protocol": "SSL", "ssl.endpoint.identification.algorithm": ""}},
			notes: []string{"STRIMZI_SSL_ENDPOINT_IDENTIFICATION_ALGORITHM"},
		},
		"their comparison, said": {
			env:  map[string]string{"STRIMZI_SECURITY_PROTOCOL": "SSL", "STRIMZI_SSL_ENDPOINT_IDENTIFICATION_ALGORITHM": "HTTPS"},
			want: TopicOnlyLogin{TLS: true, Data: Settings{"security.protocol": "SSL"}},
		},
		"a user and a password": {env: login(), want: TopicOnlyLogin{TLS: true, Data: scram}},
		"a login that the protocol leaves out": {
			env:   login("STRIMZI_SECURITY_PROTOCOL", "SSL"),
			want:  TopicOnlyLogin{TLS: true, Data: Settings{"security.protocol": "SSL"}},
			notes: []string{"STRIMZI_SASL_ENABLED"},
		},
		"a login that is switched off": {
			env:  login("STRIMZI_SECURITY_PROTOCOL", "PLAINTEXT", "STRIMZI_SASL_ENABLED", "false", "STRIMZI_SASL_MECHANISM", "any"),
			want: TopicOnlyLogin{Data: Settings{"security.protocol": "PLAINTEXT"}},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := readTopicOnly(nil, tc.env)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got.Login); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if printed := fmt.Sprintf("%v %+v %#v", got, got, got); strings.Contains(printed, "letmein") || strings.Contains(printed, "changeit") {
				t.Errorf("a password is printed: %s", printed)
			}
			var notes []string
			for _, n := range got.Notes {
				notes = append(notes, n.Variable)
			}
			if diff := cmp.Diff(tc.notes, notes); diff != "" {
				t.Errorf("notes, -want +got:\n%s", diff)
			}
		})
	}
}

func TestTopicOnlyCustomSASL(t *testing.T) {
	const (
		plain   = `org.apache.kafka.common.security.plain.PlainLoginModule required\n  username=\"me\" password=\"letmein\";`
		asPlain = "org.apache.kafka.common.security.plain.PlainLoginModule required\n  username=\"me\" password=\"letmein\";"
		oauth   = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required"
		iam     = "software.amazon.msk.auth.iam.IAMLoginModule required"
	)
	keys := map[string]string{"AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "key"}
	tests := map[string]struct {
		json string
		env  map[string]string
		want Settings
		// wantErr are parts of the message, without which nothing is refused.
		wantErr []string
	}{
		"PLAIN, with comments": {
			json: "{ // as at the provider's\n \"sasl.mechanism\": \"PLAIN\", /* and */ \"sasl.jaas.config\": \"" + plain + "\" }",
			want: Settings{"sasl.mechanism": "PLAIN", "sasl.jaas.config": asPlain},
		},
		"OAUTHBEARER, with a number for a secret": {
			json: `{"sasl.mechanism": "OAUTHBEARER", "sasl.oauthbearer.token.endpoint.url": "https://t", "sasl.oauthbearer.client.credentials.client.id": "me",
				"sasl.oauthbearer.client.credentials.client.secret": 12345, "sasl.oauthbearer.scope": "a b", "sasl.jaas.config": "` + oauth + `;"}`,
			want: Settings{
				"sasl.mechanism": "OAUTHBEARER", "sasl.oauthbearer.token.endpoint.url": "https://t", "sasl.oauthbearer.client.credentials.client.id": "me",
				"sasl.oauthbearer.client.credentials.client.secret": "12345", "sasl.oauthbearer.scope": "a b", "sasl.jaas.config": oauth + ";"},
		},
		"OAUTHBEARER of Strimzi": {
			json: `{"sasl.mechanism": "OAUTHBEARER", "sasl.jaas.config": "` + oauth + ` oauth.token.endpoint.uri=\"https://t\" oauth.client.id=\"me\" oauth.client.secret=\"s\";",
				"sasl.login.callback.handler.class": "io.strimzi.kafka.oauth.client.JaasClientOauthLoginCallbackHandler"}`,
			want: Settings{
				"sasl.mechanism": "OAUTHBEARER", "sasl.jaas.config": oauth + ` oauth.token.endpoint.uri="https://t" oauth.client.id="me" oauth.client.secret="s";`,
				"sasl.login.callback.handler.class": "io.strimzi.kafka.oauth.client.JaasClientOauthLoginCallbackHandler"},
		},
		"AWS's": {
			json: `{"sasl.mechanism": "AWS_MSK_IAM", "sasl.jaas.config": "` + iam + `;", "sasl.client.callback.handler.class": "software.amazon.msk.auth.iam.IAMClientCallbackHandler"}`,
			env:  keys,
			want: Settings{
				"sasl.mechanism": "AWS_MSK_IAM", "sasl.jaas.config": iam + ";", "sasl.client.callback.handler.class": "software.amazon.msk.auth.iam.IAMClientCallbackHandler"},
		},
		"AWS's without a key":  {json: `{"sasl.mechanism": "AWS_MSK_IAM"}`, wantErr: []string{`key "sasl.mechanism"`, "AWS_ACCESS_KEY_ID"}},
		"AWS's with a profile": {json: `{"sasl.mechanism": "AWS_MSK_IAM", "sasl.jaas.config": "` + iam + ` awsProfileName=\"letmein\";"}`, env: keys, wantErr: []string{`key "sasl.jaas.config" has an option that IAMLoginModule does not have here`}},
		"a setting of TLS":     {json: `{"sasl.mechanism": "PLAIN", "ssl.truststore.location": "letmein"}`, wantErr: []string{`key "ssl.truststore.location" does not begin with sasl.`}},
		"settings that Sluice lacks": {
			json:    `{"sasl.mechanism": "PLAIN", "sasl.jaas.config": "` + plain + `", "sasl.login.class": "letmein", "sasl.login.refresh.window.factor": 0.5}`,
			wantErr: []string{`STRIMZI_SASL_CUSTOM_CONFIG_JSON: key "sasl.login.class" is not known`, `STRIMZI_SASL_CUSTOM_CONFIG_JSON: key "sasl.login.refresh.window.factor" is not known`},
		},
		"a mechanism that Sluice lacks":       {json: `{"sasl.mechanism": "GSSAPI", "sasl.kerberos.service.name": "letmein"}`, wantErr: []string{`key "sasl.mechanism" is none of PLAIN`, `key "sasl.kerberos.service.name"`}},
		"no mechanism":                        {json: `{"sasl.jaas.config": "` + plain + `"}`, wantErr: []string{`key "sasl.mechanism" is missing`}},
		"somebody's own class":                {json: `{"sasl.mechanism": "OAUTHBEARER", "sasl.login.callback.handler.class": "letmein"}`, wantErr: []string{`key "sasl.login.callback.handler.class" must be`, "runs no Java classes"}},
		"OAUTHBEARER without all":             {json: `{"sasl.mechanism": "OAUTHBEARER"}`, wantErr: []string{"oauth.token.endpoint.uri", "oauth.client.id", "oauth.client.secret"}},
		"OAUTHBEARER with more than it takes": {json: `{"sasl.mechanism": "OAUTHBEARER", "sasl.jaas.config": "` + oauth + ` oauth.refresh.token=\"letmein\";"}`, wantErr: []string{"has an option that OAuthBearerLoginModule does not have here"}},
		"a delegation token":                  {json: `{"sasl.mechanism": "SCRAM-SHA-256", "sasl.jaas.config": "x.ScramLoginModule required username=\"letmein\" password=\"letmein\" tokenauth=true;"}`, wantErr: []string{"has an option that ScramLoginModule does not have here; it has username, password"}},
		"no user":                             {json: `{"sasl.mechanism": "SCRAM-SHA-256", "sasl.jaas.config": "x.ScramLoginModule required password=\"letmein\";"}`, wantErr: []string{`key "username" is missing`}},
		"a module that does not end":          {json: `{"sasl.mechanism": "PLAIN", "sasl.jaas.config": "M required username=\"letmein"}`, wantErr: []string{`key "sasl.jaas.config" has a quote`}},
		"nothing":                             {json: "{}", wantErr: []string{"JSON object"}},
		"no JSON":                             {json: "letmein", wantErr: []string{"JSON object"}},
		"a list":                              {json: `["letmein"]`, wantErr: []string{"JSON object"}},
		"a null":                              {json: `{"sasl.mechanism": null}`, wantErr: []string{`"sasl.mechanism" must be a text`}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			env := login("STRIMZI_SASL_CUSTOM_CONFIG_JSON", tc.json, "STRIMZI_SASL_MECHANISM", "", "STRIMZI_SASL_USERNAME", "", "STRIMZI_SASL_PASSWORD", "")
			maps.Copy(env, tc.env)
			got, err := readTopicOnly(nil, env)
			if (err != nil) != (tc.wantErr != nil) {
				t.Fatalf("error: %v", err)
			}
			for _, part := range append([]string{"STRIMZI_SASL_CUSTOM_CONFIG_JSON"}, tc.wantErr...) {
				if err != nil && !strings.Contains(err.Error(), part) {
					t.Errorf("it does not say %q:\n%v", part, err)
				}
			}
			if err != nil {
				if strings.Contains(err.Error(), "letmein") {
					t.Errorf("a value is shown:\n%v", err)
				}
				return
			}
			delete(got.Login.Data, "security.protocol")
			if diff := cmp.Diff(tc.want, got.Login.Data); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// FuzzTopicOnly: whatever the environment says, it is read or refused, and no
// password is shown.
func FuzzTopicOnly(f *testing.F) {
	f.Add("STRIMZI_SASL_CUSTOM_CONFIG_JSON", `{"sasl.mechanism":"PLAIN","sasl.jaas.config":"M required username=\"a\" password='b\\';"}`, "x")
	f.Add("STRIMZI_RESOURCE_LABELS", "a in (b,c)", "y")
	f.Add("STRIMZI_KAFKA_BOOTSTRAP_SERVERS", "[::1]:1,SSL://b:2", "z")
	f.Add("STRIMZI_FULL_RECONCILIATION_INTERVAL_MS", "9223372036854", "z")
	f.Fuzz(func(t *testing.T, name, value, password string) {
		secret := "\u2042" + password + "\u2042" // a sign that nothing else has
		got, err := readTopicOnly(nil, login("STRIMZI_SASL_PASSWORD", secret, name, value))
		if err == nil && (got.Namespace == "" || len(got.BootstrapServers) == 0 || got.Login.Data["security.protocol"] == "") {
			t.Fatalf("accepted without what is needed: %+v", got)
		}
		if err != nil && strings.Contains(err.Error(), secret) {
			t.Fatalf("the password is shown: %v", err)
		}
		again, againErr := readTopicOnly(nil, login("STRIMZI_SASL_PASSWORD", secret, name, value))
		if (err == nil) != (againErr == nil) || err != nil && err.Error() != againErr.Error() || !cmp.Equal(got, again) {
			t.Fatalf("read twice, it differs: %v, %v, %s", err, againErr, cmp.Diff(got, again))
		}
	})
}
