package kafka

import (
	"context"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

const oauthSecret = "tell-nobody"

// endpointFor serves a handler as a token endpoint, and counts its requests.
func endpointFor(t *testing.T, handle http.HandlerFunc) (*tokens, *atomic.Int64) {
	t.Helper()
	requests := &atomic.Int64{}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		handle(w, r)
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.Start()
	t.Cleanup(server.Close)
	o := OAuth{TokenURL: server.URL + "/token?code=" + oauthSecret, ClientID: "client", ClientSecret: oauthSecret, Scopes: []string{"a", "b"}}
	got, err := newTokens(o, 5*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	return got, requests
}

func answerJSON(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

func TestATokenIsAskedForOnceUntilItIsOld(t *testing.T) {
	var asked string
	tokens, requests := endpointFor(t, func(w http.ResponseWriter, r *http.Request) {
		asked = r.FormValue("grant_type") + " " + r.FormValue("scope")
		answerJSON(200, `{"access_token":"token","expires_in":100}`)(w, r)
	})
	start := time.Now()
	now := start
	tokens.now = func() time.Time { return now }
	steps := []struct {
		after time.Duration
		want  int64
	}{{0, 1}, {79 * time.Second, 1}, {90 * time.Second, 2}, {91 * time.Second, 2}}
	for _, step := range steps {
		now = start.Add(step.after)
		got, err := tokens.auth(t.Context())
		if err != nil || got.Token != "token" {
			t.Fatalf("after %s: %q, %v", step.after, got.Token, err)
		}
		if n := requests.Load(); n != step.want {
			t.Errorf("after %s it was asked for %d times, want %d", step.after, n, step.want)
		}
	}
	if asked != "client_credentials a b" {
		t.Errorf("asked for with %q", asked)
	}
	tokens.forget()
	if _, err := tokens.auth(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := requests.Load(); n != 3 {
		t.Errorf("one that a broker refused was used again: asked for %d times", n)
	}
}

func TestATokenWithoutAnEndIsKept(t *testing.T) {
	tokens, requests := endpointFor(t, answerJSON(200, `{"access_token":"token"}`))
	now := time.Now()
	tokens.now = func() time.Time { return now }
	for range 3 {
		if _, err := tokens.auth(t.Context()); err != nil {
			t.Fatal(err)
		}
		now = now.Add(1000 * time.Hour)
	}
	if n := requests.Load(); n != 1 {
		t.Errorf("asked for %d times", n)
	}
}

func TestAFailureIsNotRepeatedAtOnce(t *testing.T) {
	tokens, requests := endpointFor(t, answerJSON(503, `{}`))
	now := time.Now()
	tokens.now = func() time.Time { return now }
	once := int64(0)
	for i := range 4 {
		if _, err := tokens.auth(t.Context()); !errors.Is(err, ErrUnreachable) {
			t.Errorf("%d: %v", i, err)
		}
		if i == 0 {
			once = requests.Load()
		}
	}
	if n := requests.Load(); n != once {
		t.Errorf("%d requests for the first failure, %d for all", once, n)
	}
	now = now.Add(tokenPause)
	if _, err := tokens.auth(t.Context()); err == nil || requests.Load() == once {
		t.Errorf("not tried again later: %v", err)
	}
}

func TestWhyThereIsNoToken(t *testing.T) {
	var elsewhere atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		elsewhere.Add(1)
		answerJSON(200, `{"access_token":"token"}`)(w, r)
	}))
	defer other.Close()
	tests := map[string]struct {
		handle http.HandlerFunc
		want   error
		says   []string
	}{
		"it refuses": {
			handle: answerJSON(401, `{"error":"invalid_client","error_description":"no secret like `+oauthSecret+`"}`),
			want:   ErrAuthentication, says: []string{"401", "invalid_client", hidden, "client's ID and secret"},
		},
		"a scope is not allowed": {handle: answerJSON(400, `{"error":"invalid_scope"}`), want: ErrAuthentication, says: []string{"invalid_scope", "scopes"}},
		"it answers of an error with 200": {
			handle: answerJSON(200, `{"error":"invalid_client"}`), want: ErrAuthentication, says: []string{"invalid_client"},
		},
		"it is busy":              {handle: answerJSON(429, `{}`), want: ErrUnreachable, says: []string{"429"}},
		"it has a fault":          {handle: answerJSON(500, `secrets: `+oauthSecret), want: ErrUnreachable, says: []string{"500"}},
		"it is no token endpoint": {handle: answerJSON(404, `<html>`+oauthSecret), want: ErrAuthentication, says: []string{"404", "address"}},
		"it answers with a page":  {handle: answerJSON(200, `<html>`+oauthSecret), want: ErrAuthentication, says: []string{"no token", "address"}},
		"it answers with no token": {
			handle: answerJSON(200, `{"token":"`+oauthSecret+`"}`), want: ErrAuthentication, says: []string{"no token"},
		},
		"it sends elsewhere": {
			handle: func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
			},
			want: ErrAuthentication, says: []string{"307", "address"},
		},
		"it breaks off": {
			handle: func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
			want:   ErrUnreachable,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			tokens, _ := endpointFor(t, test.handle)
			_, err := tokens.auth(t.Context())
			if err == nil || !errors.Is(err, test.want) || !Passing(err) {
				t.Fatalf("got %v, want %v", err, test.want)
			}
			for _, part := range append(test.says, "/token", `"client"`) {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%v\ndoes not say %q", err, part)
				}
			}
			if strings.Contains(err.Error(), oauthSecret) {
				t.Errorf("%v\nhas the secret in it", err)
			}
		})
	}
	if n := elsewhere.Load(); n != 0 {
		t.Errorf("the secret was sent to another address %d times", n)
	}
}

func TestATokenEndpointThatHangs(t *testing.T) {
	hang := make(chan struct{})
	tokens, _ := endpointFor(t, func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-hang:
		case <-r.Context().Done():
		}
	})
	defer close(hang)
	tokens.timeout = 50 * time.Millisecond
	if _, err := tokens.auth(t.Context()); !errors.Is(err, ErrUnreachable) || !strings.Contains(err.Error(), "/token") {
		t.Errorf("got %v", err)
	}
	// The client is closed while it waits.
	tokens.timeout, tokens.failed = time.Minute, nil
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(20*time.Millisecond, cancel)
	if _, err := tokens.auth(ctx); !errors.Is(err, ErrClosed) {
		t.Errorf("got %v", err)
	}
}
