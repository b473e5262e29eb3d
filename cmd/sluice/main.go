// Command sluice keeps Kafka on Kubernetes safe to change.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	ctrl "sigs.k8s.io/controller-runtime"
)

func main() {
	os.Exit(execute(ctrl.SetupSignalHandler(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// execute runs the command line and returns the exit code.
func execute(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := newRoot()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	cmd, err := root.ExecuteContextC(ctx)
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errRefused):
		return 1 // the report says it all
	}
	fmt.Fprintf(stderr, "sluice: %v\nSee '%s --help'.\n", err, cmd.CommandPath())
	if cmd.Name() == validateName {
		return 2
	}
	return 1
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "sluice",
		Short: "Keeps Apache Kafka on Kubernetes safe to change",
		Long: "Sluice judges Strimzi's resources as they are applied to a Kubernetes API server: it refuses\n" +
			"bad ones with the reason and what to write instead, and runs controllers that keep Kafka in\n" +
			"step with the good ones.",
		Version: currentVersion(),
		// execute prints errors, without the usage: an error names what is wrong.
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.AddCommand(newOperatorCommand(), newTopicOnlyCommand(), newValidateCommand(), newVersionCommand())
	return root
}
