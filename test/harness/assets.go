// Package harness runs what Sluice meets in production for the demo and the
// tests: a real API server, the rendered chart installed in it, and the real
// binary under the chart's own roles. Nothing here depends on package testing.
package harness

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

// Names of the control plane's binaries.
const (
	KubeAPIServer         = "kube-apiserver"
	Etcd                  = "etcd"
	KubeControllerManager = "kube-controller-manager"
	Kubectl               = "kubectl"
)

// controlPlane is the module of Kubernetes and etcd. Its mains hold nothing that
// could make a binary stale: the versions alone are its key.
var controlPlane = module{
	path:  "test/controlplane",
	cache: "controlplane",
	of:    "Kubernetes",
	main:  "k8s.io/kubernetes",
	key:   []string{"go.mod", "go.sum"},
	// Without the stamp they report a version that kubectl and Helm cannot parse.
	stamp: "k8s.io/component-base/version.gitVersion",
	buildTime: map[string]string{
		KubeAPIServer:         "6 to 10 minutes",
		Etcd:                  "half a minute",
		KubeControllerManager: "2 minutes",
		Kubectl:               "2 minutes",
	},
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
	built, err := controlPlane.dir(ctx, root)
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
	return controlPlane.build(ctx, root, out, names...)
}

// downloadedAssets asks setup-envtest once and briefly; it returns an empty
// string where that fails, for the build is the way out.
func downloadedAssets(ctx context.Context, root string, out io.Writer) string {
	version, err := controlPlane.version(ctx, root)
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
