package harness

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// CertManager is the name of the command that runs cert-manager's controllers.
const CertManager = "cert-manager"

// certManagerReady is what that command prints when its controllers run.
const certManagerReady = "cert-manager is running"

var certManager = module{
	path:      "test/certmanager",
	cache:     "certmanager",
	of:        "its module",
	main:      "github.com/cert-manager/cert-manager",
	key:       []string{"go.mod", "go.sum", "cmd/" + CertManager + "/main.go"},
	buildTime: map[string]string{CertManager: "2 to 4 minutes"},
}

// CertManagerAssets returns the folder that holds the command CertManager,
// which is built where it is missing.
func CertManagerAssets(ctx context.Context, out io.Writer) (string, error) {
	root, err := Root()
	if err != nil {
		return "", err
	}
	return certManager.build(ctx, root, out, CertManager)
}

// InstallCertManagerCRDs installs the CRDs that cert-manager's module carries.
func (cp *ControlPlane) InstallCertManagerCRDs(ctx context.Context) error {
	source, err := certManagerSource(ctx)
	if err != nil {
		return err
	}
	files, err := filepath.Glob(filepath.Join(source, "deploy", "crds", "*.yaml"))
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return fmt.Errorf("installing cert-manager's CRDs: there are none in deploy/crds of %s", source)
	}
	slices.Sort(files)
	var crds []*unstructured.Unstructured
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		objects, err := DecodeYAML(f)
		if err := errors.Join(err, f.Close()); err != nil {
			return fmt.Errorf("reading %s: %w", name, err)
		}
		crds = append(crds, objects...)
	}
	return cp.Install(ctx, crds)
}

// certManagerSource is the folder of cert-manager's module, which is downloaded
// where it is missing: a binary from the cache needs no source.
func certManagerSource(ctx context.Context) (string, error) {
	root, err := Root()
	if err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, "go", "mod", "download", "-json", certManager.main)
	cmd.Dir = filepath.Join(root, certManager.path)
	cmd.Stderr = os.Stderr
	raw, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("downloading %s: %w", certManager.main, err)
	}
	var downloaded struct{ Dir string }
	if err := json.Unmarshal(raw, &downloaded); err != nil {
		return "", fmt.Errorf("reading where %s is: %w", certManager.main, err)
	}
	return downloaded.Dir, nil
}

// StartCertManager installs cert-manager's CRDs and runs its controllers, which
// act as an administrator; it returns when they run. They end with the control
// plane. Their log is cert-manager.log in Dir.
func (cp *ControlPlane) StartCertManager(ctx context.Context, out io.Writer) error {
	if cp.certManager != nil {
		return errors.New("starting cert-manager: it has been started already")
	}
	dir, err := CertManagerAssets(ctx, out)
	if err != nil {
		return err
	}
	if err := cp.InstallCertManagerCRDs(ctx); err != nil {
		return err
	}
	log := filepath.Join(cp.Dir, "cert-manager.log")
	cmd := exec.Command(filepath.Join(dir, CertManager), "--kubeconfig="+cp.Kubeconfig, "--cluster-resource-namespace="+Namespace)
	if cp.certManager, err = startProcess(cmd, log); err != nil {
		return err
	}
	return cp.certManager.awaitRunning(ctx, "cert-manager", certManagerReady)
}
