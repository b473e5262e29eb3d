package harness

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Installation is the chart installed in a control plane, with what is needed
// to run its operator as a process of this machine.
type Installation struct {
	*ControlPlane
	// WebhookPort on loopback, which the webhook configurations name.
	WebhookPort int
	// Executable that operators are started from; Binary built it.
	Executable string
	// APIServer, if set, has the address and the CA with which operators find the
	// API server, in place of the control plane's own.
	APIServer *rest.Config

	objects    []*unstructured.Unstructured
	deployment *appsv1.Deployment
	configMaps map[string]*corev1.ConfigMap
	started    int
}

// Operator is a running `sluice operator` process.
type Operator struct {
	// MetricsURL serves its metrics in Prometheus' text form.
	MetricsURL string
	// Log is the path of its log.
	Log string

	// ready is the URL that answers with 200 once the operator is ready.
	ready   string
	process *process
}

// InstallChart renders the chart, installs it, and readies the operator's
// binary. The webhook configurations name a port of this machine in place of
// the Service, since no pod network is here.
func (cp *ControlPlane) InstallChart(ctx context.Context, out io.Writer, values map[string]any) (*Installation, error) {
	port, err := FreePort()
	if err != nil {
		return nil, err
	}
	in := &Installation{ControlPlane: cp, WebhookPort: port}
	if err := in.Upgrade(ctx, out, values); err != nil {
		return nil, err
	}
	if in.Executable, err = Binary(ctx); err != nil {
		return nil, err
	}
	return in, nil
}

// Upgrade installs the chart anew with other values, as `helm upgrade` would:
// what it no longer renders goes last. Operators that run keep their arguments,
// those that are started after it take the new ones.
func (in *Installation) Upgrade(ctx context.Context, out io.Writer, values map[string]any) error {
	all := maps.Clone(values)
	if all == nil {
		all = map[string]any{}
	}
	all["webhook"] = map[string]any{"url": map[string]any{"host": net.JoinHostPort("127.0.0.1", strconv.Itoa(in.WebhookPort))}}
	objects, err := RenderChart(ctx, out, all)
	if err != nil {
		return err
	}
	old := in.objects
	if err := in.remember(objects); err != nil {
		return err
	}
	if err := in.Install(ctx, objects); err != nil {
		return err
	}
	for _, o := range old {
		if slices.ContainsFunc(objects, func(n *unstructured.Unstructured) bool { return sameObject(o, n) }) {
			continue
		}
		if err := in.Client.Delete(ctx, o.DeepCopy()); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("deleting %s %s, which the chart no longer renders: %w", o.GetKind(), o.GetName(), err)
		}
	}
	return nil
}

func sameObject(a, b *unstructured.Unstructured) bool {
	return a.GroupVersionKind() == b.GroupVersionKind() && client.ObjectKeyFromObject(a) == client.ObjectKeyFromObject(b)
}

// Binary builds the product's binary and returns its path.
func Binary(ctx context.Context) (string, error) {
	root, err := Root()
	if err != nil {
		return "", err
	}
	path := filepath.Join(root, "bin", "sluice")
	return path, build(ctx, root, path)
}

// Stamped builds the product's binary at a path, as a release of that version.
func Stamped(ctx context.Context, path, version string) error {
	root, err := Root()
	if err != nil {
		return err
	}
	return build(ctx, root, path, "-ldflags", "-X main.version="+version)
}

func build(ctx context.Context, root, path string, flags ...string) error {
	cmd := exec.CommandContext(ctx, "go", append(append([]string{"build", "-o", path}, flags...), "./cmd/sluice")...)
	cmd.Dir = root
	if raw, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("building sluice: %w\n%s", err, raw)
	}
	return nil
}

// remember keeps the rendered Deployment and ConfigMaps: the operator's
// arguments, environment and files come from them, so that what is tested is
// what the chart says.
func (in *Installation) remember(objects []*unstructured.Unstructured) error {
	in.objects, in.deployment, in.configMaps = objects, nil, map[string]*corev1.ConfigMap{}
	for _, o := range objects {
		switch o.GetKind() {
		case "Deployment":
			in.deployment = &appsv1.Deployment{}
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, in.deployment); err != nil {
				return err
			}
		case "ConfigMap":
			cm := &corev1.ConfigMap{}
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, cm); err != nil {
				return err
			}
			in.configMaps[cm.Name] = cm
		}
	}
	if in.deployment == nil {
		return errors.New("the chart renders no Deployment")
	}
	return nil
}

// portTries bounds how often an operator is started whose port was taken, by any
// process of this machine, between the choice and its use.
const portTries = 3

// StartOperator runs the chart's operator under the chart's own roles and
// returns when it is ready. Extra arguments come last and win.
func (in *Installation) StartOperator(ctx context.Context, extra ...string) (*Operator, error) {
	return onFreePorts(func() (*Operator, error) { return in.startOperator(ctx, extra) })
}

// onFreePorts starts an operator by a function that chooses its ports.
func onFreePorts(start func() (*Operator, error)) (op *Operator, err error) {
	for range portTries {
		op, err = start()
		// The process tells of it in its last words alone.
		if err == nil || !strings.Contains(err.Error(), "address already in use") {
			break
		}
	}
	return op, err
}

func (in *Installation) startOperator(ctx context.Context, extra []string) (*Operator, error) {
	in.started++
	dir := filepath.Join(in.Dir, "operator-"+strconv.Itoa(in.started))
	pod := in.deployment.Spec.Template.Spec
	kubeconfig, err := in.accountKubeconfig(ctx, dir, Namespace, pod.ServiceAccountName, cmp.Or(in.APIServer, in.Config))
	if err != nil {
		return nil, err
	}
	metrics, err := FreePort()
	if err != nil {
		return nil, err
	}
	health, err := FreePort()
	if err != nil {
		return nil, err
	}
	container := pod.Containers[0]
	args, err := in.arguments(dir, container)
	if err != nil {
		return nil, err
	}
	args = append(args,
		"--kubeconfig="+kubeconfig,
		"--webhook-port="+strconv.Itoa(in.WebhookPort),
		"--webhook-bind-address=127.0.0.1",
		"--metrics-bind-address=127.0.0.1:"+strconv.Itoa(metrics),
		"--metrics-secure=false",
		"--health-probe-bind-address=127.0.0.1:"+strconv.Itoa(health),
	)
	cmd := exec.Command(in.Executable, append(args, extra...)...)
	cmd.Env = os.Environ()
	for _, e := range container.Env {
		if e.Value != "" {
			cmd.Env = append(cmd.Env, e.Name+"="+e.Value)
		}
	}
	// The downward API's part, which only a kubelet would fill in.
	cmd.Env = append(cmd.Env, "POD_NAMESPACE="+Namespace, "POD_NAME=sluice-"+strconv.Itoa(in.started))
	op := &Operator{
		MetricsURL: fmt.Sprintf("http://127.0.0.1:%d/metrics", metrics),
		Log:        filepath.Join(dir, "log"),
		ready:      fmt.Sprintf("http://127.0.0.1:%d/readyz", health),
	}
	return op.run(ctx, cmd)
}

// run starts the process and returns when the operator is ready.
func (o *Operator) run(ctx context.Context, cmd *exec.Cmd) (*Operator, error) {
	var err error
	if o.process, err = startProcess(cmd, o.Log); err != nil {
		return nil, err
	}
	if err := o.WaitReady(ctx); err != nil {
		o.Kill()
		return nil, err
	}
	return o, nil
}

// arguments are the container's, with the mount paths of ConfigMap volumes
// replaced by folders that hold the ConfigMaps' content.
func (in *Installation) arguments(dir string, c corev1.Container) ([]string, error) {
	args := append([]string{}, c.Args...)
	for _, v := range in.deployment.Spec.Template.Spec.Volumes {
		if v.ConfigMap == nil || in.configMaps[v.ConfigMap.Name] == nil {
			continue
		}
		folder := filepath.Join(dir, v.Name)
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return nil, err
		}
		for name, text := range in.configMaps[v.ConfigMap.Name].Data {
			if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
				return nil, err
			}
		}
		for _, m := range c.VolumeMounts {
			if m.Name == v.Name {
				args = replacePaths(args, m.MountPath, folder)
			}
		}
	}
	return args, nil
}

// accountKubeconfig writes a kubeconfig into a folder, which is made: for a service
// account, so that an operator runs with its roles and not as an administrator, and
// finds the API server at an address.
func (cp *ControlPlane) accountKubeconfig(ctx context.Context, dir, namespace, account string, at *rest.Config) (string, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	admin, err := kubernetes.NewForConfig(cp.Config)
	if err != nil {
		return "", err
	}
	seconds := int64((24 * time.Hour).Seconds())
	token, err := admin.CoreV1().ServiceAccounts(namespace).CreateToken(ctx, account,
		&authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &seconds}}, createOptions)
	if err != nil {
		return "", fmt.Errorf("asking a token for service account %s: %w", account, err)
	}
	path := filepath.Join(dir, "kubeconfig")
	return path, writeKubeconfig(path, &rest.Config{
		Host:            at.Host,
		TLSClientConfig: rest.TLSClientConfig{CAData: at.CAData},
		BearerToken:     token.Status.Token,
	})
}

// WaitReady waits until the operator says that it is ready.
func (o *Operator) WaitReady(ctx context.Context) error {
	err := wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, startTimeout, true, func(ctx context.Context) (bool, error) {
		select {
		case <-o.process.done:
			return false, fmt.Errorf("it ended: %w", errors.Join(o.process.err, errors.New("see the log")))
		default:
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, o.ready, nil)
		if err != nil {
			return false, err
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			// Not listening yet.
			return false, nil
		}
		defer func() { _ = resp.Body.Close() }()
		return resp.StatusCode == http.StatusOK, nil
	})
	if err != nil {
		return fmt.Errorf("waiting for the operator to be ready: %w (log: %s)\n%s", err, o.Log, tail(o.Log, 2000))
	}
	return nil
}

// Stop asks the operator to end and reports an error where it does not end
// gracefully.
func (o *Operator) Stop() error {
	if !o.process.stop(30 * time.Second) {
		return fmt.Errorf("the operator did not stop gracefully: %w (log: %s)", errors.Join(o.process.err, errors.New("no clean exit")), o.Log)
	}
	return nil
}

// Kill ends the operator at once, as a crash would.
func (o *Operator) Kill() { o.process.kill() }

// PID is the operator's process ID.
func (o *Operator) PID() int { return o.process.cmd.Process.Pid }

// Ended is closed when the operator's process has ended, in whatever way.
func (o *Operator) Ended() <-chan struct{} { return o.process.done }

// Signal sends a signal to the operator's process.
func (o *Operator) Signal(s os.Signal) error { return o.process.cmd.Process.Signal(s) }

// FreePort is a port on loopback that nothing listened on a moment ago.
func FreePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer func() { _ = l.Close() }()
	return l.Addr().(*net.TCPAddr).Port, nil
}

func tail(path string, n int) string {
	raw, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	if len(raw) > n {
		raw = raw[len(raw)-n:]
	}
	return string(raw)
}
