package kafka

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// Available tells why real brokers cannot be started here: nil where both Java
// and Maven are there.
func Available() error {
	var missing []error
	if _, err := java(); err != nil {
		missing = append(missing, fmt.Errorf("java (17 or newer; set JAVA_HOME or put it on the PATH): %w", err))
	}
	if _, err := exec.LookPath("mvn"); err != nil {
		missing = append(missing, fmt.Errorf("maven (put mvn on the PATH): %w", err))
	}
	if err := errors.Join(missing...); err != nil {
		return fmt.Errorf("real kafka needs java and maven: %w", err)
	}
	return nil
}

func java() (string, error) {
	if home := os.Getenv("JAVA_HOME"); home != "" {
		return exec.LookPath(filepath.Join(home, "bin", "java"))
	}
	return exec.LookPath("java")
}

// cacheDir is where the jars of a version are kept: in $SLUICE_CACHE, else in
// the user's own cache.
func cacheDir(version string) (string, error) {
	root := os.Getenv("SLUICE_CACHE")
	if root == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return "", fmt.Errorf("finding a cache folder for kafka's jars (set SLUICE_CACHE): %w", err)
		}
		root = filepath.Join(user, "sluice")
	}
	return filepath.Join(root, "kafka", version), nil
}

// Fetch returns the folder with the jars of a version of Kafka. What is not in
// the cache is first fetched by Maven, which is said to out. The cache holds
// either all jars of a version or none.
func Fetch(ctx context.Context, version string, out io.Writer) (string, error) {
	rel, err := releaseOf(version)
	if err != nil {
		return "", err
	}
	dir, err := cacheDir(version)
	if err != nil {
		return "", err
	}
	libs := filepath.Join(dir, "libs")
	if _, err := os.Stat(libs); err == nil {
		return libs, nil
	}
	if err := Available(); err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return "", fmt.Errorf("making the cache of kafka %s: %w", version, err)
	}
	tmp, err := os.MkdirTemp(filepath.Dir(dir), version+".part-")
	if err != nil {
		return "", fmt.Errorf("making the cache of kafka %s: %w", version, err)
	}
	defer func() { _ = os.RemoveAll(tmp) }()
	if err := download(ctx, version, rel, tmp, out); err != nil {
		return "", err
	}
	if err := os.Rename(tmp, dir); err != nil {
		// Another process may have been first, and its jars are the same.
		if _, statErr := os.Stat(libs); statErr != nil {
			return "", fmt.Errorf("putting kafka %s into the cache: %w", version, err)
		}
	}
	return libs, nil
}

func download(ctx context.Context, version string, rel release, dir string, out io.Writer) error {
	var text bytes.Buffer
	if err := pom.Execute(&text, struct{ Kafka, Log4j string }{version, rel.log4j}); err != nil {
		return fmt.Errorf("rendering the pom of kafka %s: %w", version, err)
	}
	file := filepath.Join(dir, "pom.xml")
	if err := os.WriteFile(file, text.Bytes(), 0o644); err != nil {
		return fmt.Errorf("writing the pom of kafka %s: %w", version, err)
	}
	_, _ = fmt.Fprintf(out, "kafka: fetching the jars of Kafka %s from Maven Central (55 MB, once; about 10 s, more on a slow line) ...\n", version)
	start := time.Now()
	cmd := exec.CommandContext(ctx, "mvn", "-q", "-B", "-f", file,
		"dependency:copy-dependencies", "-DoutputDirectory="+filepath.Join(dir, "libs"))
	cmd.SysProcAttr = childAttr()
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("fetching kafka %s with maven (is Maven Central, or the mirror in ~/.m2/settings.xml, reachable?): %w\n%s",
			version, err, lastLines(string(output), 20))
	}
	_, _ = fmt.Fprintf(out, "kafka: fetched in %s\n", time.Since(start).Round(time.Second/10))
	return nil
}
