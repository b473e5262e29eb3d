package kafka

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// jaas is one entry of Kafka's sasl.jaas.config: a login module and its options.
type jaas struct {
	// module is the name of its class, without the package.
	module  string
	options map[string]string
}

// moduleMechanisms are the mechanisms that a login module serves; the first is the one
// that is meant where none is named. ScramLoginModule alone is how Strimzi's user
// operator writes users of SCRAM-SHA-512, the only SCRAM that it knows.
var moduleMechanisms = map[string][]string{
	"PlainLoginModule":       {MechanismPlain},
	"ScramLoginModule":       {MechanismScramSHA512, MechanismScramSHA256},
	"OAuthBearerLoginModule": {MechanismOAuthBearer},
	"IAMLoginModule":         {MechanismAWSMSKIAM},
}

// moduleOptions are the options of a login module that have a meaning here. Any other
// could mean another login, such as that of a role or by a delegation token.
var moduleOptions = map[string][]string{
	"PlainLoginModule":       {"username", "password"},
	"ScramLoginModule":       {"username", "password"},
	"OAuthBearerLoginModule": {KeyOAuthTokenURL, KeyOAuthClientID, KeyOAuthSecret, KeyOAuthScope, "clientId", "clientSecret", "scope"},
	"IAMLoginModule":         {"username", "password", "awsDebugCreds"},
}

var errJAAS = errors.New(`is not of the form: class required name="value" ... ;`)

// parseJAAS reads a configuration of one entry (JaasConfig in Kafka's clients):
//
//	class controlFlag (name=value)* ;
//
// Values may be in single or double quotes, in which a backslash takes the next
// character as it is. Its errors quote nothing.
func parseJAAS(text string) (jaas, error) {
	tokens, err := jaasTokens(text)
	if err != nil {
		return jaas{}, err
	}
	if len(tokens) < 3 || tokens[0].special || tokens[1].special || tokens[len(tokens)-1] != (jaasToken{";", true}) {
		return jaas{}, errJAAS
	}
	class := tokens[0].text
	out := jaas{module: class[strings.LastIndexByte(class, '.')+1:], options: make(map[string]string)}
	if _, known := moduleMechanisms[out.module]; !known {
		return jaas{}, errors.New("names a login module other than PlainLoginModule, ScramLoginModule, OAuthBearerLoginModule and IAMLoginModule, which are known here")
	}
	if err := out.read(tokens[2 : len(tokens)-1]); err != nil {
		return jaas{}, err
	}
	return out, nil
}

// read reads the options.
func (j jaas) read(options []jaasToken) error {
	for ; len(options) >= 3; options = options[3:] {
		name, equals, value := options[0], options[1], options[2]
		if name.special || equals != (jaasToken{"=", true}) || value.special {
			return errJAAS
		}
		if !slices.Contains(moduleOptions[j.module], name.text) {
			return fmt.Errorf("has an option that %s does not have here; it has %s", j.module, strings.Join(moduleOptions[j.module], ", "))
		}
		j.options[name.text] = value.text
	}
	if len(options) > 0 {
		return errJAAS
	}
	return nil
}

// jaasToken is a word, or one of the special characters = and ; outside of quotes.
type jaasToken struct {
	text    string
	special bool
}

func jaasTokens(text string) ([]jaasToken, error) {
	var tokens []jaasToken
	for {
		text = strings.TrimLeft(text, " \t\r\n")
		if text == "" {
			return tokens, nil
		}
		switch c := text[0]; c {
		case '=', ';':
			tokens = append(tokens, jaasToken{text[:1], true})
			text = text[1:]
		case '"', '\'':
			word, rest, ok := unquoteJAAS(text[1:], c)
			if !ok {
				return nil, errors.New("has a quote that is not closed")
			}
			tokens = append(tokens, jaasToken{word, false})
			text = rest
		default:
			end := strings.IndexAny(text, "=;\"' \t\r\n")
			if end < 0 {
				end = len(text)
			}
			tokens = append(tokens, jaasToken{text[:end], false})
			text = text[end:]
		}
	}
}

// unquoteJAAS reads up to the closing quote.
func unquoteJAAS(text string, quote byte) (word, rest string, ok bool) {
	var out strings.Builder
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == quote:
			return out.String(), text[i+1:], true
		case text[i] == '\\' && i+1 < len(text):
			i++
			out.WriteByte(text[i])
		default:
			out.WriteByte(text[i])
		}
	}
	return "", "", false
}
