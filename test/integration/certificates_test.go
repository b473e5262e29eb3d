package integration

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/test/harness"
)

// Short delays, yet long for an API server on a busy machine to see a change.
var shortRotation = map[string]any{"propagationDelay": "5s", "retireAfter": "8s", "validity": "90s"}

// replicas are two operators behind one address, as behind a Service.
type replicas struct {
	*harness.Installation
	operators []*harness.Operator
	ports     []int
}

// startReplicas installs the chart with two operators. Its table names a Kafka
// that is not there: neither readiness nor admission asks for it.
func startReplicas(t *testing.T, values map[string]any) *replicas {
	t.Helper()
	return runReplicas(t, controlPlane(t, harness.ControlPlaneOptions{}), values)
}

// runReplicas is startReplicas on a control plane that is there.
func runReplicas(t *testing.T, cp *harness.ControlPlane, values map[string]any) *replicas {
	t.Helper()
	in, err := cp.InstallChart(t.Context(), os.Stderr, withAbsentKafka(values))
	if err != nil {
		t.Fatal(err)
	}
	r := &replicas{Installation: in}
	for range 2 {
		port, err := harness.FreePort()
		if err != nil {
			t.Fatal(err)
		}
		r.ports = append(r.ports, port)
	}
	balance(t, in.WebhookPort, r.ports)
	for n := range r.ports {
		r.operators = append(r.operators, r.start(t, n))
	}
	return r
}

func withAbsentKafka(values map[string]any) map[string]any {
	values["externalClusters"] = []any{map[string]any{
		"name": "absent", "namespaces": []any{"default"}, "bootstrapServers": []any{"127.0.0.1:1"},
	}}
	return values
}

// start runs the nth replica with the arguments of the chart as it is now.
func (r *replicas) start(t *testing.T, n int) *harness.Operator {
	t.Helper()
	op, err := r.StartOperator(t.Context(), fmt.Sprintf("--webhook-port=%d", r.ports[n]))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(op.Kill)
	return op
}

// replace stops the nth replica and starts it with the arguments of the chart
// as it is now.
func (r *replicas) replace(t *testing.T, n int) {
	t.Helper()
	if err := r.operators[n].Stop(); err != nil {
		t.Fatal(err)
	}
	r.operators[n] = r.start(t, n)
}

// balance forwards connections on a port of loopback to others in turn, as a
// Service does.
func balance(t *testing.T, port int, to []int) {
	t.Helper()
	listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	t.Cleanup(func() {
		cancel()
		_ = listener.Close()
		running.Wait()
	})
	running.Go(func() {
		for n := 0; ; n++ {
			from, err := listener.Accept()
			if err != nil {
				return
			}
			target := fmt.Sprintf("127.0.0.1:%d", to[n%len(to)])
			running.Go(func() { forward(ctx, from, target) })
		}
	})
}

func forward(ctx context.Context, from net.Conn, target string) {
	var d net.Dialer
	to, err := d.DialContext(ctx, "tcp", target)
	if err != nil {
		_ = from.Close()
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(ctx, func() {
		_ = from.Close()
		_ = to.Close()
	})
	defer stop()
	var halves sync.WaitGroup
	halves.Go(func() { _, _ = io.Copy(to, from); cancel() })
	halves.Go(func() { _, _ = io.Copy(from, to); cancel() })
	halves.Wait()
	_ = from.Close()
	_ = to.Close()
}

// bundles are the CA bundles of all webhooks.
func (r *replicas) bundles(ctx context.Context) ([][]byte, error) {
	v, m := &admissionv1.ValidatingWebhookConfiguration{}, &admissionv1.MutatingWebhookConfiguration{}
	if err := r.Client.Get(ctx, client.ObjectKey{Name: "sluice"}, v); err != nil {
		return nil, err
	}
	if err := r.Client.Get(ctx, client.ObjectKey{Name: "sluice"}, m); err != nil {
		return nil, err
	}
	var out [][]byte
	for _, w := range v.Webhooks {
		out = append(out, w.ClientConfig.CABundle)
	}
	for _, w := range m.Webhooks {
		out = append(out, w.ClientConfig.CABundle)
	}
	return out, nil
}

// handshake connects to a replica as an API server that trusts the bundle, and
// returns the serial number of the certificate that it met.
func (r *replicas) handshake(ctx context.Context, port int, bundle []byte) (string, error) {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(bundle)
	d := tls.Dialer{Config: &tls.Config{RootCAs: roots}}
	conn, err := d.DialContext(ctx, "tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return "", err
	}
	defer func() { _ = conn.Close() }()
	state := conn.(*tls.Conn).ConnectionState()
	if state.Version != tls.VersionTLS13 {
		return "", fmt.Errorf("served with TLS version %x", state.Version)
	}
	return state.PeerCertificates[0].SerialNumber.String(), nil
}

// settled waits until both replicas serve one certificate other than the last,
// and the bundles hold one CA; it returns the certificate.
func (r *replicas) settled(t *testing.T, last string) string {
	t.Helper()
	var serial string
	var why error
	err := wait.PollUntilContextTimeout(t.Context(), 200*time.Millisecond, 3*time.Minute, true, func(ctx context.Context) (bool, error) {
		serial, why = r.look(ctx, last)
		return why == nil, nil
	})
	if err != nil {
		t.Fatalf("waiting for a rotation to end: %v: %v\n%s", err, why, r.logs(t))
	}
	return serial
}

func (r *replicas) look(ctx context.Context, last string) (string, error) {
	bundles, err := r.bundles(ctx)
	if err != nil {
		return "", err
	}
	for _, b := range bundles {
		if n := bytes.Count(b, []byte("BEGIN CERTIFICATE")); n != 1 || !bytes.Equal(b, bundles[0]) {
			return "", fmt.Errorf("a bundle has %d CAs", n)
		}
	}
	var serials []string
	for _, port := range r.ports {
		s, err := r.handshake(ctx, port, bundles[0])
		if err != nil {
			return "", err
		}
		serials = append(serials, s)
	}
	if serials[0] != serials[1] || serials[0] == last {
		return "", fmt.Errorf("the replicas serve %v, before that %s", serials, last)
	}
	return serials[0], nil
}

func (r *replicas) logs(t *testing.T) string {
	t.Helper()
	var all []string
	for _, o := range r.operators {
		raw, err := os.ReadFile(o.Log)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, string(raw))
	}
	return strings.Join(all, "\n")
}

// load asks for admission until it is stopped, and keeps what went wrong.
type load struct {
	stop              func()
	asked, handshakes atomic.Int64
	mu                sync.Mutex
	wrong             []string
}

// startLoad asks for admission through the API server and connects to each
// replica, without a pause.
func startLoad(t *testing.T, r *replicas) *load {
	t.Helper()
	l := &load{}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	l.stop = func() { cancel(); running.Wait() }
	t.Cleanup(l.stop)
	for worker := range 2 {
		running.Go(func() { l.admit(ctx, r.Client, worker) })
	}
	for _, port := range r.ports {
		running.Go(func() { l.connect(ctx, r, port) })
	}
	return l
}

// end stops the load and fails the test for what went wrong under it.
func (l *load) end(t *testing.T, r *replicas) {
	t.Helper()
	l.stop()
	if l.asked.Load() < 100 || l.handshakes.Load() < 100 {
		t.Errorf("only %d requests and %d connections were made: that shows nothing", l.asked.Load(), l.handshakes.Load())
	}
	if len(l.wrong) > 0 {
		t.Errorf("of %d requests and %d connections some went wrong:\n%s\n%s",
			l.asked.Load(), l.handshakes.Load(), strings.Join(l.wrong, "\n"), r.logs(t))
	}
	t.Logf("%d admission requests and %d new connections, none refused", l.asked.Load(), l.handshakes.Load())
	if logs := r.logs(t); strings.Contains(logs, "forbidden") {
		t.Errorf("the chart's roles lack something:\n%s", logs)
	}
}

func (l *load) fail(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.wrong) < 10 {
		l.wrong = append(l.wrong, time.Now().Format(time.StampMilli)+" "+fmt.Sprintf(format, args...))
	}
}

// admit sends topics, good and bad, through the API server. Nothing is stored.
func (l *load) admit(ctx context.Context, c client.Client, worker int) {
	for n := 0; ctx.Err() == nil; n++ {
		topic := &apiv1.KafkaTopic{ObjectMeta: metav1.ObjectMeta{
			Name: fmt.Sprintf("load-%d-%d", worker, n), Namespace: "default",
			Labels: map[string]string{apiv1.LabelCluster: "my-cluster"},
		}}
		bad := n%4 == 3
		if bad {
			topic.Spec.TopicName = new(string)
			*topic.Spec.TopicName = "no blanks"
		}
		err := c.Create(ctx, topic, client.DryRunAll)
		if ctx.Err() != nil {
			return
		}
		l.asked.Add(1)
		switch {
		case bad && (err == nil || !strings.Contains(err.Error(), "spec.topicName")):
			l.fail("a bad topic was not refused for its name: %v", err)
		case !bad && err != nil:
			l.fail("a good topic was refused: %v", err)
		}
	}
}

// connect makes new connections to a replica, each with the bundle of that
// moment.
func (l *load) connect(ctx context.Context, r *replicas, port int) {
	for ctx.Err() == nil {
		bundles, err := r.bundles(ctx)
		if err == nil {
			_, err = r.handshake(ctx, port, bundles[0])
		}
		if ctx.Err() != nil {
			return
		}
		l.handshakes.Add(1)
		if err != nil {
			l.fail("a new connection to port %d: %v", port, err)
		}
	}
}

func TestCertificatesRotateUnderLoadWithoutARefusedRequest(t *testing.T) {
	r := startReplicas(t, map[string]any{"certificates": shortRotation})
	first := r.settled(t, "")

	l := startLoad(t, r)
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: harness.Namespace, Name: "sluice-serving-cert"}}
	if err := r.Client.Delete(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	second := r.settled(t, first)
	t.Log("Rotated after the Secret was deleted")
	r.settled(t, second)
	t.Log("Rotated by age")

	l.end(t, r)
}

func TestOverwrittenBundleIsRepairedAndLeadershipMoves(t *testing.T) {
	r := startReplicas(t, map[string]any{})
	served := r.settled(t, "")

	patch := client.RawPatch(types.JSONPatchType, []byte(`[{"op":"replace","path":"/webhooks/0/clientConfig/caBundle","value":"Z2FyYmFnZQ=="}]`))
	config := &admissionv1.MutatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "sluice"}}
	err := r.Client.Patch(t.Context(), config, patch)
	if err != nil && !strings.Contains(err.Error(), "caBundle") {
		t.Fatal(err)
	}
	if err != nil { // the API server refuses garbage: take the bundle away instead
		patch = client.RawPatch(types.JSONPatchType, []byte(`[{"op":"remove","path":"/webhooks/0/clientConfig/caBundle"}]`))
		if err := r.Client.Patch(t.Context(), config, patch); err != nil {
			t.Fatal(err)
		}
	}
	if got := r.settled(t, ""); got != served {
		t.Errorf("the repair changed the certificate from %s to %s", served, got)
	}

	leader := r.leader(t)
	index := 0
	if raw, err := os.ReadFile(r.operators[1].Log); err != nil {
		t.Fatal(err)
	} else if strings.Contains(string(raw), "Successfully acquired lease") || strings.Contains(string(raw), "successfully acquired lease") {
		index = 1
	}
	start := time.Now()
	if err := r.operators[index].Stop(); err != nil {
		t.Fatal(err)
	}
	err = wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
		now := r.leader(t)
		return now != "" && now != leader, nil
	})
	if err != nil {
		t.Fatalf("nobody took over from %s: %v\n%s", leader, err, r.logs(t))
	}
	// A lease that is not released lasts 15 s longer.
	if took := time.Since(start); took > 12*time.Second {
		t.Errorf("the other replica took over after %s: the lease was not released", took)
	}
	if err := r.operators[1-index].WaitReady(t.Context()); err != nil {
		t.Error(err)
	}
}

// leader is the holder of the lease; empty where there is none.
func (r *replicas) leader(t *testing.T) string {
	t.Helper()
	lease := leaseOf(r.Client)
	holder, err := lease(t.Context())
	if err != nil && !errors.Is(err, errNoLease) {
		t.Fatal(err)
	}
	return holder
}
