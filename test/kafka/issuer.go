package kafka

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"
)

const (
	issuerName     = "sluice-tests"
	issuerAudience = "kafka"
)

// Issuer issues tokens to the clients that it knows.
type Issuer struct {
	// clients are client IDs with their secrets.
	clients map[string]string
	key     *rsa.PrivateKey
	issued  atomic.Int64
}

// NewIssuer makes an issuer with a key of its own.
func NewIssuer(clients map[string]string) (*Issuer, error) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return nil, fmt.Errorf("making the key of an issuer of tokens: %w", err)
	}
	return &Issuer{clients: clients, key: key}, nil
}

// keys is the JWK set (RFC 7517) that brokers verify tokens by.
func (i *Issuer) keys() ([]byte, error) {
	encode := base64.RawURLEncoding.EncodeToString
	return json.Marshal(map[string]any{"keys": []map[string]string{{
		"kty": "RSA", "kid": issuerName, "use": "sig", "alg": "RS256",
		"n": encode(i.key.N.Bytes()), "e": encode(big.NewInt(int64(i.key.E)).Bytes()),
	}}})
}

// Token is a signed token (RFC 7519) for a subject that ends after the lifetime, which
// may be negative.
func (i *Issuer) Token(subject string, lifetime time.Duration) (string, error) {
	now := time.Now()
	claims := map[string]any{
		"iss": issuerName, "aud": issuerAudience, "sub": subject, "scope": "topics",
		"iat": now.Add(min(0, lifetime) - time.Minute).Unix(), "exp": now.Add(lifetime).Unix(),
	}
	var parts string
	for _, part := range []any{map[string]string{"alg": "RS256", "typ": "JWT", "kid": issuerName}, claims} {
		text, err := json.Marshal(part)
		if err != nil {
			return "", fmt.Errorf("issuing a token for %s: %w", subject, err)
		}
		if parts != "" {
			parts += "."
		}
		parts += base64.RawURLEncoding.EncodeToString(text)
	}
	sum := sha256.Sum256([]byte(parts))
	signature, err := rsa.SignPKCS1v15(rand.Reader, i.key, crypto.SHA256, sum[:])
	if err != nil {
		return "", fmt.Errorf("issuing a token for %s: %w", subject, err)
	}
	return parts + "." + base64.RawURLEncoding.EncodeToString(signature), nil
}

// Issued is how many tokens the endpoints have issued.
func (i *Issuer) Issued() int { return int(i.issued.Load()) }

// Endpoint answers requests for a token by client credentials (RFC 6749, section 4.4).
// The tokens end after the lifetime, which may be negative; the clients are told that
// they last for at least a minute then.
func (i *Issuer) Endpoint(lifetime time.Duration) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		client, known := i.client(r)
		if !known || r.FormValue("grant_type") != "client_credentials" {
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = w.Write([]byte(`{"error":"invalid_client","error_description":"no such client, or a wrong secret"}`))
			return
		}
		token, err := i.Token(client, lifetime)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		i.issued.Add(1)
		said := lifetime
		if said < 0 {
			said = time.Minute
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"access_token": token, "token_type": "Bearer", "expires_in": int(said.Seconds())})
	})
}

// client reads the credentials, which are encoded before they become those of basic
// authentication (section 2.3.1).
func (i *Issuer) client(r *http.Request) (string, bool) {
	client, secret, _ := r.BasicAuth()
	client, err1 := url.QueryUnescape(client)
	secret, err2 := url.QueryUnescape(secret)
	known, there := i.clients[client]
	return client, there && known == secret && err1 == nil && err2 == nil
}
