// Package generate reads the options of brokers and topics from Kafka's own
// classes, and makes the table of package configdef from them. It needs Java 17
// or newer and Maven; `make generate-options` runs it.
package generate

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/sluice-kafka/sluice/internal/configdef"
)

// Versions are those of Kafka to generate for: the newest patch of each minor
// version that Maven Central served. They are in ascending order.
var Versions = []string{"4.0.2", "4.1.2", "4.2.2", "4.3.1", "4.4.0"}

// program holds what Maven and Java run.
//
//go:embed pom.xml Options.java
var program embed.FS

// Options are those of one version of Kafka.
type Options struct {
	// MetadataVersions that the version runs at, in ascending order.
	MetadataVersions []string `json:"metadataVersions"`
	// OldestLevel is the feature level of the first of them.
	OldestLevel int16              `json:"oldestLevel"`
	Topic       []configdef.Option `json:"topic"`
	Broker      []configdef.Option `json:"broker"`
}

// Read asks the classes of one version of Kafka. What Maven does not have in its
// local repository it fetches (about 100 MB).
func Read(ctx context.Context, version string) (Options, error) {
	var options Options
	data, err := run(ctx, version, "options", nil)
	if err != nil {
		return Options{}, err
	}
	if err := json.Unmarshal(data, &options); err != nil {
		return Options{}, fmt.Errorf("reading what the classes of kafka %s say: %w", version, err)
	}
	return options, nil
}

// Reading is what Kafka makes of one value of an option.
type Reading struct {
	Scope  string `json:"scope"` // topic or broker
	Option string `json:"option"`
	Value  string `json:"value"`
	// Parsed tells that the value is of the option's type, and Accepted that the
	// option allows it too.
	Parsed   bool `json:"parsed"`
	Accepted bool `json:"accepted"`
	// Shown is the parsed value as Kafka shows it.
	Shown string `json:"shown"`
}

// Try gives every option of a version of Kafka each of the values and returns
// what Kafka makes of them.
func Try(ctx context.Context, version string, values []string) ([]Reading, error) {
	input, err := json.Marshal(values)
	if err != nil {
		return nil, fmt.Errorf("encoding the values to try: %w", err)
	}
	data, err := run(ctx, version, "try", input)
	if err != nil {
		return nil, err
	}
	var readings []Reading
	if err := json.Unmarshal(data, &readings); err != nil {
		return nil, fmt.Errorf("reading what kafka %s made of the values: %w", version, err)
	}
	return readings, nil
}

// run runs Options.java on the jars of a version and returns what it wrote.
func run(ctx context.Context, version, mode string, input []byte) ([]byte, error) {
	dir, err := os.MkdirTemp("", "sluice-options-")
	if err != nil {
		return nil, fmt.Errorf("making a folder for the options of kafka %s: %w", version, err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if err := os.CopyFS(dir, program); err != nil {
		return nil, fmt.Errorf("writing the program that reads kafka's options: %w", err)
	}
	classpath, in, out := filepath.Join(dir, "classpath"), filepath.Join(dir, "in.json"), filepath.Join(dir, "out.json")
	if err := os.WriteFile(in, input, 0o600); err != nil {
		return nil, fmt.Errorf("writing the values to try: %w", err)
	}
	if err := command(ctx, "mvn", "-q", "-B", "-f", filepath.Join(dir, "pom.xml"), "-Dkafka.version="+version,
		"dependency:build-classpath", "-Dmdep.outputFile="+classpath); err != nil {
		return nil, fmt.Errorf("fetching kafka %s with maven (is Maven Central reachable?): %w", version, err)
	}
	jars, err := os.ReadFile(classpath)
	if err != nil {
		return nil, fmt.Errorf("reading the class path of kafka %s: %w", version, err)
	}
	if err := command(ctx, java(), "-cp", strings.TrimSpace(string(jars)), filepath.Join(dir, "Options.java"), mode, in, out); err != nil {
		return nil, fmt.Errorf("asking the classes of kafka %s: %w", version, err)
	}
	data, err := os.ReadFile(out)
	if err != nil {
		return nil, fmt.Errorf("reading what the classes of kafka %s say: %w", version, err)
	}
	return data, nil
}

func java() string {
	if home := os.Getenv("JAVA_HOME"); home != "" {
		return filepath.Join(home, "bin", "java")
	}
	return "java"
}

func command(ctx context.Context, name string, args ...string) error {
	var output bytes.Buffer
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("running %s: %w\n%s", filepath.Base(name), err, output.String())
	}
	return nil
}

// Table reads all Versions and joins what they have in common. It tells out what
// it does.
func Table(ctx context.Context, out io.Writer) (configdef.Table, error) {
	var t configdef.Table
	for _, version := range Versions {
		_, _ = fmt.Fprintf(out, "options: asking the classes of Kafka %s (a few seconds; about 100 MB are fetched the first time) ...\n", version)
		options, err := Read(ctx, version)
		if err != nil {
			return configdef.Table{}, err
		}
		t.Releases = append(t.Releases, configdef.Release{Kafka: version, OldestLevel: options.OldestLevel, MetadataVersions: options.MetadataVersions})
		t.Topic = join(t.Topic, version, options.Topic)
		t.Broker = join(t.Broker, version, options.Broker)
	}
	return t, nil
}
