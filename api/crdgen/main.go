// Command crdgen turns the CRDs that controller-gen wrote into the chart's
// templates.
//
// It makes every object node preserve unknown fields, so that what Sluice does
// not know survives a round trip, and takes out everything that would judge or
// change a value (required, enum, pattern, ranges, defaults, keyed lists): the
// admission rules judge, and explain themselves; types alone stay.
//
// Usage: crdgen IN-DIR OUT-DIR
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

const (
	header = "{{- if .Values.crds.install }}\n"
	footer = "{{- end }}\n"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: crdgen IN-DIR OUT-DIR")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "crdgen:", err)
		os.Exit(1)
	}
}

func run(in, out string) error {
	files, err := filepath.Glob(filepath.Join(in, "*.yaml"))
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return errors.New("no CRD found in " + in)
	}
	sort.Strings(files)
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	for _, f := range files {
		raw, err := os.ReadFile(f)
		if err != nil {
			return err
		}
		text, name, err := template(raw)
		if err != nil {
			return fmt.Errorf("%s: %w", f, err)
		}
		if err := os.WriteFile(filepath.Join(out, name+".yaml"), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// template returns the chart template of one CRD and the CRD's plural name.
func template(raw []byte) (text []byte, name string, err error) {
	var crd apiextensionsv1.CustomResourceDefinition
	if err := yaml.UnmarshalStrict(raw, &crd); err != nil {
		return nil, "", err
	}
	for i := range crd.Spec.Versions {
		root := crd.Spec.Versions[i].Schema.OpenAPIV3Schema
		for field, schema := range root.Properties {
			// The API server itself owns metadata, apiVersion and kind.
			if field == "spec" || field == "status" {
				open(&schema)
				root.Properties[field] = schema
			}
		}
		root.Required = nil
	}
	if crd.Annotations == nil {
		crd.Annotations = map[string]string{}
	}
	// An uninstall must never delete every Kafka.
	crd.Annotations["helm.sh/resource-policy"] = "keep"

	body, err := yaml.Marshal(map[string]any{
		"apiVersion": crd.APIVersion,
		"kind":       crd.Kind,
		"metadata":   map[string]any{"name": crd.Name, "annotations": crd.Annotations},
		"spec":       crd.Spec,
	})
	if err != nil {
		return nil, "", err
	}
	// Descriptions may hold what Helm would take for an action.
	escaped := strings.NewReplacer("{{", `{{ "{{" }}`, "}}", `{{ "}}" }}`).Replace(string(body))
	return []byte(header + escaped + footer), crd.Spec.Names.Plural, nil
}

// open makes a schema node judge nothing but types, and keep what it does not
// know.
func open(s *apiextensionsv1.JSONSchemaProps) {
	s.Required, s.Enum, s.Default = nil, nil, nil
	s.Pattern, s.XValidations = "", nil
	s.Minimum, s.Maximum, s.MinLength, s.MaxLength = nil, nil, nil, nil
	s.MinItems, s.MaxItems, s.MinProperties, s.MaxProperties = nil, nil, nil, nil
	s.XListMapKeys, s.XListType, s.XMapType = nil, nil, nil
	if s.Type == "object" && s.AdditionalProperties == nil {
		keep := true
		s.XPreserveUnknownFields = &keep
	}
	for name, p := range s.Properties {
		open(&p)
		s.Properties[name] = p
	}
	if s.Items != nil && s.Items.Schema != nil {
		open(s.Items.Schema)
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		open(s.AdditionalProperties.Schema)
	}
}
