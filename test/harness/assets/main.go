// Command assets makes the control plane's binaries ready ahead of the tests
// and prints the folder that holds them: assets NAME...
package main

import (
	"context"
	"fmt"
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
	dir, err := harness.Assets(ctx, os.Stderr, names...)
	if err != nil {
		return err
	}
	fmt.Println(dir)
	return nil
}
