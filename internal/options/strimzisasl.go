package options

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// Settings of Kafka's clients that STRIMZI_SASL_CUSTOM_CONFIG_JSON may have
// (SaslConfigs).
const (
	saslMechanism      = "sasl.mechanism"
	saslJAAS           = "sasl.jaas.config"
	saslClientCallback = "sasl.client.callback.handler.class"
	saslLoginCallback  = "sasl.login.callback.handler.class"
	saslTokenURL       = "sasl.oauthbearer.token.endpoint.url"
	saslClientID       = "sasl.oauthbearer.client.credentials.client.id"
	saslClientSecret   = "sasl.oauthbearer.client.credentials.client.secret"
	saslScope          = "sasl.oauthbearer.scope"
)

// Mechanisms by what they take.
var (
	passwordMechanisms = []string{"PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"}
	mechanisms         = append(slices.Clone(passwordMechanisms), mechanismOAuth, mechanismIAM)
)

const (
	mechanismOAuth = "OAUTHBEARER"
	mechanismIAM   = "AWS_MSK_IAM"
)

// iamCallback and oauthCallbacks are classes whose work Sluice does itself.
const iamCallback = "software.amazon.msk.auth.iam.IAMClientCallbackHandler"

var oauthCallbacks = []string{
	"org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginCallbackHandler",
	"org.apache.kafka.common.security.oauthbearer.secured.OAuthBearerLoginCallbackHandler",
	"io.strimzi.kafka.oauth.client.JaasClientOauthLoginCallbackHandler",
}

// oauthOptions are the options of a login module for OAUTHBEARER, Kafka's own and
// Strimzi's, by what they mean.
var oauthOptions = map[string]string{
	"clientId":                 keyClientID,
	"clientSecret":             keyClientSecret,
	"scope":                    keyScope,
	"oauth.client.id":          keyClientID,
	"oauth.client.secret":      keyClientSecret,
	"oauth.scope":              keyScope,
	"oauth.token.endpoint.uri": keyTokenURL,
}

// readCustomSASL translates STRIMZI_SASL_CUSTOM_CONFIG_JSON. What Sluice cannot do
// is refused by the key: a setting that is left out could mean another login.
func (s *strimziEnv) readCustomSASL(data map[string]string) {
	config, err := parseCustomSASL(s.env[varSASLCustom])
	if err != nil {
		s.custom("", err.Error())
		return
	}
	mechanism := config[saslMechanism]
	if !slices.Contains(mechanisms, mechanism) {
		s.custom(saslMechanism, "must be one of "+strings.Join(mechanisms, ", "))
		mechanism = ""
	}
	data[keyMechanism] = mechanism
	for _, key := range slices.Sorted(maps.Keys(config)) {
		s.readCustomKey(mechanism, key, config[key], data)
	}
	switch {
	case slices.Contains(passwordMechanisms, mechanism) && config[saslJAAS] == "":
		s.custom(saslJAAS, fmt.Sprintf("is missing: %s takes the user name and the password from it", mechanism))
	case mechanism == mechanismOAuth:
		s.checkOAuth(data)
	case mechanism == mechanismIAM:
		s.checkAWS()
	}
}

// custom refuses the variable, or a key of it; never with a value.
func (s *strimziEnv) custom(key, right string) {
	where := varSASLCustom
	if key != "" {
		where += fmt.Sprintf(": %q", key)
	}
	s.failures = append(s.failures, fmt.Errorf("%s: %s", where, right))
}

// parseCustomSASL reads an object of scalars, as Strimzi does: with comments, and
// numbers and booleans as their text.
func parseCustomSASL(text string) (map[string]string, error) {
	const form = "must be a JSON object with the settings of a Kafka client that begin with sasl."
	// Its errors and those of the decoder may quote the text.
	standard, err := hujson.Standardize([]byte(text))
	if err != nil {
		return nil, errors.New(form + "; it is no JSON")
	}
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(standard, &raw); err != nil || len(raw) == 0 {
		return nil, errors.New(form)
	}
	config := map[string]string{}
	for _, key := range slices.Sorted(maps.Keys(raw)) {
		if !strings.HasPrefix(key, "sasl.") {
			return nil, fmt.Errorf("%q does not begin with sasl.: only such settings can be given; all others have variables of their own", key)
		}
		value := strings.TrimSpace(string(raw[key]))
		var quoted string
		switch {
		case json.Unmarshal(raw[key], &quoted) == nil && value != "null":
			config[key] = quoted
		case value == "null" || strings.HasPrefix(value, "{") || strings.HasPrefix(value, "["):
			return nil, fmt.Errorf("%q must be a text, a number or a boolean", key)
		default:
			config[key] = value
		}
	}
	return config, nil
}

// readCustomKey takes one setting; mechanism is empty where it is wrong already.
func (s *strimziEnv) readCustomKey(mechanism, key, value string, data map[string]string) {
	oauth := map[string]string{saslTokenURL: keyTokenURL, saslClientID: keyClientID, saslClientSecret: keyClientSecret, saslScope: keyScope}
	to := oauth[key]
	switch {
	case key == saslMechanism:
	case key == saslJAAS:
		s.readJAAS(mechanism, value, data)
	case key == saslClientCallback && mechanism == mechanismIAM:
		if value != iamCallback {
			s.custom(key, "must be "+iamCallback+", whose work Sluice does itself: it runs no Java classes")
		}
	case key == saslLoginCallback && mechanism == mechanismOAuth:
		if !slices.Contains(oauthCallbacks, value) {
			s.custom(key, "must be one of "+strings.Join(oauthCallbacks, ", ")+", whose work Sluice does itself: it runs no Java classes")
		}
	case to != "" && mechanism == mechanismOAuth:
		data[to] = value
	case mechanism == "":
	default:
		s.custom(key, fmt.Sprintf("Sluice has no such setting with %s: take it out if the login does not depend on it, else Sluice cannot log in to this cluster yet", mechanism))
	}
}

// readJAAS takes what the login module is told.
func (s *strimziEnv) readJAAS(mechanism, text string, data map[string]string) {
	options, err := parseJAAS(text)
	if err != nil {
		s.custom(saslJAAS, err.Error())
		return
	}
	if mechanism == mechanismOAuth {
		for _, name := range slices.Sorted(maps.Keys(options)) {
			to := oauthOptions[name]
			if to == "" {
				s.custom(saslJAAS, fmt.Sprintf("has the option %q, which Sluice does not have: it logs in with client credentials alone", name))
				continue
			}
			data[to] = options[name]
		}
		return
	}
	if mechanism == mechanismIAM {
		for _, name := range slices.Sorted(maps.Keys(options)) {
			if name != "awsDebugCreds" {
				s.custom(saslJAAS, fmt.Sprintf("has the option %q, which Sluice does not have: it takes AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY", name))
			}
		}
		return
	}
	data[keyUsername], data[keyPassword] = options["username"], options["password"]
	for _, name := range []string{"username", "password"} {
		if mechanism != "" && options[name] == "" {
			s.custom(saslJAAS, fmt.Sprintf("has no %s: write it as ...LoginModule required username=\"...\" password=\"...\";", name))
		}
	}
}

func (s *strimziEnv) checkOAuth(data map[string]string) {
	for _, needed := range []struct{ key, where string }{
		{keyTokenURL, saslTokenURL},
		{keyClientID, saslClientID + ", or clientId in " + saslJAAS},
		{keyClientSecret, saslClientSecret + ", or clientSecret in " + saslJAAS},
	} {
		if data[needed.key] == "" {
			s.custom(saslMechanism, fmt.Sprintf("%s needs %s: Sluice logs in with client credentials", mechanismOAuth, needed.where))
		}
	}
}

// checkAWS looks for the keys that AWS's clients take first from the environment, and
// Sluice alone.
func (s *strimziEnv) checkAWS() {
	if s.env["AWS_ACCESS_KEY_ID"] == "" || s.env["AWS_SECRET_ACCESS_KEY"] == "" {
		s.custom(saslMechanism, mechanismIAM+" needs the variables AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY: Sluice does not take on roles")
	}
}
