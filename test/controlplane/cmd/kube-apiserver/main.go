// Command kube-apiserver is the Kubernetes API server, built from its module
// for tests.
package main

import (
	"os"

	"k8s.io/component-base/cli"
	// Registers the JSON log format and the client-go metrics, as upstream's
	// own main does.
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
)

func main() {
	os.Exit(cli.Run(app.NewAPIServerCommand()))
}
