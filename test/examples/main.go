// Command examples applies every manifest of the given folders to a real API
// server with Sluice's CRDs and webhooks, and compares what comes back.
//
// Usage: examples DIR...
//
// Then it applies all of them together, in several orders. It prints one line a
// manifest of Sluice's kinds, counts the others, and exits with 1 where one was
// refused or came back changed.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/test/harness"
)

// kinds are those that Sluice reads.
var kinds = map[string]bool{
	apiv1.KindKafka: true, apiv1.KindKafkaNodePool: true, apiv1.KindKafkaTopic: true,
	apiv1.KindKafkaRebalance: true, apiv1.KindKafkaConnect: true, apiv1.KindKafkaMirrorMaker2: true,
}

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: examples DIR...")
		os.Exit(2)
	}
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "examples:", err)
		os.Exit(1)
	}
}

// manifest is one document of a file.
type manifest struct {
	file   string
	object *unstructured.Unstructured
}

func run(dirs []string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	manifests, others, err := collect(dirs)
	if err != nil {
		return err
	}
	if len(manifests) == 0 {
		return fmt.Errorf("no manifest of Sluice's kinds in %s", strings.Join(dirs, ", "))
	}
	cp, err := harness.StartControlPlane(ctx, harness.ControlPlaneOptions{Out: os.Stderr})
	if err != nil {
		return err
	}
	defer func() { _ = cp.Stop() }()
	in, err := cp.InstallChart(ctx, os.Stderr, nil)
	if err != nil {
		return err
	}
	op, err := in.StartOperator(ctx)
	if err != nil {
		return err
	}
	failed, err := applyAll(ctx, cp, manifests)
	if err == nil {
		var refused int
		refused, err = applyInOrders(ctx, cp, manifests)
		failed += refused
	}
	if err := errors.Join(err, op.Stop()); err != nil {
		return err
	}
	fmt.Printf("%d manifests round-tripped, %d failed, %d documents of other kinds skipped\n", len(manifests), failed, others)
	if failed > 0 {
		return fmt.Errorf("%d manifests failed", failed)
	}
	return nil
}

// collect reads all manifests of the folders; documents of other kinds are
// counted.
func collect(dirs []string) (ours []manifest, others int, err error) {
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !isManifest(path) {
				return err
			}
			objects, err := read(path)
			for _, o := range expanded(objects) {
				if o.GroupVersionKind().GroupVersion() == apiv1.GroupVersion && kinds[o.GetKind()] {
					ours = append(ours, manifest{path, o})
				} else {
					others++
				}
			}
			return err
		})
		if err != nil {
			return nil, 0, err
		}
	}
	return ours, others, nil
}

func isManifest(path string) bool {
	switch filepath.Ext(path) {
	case ".yaml", ".yml", ".json":
		return true
	default:
		return false
	}
}

func read(path string) ([]*unstructured.Unstructured, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	objects, err := harness.DecodeYAML(bytes.NewReader(raw))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return objects, nil
}

// expanded takes lists apart, and takes from every object what belongs to the
// API server that it was exported from.
func expanded(objects []*unstructured.Unstructured) []*unstructured.Unstructured {
	var all []*unstructured.Unstructured
	for _, o := range objects {
		items, found, err := unstructured.NestedSlice(o.Object, "items")
		if !found || err != nil || !strings.HasSuffix(o.GetKind(), "List") {
			all = append(all, o)
			continue
		}
		for _, item := range items {
			if content, ok := item.(map[string]any); ok {
				all = append(all, &unstructured.Unstructured{Object: content})
			}
		}
	}
	for _, o := range all {
		o.SetResourceVersion("")
		o.SetUID("")
		o.SetManagedFields(nil)
		o.SetFinalizers(nil)
		unstructured.RemoveNestedField(o.Object, "metadata", "creationTimestamp")
	}
	return all
}

// warnings collects what the API server warns of during one request.
type warnings struct {
	sync.Mutex
	texts []string
}

// HandleWarningHeader implements rest.WarningHandler.
func (w *warnings) HandleWarningHeader(_ int, _ string, text string) {
	w.Lock()
	defer w.Unlock()
	w.texts = append(w.texts, text)
}

func (w *warnings) take() []string {
	w.Lock()
	defer w.Unlock()
	texts := w.texts
	w.texts = nil
	return texts
}

func applyAll(ctx context.Context, cp *harness.ControlPlane, manifests []manifest) (failed int, err error) {
	warned := &warnings{}
	cfg := rest.CopyConfig(cp.Config)
	cfg.WarningHandler = warned
	if cp.Client, err = client.New(cfg, client.Options{Scheme: harness.Scheme()}); err != nil {
		return 0, err
	}
	for _, m := range manifests {
		if m.object.GetNamespace() == "" {
			m.object.SetNamespace("default")
		}
		ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: m.object.GetNamespace()}}
		if err := cp.Client.Create(ctx, ns); err != nil && !apierrors.IsAlreadyExists(err) {
			return failed, err
		}
		verdict := "ok"
		diff, err := cp.RoundTrip(ctx, m.object)
		switch {
		case err != nil:
			verdict = "REFUSED: " + err.Error()
			failed++
		case diff != "":
			verdict = "CHANGED (-sent +got):\n" + diff
			failed++
		}
		fmt.Printf("%s: %s/%s: %s\n", m.file, m.object.GetKind(), m.object.GetName(), verdict)
		for _, text := range warned.take() {
			fmt.Printf("  warning: %s\n", text)
		}
	}
	return failed, nil
}
