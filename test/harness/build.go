package harness

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// module is a Go module of this repository whose commands are built once into
// the cache, because what they are made of is slow to build.
type module struct {
	// path from the root of the repository; a command NAME is in cmd/NAME.
	path string
	// cache is the folder in the cache.
	cache string
	// of tells a reader what the commands belong to.
	of string
	// main is the required module that gives the commands their version.
	main string
	// key are the files whose content decides whether a built command is current.
	key []string
	// sources tells that all of the module's Go files, and what pins its
	// dependencies, decide that instead.
	sources bool
	// stamp is the variable that the version is linked into; none where empty.
	stamp string
	// buildTime tells by command how long a cold build takes on two cores, for
	// the message that a person sees while waiting.
	buildTime map[string]string
}

// dir is where the commands are kept. It is keyed by the content of the module,
// so that a new version never meets an old binary.
func (m module) dir(ctx context.Context, root string) (string, error) {
	cache, err := CacheDir()
	if err != nil {
		return "", err
	}
	version, err := m.version(ctx, root)
	if err != nil {
		return "", err
	}
	files, err := m.keyFiles(root)
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	for _, f := range files {
		raw, err := os.ReadFile(filepath.Join(root, m.path, f))
		if err != nil {
			return "", err
		}
		sum.Write(raw)
	}
	key := fmt.Sprintf("%s-%s-%s-%s", version, runtime.GOOS, runtime.GOARCH, hex.EncodeToString(sum.Sum(nil))[:12])
	return filepath.Join(cache, m.cache, key), nil
}

func (m module) keyFiles(root string) ([]string, error) {
	files := m.key
	if !m.sources {
		return files, nil
	}
	top := filepath.Join(root, m.path)
	err := filepath.WalkDir(top, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		name, err := filepath.Rel(top, path)
		if strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") || name == "go.mod" || name == "go.sum" {
			files = append(files, name)
		}
		return err
	})
	return files, err
}

// version of what the module builds.
func (m module) version(ctx context.Context, root string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Version}}", m.main)
	cmd.Dir = filepath.Join(root, m.path)
	cmd.Stderr = os.Stderr
	raw, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("reading the version of %s: %w", m.main, err)
	}
	return strings.TrimSpace(string(raw)), nil
}

// build builds the named commands where they are missing, and returns the
// folder that holds them. It says on out what it does and for how long.
func (m module) build(ctx context.Context, root string, out io.Writer, names ...string) (string, error) {
	dir, err := m.dir(ctx, root)
	if err != nil {
		return "", err
	}
	if haveAll(dir, names) {
		return dir, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	unlock, err := lock(dir + ".lock")
	if err != nil {
		return "", err
	}
	defer unlock()
	for _, n := range names {
		if haveAll(dir, []string{n}) {
			continue
		}
		if err := m.buildOne(ctx, root, dir, n, out); err != nil {
			return "", err
		}
	}
	return dir, nil
}

func (m module) buildOne(ctx context.Context, root, dir, name string, out io.Writer) error {
	version, err := m.version(ctx, root)
	if err != nil {
		return err
	}
	target := filepath.Join(dir, name)
	what := fmt.Sprintf("Building %s of %s %s from source, once into the cache (cold: about %s on two cores)", name, m.of, version, m.buildTime[name])
	flags := "-s -w"
	if m.stamp != "" {
		flags += " -X " + m.stamp + "=" + version
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-ldflags", flags, "-o", target+".tmp", "./cmd/"+name)
	cmd.Dir = filepath.Join(root, m.path)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := Step(out, what, cmd.Run); err != nil {
		return fmt.Errorf("building %s: %w\n%s", name, err, stderr.String())
	}
	return os.Rename(target+".tmp", target)
}

func haveAll(dir string, names []string) bool {
	for _, n := range names {
		info, err := os.Stat(filepath.Join(dir, n))
		if err != nil || info.Mode()&0o111 == 0 {
			return false
		}
	}
	return true
}

// Root is the folder of the repository, found upwards from the working
// directory.
func Root() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		raw, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && bytes.HasPrefix(raw, []byte("module github.com/sluice-kafka/sluice\n")) {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("not inside the Sluice repository: no go.mod of it found upwards")
		}
		dir = parent
	}
}

// CacheDir is where what is slow to build or fetch is kept: $SLUICE_CACHE, else
// sluice in the user's cache folder.
func CacheDir() (string, error) {
	if dir := os.Getenv("SLUICE_CACHE"); dir != "" {
		return dir, nil
	}
	base, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(base, "sluice"), nil
}

// Step runs f and shows on out that it goes on: what it is, every half minute
// that it still runs, and how long it took.
func Step(out io.Writer, what string, f func() error) error {
	start := time.Now()
	fmt.Fprintf(out, "%s ...\n", what)
	done := make(chan struct{})
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		t := time.NewTicker(30 * time.Second)
		defer t.Stop()
		for {
			select {
			case <-done:
				return
			case <-t.C:
				fmt.Fprintf(out, "  ... still at it after %s\n", time.Since(start).Round(time.Second))
			}
		}
	}()
	err := f()
	close(done)
	<-stopped
	if err == nil {
		fmt.Fprintf(out, "  done in %s\n", time.Since(start).Round(100*time.Millisecond))
	}
	return err
}

// lock holds an advisory lock on a file, so that two processes never build the
// same thing at once.
func lock(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() { _ = f.Close() }, nil
}

// makePath asks the Makefile, which alone knows how tools are pinned and
// cached, for the path of one; it is built where it is missing.
func makePath(ctx context.Context, root, target string, out io.Writer) (string, error) {
	cmd := exec.CommandContext(ctx, "make", "--no-print-directory", "-s", "-C", root, target)
	cmd.Stderr = out
	raw, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("make %s: %w", target, err)
	}
	return strings.TrimSpace(string(raw)), nil
}
