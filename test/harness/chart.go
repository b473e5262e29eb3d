package harness

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/wait"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// Namespace is where the chart is installed.
const Namespace = "sluice"

// Helm returns the paths of the pinned Helm, built where it is missing, and of
// the chart.
func Helm(ctx context.Context, out io.Writer) (helm, chart string, err error) {
	root, err := Root()
	if err != nil {
		return "", "", err
	}
	helm = os.Getenv("SLUICE_HELM")
	if info, err := os.Stat(helm); err != nil || info.IsDir() {
		helm, err = makePath(ctx, root, "helm-path", out)
		if err != nil {
			return "", "", err
		}
	}
	return helm, filepath.Join(root, "charts", "sluice"), nil
}

// RenderChart renders charts/sluice with the given values, by Helm itself.
func RenderChart(ctx context.Context, out io.Writer, values map[string]any) ([]*unstructured.Unstructured, error) {
	helm, chart, err := Helm(ctx, out)
	if err != nil {
		return nil, err
	}
	raw, err := yaml.Marshal(values)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, helm, "template", "sluice", chart,
		"--namespace", Namespace, "--values", "-")
	cmd.Stdin = bytes.NewReader(raw)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("helm template: %w\n%s", err, stderr.String())
	}
	return DecodeYAML(&stdout)
}

// DecodeYAML reads all documents of r; empty ones are left out.
func DecodeYAML(r io.Reader) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	d := utilyaml.NewYAMLOrJSONDecoder(r, 4096)
	for {
		var raw runtime.RawExtension
		if err := d.Decode(&raw); errors.Is(err, io.EOF) {
			return objects, nil
		} else if err != nil {
			return nil, err
		}
		var content map[string]any
		// The API machinery's own decoder keeps whole numbers whole.
		if err := utiljson.Unmarshal(raw.Raw, &content); err != nil && len(raw.Raw) > 0 {
			return nil, err
		}
		if len(content) > 0 {
			objects = append(objects, &unstructured.Unstructured{Object: content})
		}
	}
}

// Install applies objects as `helm install` would: CRDs first, then what others
// need, webhook configurations last.
func (cp *ControlPlane) Install(ctx context.Context, objects []*unstructured.Unstructured) error {
	ns := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": Namespace},
	}}
	sorted := append([]*unstructured.Unstructured{ns}, objects...)
	sort.SliceStable(sorted, func(i, j int) bool { return installOrder(sorted[i]) < installOrder(sorted[j]) })
	var crds []*unstructured.Unstructured
	for _, o := range sorted {
		if installOrder(o) == orderCRD {
			crds = append(crds, o)
		} else if crds != nil {
			if err := cp.waitServed(ctx, crds); err != nil {
				return err
			}
			crds = nil
		}
		if err := cp.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(o.DeepCopy()), client.FieldOwner("helm"), client.ForceOwnership); err != nil {
			return fmt.Errorf("applying %s %s: %w", o.GetKind(), o.GetName(), err)
		}
	}
	return nil
}

const (
	orderCRD = iota
	orderNamespace
	orderRest
	orderWebhook
)

func installOrder(o *unstructured.Unstructured) int {
	switch o.GetKind() {
	case "CustomResourceDefinition":
		return orderCRD
	case "Namespace":
		return orderNamespace
	case "ValidatingWebhookConfiguration", "MutatingWebhookConfiguration":
		return orderWebhook
	default:
		return orderRest
	}
}

// waitServed waits until the API server answers for every kind of the CRDs: the
// condition Established comes before the first answer.
func (cp *ControlPlane) waitServed(ctx context.Context, crds []*unstructured.Unstructured) error {
	for _, o := range crds {
		var crd apiextensionsv1.CustomResourceDefinition
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &crd); err != nil {
			return err
		}
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(schema.GroupVersionKind{
			Group: crd.Spec.Group, Version: crd.Spec.Versions[0].Name, Kind: crd.Spec.Names.ListKind,
		})
		var last error
		err := wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, startTimeout, true, func(ctx context.Context) (bool, error) {
			last = cp.Client.List(ctx, list, client.Limit(1))
			return last == nil, nil
		})
		if err != nil {
			return fmt.Errorf("waiting for %s to be served: %w", crd.Name, errors.Join(err, last))
		}
	}
	return nil
}
