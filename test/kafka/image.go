package kafka

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
)

// ImagePath is where the official images have Kafka (its Dockerfile in
// docker/jvm of Kafka's sources).
const ImagePath = "/opt/kafka"

// imageLog4j has the name and the form of the official image's file.
const imageLog4j = `Configuration:
  status: error
  Appenders:
    Console:
      name: STDOUT
      PatternLayout:
        pattern: "[%d] %p %m (%c)%n"
  Loggers:
    Root:
      level: info
      AppenderRef:
        - ref: STDOUT
`

// ImageName is the official image of a version.
func ImageName(version string) string { return "apache/kafka:" + version }

// Image returns a folder with what the official image of a version has at
// ImagePath, as far as the jars give it: libs, a config with log4j2.yaml that logs
// to the output, and an empty bin.
func Image(ctx context.Context, version string, out io.Writer) (string, error) {
	libs, err := Fetch(ctx, version, out)
	if err != nil {
		return "", err
	}
	image := filepath.Join(filepath.Dir(libs), "image")
	if _, err := os.Stat(image); err == nil {
		return image, nil
	}
	tmp, err := os.MkdirTemp(filepath.Dir(libs), "image.part-")
	if err != nil {
		return "", fmt.Errorf("laying out the image of kafka %s: %w", version, err)
	}
	defer func() { _ = os.RemoveAll(tmp) }()
	if err := layOutImage(libs, tmp); err != nil {
		return "", fmt.Errorf("laying out the image of kafka %s: %w", version, err)
	}
	if err := os.Rename(tmp, image); err != nil && !errors.Is(err, syscall.ENOTEMPTY) && !errors.Is(err, os.ErrExist) {
		return "", fmt.Errorf("putting the image of kafka %s into the cache: %w", version, err)
	}
	return image, nil
}

func layOutImage(libs, image string) error {
	for _, name := range []string{"bin", "libs", "config"} {
		if err := os.Mkdir(filepath.Join(image, name), 0o755); err != nil {
			return err
		}
	}
	jars, err := os.ReadDir(libs)
	if err != nil {
		return err
	}
	for _, jar := range jars {
		if err := os.Link(filepath.Join(libs, jar.Name()), filepath.Join(image, "libs", jar.Name())); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(image, "config", "log4j2.yaml"), []byte(imageLog4j), 0o644); err != nil {
		return err
	}
	return os.Chmod(image, 0o755)
}
