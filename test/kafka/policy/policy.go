// Package policy has a policy for the creation of topics (KIP-108), as an
// administrator of Kafka would write one.
package policy

import (
	"context"
	_ "embed" // the class's source
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/sluice-kafka/sluice/test/kafka"
)

// Class is for Kafka's option create.topic.policy.class.name. It refuses topics whose
// names end with "forbidden".
const Class = "dev.sluice.test.RefuseForbidden"

// Reason is what the policy says.
const Reason = "names must not end with forbidden"

//go:embed RefuseForbidden.java
var source []byte

// Available tells why the policy cannot be compiled here: nil where it can.
func Available() error {
	if _, err := exec.LookPath("javac"); err != nil {
		return fmt.Errorf("a policy of the test's own needs a Java compiler: %w", err)
	}
	return nil
}

// Compile compiles the policy for a version of Kafka into a folder, which is for the
// brokers' class path.
func Compile(ctx context.Context, version, dir string) error {
	libs, err := kafka.Fetch(ctx, version, os.Stderr)
	if err != nil {
		return err
	}
	file := filepath.Join(dir, "RefuseForbidden.java")
	if err := os.WriteFile(file, source, 0o644); err != nil {
		return fmt.Errorf("writing the policy's source: %w", err)
	}
	cmd := exec.CommandContext(ctx, "javac", "-cp", filepath.Join(libs, "*"), "-d", dir, file)
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("compiling the policy: %w\n%s", err, output)
	}
	return nil
}
