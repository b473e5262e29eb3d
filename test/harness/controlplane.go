package harness

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	certmanagerv1 "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"
	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
)

// startTimeout bounds the start of a part of the control plane; a loaded
// two-core machine takes many times the usual three seconds.
const startTimeout = 2 * time.Minute

// ControlPlane is a real etcd and API server on loopback, with RBAC on.
type ControlPlane struct {
	// Config is an administrator's.
	Config *rest.Config
	// Client is an administrator's, uncached, for all kinds that Sluice knows.
	Client client.Client
	// Kubeconfig is the path of an administrator's kubeconfig file.
	Kubeconfig string
	// Dir holds what belongs to this control plane: kubeconfigs and logs.
	Dir string

	env         *envtest.Environment
	manager     *process
	certManager *process
	nodes       *Nodes
	assets      string
	ownsFiles   bool
}

// ControlPlaneOptions of a control plane.
type ControlPlaneOptions struct {
	// ControllerManager adds garbage collection and namespace deletion.
	ControllerManager bool
	// Dir for kubeconfigs and logs; a temporary one, removed at the stop, where
	// empty.
	Dir string
	// Out is told of long steps.
	Out io.Writer
}

// newControlPlane finds the binaries and the folder; nothing is started yet.
func newControlPlane(ctx context.Context, opts ControlPlaneOptions) (*ControlPlane, error) {
	names := []string{Etcd, KubeAPIServer}
	if opts.ControllerManager {
		names = append(names, KubeControllerManager)
	}
	assets, err := Assets(ctx, opts.Out, names...)
	if err != nil {
		return nil, err
	}
	cp := &ControlPlane{Dir: opts.Dir, assets: assets}
	if cp.Dir == "" {
		cp.ownsFiles = true
		cp.Dir, err = os.MkdirTemp("", "sluice-")
	}
	return cp, err
}

// StartControlPlane starts etcd and the API server.
func StartControlPlane(ctx context.Context, opts ControlPlaneOptions) (_ *ControlPlane, err error) {
	cp, err := newControlPlane(ctx, opts)
	if err != nil {
		return nil, err
	}
	// envtest logs through controller-runtime, which complains where nobody took
	// the log; what matters here comes back as an error.
	ctrllog.SetLogger(logr.Discard())
	if cp.env, err = environment(cp.assets, cp.Dir); err != nil {
		return nil, err
	}
	logFile, err := os.Create(filepath.Join(cp.Dir, "kube-apiserver.log"))
	if err != nil {
		return nil, err
	}
	cp.env.ControlPlane.GetAPIServer().Out, cp.env.ControlPlane.GetAPIServer().Err = logFile, logFile

	defer func() {
		if err != nil {
			_ = cp.Stop()
		}
	}()
	if cp.Config, err = cp.env.Start(); err != nil {
		return nil, fmt.Errorf("starting etcd and the API server (log in %s): %w", logFile.Name(), err)
	}
	if cp.Client, err = client.New(cp.Config, client.Options{Scheme: Scheme()}); err != nil {
		return nil, err
	}
	cp.Kubeconfig = filepath.Join(cp.Dir, "admin.kubeconfig")
	if err = writeKubeconfig(cp.Kubeconfig, cp.Config); err != nil {
		return nil, err
	}
	if opts.ControllerManager {
		if err = cp.startControllerManager(); err != nil {
			return nil, err
		}
	}
	return cp, nil
}

// environment of the binaries in a folder; its files are in dir.
func environment(assets, dir string) (_ *envtest.Environment, err error) {
	env := &envtest.Environment{
		ControlPlaneStartTimeout: startTimeout,
		ControlPlaneStopTimeout:  startTimeout,
	}
	// Explicit paths: envtest would let TEST_ASSET_* variables override a folder.
	api := env.ControlPlane.GetAPIServer()
	api.Path = filepath.Join(assets, KubeAPIServer)
	env.ControlPlane.Etcd = &envtest.Etcd{Path: filepath.Join(assets, Etcd)}
	env.ControlPlane.KubectlPath = filepath.Join(assets, Kubectl)
	// A webhook's Service leads to its pods: nothing stands for its own address.
	api.Configure().Set("enable-aggregator-routing", "true")
	if isIsolated() {
		// It would take that of the default route, and there is none.
		api.Configure().Set("advertise-address", gateway)
	}
	// In a folder that envtest makes itself the certificates would end with the
	// first process of the API server.
	api.CertDir, err = os.MkdirTemp(dir, "kube-apiserver-")
	return env, err
}

// Stop stops everything that StartControlPlane started.
func (cp *ControlPlane) Stop() error {
	if cp.nodes != nil {
		cp.nodes.Stop()
	}
	for _, p := range []*process{cp.certManager, cp.manager} {
		if p != nil {
			p.stop(startTimeout)
		}
	}
	err := cp.env.Stop()
	if cp.ownsFiles {
		_ = os.RemoveAll(cp.Dir)
	}
	return err
}

// StopAPIServer ends the API server in order. Everything else goes on, without it.
func (cp *ControlPlane) StopAPIServer() error {
	if err := cp.env.ControlPlane.GetAPIServer().Stop(); err != nil {
		return fmt.Errorf("stopping the API server: %w", err)
	}
	return nil
}

// StartAPIServer starts it again, at the same address, and returns when it answers.
func (cp *ControlPlane) StartAPIServer() error {
	server := cp.env.ControlPlane.GetAPIServer()
	// The first start left the whole command line there, and adds to it.
	server.Args = nil //nolint:staticcheck // nothing else takes it back
	if err := server.Start(); err != nil {
		return fmt.Errorf("starting the API server again: %w", err)
	}
	return nil
}

// Scheme knows all kinds that Sluice and its tests use.
func Scheme() *runtime.Scheme {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, apiextensionsv1.AddToScheme, certmanagerv1.AddToScheme, apiv1.AddToScheme} {
		if err := add(s); err != nil {
			// Only a programming error in the types can get here.
			panic(err)
		}
	}
	return s
}

func (cp *ControlPlane) startControllerManager() error {
	certDir := cp.env.ControlPlane.GetAPIServer().CertDir
	args := []string{
		"--kubeconfig=" + cp.Kubeconfig,
		"--leader-elect=false",
		// Its controllers act under the accounts that webhook conditions name.
		"--use-service-account-credentials=true",
		"--service-account-private-key-file=" + filepath.Join(certDir, "sa-signer.key"),
		"--bind-address=127.0.0.1",
		"--secure-port=0",
	}
	cmd := exec.Command(filepath.Join(cp.assets, KubeControllerManager), args...)
	var err error
	cp.manager, err = startProcess(cmd, filepath.Join(cp.Dir, "kube-controller-manager.log"))
	return err
}

// writeKubeconfig writes a kubeconfig file for cfg.
func writeKubeconfig(path string, cfg *rest.Config) error {
	k := clientcmdapi.NewConfig()
	k.Clusters["sluice"] = &clientcmdapi.Cluster{Server: cfg.Host, CertificateAuthorityData: cfg.CAData}
	k.AuthInfos["sluice"] = &clientcmdapi.AuthInfo{
		ClientCertificateData: cfg.CertData,
		ClientKeyData:         cfg.KeyData,
		Token:                 cfg.BearerToken,
	}
	k.Contexts["sluice"] = &clientcmdapi.Context{Cluster: "sluice", AuthInfo: "sluice"}
	k.CurrentContext = "sluice"
	return clientcmd.WriteToFile(*k, path)
}

// process is a child that dies with us and is stopped by its ID.
type process struct {
	cmd  *exec.Cmd
	log  *os.File
	done chan struct{}
	err  error
}

func startProcess(cmd *exec.Cmd, logPath string) (*process, error) {
	log, err := os.OpenFile(logPath, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = childAttr()
	if err := cmd.Start(); err != nil {
		_ = log.Close()
		return nil, fmt.Errorf("starting %s: %w", filepath.Base(cmd.Path), err)
	}
	p := &process{cmd: cmd, log: log, done: make(chan struct{})}
	go func() {
		defer close(p.done)
		p.err = cmd.Wait()
		_ = log.Close()
	}()
	return p, nil
}

// awaitRunning waits until the log of the process, which name is for errors, has what
// it says when it runs.
func (p *process) awaitRunning(ctx context.Context, name, says string) error {
	log := p.log.Name()
	err := wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, startTimeout, true, func(context.Context) (bool, error) {
		raw, err := os.ReadFile(log)
		if err != nil {
			return false, err
		}
		if strings.Contains(string(raw), says) {
			return true, nil
		}
		select {
		case <-p.done:
			return false, fmt.Errorf("it ended: %w", errors.Join(p.err, errors.New("see the log")))
		default:
			return false, nil
		}
	})
	if err != nil {
		return fmt.Errorf("waiting for %s to run: %w (log: %s)\n%s", name, err, log, tail(log, 2000))
	}
	return nil
}

// stop asks the process to end and kills it after the grace; it reports whether
// the process ended by itself with success.
func (p *process) stop(grace time.Duration) bool {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.done:
		return p.err == nil
	case <-time.After(grace):
		p.kill()
		return false
	}
}

func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	<-p.done
}
