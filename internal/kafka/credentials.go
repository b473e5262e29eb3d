package kafka

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Keys of the data that SecurityOf reads.
const (
	KeySecurityProtocol = "security.protocol"
	KeyBrokerCA         = "broker-ca.crt"
	KeyHostNameCheck    = "ssl.endpoint.identification.algorithm"
	KeyTLSCertificate   = "tls.crt"
	KeyTLSKey           = "tls.key"
	KeyUserCertificate  = "user.crt"
	KeyUserKey          = "user.key"
	KeySASLMechanism    = "sasl.mechanism"
	KeyUsername         = "username"
	KeyPassword         = "password"
	KeyJAAS             = "sasl.jaas.config"
	KeyOAuthTokenURL    = "oauth.token.endpoint.uri"
	KeyOAuthClientID    = "oauth.client.id"
	KeyOAuthSecret      = "oauth.client.secret"
	KeyOAuthScope       = "oauth.scope"
	KeyOAuthCA          = "oauth.ca.crt"
)

// Security protocols of Kafka's clients (SecurityProtocol): the values of
// KeySecurityProtocol.
const (
	ProtocolPlain     = "PLAINTEXT"
	ProtocolTLS       = "SSL"
	ProtocolSASLPlain = "SASL_PLAINTEXT"
	ProtocolSASLTLS   = "SASL_SSL"
)

// Keys that name a Java class for what is built in here: SecurityOf lets any pass, and
// heeds none.
const (
	KeyLoginHandler  = "sasl.login.callback.handler.class"
	KeyClientHandler = "sasl.client.callback.handler.class"
)

// Kafka's own keys for what the keys of OAUTHBEARER say (KIP-768, KIP-1139).
const (
	kafkaTokenURL     = "sasl.oauthbearer.token.endpoint.url"
	kafkaClientID     = "sasl.oauthbearer.client.credentials.client.id"
	kafkaClientSecret = "sasl.oauthbearer.client.credentials.client.secret"
	kafkaScope        = "sasl.oauthbearer.scope"
)

// known are the keys of the families below, in which a key that has no meaning here
// is a mistake: it would be missed where it matters.
var known = []string{
	KeySecurityProtocol, KeyHostNameCheck, KeySASLMechanism, KeyJAAS,
	KeyOAuthTokenURL, KeyOAuthClientID, KeyOAuthSecret, KeyOAuthScope, KeyOAuthCA,
	kafkaTokenURL, kafkaClientID, kafkaClientSecret, kafkaScope, KeyLoginHandler, KeyClientHandler,
}

var families = []string{"sasl.", "oauth.", "ssl.", "security."}

// SecurityOf reads how to connect from the data of a Secret, or from files and
// variables put under the same keys. All keys are optional, and no data at all is
// the zero Security:
//
//	broker-ca.crt              CA certificates in PEM form that brokers are verified by
//	tls.crt, tls.key           client certificate and key (mTLS), or as Strimzi's
//	user.crt, user.key         user operator names them in the Secret of a KafkaUser
//	sasl.mechanism             PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, OAUTHBEARER, AWS_MSK_IAM,
//	                           in capitals or not
//	username, password         of PLAIN and SCRAM; access key and secret key of AWS_MSK_IAM
//	sasl.jaas.config           Kafka's own form of the two, as in the Secret of a KafkaUser,
//	                           whose user name is nowhere else
//	oauth.token.endpoint.uri, oauth.client.id, oauth.client.secret, oauth.scope, oauth.ca.crt
//	                           of OAUTHBEARER; scopes are separated by blanks
//	security.protocol          PLAINTEXT, SSL, SASL_PLAINTEXT or SASL_SSL; by default whatever
//	                           the other keys amount to
//	ssl.endpoint.identification.algorithm
//	                           https, or there and empty: host names of brokers are not compared
//
// TLS is on (Security.TLS is set) where one of the keys about it is given or the
// protocol says so; a caller that knows of its cluster that it is encrypted, and by
// which CA, adds that with WithTLS. Where sasl.mechanism is not given, it is what the
// others amount to: SCRAM-SHA-512 for ScramLoginModule in sasl.jaas.config, OAUTHBEARER
// for the keys of OAuth.
//
// Kafka's own names for the settings of OAUTHBEARER (sasl.oauthbearer.token.endpoint.url,
// .scope, .client.credentials.client.id and .client.secret; clientId, clientSecret and
// scope in sasl.jaas.config) are read as well, and as options in sasl.jaas.config the
// oauth keys above. Classes of callback handlers have no effect.
//
// ca.crt is not read: in the Secret of a KafkaUser it is the CA of the clients, not of
// the brokers (KafkaUserModel of Strimzi's user operator). Neither are other keys
// without a meaning here (user.p12, user.password), but for those that begin with
// sasl., oauth., ssl. or security.: they are errors.
//
// The line break at the end of a value is left out. The error joins one for each key
// that is wrong, sorted by key, and never quotes a value.
func SecurityOf(data map[string][]byte) (Security, error) {
	r := &reader{data: data, wrong: make(map[string]string)}
	for key := range data {
		of := func(family string) bool { return strings.HasPrefix(key, family) }
		if slices.ContainsFunc(families, of) && !slices.Contains(known, key) {
			r.fault(key, "is not known here; leave it out")
		}
	}
	r.readJAAS()
	s := Security{TLS: r.tls(), SASL: r.sasl()}
	r.protocol(&s)
	if err := r.err(); err != nil {
		return Security{}, err
	}
	return s, nil
}

// reader reads keys and collects what is wrong with them.
type reader struct {
	data  map[string][]byte
	jaas  jaas
	wrong map[string]string
}

// fault keeps the first that is said of a key.
func (r *reader) fault(key, format string, args ...any) {
	if r.wrong[key] == "" {
		r.wrong[key] = fmt.Sprintf(format, args...)
	}
}

func (r *reader) err() error {
	var errs []error
	for _, key := range slices.Sorted(maps.Keys(r.wrong)) {
		errs = append(errs, fmt.Errorf("key %q %s", key, r.wrong[key]))
	}
	return errors.Join(errs...)
}

// text is a value without its last line break.
func (r *reader) text(key string) string {
	value := strings.TrimRight(string(r.data[key]), "\r\n")
	if !utf8.ValidString(value) {
		r.fault(key, "is not text in UTF-8")
		return ""
	}
	// PLAIN separates its parts by one (RFC 4616), and a user name in an error should not
	// change what it says.
	if strings.ContainsFunc(value, unicode.IsControl) {
		r.fault(key, "has a control character in it")
		return ""
	}
	return value
}

// setting is the value of a key, else of Kafka's key for the same, else of an option
// in sasl.jaas.config; from is where it was found, the key where nowhere.
func (r *reader) setting(key, kafkas string, options ...string) (value, from string) {
	from = key
	take := func(candidate, source string) {
		switch {
		case candidate == "":
		case value == "":
			value, from = candidate, source
		case value != candidate:
			r.fault(source, "says something else than %s", from)
		}
	}
	take(r.text(key), key)
	if kafkas != "" {
		take(r.text(kafkas), kafkas)
	}
	for _, option := range options {
		take(r.jaas.options[option], KeyJAAS)
	}
	return value, from
}

func (r *reader) readJAAS() {
	text := strings.TrimSpace(string(r.data[KeyJAAS]))
	if text == "" {
		return
	}
	if !utf8.ValidString(text) {
		r.fault(KeyJAAS, "is not text in UTF-8")
		return
	}
	var err error
	if r.jaas, err = parseJAAS(text); err != nil {
		r.fault(KeyJAAS, "%s", err)
	}
	for _, value := range r.jaas.options {
		if strings.ContainsFunc(value, unicode.IsControl) {
			r.fault(KeyJAAS, "has a control character in it")
		}
	}
}

// tls is nil where no key is about it.
func (r *reader) tls() *TLS {
	t := TLS{CA: r.bundle(KeyBrokerCA)}
	switch check, given := r.data[KeyHostNameCheck]; {
	case !given, strings.EqualFold(strings.TrimSpace(string(check)), "https"):
	case strings.TrimSpace(string(check)) == "":
		t.SkipHostName = true
	default:
		r.fault(KeyHostNameCheck, "is neither https nor empty")
	}
	t.Certificate, t.Key = r.pair()
	if len(t.CA) == 0 && len(t.Certificate) == 0 && !t.SkipHostName {
		return nil
	}
	return &t
}

// pair is the client's certificate and key; both are empty where neither is given.
func (r *reader) pair() (certificate []byte, key Secret) {
	ofCertificate, ofKey := KeyTLSCertificate, KeyTLSKey
	if r.has(KeyUserCertificate) || r.has(KeyUserKey) {
		if r.has(KeyTLSCertificate) || r.has(KeyTLSKey) {
			r.fault(KeyUserCertificate, "is a second client certificate beside %s; leave one out", KeyTLSCertificate)
		}
		ofCertificate, ofKey = KeyUserCertificate, KeyUserKey
	}
	switch {
	case !r.has(ofCertificate) && !r.has(ofKey):
		return nil, ""
	case !r.has(ofKey):
		r.fault(ofKey, "is missing: %s needs it", ofCertificate)
		return nil, ""
	case !r.has(ofCertificate):
		r.fault(ofCertificate, "is missing: %s needs it", ofKey)
		return nil, ""
	}
	t := TLS{Certificate: slices.Clone(r.data[ofCertificate]), Key: Secret(r.data[ofKey])}
	if _, err := t.pair(); err != nil {
		r.fault(ofKey, "and %s: %s", ofCertificate, err)
	}
	return t.Certificate, t.Key
}

func (r *reader) has(key string) bool { return len(strings.TrimSpace(string(r.data[key]))) > 0 }

// bundle is the value of a key that has certificates. One with nothing in it is to be
// filled in yet, and no wish to do without.
func (r *reader) bundle(key string) []byte {
	if _, given := r.data[key]; !given {
		return nil
	}
	if _, err := authorities(r.data[key]); err != nil {
		r.fault(key, "%s", err)
	}
	return slices.Clone(r.data[key])
}

// sasl is nil where no key is about it.
func (r *reader) sasl() *SASL {
	s := SASL{}
	var nameFrom, passwordFrom, password string
	s.Username, nameFrom = r.setting(KeyUsername, "", "username")
	password, passwordFrom = r.setting(KeyPassword, "", "password")
	s.Password = Secret(password)
	oauth := r.oauth()
	s.Mechanism = r.mechanism(oauth != nil, s.Username != "" || s.Password != "")
	switch s.Mechanism {
	case "":
		return nil
	case MechanismOAuthBearer:
		s.Username, s.Password, s.OAuth = "", "", oauth
		r.checkOAuth(oauth)
		return &s
	case MechanismAWSMSKIAM:
		if s.Username == "" && s.Password == "" {
			return &s
		}
	}
	if oauth != nil {
		r.fault(KeySASLMechanism, "is not %s, though there are keys of OAuth", MechanismOAuthBearer)
	}
	if s.Username == "" {
		r.fault(nameFrom, "is missing: the user to log in as with %s", s.Mechanism)
	}
	if s.Password == "" {
		r.fault(passwordFrom, "is missing: %s needs it", s.Mechanism)
	}
	return &s
}

// mechanism is the one that is named, else what the keys amount to; empty where no key
// is about logging in.
func (r *reader) mechanism(oauth, user bool) string {
	of := moduleMechanisms[r.jaas.module]
	given := r.text(KeySASLMechanism)
	if given == "" {
		switch {
		case r.wrong[KeySASLMechanism] != "" || r.wrong[KeyJAAS] != "":
		case len(of) > 0:
			return of[0]
		case oauth:
			return MechanismOAuthBearer
		case user:
			r.fault(KeySASLMechanism, "is missing: a user and a password can be used with %s", strings.Join(mechanisms[:3], ", "))
		}
		return ""
	}
	i := slices.IndexFunc(mechanisms, func(m string) bool { return strings.EqualFold(m, given) })
	if i < 0 {
		r.fault(KeySASLMechanism, "is none of %s", strings.Join(mechanisms, ", "))
		return ""
	}
	if len(of) > 0 && !slices.Contains(of, mechanisms[i]) {
		r.fault(KeyJAAS, "has the login module of another mechanism than %s", KeySASLMechanism)
	}
	return mechanisms[i]
}

// oauth is nil where no key is about it.
func (r *reader) oauth() *OAuth {
	var o OAuth
	var secret, scope string
	o.TokenURL, _ = r.setting(KeyOAuthTokenURL, kafkaTokenURL, KeyOAuthTokenURL)
	o.ClientID, _ = r.setting(KeyOAuthClientID, kafkaClientID, KeyOAuthClientID, "clientId")
	secret, _ = r.setting(KeyOAuthSecret, kafkaClientSecret, KeyOAuthSecret, "clientSecret")
	scope, _ = r.setting(KeyOAuthScope, kafkaScope, KeyOAuthScope, "scope")
	o.ClientSecret, o.Scopes, o.CA = Secret(secret), strings.Fields(scope), r.bundle(KeyOAuthCA)
	if o.TokenURL == "" && o.ClientID == "" && secret == "" && len(o.Scopes) == 0 && len(o.CA) == 0 {
		return nil
	}
	return &o
}

func (r *reader) checkOAuth(o *OAuth) {
	if o == nil {
		o = &OAuth{}
	}
	for key, value := range map[string]string{
		KeyOAuthTokenURL: o.TokenURL, KeyOAuthClientID: o.ClientID, KeyOAuthSecret: string(o.ClientSecret),
	} {
		if value == "" {
			r.fault(key, "is missing: %s needs it", MechanismOAuthBearer)
		}
	}
	if o.TokenURL != "" && !tokenURL(o.TokenURL) {
		r.fault(KeyOAuthTokenURL, "is not of the form https://host[:port]/path")
	}
}

// tokenURL tells whether a URL can be asked for a token; one with a password in it
// would show in errors.
func tokenURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Hostname() != "" && u.User == nil
}

// protocols tell whether connections are encrypted, and whether clients log in.
var protocols = map[string]struct{ encrypted, login bool }{
	ProtocolPlain:     {},
	ProtocolTLS:       {encrypted: true},
	ProtocolSASLPlain: {login: true},
	ProtocolSASLTLS:   {encrypted: true, login: true},
}

// protocol compares what Kafka's name for all of it says with what there is.
func (r *reader) protocol(s *Security) {
	name := strings.ToUpper(r.text(KeySecurityProtocol))
	if name == "" {
		return
	}
	p, ok := protocols[name]
	if !ok {
		r.fault(KeySecurityProtocol, "is none of %s, %s, %s, %s", ProtocolPlain, ProtocolTLS, ProtocolSASLPlain, ProtocolSASLTLS)
		return
	}
	switch {
	case p.login && s.SASL == nil && r.wrong[KeySASLMechanism] == "" && r.wrong[KeyJAAS] == "":
		r.fault(KeySASLMechanism, "is missing: %s says that there is a login", KeySecurityProtocol)
	case !p.login && s.SASL != nil:
		r.fault(KeySecurityProtocol, "has no login, though other keys have one; it should begin with SASL_")
	}
	s.TLS = r.encryption(s.TLS, p.encrypted)
}

// encryption is nil where the protocol has none.
func (r *reader) encryption(given *TLS, encrypted bool) *TLS {
	switch {
	case encrypted && given == nil:
		return &TLS{}
	case encrypted:
		return given
	case given != nil && (len(given.CA) > 0 || len(given.Certificate) > 0):
		r.fault(KeySecurityProtocol, "is not encrypted, though there are certificates")
	}
	// Kafka's own clients ignore the host name check then.
	return nil
}
