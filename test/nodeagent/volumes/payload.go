package volumes

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// ErrUnsupported is that of a kind of volume, or of a field, that this node does
// not know.
var ErrUnsupported = errors.New("not supported by this node")

// Source gives what volumes and environment variables are made of. What is not
// there has an error of Kubernetes' NotFound.
type Source interface {
	ConfigMap(ctx context.Context, namespace, name string) (*corev1.ConfigMap, error)
	Secret(ctx context.Context, namespace, name string) (*corev1.Secret, error)
	// Token asks one for the pod's service account.
	Token(ctx context.Context, pod *corev1.Pod, projection *corev1.ServiceAccountTokenProjection) (string, error)
}

// FromAPI tells whether the content of a volume is made by Payload.
func FromAPI(v corev1.VolumeSource) bool {
	return v.ConfigMap != nil || v.Secret != nil || v.DownwardAPI != nil || v.Projected != nil
}

// Payload is the wanted content of a volume of the pod, by path.
func Payload(ctx context.Context, from Source, pod *corev1.Pod, v corev1.VolumeSource) (map[string]File, error) {
	switch {
	case v.ConfigMap != nil:
		return configMap(ctx, from, pod.Namespace, v.ConfigMap.Name, v.ConfigMap.Items, v.ConfigMap.DefaultMode, v.ConfigMap.Optional)
	case v.Secret != nil:
		return secret(ctx, from, pod.Namespace, v.Secret.SecretName, v.Secret.Items, v.Secret.DefaultMode, v.Secret.Optional)
	case v.DownwardAPI != nil:
		return downward(pod, v.DownwardAPI.Items, v.DownwardAPI.DefaultMode)
	case v.Projected != nil:
		return projected(ctx, from, pod, v.Projected)
	}
	return nil, fmt.Errorf("a volume of this kind: %w", ErrUnsupported)
}

func projected(ctx context.Context, from Source, pod *corev1.Pod, p *corev1.ProjectedVolumeSource) (map[string]File, error) {
	all := map[string]File{}
	for _, s := range p.Sources {
		var files map[string]File
		var err error
		switch {
		case s.ConfigMap != nil:
			files, err = configMap(ctx, from, pod.Namespace, s.ConfigMap.Name, s.ConfigMap.Items, p.DefaultMode, s.ConfigMap.Optional)
		case s.Secret != nil:
			files, err = secret(ctx, from, pod.Namespace, s.Secret.Name, s.Secret.Items, p.DefaultMode, s.Secret.Optional)
		case s.DownwardAPI != nil:
			files, err = downward(pod, s.DownwardAPI.Items, p.DefaultMode)
		case s.ServiceAccountToken != nil:
			var token string
			token, err = from.Token(ctx, pod, s.ServiceAccountToken)
			files = map[string]File{s.ServiceAccountToken.Path: {Data: []byte(token), Mode: mode(nil, p.DefaultMode)}}
		default:
			err = fmt.Errorf("a projected source of this kind: %w", ErrUnsupported)
		}
		if err != nil {
			return nil, err
		}
		maps.Copy(all, files)
	}
	return all, nil
}

func configMap(ctx context.Context, from Source, namespace, name string, items []corev1.KeyToPath, defaultMode *int32, optional *bool) (map[string]File, error) {
	data := map[string][]byte{}
	cm, err := from.ConfigMap(ctx, namespace, name)
	switch {
	case apierrors.IsNotFound(err) && isTrue(optional):
	case err != nil:
		return nil, err
	default:
		for k, v := range cm.Data {
			data[k] = []byte(v)
		}
		maps.Copy(data, cm.BinaryData)
	}
	return pick(fmt.Sprintf("configmap %q", name), data, items, defaultMode, optional)
}

func secret(ctx context.Context, from Source, namespace, name string, items []corev1.KeyToPath, defaultMode *int32, optional *bool) (map[string]File, error) {
	var data map[string][]byte
	s, err := from.Secret(ctx, namespace, name)
	switch {
	case apierrors.IsNotFound(err) && isTrue(optional):
	case err != nil:
		return nil, err
	default:
		data = s.Data
	}
	return pick(fmt.Sprintf("secret %q", name), data, items, defaultMode, optional)
}

// pick takes the items of the data, or all of it where there are none.
func pick(what string, data map[string][]byte, items []corev1.KeyToPath, defaultMode *int32, optional *bool) (map[string]File, error) {
	files := map[string]File{}
	if len(items) == 0 {
		for k, v := range data {
			files[k] = File{Data: v, Mode: mode(nil, defaultMode)}
		}
		return files, nil
	}
	for _, i := range items {
		v, ok := data[i.Key]
		if !ok {
			if isTrue(optional) {
				continue
			}
			return nil, fmt.Errorf("%s references non-existent key: %s", what, i.Key)
		}
		files[filepath.Clean(i.Path)] = File{Data: v, Mode: mode(i.Mode, defaultMode)}
	}
	return files, nil
}

func downward(pod *corev1.Pod, items []corev1.DownwardAPIVolumeFile, defaultMode *int32) (map[string]File, error) {
	files := map[string]File{}
	for _, i := range items {
		var text string
		var err error
		switch {
		case i.FieldRef != nil:
			text, err = Field(pod, i.FieldRef.FieldPath)
		case i.ResourceFieldRef != nil:
			text, err = Resource(pod, i.ResourceFieldRef, i.ResourceFieldRef.ContainerName)
		}
		if err != nil {
			return nil, err
		}
		files[filepath.Clean(i.Path)] = File{Data: []byte(text), Mode: mode(i.Mode, defaultMode)}
	}
	return files, nil
}

// Field is what a fieldRef stands for.
func Field(pod *corev1.Pod, path string) (string, error) {
	plain := map[string]string{
		"metadata.name":           pod.Name,
		"metadata.namespace":      pod.Namespace,
		"metadata.uid":            string(pod.UID),
		"metadata.labels":         pairs(pod.Labels),
		"metadata.annotations":    pairs(pod.Annotations),
		"spec.nodeName":           pod.Spec.NodeName,
		"spec.serviceAccountName": pod.Spec.ServiceAccountName,
		"status.podIP":            pod.Status.PodIP,
		"status.podIPs":           pod.Status.PodIP,
		"status.hostIP":           pod.Status.HostIP,
		"status.hostIPs":          pod.Status.HostIP,
	}
	if text, ok := plain[path]; ok {
		return text, nil
	}
	for prefix, from := range map[string]map[string]string{"metadata.labels['": pod.Labels, "metadata.annotations['": pod.Annotations} {
		if key, ok := strings.CutPrefix(path, prefix); ok {
			return from[strings.TrimSuffix(key, "']")], nil
		}
	}
	return "", fmt.Errorf("the field %s: %w", path, ErrUnsupported)
}

// pairs are written as a kubelet writes them: sorted, the values quoted.
func pairs(m map[string]string) string {
	var lines []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		lines = append(lines, fmt.Sprintf("%s=%q", k, m[k]))
	}
	return strings.Join(lines, "\n")
}

func mode(item, byDefault *int32) os.FileMode {
	switch {
	case item != nil:
		return os.FileMode(*item).Perm()
	case byDefault != nil:
		return os.FileMode(*byDefault).Perm()
	}
	return 0o644
}

func isTrue(b *bool) bool { return b != nil && *b }
