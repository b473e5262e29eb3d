package kafka

// Security is how a client proves who it is, and whom it believes. The zero value
// is neither encrypted nor authenticated.
type Security struct {
	// TLS, if set, encrypts all connections.
	TLS *TLS
	// SASL, if set, authenticates them.
	SASL *SASL
}

// TLS is how connections are encrypted.
type TLS struct {
	// CA holds certificates in PEM form; the system's count where it is empty.
	CA []byte
	// Certificate and Key, in PEM form, prove who the client is (mTLS); both or
	// none.
	Certificate, Key []byte
	// SkipHostName leaves out the comparison of a broker's certificate with its
	// host name. The chain up to a CA is verified all the same.
	SkipHostName bool
}

// SASL is how a client logs in.
type SASL struct {
	// Mechanism is one of the Mechanism constants.
	Mechanism string
	// Username and Password of PLAIN and SCRAM.
	Username, Password string
	// OAuth of OAUTHBEARER.
	OAuth *OAuth
}

// OAuth are client credentials (RFC 6749, section 4.4) that a token is asked for
// with.
type OAuth struct {
	// TokenURL is the endpoint that issues tokens.
	TokenURL string
	// ClientID and ClientSecret.
	ClientID, ClientSecret string
	// Scopes that are asked for; none where it is empty.
	Scopes []string
	// CA of the endpoint in PEM form; the system's count where it is empty.
	CA []byte
}

// Mechanisms of SASL, by their registered names.
const (
	MechanismPlain       = "PLAIN"
	MechanismScramSHA256 = "SCRAM-SHA-256"
	MechanismScramSHA512 = "SCRAM-SHA-512"
	MechanismOAuthBearer = "OAUTHBEARER"
	MechanismAWSMSKIAM   = "AWS_MSK_IAM"
)
