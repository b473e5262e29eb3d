// Package e2e tests Sluice with all of its surroundings real: the API server,
// the controller manager, nodes that run pods as processes, and Kafka.
package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sluice-kafka/sluice/test/harness"
	"github.com/sluice-kafka/sluice/test/kafka"
)

func TestMain(m *testing.M) {
	if err := harness.Isolate(prepare); err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// prepare has built and downloaded what the tests need: inside there is no
// network.
func prepare() error {
	ctx := context.Background()
	_, assetsErr := harness.Assets(ctx, os.Stderr, harness.Etcd, harness.KubeAPIServer, harness.KubeControllerManager)
	_, agentErr := harness.NodeAgentAssets(ctx, os.Stderr)
	_, _, helmErr := harness.Helm(ctx, os.Stderr)
	_, binaryErr := harness.Binary(ctx)
	errs := []error{assetsErr, agentErr, helmErr, binaryErr}
	for _, v := range kafkaVersions() {
		_, err := kafka.Image(ctx, v, os.Stderr)
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// kafkaVersions are those that the tests run: two minor versions, and all with
// SLUICE_KAFKA_VERSIONS=all.
func kafkaVersions() []string {
	if os.Getenv("SLUICE_KAFKA_VERSIONS") == "all" {
		return kafka.Versions()
	}
	return []string{olderVersion, kafka.DefaultVersion}
}

// olderVersion of Kafka is of the minor version before the default one's.
const olderVersion = "4.2.1"

// startNodes starts a control plane with nodes, which end with the test.
func startNodes(t *testing.T, opts harness.NodesOptions) (*harness.ControlPlane, *harness.Nodes) {
	t.Helper()
	cp, err := harness.StartControlPlane(t.Context(), harness.ControlPlaneOptions{ControllerManager: true, Dir: t.ArtifactDir(), Out: os.Stderr})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cp.Stop(); err != nil {
			t.Error(err)
		}
	})
	opts.Out = os.Stderr
	nodes, err := cp.StartNodes(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	return cp, nodes
}

// within is how long the tests wait for what takes a moment: a loaded two-core
// machine takes many times as long as an idle one.
const within = 180 * time.Second

// eventually tries until there is no error.
func eventually(t *testing.T, try func() error) {
	t.Helper()
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	deadline := time.After(within)
	for {
		err := try()
		if err == nil {
			return
		}
		select {
		case <-ticker.C:
		case <-deadline:
			t.Fatalf("still after %s: %v", within, err)
		}
	}
}

func quantity(text string) resource.Quantity { return resource.MustParse(text) }

// getPod reads one.
func getPod(t *testing.T, c client.Client, key types.NamespacedName) (*corev1.Pod, error) {
	t.Helper()
	p := &corev1.Pod{}
	return p, c.Get(t.Context(), key, p)
}

func isReady(p *corev1.Pod) bool {
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// awaitReady waits until the pod is.
func awaitReady(t *testing.T, c client.Client, key types.NamespacedName) *corev1.Pod {
	t.Helper()
	var pod *corev1.Pod
	eventually(t, func() error {
		var err error
		if pod, err = getPod(t, c, key); err != nil {
			return err
		}
		if !isReady(pod) {
			return fmt.Errorf("pod %s is not ready: %+v", key, pod.Status)
		}
		return nil
	})
	return pod
}
