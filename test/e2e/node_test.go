package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sluice-kafka/sluice/test/harness"
)

// shell is a pod whose container runs a script of the shell.
func shell(namespace, name, script string, change ...func(*corev1.Pod)) *corev1.Pod {
	grace := int64(5)
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{"app": name}},
		Spec: corev1.PodSpec{
			TerminationGracePeriodSeconds: &grace,
			Containers:                    []corev1.Container{{Name: "main", Image: "none", Command: []string{"sh", "-c"}, Args: []string{script}}},
		},
	}
	for _, f := range change {
		f(p)
	}
	return p
}

func create(t *testing.T, c client.Client, objects ...client.Object) {
	t.Helper()
	for _, o := range objects {
		if err := c.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
}

// output waits until the container's log holds the text.
func output(t *testing.T, nodes *harness.Nodes, pod *corev1.Pod, want string) {
	t.Helper()
	path := filepath.Join(nodes.PodLogs, pod.Namespace+"_"+pod.Name, "main.log")
	eventually(t, func() error {
		raw, err := os.ReadFile(path)
		if err == nil && !strings.Contains(string(raw), want) {
			err = fmt.Errorf("the log of %s lacks %q:\n%s", pod.Name, want, raw)
		}
		return err
	})
}

func TestNodes(t *testing.T) {
	cp, nodes := startNodes(t, harness.NodesOptions{Nodes: map[string]map[string]string{
		"node-a": {corev1.LabelTopologyZone: "a"}, "node-b": {corev1.LabelTopologyZone: "b"},
	}})
	create(t, cp.Client, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "pods"}})

	t.Run("a pod runs its command and is ready", func(t *testing.T) {
		p := shell("pods", "plain", "echo hello; trap exit TERM; while :; do sleep 0.1; done")
		create(t, cp.Client, p)
		awaitReady(t, cp.Client, client.ObjectKeyFromObject(p))
		output(t, nodes, p, "hello")
	})
}
