package gate

import (
	"bytes"
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"

	"k8s.io/client-go/rest"
)

// Of the same length, so that nothing else of a message changes: it may be JSON or
// Protobuf, in which lengths are written down.
const (
	// podPrefix begins the addresses of pods.
	podPrefix = "10.200."
	// gatePrefix begins those at which Brokers listens for them.
	gatePrefix = "127.20."
)

// APIServer is a way to an API server through a gate.
type APIServer struct {
	// Config is how clients find it: an address and a CA. They authenticate by token.
	Config *rest.Config

	gate   *Gate
	proxy  *httputil.ReverseProxy
	server *httptest.Server
}

// NewAPIServer listens on loopback for requests to the API server of config, of
// which it takes the address and the CA alone. Writes to objects of the namespace
// are asked about; those to others are not, and neither are Events. Both are made on
// the side, at any time: the lease of the leader, the serving certificate, and what
// is told to people.
func NewAPIServer(g *Gate, config *rest.Config, namespace string) (*APIServer, error) {
	target, err := url.Parse(config.Host)
	if err != nil {
		return nil, fmt.Errorf("reading the address of the API server: %w", err)
	}
	transport, err := rest.TransportFor(&rest.Config{Host: config.Host, TLSClientConfig: rest.TLSClientConfig{CAData: config.CAData}})
	if err != nil {
		return nil, fmt.Errorf("preparing the way to the API server: %w", err)
	}
	a := &APIServer{gate: g}
	a.proxy = &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			// Compressed bytes could not be replaced.
			r.Out.Header.Set("Accept-Encoding", "identity")
		},
		Transport:     transport,
		FlushInterval: -1, // watches
		ModifyResponse: func(r *http.Response) error {
			if strings.Contains(r.Request.URL.Path, "/pods") {
				r.Body = &redirected{body: r.Body}
			}
			return nil
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			// As far as a client can tell the API server is away.
			if !errors.Is(err, context.Canceled) {
				panic(http.ErrAbortHandler)
			}
			w.WriteHeader(http.StatusBadGateway)
		},
	}
	a.server = httptest.NewUnstartedServer(a.handler(namespace))
	a.server.Config.ErrorLog = log.New(io.Discard, "", 0) // of clients that were killed
	// Without TLS client-go would send no token (clientcmd).
	a.server.StartTLS()
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.server.Certificate().Raw})
	a.Config = &rest.Config{Host: a.server.URL, TLSClientConfig: rest.TLSClientConfig{CAData: ca}}
	return a, nil
}

// Close ends all connections.
func (a *APIServer) Close() {
	a.server.CloseClientConnections() // watches, which last
	a.server.Close()
}

func (a *APIServer) handler(namespace string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !writes(r, namespace) {
			a.proxy.ServeHTTP(w, r)
			return
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			panic(http.ErrAbortHandler) // the client is gone
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		fate, then := a.gate.ask(Write{To: "Kubernetes", What: r.Method + " " + r.URL.Path, Body: string(body)})
		switch fate {
		case Pass:
			a.proxy.ServeHTTP(w, r)
			return
		case Mute:
			// The client may go away meanwhile; the request does not.
			a.proxy.ServeHTTP(discard{http.Header{}}, r.WithContext(context.WithoutCancel(r.Context())))
		case Lose:
		}
		then()
		panic(http.ErrAbortHandler) // closes the connection
	})
}

func writes(r *http.Request, namespace string) bool {
	return r.Method != http.MethodGet &&
		strings.Contains(r.URL.Path, "/namespaces/"+namespace+"/") && !strings.Contains(r.URL.Path, "/namespaces/"+namespace+"/events")
}

// discard takes an answer that goes nowhere.
type discard struct{ header http.Header }

func (d discard) Header() http.Header       { return d.header }
func (discard) Write(b []byte) (int, error) { return len(b), nil }
func (discard) WriteHeader(int)             {}

// redirected replaces the addresses of pods in a body.
type redirected struct {
	body io.ReadCloser
	// ready was replaced already; tail is the beginning of an address, perhaps, whose
	// end is not read yet.
	ready, tail []byte
	err         error
}

// Read implements io.Reader. No message of the API server ends with the beginning of
// an address, so that nothing that is complete is kept back: JSON ends with a brace
// or a line's end, Protobuf with the empty fields of its envelope.
func (r *redirected) Read(p []byte) (int, error) {
	for len(r.ready) == 0 && r.err == nil {
		buffer := make([]byte, 32*1024)
		n, err := r.body.Read(buffer)
		text := slices.Concat(r.tail, buffer[:n])
		text = bytes.ReplaceAll(text, []byte(podPrefix), []byte(gatePrefix))
		keep := 0
		if err == nil {
			keep = beginning(text)
		}
		r.ready, r.tail, r.err = text[:len(text)-keep], bytes.Clone(text[len(text)-keep:]), err
	}
	if len(r.ready) == 0 {
		return 0, r.err
	}
	n := copy(p, r.ready)
	r.ready = r.ready[n:]
	return n, nil
}

// beginning is how many of the last bytes begin the prefix of a pod's address.
func beginning(text []byte) int {
	for n := len(podPrefix) - 1; n > 0; n-- {
		if bytes.HasSuffix(text, []byte(podPrefix[:n])) {
			return n
		}
	}
	return 0
}

// Close implements io.Closer.
func (r *redirected) Close() error { return r.body.Close() }
