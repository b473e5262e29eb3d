// Command assets makes the binaries that the tests need ready ahead of them and
// prints the folders that hold them: assets NAME..., where a name is one of the
// control plane's or cert-manager.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"slices"
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
	controlPlane := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == harness.CertManager })
	if len(controlPlane) > 0 {
		dir, err := harness.Assets(ctx, os.Stderr, controlPlane...)
		if err != nil {
			return err
		}
		fmt.Println(dir)
	}
	if len(controlPlane) < len(names) {
		dir, err := harness.CertManagerAssets(ctx, os.Stderr)
		if err != nil {
			return err
		}
		fmt.Println(dir)
	}
	return nil
}
