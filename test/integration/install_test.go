package integration

import (
	"os"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sluice-kafka/sluice/test/harness"
)

// install starts an API server with the chart installed and a running operator;
// both end with the test.
func install(t *testing.T, opts harness.ControlPlaneOptions, values map[string]any, args ...string) (*harness.Installation, *harness.Operator) {
	t.Helper()
	cp := controlPlane(t, opts)
	in, err := cp.InstallChart(t.Context(), os.Stderr, values)
	if err != nil {
		t.Fatal(err)
	}
	op, err := in.StartOperator(t.Context(), args...)
	if err != nil {
		t.Fatal(err)
	}
	// A no-op where the test itself stopped or killed it.
	t.Cleanup(op.Kill)
	return in, op
}

// namespace makes a namespace.
func namespace(t *testing.T, c client.Client, name string, labels map[string]string) {
	t.Helper()
	if err := c.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}); err != nil {
		t.Fatal(err)
	}
}
