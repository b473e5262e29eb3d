package kafka

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/sasl/oauth"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"
)

// tokens asks for a token and keeps it for the connections to come.
type tokens struct {
	config  clientcredentials.Config
	http    *http.Client
	timeout time.Duration
	now     func() time.Time

	mu    sync.Mutex
	token string
	// renew is when it is not used any more: late in its life, but so early that a broker
	// that asks for a new login as it ends (KIP-368) gets a new one. Zero is never.
	renew time.Time
	// failed is why there was no token, until retry: each broker, and each attempt of a
	// call, would ask again.
	failed error
	retry  time.Time
}

// tokenPause is for how long a failure is not tried again.
const tokenPause = time.Second

// newTokens fails where the settings cannot be used.
func newTokens(o OAuth, timeout time.Duration) (*tokens, error) {
	switch {
	case !tokenURL(o.TokenURL):
		return nil, errors.New("the token endpoint is not of the form https://host[:port]/path")
	case o.ClientID == "" || o.ClientSecret == "":
		return nil, fmt.Errorf("%s needs a client ID and a client secret", MechanismOAuthBearer)
	}
	roots, _, err := trust(o.CA)
	if err != nil {
		return nil, fmt.Errorf("the token endpoint: %w", err)
	}
	transport := &http.Transport{
		Proxy:             http.ProxyFromEnvironment,
		TLSClientConfig:   &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots},
		ForceAttemptHTTP2: true,
		// A token lasts for long: no connection is worth to be kept.
		DisableKeepAlives: true,
	}
	return &tokens{
		config: clientcredentials.Config{
			ClientID: o.ClientID, ClientSecret: string(o.ClientSecret), TokenURL: o.TokenURL, Scopes: slices.Clone(o.Scopes),
		},
		http: &http.Client{
			Transport: transport,
			// The secret is meant for the endpoint that was given, and no other.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		timeout: timeout,
		now:     time.Now,
	}, nil
}

// auth gives a token for one login. The context is the client's life: each request for
// a token has its own bound below that of a call.
func (t *tokens) auth(ctx context.Context) (oauth.Auth, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.token != "" && (t.renew.IsZero() || t.now().Before(t.renew)) {
		return oauth.Auth{Token: t.token}, nil
	}
	asked := t.now()
	if t.failed != nil && asked.Before(t.retry) {
		return oauth.Auth{}, t.failed
	}
	ctx, cancel := context.WithTimeout(ctx, t.timeout)
	defer cancel()
	token, err := t.config.Token(context.WithValue(ctx, oauth2.HTTPClient, t.http))
	if err != nil {
		t.failed, t.retry = t.failure(err), t.now().Add(tokenPause)
		return oauth.Auth{}, t.failed
	}
	t.failed = nil
	t.token, t.renew = token.AccessToken, time.Time{}
	if !token.Expiry.IsZero() {
		t.renew = asked.Add(token.Expiry.Sub(asked) / 10 * 8)
	}
	return oauth.Auth{Token: t.token}, nil
}

// endpoint is a URL without what may be secret in it.
func endpoint(text string) string {
	text, _, _ = strings.Cut(text, "?")
	return text
}

// forget drops a token that a broker did not take.
func (t *tokens) forget() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.token = ""
}

// failure classifies why there is no token: an endpoint that refuses, one that is not
// trusted, or one that is away for now.
func (t *tokens) failure(err error) error {
	if errors.Is(err, context.Canceled) {
		return ErrClosed
	}
	from := fmt.Sprintf("asking %s for a token for the client %q", endpoint(t.config.TokenURL), t.config.ClientID)
	if asking, ok := errors.AsType[*url.Error](err); ok {
		err = asking.Err
	}
	if refused, ok := errors.AsType[*oauth2.RetrieveError](err); ok {
		said := strings.TrimSpace(refused.Response.Status + " " + refused.ErrorCode + " " + refused.ErrorDescription)
		// What an endpoint says of a request may have parts of it.
		said = strings.ReplaceAll(said, t.config.ClientSecret, hidden)
		advice, is := refusedToken(refused.Response.StatusCode)
		return fmt.Errorf("%w: %s: it answered %s; %s", is, from, said, advice)
	}
	if invalid, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return fmt.Errorf("%w: %s: its certificate is not accepted: %w; give the CA certificate of the endpoint", ErrTLS, from, invalid.Err)
	}
	if errors.Is(err, context.DeadlineExceeded) || unreachable(err) {
		return fmt.Errorf("%w: %s: %w", ErrUnreachable, from, err)
	}
	return fmt.Errorf("%w: %s: the answer is no token: see that the address is that of a token endpoint", ErrAuthentication, from)
}

// refusedToken tells what an endpoint's status code means. RFC 6749 (section 5.2) has 400
// and 401 for a refusal.
func refusedToken(code int) (advice string, is error) {
	switch code {
	case http.StatusTooManyRequests, http.StatusRequestTimeout:
		return "it may answer later", ErrUnreachable
	case http.StatusOK, http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden:
		return "see that the client's ID and secret are right, and that it may ask for the scopes", ErrAuthentication
	}
	if code >= http.StatusInternalServerError {
		return "it may answer later", ErrUnreachable
	}
	return "see that the address is that of a token endpoint", ErrAuthentication
}
