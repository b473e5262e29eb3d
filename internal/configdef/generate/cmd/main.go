// Command cmd writes the table of Kafka's options to the file that its argument
// names.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/sluice-kafka/sluice/internal/configdef/generate"
)

func main() {
	if len(os.Args) != 2 {
		_, _ = fmt.Fprintln(os.Stderr, "options: name the file to write")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "options:", err)
		os.Exit(1)
	}
}

func run(file string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	table, err := generate.Table(ctx, os.Stderr)
	if err != nil {
		return err
	}
	text, err := generate.Encode(table)
	if err != nil {
		return err
	}
	if err := os.WriteFile(file, text, 0o644); err != nil {
		return fmt.Errorf("writing the table of options: %w", err)
	}
	return nil
}
