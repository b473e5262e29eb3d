package options

import (
	"cmp"
	"fmt"
	"maps"
	"strings"

	"github.com/sluice-kafka/sluice/internal/kafka"
)

// Variables of TLS and SASL that are named in more than one place.
const (
	varProtocol      = "STRIMZI_SECURITY_PROTOCOL"
	varTLS           = "STRIMZI_TLS_ENABLED"
	varTLSAuth       = "STRIMZI_TLS_AUTH_ENABLED"
	varTrustSecret   = "STRIMZI_TLS_TRUSTED_CERTS_SECRET_NAME"
	varKeySecret     = "STRIMZI_TLS_SECRET_NAME"
	varSecretCertKey = "STRIMZI_TLS_CERT_NAME"
	varSecretKeyKey  = "STRIMZI_TLS_KEY_NAME"
	varSASL          = "STRIMZI_SASL_ENABLED"
	varSASLCustom    = "STRIMZI_SASL_CUSTOM_CONFIG_JSON"
)

// javaCAs is where Strimzi's image has the CAs of the operating system for Java;
// its documentation has it as the trust store for a public CA.
const javaCAs = "/etc/pki/java/cacerts"

// readLogin reads what is said of TLS and SASL.
func (s *strimziEnv) readLogin(namespace string) {
	s.login.Data = Settings{}
	s.readSecrets(namespace)
	protocol := s.protocol()
	s.login.Data[kafka.KeySecurityProtocol] = kafka.Secret(protocol)
	s.login.TLS = protocol == kafka.ProtocolTLS || protocol == kafka.ProtocolSASLTLS
	s.readTLS()
	s.readSASL(protocol)
	if len(s.failures) > 0 {
		return
	}
	if _, err := kafka.SecurityOf(s.login.Data.Bytes()); err != nil {
		s.failures = append(s.failures, fmt.Errorf("what the variables of Strimzi say of the login: %w", err))
	}
}

// readSecrets reads which Secrets have certificates; up to Strimzi 0.51 there were none.
func (s *strimziEnv) readSecrets(namespace string) {
	l := s.login
	at := cmp.Or(s.value("STRIMZI_CLUSTER_NAMESPACE"), namespace)
	// So it is called in an example of Strimzi's documentation.
	const other = "STRIMZI_TRUSTSTORE_SECRET_NAME"
	trust, second := s.value(varTrustSecret), s.value(other)
	if trust != "" && second != "" && trust != second {
		s.note(other, varTrustSecret+" is given too, and wins")
	}
	if name := cmp.Or(trust, second); name != "" {
		l.TrustSecret = Secret{Namespace: at, Name: name}
	}
	s.known[varSecretCertKey], s.known[varSecretKeyKey] = true, true
	if name := s.value(varKeySecret); name != "" {
		l.KeySecret = Secret{Namespace: at, Name: name}
		l.CertificateKey = s.required(varSecretCertKey, fmt.Sprintf("name the key of the Secret %s that has the client certificate", name))
		l.KeyKey = s.required(varSecretKeyKey, fmt.Sprintf("name the key of the Secret %s that has the private key", name))
	}
}

// protocol is STRIMZI_SECURITY_PROTOCOL, else what follows from the other
// variables: up to Strimzi 0.51 TLS had a switch, from 1.0 on a Secret suffices.
func (s *strimziEnv) protocol() string {
	switched := s.isTrue(varTLS)
	switch p := strings.ToUpper(s.value(varProtocol)); p {
	case "":
		if switched || s.login.TrustSecret.Name != "" || s.login.KeySecret.Name != "" {
			return kafka.ProtocolTLS
		}
		return kafka.ProtocolPlain
	case kafka.ProtocolTLS, kafka.ProtocolSASLTLS:
		return p
	case kafka.ProtocolPlain, kafka.ProtocolSASLPlain:
		if switched {
			s.wrong(varProtocol, fmt.Sprintf("is not encrypted, but %s=true: set %s or %s, or %s=false", varTLS, kafka.ProtocolTLS, kafka.ProtocolSASLTLS, varTLS))
		}
		return p
	default:
		s.wrong(varProtocol, fmt.Sprintf("must be %s, %s, %s or %s", kafka.ProtocolPlain, kafka.ProtocolTLS, kafka.ProtocolSASLPlain, kafka.ProtocolSASLTLS))
		return kafka.ProtocolPlain
	}
}

// readTLS reads whom to trust and what to show. Up to Strimzi 0.51 the start script
// made stores of mounted files where none were named (tls_prepare_certificates.sh).
func (s *strimziEnv) readTLS() {
	const (
		algorithm       = "STRIMZI_SSL_ENDPOINT_IDENTIFICATION_ALGORITHM"
		trust, trustKey = "STRIMZI_TRUSTSTORE_LOCATION", "STRIMZI_TRUSTSTORE_PASSWORD"
		keys, keysKey   = "STRIMZI_KEYSTORE_LOCATION", "STRIMZI_KEYSTORE_PASSWORD"
	)
	l := s.login
	l.TrustStore = Store{Path: s.value(trust), Password: s.secret(trustKey)}
	l.KeyStore = Store{Path: s.value(keys), Password: s.secret(keysKey)}
	l.SystemCA = s.isTrue("STRIMZI_PUBLIC_CA")
	if auth := s.value(varTLSAuth); auth != "" {
		l.NeedsCertificate = s.isTrue(varTLSAuth)
		l.WithoutCertificate = !l.NeedsCertificate
	}
	value, given := s.env[algorithm]
	s.known[algorithm] = true
	if !l.TLS {
		s.noteUnencrypted()
		return
	}
	if given && strings.TrimSpace(value) == "" {
		l.Data[kafka.KeyHostNameCheck] = ""
		s.note(algorithm, "it is empty: the host names of brokers are not compared with their certificates, whose chain is verified all the same")
	}
	if l.TrustStore.Path == javaCAs {
		s.note(trust, "the CAs of the system are trusted in place of those of a Java in Strimzi's image")
		l.TrustStore, l.SystemCA = Store{}, true
	}
	if l.TrustStore.Path == "" && l.TrustStore.Password != "" && !l.SystemCA {
		s.missing(trust, fmt.Sprintf("name the PKCS #12 file that %s is for", trustKey))
	}
	if l.KeyStore.Path != "" && l.KeyStore.Password == "" {
		s.missing(keysKey, fmt.Sprintf("give the password of the PKCS #12 file that %s names", keys))
	}
}

// noteUnencrypted says what is given in vain where connections are not encrypted.
func (s *strimziEnv) noteUnencrypted() {
	for _, name := range []string{varTrustSecret, varKeySecret, "STRIMZI_TRUSTSTORE_LOCATION", "STRIMZI_KEYSTORE_LOCATION"} {
		if s.value(name) != "" {
			s.note(name, fmt.Sprintf("connections are not encrypted: set %s=%s", varProtocol, kafka.ProtocolTLS))
		}
	}
}

func (s *strimziEnv) readSASL(protocol string) {
	const (
		mechanism, username, password = "STRIMZI_SASL_MECHANISM", "STRIMZI_SASL_USERNAME", "STRIMZI_SASL_PASSWORD"
	)
	s.known[varSASLCustom] = true
	name, user, secret := s.value(mechanism), s.secret(username), s.secret(password)
	logsIn := protocol == kafka.ProtocolSASLPlain || protocol == kafka.ProtocolSASLTLS
	if !s.isTrue(varSASL) {
		if logsIn {
			s.wrong(varProtocol, fmt.Sprintf("logs in, but %s is not true: set it, and %s, %s and %s", varSASL, mechanism, username, password))
		}
		return
	}
	if !logsIn {
		s.note(varSASL, fmt.Sprintf("with the protocol %s Kafka's clients do not log in, with Strimzi neither: set %s=%s, or %s with TLS",
			protocol, varProtocol, kafka.ProtocolSASLPlain, kafka.ProtocolSASLTLS))
	}
	data := Settings{}
	if strings.TrimSpace(s.env[varSASLCustom]) != "" {
		s.readCustomSASL(data)
	} else {
		known := Settings{"plain": kafka.MechanismPlain, "scram-sha-256": kafka.MechanismScramSHA256, "scram-sha-512": kafka.MechanismScramSHA512}
		data[kafka.KeySASLMechanism] = known[strings.ToLower(name)]
		if data[kafka.KeySASLMechanism] == "" {
			const right = "must be plain, scram-sha-256 or scram-sha-512; the settings of others go into " + varSASLCustom
			if name == "" {
				s.missing(mechanism, right)
			} else {
				s.wrong(mechanism, right)
			}
		}
		if data[kafka.KeyUsername] = user; user == "" {
			s.missing(username, "give the name to log in with")
		}
		if data[kafka.KeyPassword] = secret; secret == "" {
			s.missing(password, "give the password to log in with")
		}
	}
	if !logsIn {
		return
	}
	maps.Copy(s.login.Data, data)
}
