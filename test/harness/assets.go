// Package harness runs what Sluice meets in production for the demo and the
// tests: a real API server, the rendered chart installed in it, and the real
// binary under the chart's own roles. Nothing here depends on package testing.
package harness

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Names of the control plane's binaries.
const (
	KubeAPIServer         = "kube-apiserver"
	Etcd                  = "etcd"
	KubeControllerManager = "kube-controller-manager"
	Kubectl               = "kubectl"
)

// buildTime tells on two cores how long a cold build takes, for the message
// that a person sees while waiting.
var buildTime = map[string]string{
	KubeAPIServer:         "6 to 10 minutes",
	Etcd:                  "half a minute",
	KubeControllerManager: "2 minutes",
	Kubectl:               "2 minutes",
}

// Assets returns a folder that holds the named binaries of the control plane.
//
// It is the folder that KUBEBUILDER_ASSETS names, if all are there; else what
// setup-envtest has or can download; else they are built from the module
// test/controlplane into the cache. A build says on out what it does and for
// how long. With CI=true nothing is downloaded, so that the build stays alive.
func Assets(ctx context.Context, out io.Writer, names ...string) (string, error) {
	if dir := os.Getenv("KUBEBUILDER_ASSETS"); dir != "" && haveAll(dir, names) {
		return dir, nil
	}
	root, err := Root()
	if err != nil {
		return "", err
	}
	built, err := builtAssetsDir(ctx, root)
	if err != nil {
		return "", err
	}
	if haveAll(built, names) {
		return built, nil
	}
	if os.Getenv("CI") != "true" {
		if dir := downloadedAssets(ctx, root, out); dir != "" && haveAll(dir, names) {
			return dir, nil
		}
	}
	if err := buildAssets(ctx, root, built, out, names); err != nil {
		return "", err
	}
	return built, nil
}

// Root is the folder of the repository, found upwards from the working
// directory.
func Root() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		raw, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && bytes.HasPrefix(raw, []byte("module github.com/sluice-kafka/sluice\n")) {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("not inside the Sluice repository: no go.mod of it found upwards")
		}
		dir = parent
	}
}

// CacheDir is where what is slow to build or fetch is kept: $SLUICE_CACHE, else
// sluice in the user's cache folder.
func CacheDir() (string, error) {
	if dir := os.Getenv("SLUICE_CACHE"); dir != "" {
		return dir, nil
	}
	base, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(base, "sluice"), nil
}

func haveAll(dir string, names []string) bool {
	for _, n := range names {
		info, err := os.Stat(filepath.Join(dir, n))
		if err != nil || info.Mode()&0o111 == 0 {
			return false
		}
	}
	return true
}

// builtAssetsDir is keyed by the content of the module, so that a new version
// of Kubernetes never meets an old binary.
func builtAssetsDir(ctx context.Context, root string) (string, error) {
	cache, err := CacheDir()
	if err != nil {
		return "", err
	}
	version, err := kubernetesVersion(ctx, root)
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	for _, f := range []string{"go.mod", "go.sum"} {
		raw, err := os.ReadFile(filepath.Join(root, "test/controlplane", f))
		if err != nil {
			return "", err
		}
		sum.Write(raw)
	}
	key := fmt.Sprintf("%s-%s-%s-%s", version, runtime.GOOS, runtime.GOARCH, hex.EncodeToString(sum.Sum(nil))[:12])
	return filepath.Join(cache, "controlplane", key), nil
}

func kubernetesVersion(ctx context.Context, root string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Version}}", "k8s.io/kubernetes")
	cmd.Dir = filepath.Join(root, "test/controlplane")
	cmd.Stderr = os.Stderr
	raw, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("reading the version of k8s.io/kubernetes: %w", err)
	}
	return strings.TrimSpace(string(raw)), nil
}

// downloadedAssets asks setup-envtest once and briefly; it returns an empty
// string where that fails, for the build is the way out.
func downloadedAssets(ctx context.Context, root string, out io.Writer) string {
	version, err := kubernetesVersion(ctx, root)
	if err != nil {
		return ""
	}
	tool, err := makePath(ctx, root, "setup-envtest-path", out)
	if err != nil {
		return ""
	}
	minor := strings.TrimPrefix(version[:strings.LastIndex(version, ".")], "v")
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	fmt.Fprintf(out, "Looking for prebuilt Kubernetes %s test binaries ...\n", minor)
	raw, err := exec.CommandContext(ctx, tool, "use", minor+".x", "-p", "path").Output()
	if err != nil {
		fmt.Fprintln(out, "No prebuilt binaries can be had; building from source instead.")
		return ""
	}
	return strings.TrimSpace(string(raw))
}

func buildAssets(ctx context.Context, root, dir string, out io.Writer, names []string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	unlock, err := lock(dir + ".lock")
	if err != nil {
		return err
	}
	defer unlock()
	version, err := kubernetesVersion(ctx, root)
	if err != nil {
		return err
	}
	for _, n := range names {
		if haveAll(dir, []string{n}) {
			continue
		}
		if err := buildAsset(ctx, root, dir, version, n, out); err != nil {
			return err
		}
	}
	return nil
}

func buildAsset(ctx context.Context, root, dir, version, name string, out io.Writer) error {
	target := filepath.Join(dir, name)
	what := fmt.Sprintf("Building %s of Kubernetes %s from source, once into the cache (cold: about %s on two cores)", name, version, buildTime[name])
	// Without the stamp they report a version that kubectl and Helm cannot parse.
	flags := "-s -w -X k8s.io/component-base/version.gitVersion=" + version
	cmd := exec.CommandContext(ctx, "go", "build", "-ldflags", flags, "-o", target+".tmp", "./cmd/"+name)
	cmd.Dir = filepath.Join(root, "test/controlplane")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := Step(out, what, cmd.Run); err != nil {
		return fmt.Errorf("building %s: %w\n%s", name, err, stderr.String())
	}
	return os.Rename(target+".tmp", target)
}

// Step runs f and shows on out that it goes on: what it is, every half minute
// that it still runs, and how long it took.
func Step(out io.Writer, what string, f func() error) error {
	start := time.Now()
	fmt.Fprintf(out, "%s ...\n", what)
	done := make(chan struct{})
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		t := time.NewTicker(30 * time.Second)
		defer t.Stop()
		for {
			select {
			case <-done:
				return
			case <-t.C:
				fmt.Fprintf(out, "  ... still at it after %s\n", time.Since(start).Round(time.Second))
			}
		}
	}()
	err := f()
	close(done)
	<-stopped
	if err == nil {
		fmt.Fprintf(out, "  done in %s\n", time.Since(start).Round(100*time.Millisecond))
	}
	return err
}

// lock holds an advisory lock on a file, so that two processes never build the
// same thing at once.
func lock(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() { _ = f.Close() }, nil
}

// makePath asks the Makefile, which alone knows how tools are pinned and
// cached, for the path of one; it is built where it is missing.
func makePath(ctx context.Context, root, target string, out io.Writer) (string, error) {
	cmd := exec.CommandContext(ctx, "make", "--no-print-directory", "-s", "-C", root, target)
	cmd.Stderr = out
	raw, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("make %s: %w", target, err)
	}
	return strings.TrimSpace(string(raw)), nil
}
