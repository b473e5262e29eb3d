// Command kube-controller-manager is the Kubernetes controller manager, built
// from its module for the tests that need garbage collection or namespace
// deletion.
package main

import (
	"os"

	"k8s.io/component-base/cli"
	// Registers the JSON log format and the client-go metrics, as upstream's
	// own main does.
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	"k8s.io/kubernetes/cmd/kube-controller-manager/app"
)

func main() {
	os.Exit(cli.Run(app.NewControllerManagerCommand()))
}
