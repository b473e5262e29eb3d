package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/kubernetes"
)

// profiling calls f, which takes the benchmark's duration, and meanwhile has the
// API server and the operator write profiles of their processors' time into the
// folder that was asked for. Without one it only calls f.
func (b *bench) profiling(ctx context.Context, name string, f func() error) error {
	if b.profiles == "" {
		return f()
	}
	if err := os.MkdirAll(b.profiles, 0o755); err != nil {
		return err
	}
	seconds := strconv.Itoa(int(b.duration.Seconds()))
	var g errgroup.Group
	g.Go(func() error {
		raw, err := b.operator.Ask(ctx, http.MethodGet, "/debug/pprof/profile?"+url.Values{"seconds": {seconds}}.Encode())
		return b.writeProfile(name+"-operator.pprof", raw, err)
	})
	g.Go(func() error {
		admin, err := kubernetes.NewForConfig(b.plane.Config)
		if err != nil {
			return err
		}
		raw, err := admin.Discovery().RESTClient().Get().AbsPath("/debug/pprof/profile").Param("seconds", seconds).DoRaw(ctx)
		return b.writeProfile(name+"-apiserver.pprof", raw, err)
	})
	g.Go(f)
	return g.Wait()
}

func (b *bench) writeProfile(name string, raw []byte, err error) error {
	if err != nil {
		return fmt.Errorf("taking profile %s: %w", name, err)
	}
	return os.WriteFile(filepath.Join(b.profiles, name), raw, 0o644)
}
