//go:build linux

package agent

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sluice-kafka/sluice/test/nodeagent/sandbox"
	"github.com/sluice-kafka/sluice/test/nodeagent/volumes"
)

// source reads from the API each time: an informer may still lack, or still
// have, what somebody has just written or removed.
type source struct{ *Agent }

func (s source) ConfigMap(ctx context.Context, namespace, name string) (*corev1.ConfigMap, error) {
	return s.Client.CoreV1().ConfigMaps(namespace).Get(ctx, name, metav1.GetOptions{})
}

func (s source) Secret(ctx context.Context, namespace, name string) (*corev1.Secret, error) {
	return s.Client.CoreV1().Secrets(namespace).Get(ctx, name, metav1.GetOptions{})
}

func (s source) Token(ctx context.Context, pod *corev1.Pod, p *corev1.ServiceAccountTokenProjection) (string, error) {
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{
		ExpirationSeconds: p.ExpirationSeconds,
		BoundObjectRef:    &authenticationv1.BoundObjectReference{Kind: "Pod", APIVersion: "v1", Name: pod.Name, UID: pod.UID},
	}}
	if p.Audience != "" {
		request.Spec.Audiences = []string{p.Audience}
	}
	got, err := s.Client.CoreV1().ServiceAccounts(pod.Namespace).CreateToken(ctx, pod.Spec.ServiceAccountName, request, metav1.CreateOptions{})
	if err != nil {
		return "", err
	}
	return got.Status.Token, nil
}

// mountVolumes finds or fills a folder for every volume of the pod.
func (w *worker) mountVolumes(ctx context.Context) (map[string]string, error) {
	folders := map[string]string{}
	for _, v := range w.current().Spec.Volumes {
		folder, err := w.mountVolume(ctx, v)
		if err != nil {
			return nil, fmt.Errorf("mounting volume %q: %w", v.Name, err)
		}
		folders[v.Name] = folder
	}
	return folders, nil
}

func (w *worker) mountVolume(ctx context.Context, v corev1.Volume) (string, error) {
	pod := w.asSeen()
	own := filepath.Join(w.podDir(pod), "volumes", v.Name)
	switch {
	case volumes.FromAPI(v.VolumeSource):
		files, err := volumes.Payload(ctx, source{w.Agent}, pod, v.VolumeSource)
		if err != nil {
			return "", err
		}
		_, err = volumes.Write(own, files)
		return own, err
	case v.EmptyDir != nil:
		return own, os.MkdirAll(own, 0o777)
	case v.HostPath != nil:
		return v.HostPath.Path, nil
	case v.PersistentVolumeClaim != nil:
		return w.claimFolder(ctx, pod.Namespace, v.PersistentVolumeClaim.ClaimName)
	}
	return "", fmt.Errorf("a volume of this kind: %w", volumes.ErrUnsupported)
}

func (w *worker) claimFolder(ctx context.Context, namespace, name string) (string, error) {
	c, err := w.Client.CoreV1().PersistentVolumeClaims(namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return "", err
	}
	if c.Status.Phase != corev1.ClaimBound {
		return "", fmt.Errorf("persistentvolumeclaim %q is not bound", name)
	}
	if c.DeletionTimestamp != nil {
		return "", fmt.Errorf("persistentvolumeclaim %q is being deleted", name)
	}
	folder := w.claimDir(c.Spec.VolumeName)
	_, err = os.Stat(folder)
	return folder, err
}

// keepVolumes fills volumes anew as their sources change. What is gone or cannot
// be read leaves the old content, as with a kubelet.
func (w *worker) keepVolumes() {
	for {
		select {
		case <-w.exists.Done():
			return
		case <-w.stale.c:
		}
		for _, v := range w.current().Spec.Volumes {
			if !volumes.FromAPI(v.VolumeSource) {
				continue
			}
			if _, err := w.mountVolume(w.exists, v); err != nil && w.exists.Err() == nil {
				w.Log.Info("Volume keeps its content", "pod", w.key, "volume", v.Name, "reason", err.Error())
			}
		}
	}
}

// mounts are those of a container: its image, the pod's own files, its volumes.
func (w *worker) mounts(c corev1.Container, env map[string]string) ([]sandbox.Mount, error) {
	pod := w.current()
	all := []sandbox.Mount{{Source: w.hostsPath(pod), Target: "/etc/hosts"}}
	if image := w.Images[c.Image]; image.Folder != "" {
		all = append(all, sandbox.Mount{Source: image.Folder, Target: image.Path, ReadOnly: true, Shared: true})
	}
	w.mu.Lock()
	folders := maps.Clone(w.folders)
	w.mu.Unlock()
	for _, m := range c.VolumeMounts {
		folder, ok := folders[m.Name]
		if !ok {
			return nil, fmt.Errorf("container %s mounts volume %q, which the pod lacks", c.Name, m.Name)
		}
		sub := m.SubPath
		if m.SubPathExpr != "" {
			sub = volumes.Expand(m.SubPathExpr, env)
		}
		source, err := w.subPath(pod, m.Name, folder, sub)
		if err != nil {
			return nil, err
		}
		all = append(all, sandbox.Mount{Source: source, Target: m.MountPath, ReadOnly: m.ReadOnly || readOnlyVolume(pod, m.Name)})
	}
	return all, nil
}

// subPath is a file or folder inside a volume. A file of a volume from the API
// is the one that is there now: later content is not seen, as with a kubelet.
func (w *worker) subPath(pod *corev1.Pod, volume, folder, sub string) (string, error) {
	if sub == "" {
		return folder, nil
	}
	if !filepath.IsLocal(sub) {
		return "", fmt.Errorf("subPath %q is no path inside the volume %q", sub, volume)
	}
	path := filepath.Join(folder, sub)
	resolved, err := filepath.EvalSymlinks(path)
	if !errors.Is(err, os.ErrNotExist) {
		return w.pinned(pod, volume, resolved, err)
	}
	return path, os.MkdirAll(path, 0o777)
}

// pinned keeps a file of a volume from the API as it is now: a link to it, since
// the next content replaces the folder that it is in.
func (w *worker) pinned(pod *corev1.Pod, volume, path string, err error) (string, error) {
	if err != nil || !fromAPI(pod, volume) {
		return path, err
	}
	info, err := os.Stat(path)
	if err != nil || info.IsDir() {
		return path, err
	}
	dir := filepath.Join(w.podDir(pod), "subpaths")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	f, err := os.CreateTemp(dir, filepath.Base(path)+"-")
	if err != nil {
		return "", err
	}
	return f.Name(), errors.Join(f.Close(), os.Remove(f.Name()), os.Link(path, f.Name()))
}

func volumeOf(pod *corev1.Pod, name string) corev1.VolumeSource {
	for _, v := range pod.Spec.Volumes {
		if v.Name == name {
			return v.VolumeSource
		}
	}
	return corev1.VolumeSource{}
}

func fromAPI(pod *corev1.Pod, volume string) bool { return volumes.FromAPI(volumeOf(pod, volume)) }

// readOnlyVolume: nothing can be written to what comes from the API, nor to a
// claim that is mounted so.
func readOnlyVolume(pod *corev1.Pod, volume string) bool {
	v := volumeOf(pod, volume)
	return volumes.FromAPI(v) || v.PersistentVolumeClaim != nil && v.PersistentVolumeClaim.ReadOnly
}
