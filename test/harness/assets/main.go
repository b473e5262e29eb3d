// Command assets makes the binaries that the tests need ready ahead of them and
// prints the folders that hold them: assets NAME..., where a name is one of the
// control plane's, cert-manager or
// node-agent.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/sluice-kafka/sluice/test/harness"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "assets:", err)
		os.Exit(1)
	}
}

func run(names []string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if len(names) == 0 {
		names = []string{harness.Etcd, harness.KubeAPIServer}
	}
	own := map[string]func(context.Context, io.Writer) (string, error){
		harness.CertManager: harness.CertManagerAssets,
		harness.NodeAgent:   harness.NodeAgentAssets,
	}
	var controlPlane []string
	for _, n := range names {
		build, ok := own[n]
		if !ok {
			controlPlane = append(controlPlane, n)
			continue
		}
		dir, err := build(ctx, os.Stderr)
		if err != nil {
			return err
		}
		fmt.Println(dir)
	}
	if len(controlPlane) == 0 {
		return nil
	}
	dir, err := harness.Assets(ctx, os.Stderr, controlPlane...)
	if err != nil {
		return err
	}
	fmt.Println(dir)
	return nil
}
