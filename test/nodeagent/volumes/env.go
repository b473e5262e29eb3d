package volumes

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Environment is what a container of the pod gets, by name. An error means that
// something required is missing, and may come.
func Environment(ctx context.Context, from Source, pod *corev1.Pod, c corev1.Container) (map[string]string, error) {
	env := map[string]string{}
	for _, f := range c.EnvFrom {
		more, err := envFrom(ctx, from, pod.Namespace, f)
		if err != nil {
			return nil, err
		}
		maps.Copy(env, more)
	}
	for _, e := range c.Env {
		if e.ValueFrom == nil {
			env[e.Name] = Expand(e.Value, env)
			continue
		}
		value, ok, err := valueFrom(ctx, from, pod, c.Name, e.ValueFrom)
		if err != nil {
			return nil, err
		}
		if ok {
			env[e.Name] = value
		}
	}
	return env, nil
}

// Pairs are the variables as a process gets them, sorted.
func Pairs(env map[string]string) []string {
	var all []string
	for _, k := range slices.Sorted(maps.Keys(env)) {
		all = append(all, k+"="+env[k])
	}
	return all
}

func envFrom(ctx context.Context, from Source, namespace string, f corev1.EnvFromSource) (map[string]string, error) {
	var files map[string]File
	var err error
	switch {
	case f.ConfigMapRef != nil:
		files, err = configMap(ctx, from, namespace, f.ConfigMapRef.Name, nil, nil, f.ConfigMapRef.Optional)
	case f.SecretRef != nil:
		files, err = secret(ctx, from, namespace, f.SecretRef.Name, nil, nil, f.SecretRef.Optional)
	}
	if err != nil {
		return nil, err
	}
	env := map[string]string{}
	for k, v := range files {
		env[f.Prefix+k] = string(v.Data)
	}
	return env, nil
}

func valueFrom(ctx context.Context, from Source, pod *corev1.Pod, container string, s *corev1.EnvVarSource) (value string, ok bool, err error) {
	switch {
	case s.FieldRef != nil:
		value, err = Field(pod, s.FieldRef.FieldPath)
		return value, err == nil, err
	case s.ResourceFieldRef != nil:
		name := s.ResourceFieldRef.ContainerName
		if name == "" {
			name = container
		}
		value, err = Resource(pod, s.ResourceFieldRef, name)
		return value, err == nil, err
	case s.ConfigMapKeyRef != nil:
		r := s.ConfigMapKeyRef
		cm, err := from.ConfigMap(ctx, pod.Namespace, r.Name)
		if err != nil {
			return "", false, unless(r.Optional, err)
		}
		value, ok = cm.Data[r.Key]
		return value, ok, required(ok, r.Optional, r.Key, "ConfigMap", pod.Namespace, r.Name)
	case s.SecretKeyRef != nil:
		r := s.SecretKeyRef
		secret, err := from.Secret(ctx, pod.Namespace, r.Name)
		if err != nil {
			return "", false, unless(r.Optional, err)
		}
		raw, ok := secret.Data[r.Key]
		return string(raw), ok, required(ok, r.Optional, r.Key, "Secret", pod.Namespace, r.Name)
	}
	return "", false, fmt.Errorf("a variable from such a source: %w", ErrUnsupported)
}

// unless drops the error of an object that may be missing and is.
func unless(optional *bool, err error) error {
	if isTrue(optional) && apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

func required(found bool, optional *bool, key, kind, namespace, name string) error {
	if found || isTrue(optional) {
		return nil
	}
	return fmt.Errorf("couldn't find key %s in %s %s/%s", key, kind, namespace, name)
}

// allocatable stands for the node's own where a container has no limit.
var allocatable = corev1.ResourceList{
	corev1.ResourceCPU:              resource.MustParse("2"),
	corev1.ResourceMemory:           resource.MustParse("8Gi"),
	corev1.ResourceEphemeralStorage: resource.MustParse("50Gi"),
}

// Resource is what a resourceFieldRef stands for, rounded up to its divisor.
func Resource(pod *corev1.Pod, ref *corev1.ResourceFieldSelector, container string) (string, error) {
	all := slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers)
	i := slices.IndexFunc(all, func(c corev1.Container) bool { return c.Name == container })
	if i < 0 {
		return "", fmt.Errorf("a resource of container %q: the pod has no such container", container)
	}
	kind, name, _ := strings.Cut(ref.Resource, ".")
	var quantity resource.Quantity
	switch resourceName := corev1.ResourceName(name); kind {
	case "limits":
		var ok bool
		if quantity, ok = all[i].Resources.Limits[resourceName]; !ok {
			quantity = allocatable[resourceName]
		}
	case "requests":
		quantity = all[i].Resources.Requests[resourceName]
	default:
		return "", fmt.Errorf("the resource %s: %w", ref.Resource, ErrUnsupported)
	}
	divisor := ref.Divisor
	if divisor.IsZero() {
		divisor = resource.MustParse("1")
	}
	// In thousandths, as a CPU's share may be.
	if name == string(corev1.ResourceCPU) {
		return strconv.FormatInt(ceil(quantity.MilliValue(), divisor.MilliValue()), 10), nil
	}
	return strconv.FormatInt(ceil(quantity.Value(), divisor.Value()), 10), nil
}

func ceil(a, b int64) int64 { return (a + b - 1) / b }

// Expand replaces $(NAME) by the variable of that name, $$ by $, and leaves what
// names no variable as it is, as Kubernetes does in commands and variables.
func Expand(text string, env map[string]string) string {
	var out strings.Builder
	for {
		before, after, found := strings.Cut(text, "$")
		out.WriteString(before)
		if !found {
			return out.String()
		}
		name, rest, closed := strings.Cut(after, ")")
		value, known := env[strings.TrimPrefix(name, "(")]
		switch {
		case strings.HasPrefix(after, "$"):
			out.WriteString("$")
			text = after[1:]
		case strings.HasPrefix(after, "(") && closed && known:
			out.WriteString(value)
			text = rest
		default:
			out.WriteString("$")
			text = after
		}
	}
}
