package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sluice-kafka/sluice/test/harness"
)

func configMapVolume(volume, name string, items ...corev1.KeyToPath) corev1.Volume {
	return corev1.Volume{Name: volume, VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
		LocalObjectReference: corev1.LocalObjectReference{Name: name}, Items: items,
	}}}
}

func (n nodeTest) missingVolume(t *testing.T) {
	optional := true
	p := shell(podsNamespace, "missing-volume", "ls /optional; cat /secret/word; "+forever, func(p *corev1.Pod) {
		p.Spec.Volumes = []corev1.Volume{
			{Name: "secret", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "missing-volume"}}},
			{Name: "optional", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "never-there", Optional: &optional}}},
		}
		p.Spec.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "secret", MountPath: "/secret"}, {Name: "optional", MountPath: "/optional"}}
	})
	n.create(t, p)
	n.becomes(t, p, waiting("ContainerCreating", `secrets "missing-volume" not found`))
	n.create(t, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: podsNamespace, Name: "missing-volume"}, StringData: map[string]string{"word": "arrived"}})
	awaitReady(t, n.Client, client.ObjectKeyFromObject(p))
	n.says(t, p, "arrived")
}

// show prints files whenever one of them changes.
const show = `trap exit TERM; while :; do
  now=$(for f in $FILES; do echo "$f: $(cat $f 2>&1)"; done)
  [ "$now" = "$last" ] || { echo "$now"; echo --; }
  last=$now; sleep 0.1
done`

func (n nodeTest) refreshed(t *testing.T) {
	mode := int32(0o400)
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: podsNamespace, Name: "refreshed"}, Data: map[string]string{"text": "old", "other": "old"}}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: podsNamespace, Name: "refreshed"}, StringData: map[string]string{"word": "old"}}
	p := shell(podsNamespace, "refreshed", "stat -L -c '%n has %a' /all/text /items/deep/text; ls /items; "+show, func(p *corev1.Pod) {
		p.Annotations = map[string]string{"note": "old"}
		p.Spec.Volumes = []corev1.Volume{
			configMapVolume("all", "refreshed"),
			configMapVolume("items", "refreshed", corev1.KeyToPath{Key: "text", Path: "deep/text", Mode: &mode}),
			{Name: "projected", VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{
				{Secret: &corev1.SecretProjection{LocalObjectReference: corev1.LocalObjectReference{Name: "refreshed"}}},
				{DownwardAPI: &corev1.DownwardAPIProjection{Items: []corev1.DownwardAPIVolumeFile{
					{Path: "note", FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.annotations['note']"}},
				}}},
			}}}},
		}
		c := &p.Spec.Containers[0]
		c.Env = []corev1.EnvVar{{Name: "FILES", Value: "/all/text /all/other /items/deep/text /sub/file /projected/word /projected/note"}}
		c.VolumeMounts = []corev1.VolumeMount{
			{Name: "all", MountPath: "/all"}, {Name: "items", MountPath: "/items"},
			{Name: "projected", MountPath: "/projected"},
			{Name: "all", MountPath: "/sub/file", SubPath: "text"},
		}
	})
	n.create(t, cm, secret)
	p = n.run(t, p)
	n.says(t, p, "/all/text has 644\n/items/deep/text has 400\ndeep\n")
	n.says(t, p, "/all/text: old\n/all/other: old\n/items/deep/text: old\n/sub/file: old\n/projected/word: old\n/projected/note: old\n--\n")

	cm.Data = map[string]string{"text": "new"}
	secret.StringData = map[string]string{"word": "new"}
	for _, o := range []client.Object{cm, secret} {
		if err := n.Client.Update(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	before := p.DeepCopy()
	p.Annotations["note"] = "new"
	if err := n.Client.Patch(t.Context(), p, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
	// A file by subPath stays as it was; a key that is gone takes its file along.
	n.says(t, p, "/all/text: new\n/all/other: cat: /all/other: No such file or directory\n/items/deep/text: new\n/sub/file: old\n/projected/word: new\n/projected/note: new\n--\n")
	if strings.Contains(n.log(p), "/all/text: cat") {
		t.Errorf("a file was away while it was replaced:\n%s", n.log(p))
	}

	if err := n.nodes.Kill(t.Context(), client.ObjectKeyFromObject(p)); err != nil {
		t.Fatal(err)
	}
	n.says(t, p, "/items/deep/text: new\n/sub/file: new\n")
}

func claim(name string) *corev1.PersistentVolumeClaim {
	return &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: podsNamespace, Name: name}, Spec: corev1.PersistentVolumeClaimSpec{
		AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
		Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: quantity("1Gi")}},
	}}
}

func (n nodeTest) claimKeeps(t *testing.T) {
	pod := func() *corev1.Pod {
		return shell(podsNamespace, "claim", "echo run >> /var/lib/some/where/data/runs; echo runs: $(wc -l < /var/lib/some/where/data/runs); "+forever, func(p *corev1.Pod) {
			p.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "keeps"}}}}
			p.Spec.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "data", MountPath: "/var/lib/some/where/data", SubPath: "sub"}}
		})
	}
	c := claim("keeps")
	first := pod()
	n.create(t, first)
	n.becomes(t, first, waiting("ContainerCreating", `"keeps" not found`))
	n.create(t, c)
	awaitReady(t, n.Client, client.ObjectKeyFromObject(first))
	n.says(t, first, "runs: 1\n")
	n.delete(t, first)
	n.isGone(t, first)
	second := n.run(t, pod())
	n.says(t, second, "runs: 2\n")

	if err := n.Client.Get(t.Context(), client.ObjectKeyFromObject(c), c); err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(n.Dir, "nodes", "claims", c.Spec.VolumeName)
	if _, err := os.Stat(filepath.Join(folder, "sub", "runs")); err != nil {
		t.Errorf("the claim's folder: %v", err)
	}
	// As on any cluster a claim stays as long as a pod uses it.
	n.delete(t, c)
	if err := n.Client.Get(t.Context(), client.ObjectKeyFromObject(c), c); err != nil || c.DeletionTimestamp == nil {
		t.Errorf("a claim in use, after its deletion: %v, %+v", err, c.ObjectMeta)
	}
	volume := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: c.Spec.VolumeName}}
	n.delete(t, second)
	n.isGone(t, c)
	n.isGone(t, volume)
	if _, err := os.Stat(folder); !os.IsNotExist(err) {
		t.Errorf("the folder of a claim that is gone: %v", err)
	}
	again := claim("keeps")
	n.create(t, again)
	third := n.run(t, pod())
	if !strings.HasSuffix(n.log(third), "runs: 1\n") {
		n.says(t, third, "stopping\nruns: 1\n")
	}
}

func (n nodeTest) claimGrows(t *testing.T) {
	c := claim("grows")
	n.create(t, c)
	has := func(want string) {
		t.Helper()
		eventually(t, func() error {
			if err := n.Client.Get(t.Context(), client.ObjectKeyFromObject(c), c); err != nil {
				return err
			}
			if capacity := c.Status.Capacity[corev1.ResourceStorage]; c.Status.Phase != corev1.ClaimBound || capacity.String() != want {
				return fmt.Errorf("the claim is %s with %s", c.Status.Phase, capacity.String())
			}
			return nil
		})
	}
	has("1Gi")
	c.Spec.Resources.Requests[corev1.ResourceStorage] = quantity("2Gi")
	if err := n.Client.Update(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	has("2Gi")
}

// TestNodesEnd checks that no process outlives the agent, however that ends.
func TestNodesEnd(t *testing.T) {
	for name, end := range map[string]func(*harness.Nodes){
		"stopped": (*harness.Nodes).Stop,
		"killed":  (*harness.Nodes).Crash,
	} {
		t.Run(name, func(t *testing.T) {
			cp, nodes := startNodes(t, harness.NodesOptions{Nodes: map[string]map[string]string{"node-a": nil}})
			n := nodeTest{ControlPlane: cp, nodes: nodes}
			n.create(t, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: podsNamespace}})
			// The child leaves the process group and heeds nothing.
			p := n.run(t, shell(podsNamespace, "stays", "setsid sh -c \"trap '' TERM HUP; while :; do sleep 0.1; done\" & echo child; "+deaf))
			n.says(t, p, "child")
			pid := process(t, p)
			children := descendants(t, pid)
			if len(children) < 2 {
				t.Fatalf("process %d has %v below it", pid, children)
			}
			end(nodes)
			for _, child := range children {
				eventually(t, func() error { return ended(child) })
			}
		})
	}
}

// descendants are the processes of the process namespace that pid is the first of.
func descendants(t *testing.T, pid int) []int {
	t.Helper()
	namespace, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/pid", pid))
	if err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	var pids []int
	for _, e := range entries {
		var pid int
		if _, err := fmt.Sscan(e.Name(), &pid); err != nil {
			continue
		}
		if ns, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/pid", pid)); err == nil && ns == namespace && syscall.Kill(pid, 0) == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}
