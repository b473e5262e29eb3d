package kafka

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/go-logr/zapr"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// TestNothingPrintsASecret passes credentials to whatever may print them.
func TestNothingPrintsASecret(t *testing.T) {
	const mark = "tell-nobody"
	security := Security{
		TLS: &TLS{Certificate: []byte("certificate"), Key: mark + "-key"},
		SASL: &SASL{
			Mechanism: MechanismOAuthBearer, Username: "somebody", Password: mark + "-password",
			OAuth: &OAuth{TokenURL: "https://tokens", ClientID: "client", ClientSecret: mark + "-secret"},
		},
	}
	values := map[string]any{
		"security":            security,
		"pointer to security": &security,
		"config":              Config{Security: security},
		"TLS":                 *security.TLS,
		"pointer to TLS":      security.TLS,
		"SASL":                *security.SASL,
		"pointer to SASL":     security.SASL,
		"OAuth":               *security.SASL.OAuth,
		"pointer to OAuth":    security.SASL.OAuth,
		"secret":              security.SASL.Password,
		"map":                 map[string]Secret{"key": security.TLS.Key},
		"slice":               []Secret{security.SASL.Password},
	}
	var log bytes.Buffer
	texts := slog.New(slog.NewTextHandler(&log, nil))
	jsons := slog.New(slog.NewJSONHandler(&log, nil))
	core := zapcore.NewCore(zapcore.NewJSONEncoder(zap.NewProductionEncoderConfig()), zapcore.AddSync(&log), zap.DebugLevel)
	product := zapr.NewLogger(zap.New(core))
	for name, value := range values {
		t.Run(name, func(t *testing.T) {
			log.Reset()
			for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%08b", "%t", "%T %[1]v"} {
				fmt.Fprintf(&log, verb+"\n", value)
			}
			texts.Info("t", "value", value)
			jsons.Info("t", "value", value)
			product.Info("t", "value", value)
			if config, ok := value.(Config); !ok {
				if err := json.NewEncoder(&log).Encode(value); err != nil {
					t.Error(err)
				}
			} else if err := json.NewEncoder(&log).Encode(config.Security); err != nil {
				t.Error(err)
			}
			said := log.String()
			inner := func(bytes string) string { return strings.Trim(bytes, "[]") }
			for _, form := range []string{
				mark, hex.EncodeToString([]byte(mark)), strings.ToUpper(hex.EncodeToString([]byte(mark))),
				inner(fmt.Sprintf("%d", []byte(mark))), inner(fmt.Sprintf("%08b", []byte(mark))),
			} {
				if strings.Contains(said, form) {
					t.Errorf("it shows as %q in:\n%s", form, said)
				}
			}
			if !strings.Contains(said, hidden) {
				t.Errorf("nothing was hidden in:\n%s", said)
			}
		})
	}
}

func TestSecurityInWords(t *testing.T) {
	tests := map[string]struct {
		security Security
		want     string
	}{
		"nothing": {want: "not encrypted, no login"},
		"the system's CAs": {
			security: Security{TLS: &TLS{SkipHostName: true}},
			want:     "TLS with the system's CAs, host names not compared, no login",
		},
		"all of it": {
			security: Security{TLS: &TLS{CA: []byte("x"), Certificate: []byte("x")}, SASL: &SASL{Mechanism: MechanismPlain, Username: "me", Password: "it"}},
			want:     `TLS with a CA that was given, client certificate, PLAIN as "me"`,
		},
		"OAuth": {
			security: Security{SASL: &SASL{Mechanism: MechanismOAuthBearer, OAuth: &OAuth{ClientID: "client"}}},
			want:     `not encrypted, OAUTHBEARER as "client"`,
		},
		"a mechanism without a name": {
			security: Security{SASL: &SASL{Mechanism: MechanismAWSMSKIAM}},
			want:     "not encrypted, AWS_MSK_IAM",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := test.security.String(); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

func TestAClientKeepsNoSecrets(t *testing.T) {
	c, err := New(Config{
		BootstrapServers: []string{"kafka:9092"},
		Security:         Security{SASL: &SASL{Mechanism: MechanismPlain, Username: "me", Password: "tell-nobody"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if said := fmt.Sprintf("%+v %+v", c.security, c.security.SASL); strings.Contains(said, "tell-nobody") || c.security.SASL.Password != "" {
		t.Error("it keeps the password")
	}
}
