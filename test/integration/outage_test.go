package integration

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/test/harness"
)

// A webhook that fails closed must not hold up what has nothing to do with it,
// nor the way out.
func TestWithTheOperatorStoppedTheWayOutIsOpen(t *testing.T) {
	in, op := install(t, harness.ControlPlaneOptions{ControllerManager: true}, nil)
	ctx, c := t.Context(), in.Client
	namespace(t, c, "kafka", nil)
	topic := &apiv1.KafkaTopic{ObjectMeta: metav1.ObjectMeta{
		Name: "orders", Namespace: "kafka",
		Labels: map[string]string{apiv1.LabelCluster: "my-cluster"}, Finalizers: []string{apiv1.FinalizerTopic},
	}}
	kafka := &apiv1.Kafka{ObjectMeta: metav1.ObjectMeta{Name: "my-cluster", Namespace: "kafka"}}
	owner := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "kafka", Name: "owner"}}
	for _, o := range []client.Object{topic, nodePool("kafka", "controllers", 3, apiv1.RoleController), kafka, owner} {
		if err := c.Create(ctx, o); err != nil {
			t.Fatal(err)
		}
	}
	owned := nodePool("kafka", "owned", 3, apiv1.RoleController)
	owned.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: owner.Name, UID: owner.UID}}
	if err := c.Create(ctx, owned); err != nil {
		t.Fatal(err)
	}
	// Its controllers must not be deleted while it runs.
	kafka.Status.ClusterID = "abc"
	if err := c.Status().Update(ctx, kafka); err != nil {
		t.Fatal(err)
	}
	if err := op.Stop(); err != nil {
		t.Fatal(err)
	}

	t.Run("an unrelated pod is created", func(t *testing.T) {
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "kafka"},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "web"}}},
		}
		if err := c.Create(ctx, pod); err != nil {
			t.Error(err)
		}
		// Nothing here runs a kubelet, which alone ends a pod.
		zero := int64(0)
		if err := c.Delete(ctx, pod, &client.DeleteOptions{GracePeriodSeconds: &zero}); err != nil {
			t.Error(err)
		}
	})
	t.Run("a new topic is refused with the reason", func(t *testing.T) {
		err := c.Create(ctx, &apiv1.KafkaTopic{ObjectMeta: metav1.ObjectMeta{Name: "new", Namespace: "kafka"}})
		if err == nil {
			t.Fatal("a topic that nobody judged was let in")
		}
		for _, want := range []string{"failed calling webhook", "sluice"} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("the refusal does not mention %q: %v", want, err)
			}
		}
	})
	t.Run("a finalizer is taken off by hand", func(t *testing.T) {
		if err := c.Delete(ctx, topic); err != nil {
			t.Fatal(err)
		}
		err := c.Patch(ctx, topic, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`)))
		if client.IgnoreNotFound(err) != nil {
			t.Fatal(err)
		}
		gone(t, c, topic)
	})
	t.Run("a pool is not deleted by a user, and is by the garbage collector", func(t *testing.T) { poolsWithTheOperatorStopped(t, c, "kafka") })
	t.Run("the namespace goes", func(t *testing.T) {
		ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "kafka"}}
		if err := c.Delete(ctx, ns); err != nil {
			t.Fatal(err)
		}
		gone(t, c, ns)
	})
}

// gone waits until an object does not exist.
func gone(t *testing.T, c client.Client, o client.Object) {
	t.Helper()
	var last error
	err := wait.PollUntilContextTimeout(t.Context(), 200*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		last = c.Get(ctx, client.ObjectKeyFromObject(o), o)
		return apierrors.IsNotFound(last), nil
	})
	if err != nil {
		t.Fatalf("%s is still there: %v; %+v", o.GetName(), errors.Join(err, last), o)
	}
}
