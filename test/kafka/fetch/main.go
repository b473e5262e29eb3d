// Command fetch brings the jars of Kafka into the cache ahead of the tests that
// need them. Its arguments are versions; without any it is the default one.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/sluice-kafka/sluice/test/kafka"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "kafka:", err)
		os.Exit(1)
	}
}

func run(versions []string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if len(versions) == 0 {
		versions = []string{kafka.DefaultVersion}
	}
	for _, version := range versions {
		libs, err := kafka.Fetch(ctx, version, os.Stderr)
		if err != nil {
			return err
		}
		fmt.Println(libs)
	}
	return nil
}
