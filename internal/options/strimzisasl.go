package options

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/sluice-kafka/sluice/internal/kafka"
)

// handlerClasses are the classes whose work Sluice does itself, by the setting that
// names one, for the login of Kafka's own clients, of Strimzi's OAuth library and of
// AWS's. Any other class could log in as it likes.
var handlerClasses = map[string][]string{
	kafka.KeyLoginHandler: {
		"org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginCallbackHandler",
		"org.apache.kafka.common.security.oauthbearer.secured.OAuthBearerLoginCallbackHandler",
		"io.strimzi.kafka.oauth.client.JaasClientOauthLoginCallbackHandler",
	},
	kafka.KeyClientHandler: {"software.amazon.msk.auth.iam.IAMClientCallbackHandler"},
}

// readCustomSASL takes the settings of STRIMZI_SASL_CUSTOM_CONFIG_JSON. What Sluice
// does not know is refused by its key: a setting that is left out could mean another
// login.
func (s *strimziEnv) readCustomSASL(data Settings) {
	config, err := parseCustomSASL(s.env[varSASLCustom])
	if err != nil {
		s.custom(err)
		return
	}
	maps.Copy(data, config)
	if data[kafka.KeySASLMechanism] == "" {
		s.custom(fmt.Errorf("key %q is missing: Kafka's clients would log in with Kerberos, which Sluice does not know", kafka.KeySASLMechanism))
		return
	}
	for _, key := range slices.Sorted(maps.Keys(handlerClasses)) {
		if known := handlerClasses[key]; data[key] != "" && !slices.Contains(known, string(data[key])) {
			s.custom(fmt.Errorf("key %q must be %s: Sluice runs no Java classes, and does only the work of these itself", key, strings.Join(known, " or ")))
		}
	}
	if _, err := kafka.SecurityOf(data.Bytes()); err != nil {
		s.custom(err)
	}
	// Of what AWS's clients look for, one after the other, Sluice knows these.
	if data[kafka.KeySASLMechanism] == kafka.MechanismAWSMSKIAM && (s.env["AWS_ACCESS_KEY_ID"] == "" || s.env["AWS_SECRET_ACCESS_KEY"] == "") {
		s.custom(fmt.Errorf("key %q: %s needs the variables AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY; Sluice does not take on roles",
			kafka.KeySASLMechanism, kafka.MechanismAWSMSKIAM))
	}
}

// custom refuses the variable; never with a value.
func (s *strimziEnv) custom(err error) {
	for _, e := range each(err) {
		s.failures = append(s.failures, fmt.Errorf("%s: %w", varSASLCustom, e))
	}
}

// parseCustomSASL reads an object of scalars, as Strimzi does: with comments, and
// numbers and booleans as their text.
func parseCustomSASL(text string) (Settings, error) {
	const form = "must be a JSON object with settings of a Kafka client, all of which begin with sasl"
	// Its errors and those of the decoder may quote the text.
	standard, err := hujson.Standardize([]byte(text))
	if err != nil {
		return nil, errors.New(form + "; it is no JSON")
	}
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(standard, &raw); err != nil || len(raw) == 0 {
		return nil, errors.New(form)
	}
	config := Settings{}
	for _, key := range slices.Sorted(maps.Keys(raw)) {
		if !strings.HasPrefix(key, "sasl.") {
			return nil, fmt.Errorf("key %q does not begin with sasl.: only such settings can be given; all others have variables of their own", key)
		}
		value := strings.TrimSpace(string(raw[key]))
		var quoted string
		switch {
		case value == "null" || strings.HasPrefix(value, "{") || strings.HasPrefix(value, "["):
			return nil, fmt.Errorf("key %q must be a text, a number or a boolean", key)
		case json.Unmarshal(raw[key], &quoted) == nil:
			config[key] = kafka.Secret(quoted)
		default:
			config[key] = kafka.Secret(value)
		}
	}
	return config, nil
}
