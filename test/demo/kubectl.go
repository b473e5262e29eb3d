package main

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"path"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sluice-kafka/sluice/test/harness"
)

//go:embed manifests
var manifests embed.FS

// kubectl talks to the API server as kubectl would, and shows its answers.
type kubectl struct {
	client.Client
	*story
	config   *rest.Config
	warnings *warnings
}

func newKubectl(admin *rest.Config, s *story) (*kubectl, error) {
	w := &warnings{}
	cfg := rest.CopyConfig(admin)
	cfg.WarningHandler = w
	c, err := client.New(cfg, client.Options{Scheme: harness.Scheme()})
	return &kubectl{Client: c, story: s, config: cfg, warnings: w}, err
}

func (k *kubectl) createNamespace(ctx context.Context, name string) error {
	return k.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
}

// apply applies one of the demo's manifests, shows the answers, and returns the
// refusal, if it is one, and the warnings.
func (k *kubectl) apply(ctx context.Context, file string) (refusal string, warned []string, err error) {
	raw, err := manifests.ReadFile(path.Join("manifests", file))
	if err != nil {
		return "", nil, err
	}
	objects, err := harness.DecodeYAML(bytes.NewReader(raw))
	if err != nil {
		return "", nil, err
	}
	k.command("kubectl apply --server-side -f test/demo/manifests/%s", file)
	comment, _, _ := strings.Cut(string(raw), "\napiVersion")
	k.answer(comment)
	for _, o := range objects {
		if refusal, err = k.applyOne(ctx, o); err != nil || refusal != "" {
			break
		}
	}
	return refusal, k.warnings.take(), err
}

func (k *kubectl) applyOne(ctx context.Context, o *unstructured.Unstructured) (refusal string, err error) {
	err = k.Apply(ctx, client.ApplyConfigurationFromUnstructured(o), client.FieldOwner("kubectl"))
	for _, text := range k.warnings.peek() {
		k.answer("Warning: " + text)
	}
	var status apierrors.APIStatus
	switch {
	case err == nil:
		gvk := o.GroupVersionKind()
		k.answer(fmt.Sprintf("%s.%s/%s serverside-applied", strings.ToLower(gvk.Kind), gvk.Group, o.GetName()))
		return "", nil
	case errors.As(err, &status):
		k.answer(failure(status.Status()))
		return err.Error(), nil
	default:
		return "", err
	}
}

// failure puts an answer of the API server into kubectl's words.
func failure(s metav1.Status) string {
	if s.Reason == metav1.StatusReasonInvalid && s.Details != nil && len(s.Details.Causes) > 0 {
		text := fmt.Sprintf("The %s %q is invalid:", s.Details.Kind, s.Details.Name)
		if len(s.Details.Causes) == 1 {
			return text + " " + s.Details.Causes[0].Field + ": " + s.Details.Causes[0].Message
		}
		for _, c := range s.Details.Causes {
			text += "\n* " + c.Field + ": " + c.Message
		}
		return text
	}
	if s.Reason == metav1.StatusReasonUnknown {
		return "Error from server: " + s.Message
	}
	return fmt.Sprintf("Error from server (%s): %s", s.Reason, s.Message)
}

// warnings collects what the API server warns of.
type warnings struct {
	mu    sync.Mutex
	texts []string
	shown int
}

// HandleWarningHeader implements rest.WarningHandler.
func (w *warnings) HandleWarningHeader(_ int, _ string, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.texts = append(w.texts, text)
}

// peek returns the warnings that were not seen yet.
func (w *warnings) peek() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	unseen := w.texts[w.shown:]
	w.shown = len(w.texts)
	return unseen
}

// take returns all warnings and forgets them.
func (w *warnings) take() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	texts := w.texts
	w.texts, w.shown = nil, 0
	return texts
}
