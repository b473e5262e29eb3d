package gate_test

import (
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/sluice-kafka/sluice/test/gate"
)

// server answers with the address of a pod, in pieces, and remembers what it was
// asked.
type server struct {
	*httptest.Server
	mu    sync.Mutex
	asked []string
}

func startServer(t *testing.T) *server {
	t.Helper()
	s := &server{}
	s.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.asked = append(s.asked, r.Method+" "+r.URL.Path+" "+r.Header.Get("Authorization"))
		s.mu.Unlock()
		for _, piece := range []string{`{"a":"10.2`, `00.3.4","b":"10.20","c":"10.200`, `.0.1"}`} {
			_, _ = io.WriteString(w, piece)
			w.(http.Flusher).Flush()
		}
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *server) requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}

func open(t *testing.T, g *gate.Gate, s *server) *gate.APIServer {
	t.Helper()
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	a, err := gate.NewAPIServer(g, &rest.Config{Host: s.URL, TLSClientConfig: rest.TLSClientConfig{CAData: ca}}, "kafka")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.Close)
	return a
}

func do(t *testing.T, a *gate.APIServer, method, path string) (string, error) {
	t.Helper()
	client, err := rest.HTTPClientFor(a.Config)
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), method, a.Config.Host+path, strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer me")
	resp, err := client.Do(req)
	if err != nil {
		return "", err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	return string(text), err
}

func TestPodsAreFoundAtTheGate(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	a := open(t, &gate.Gate{}, s)
	for path, want := range map[string]string{
		"/api/v1/pods":        `{"a":"127.20.3.4","b":"10.20","c":"127.20.0.1"}`,
		"/api/v1/nodes":       `{"a":"10.200.3.4","b":"10.20","c":"10.200.0.1"}`,
		"/api/v1/pods?watch=": `{"a":"127.20.3.4","b":"10.20","c":"127.20.0.1"}`,
	} {
		if got, err := do(t, a, http.MethodGet, path); err != nil || got != want {
			t.Errorf("GET %s gives %s, %v; want %s", path, got, err, want)
		}
	}
	if got := s.requests(); len(got) != 3 || !strings.HasSuffix(got[0], " Bearer me") {
		t.Errorf("the server was asked %q", got)
	}
}

func TestWritesAreJudged(t *testing.T) {
	t.Parallel()
	const ours = "/api/v1/namespaces/kafka/pods/one"
	tests := map[string]struct {
		method, path string
		fate         gate.Fate
		asked        bool // about the write
		sent, heard  bool
	}{
		"a write that passes":               {http.MethodPatch, ours, gate.Pass, true, true, true},
		"a write that is lost":              {http.MethodPatch, ours, gate.Lose, true, false, false},
		"a write whose answer is held back": {http.MethodDelete, ours, gate.Mute, true, true, false},
		"a read":                            {http.MethodGet, ours, gate.Lose, false, true, true},
		"an Event":                          {http.MethodPost, "/apis/events.k8s.io/v1/namespaces/kafka/events", gate.Lose, false, true, true},
		"a write elsewhere":                 {http.MethodPut, "/apis/coordination.k8s.io/v1/namespaces/sluice/leases/x", gate.Lose, false, true, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, g := startServer(t), &gate.Gate{}
			a := open(t, g, s)
			var mu sync.Mutex
			var story []string
			tell := func(text string) {
				mu.Lock()
				defer mu.Unlock()
				story = append(story, text)
			}
			g.SetJudge(func(w gate.Write) (gate.Fate, func()) {
				tell(w.String() + " " + w.Body)
				return tc.fate, func() { tell(fmt.Sprintf("%d got through", len(s.requests()))) }
			})
			if _, err := do(t, a, tc.method, tc.path); (err == nil) != tc.heard {
				t.Errorf("the client got %v", err)
			}
			if sent := len(s.requests()) == 1; sent != tc.sent {
				t.Errorf("the server was asked %q", s.requests())
			}
			var want []string
			if tc.asked {
				want = append(want, "Kubernetes: "+tc.method+" "+tc.path+" {}")
			}
			switch {
			case tc.asked && tc.fate == gate.Lose:
				want = append(want, "0 got through")
			case tc.asked && tc.fate == gate.Mute:
				want = append(want, "1 got through")
			}
			mu.Lock()
			defer mu.Unlock()
			if !slices.Equal(story, want) {
				t.Errorf("the judge's story is %q, want %q", story, want)
			}
		})
	}
}
