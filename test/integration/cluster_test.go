package integration

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/test/harness"
)

// clusterVersions are the resource versions of all that there is of a cluster, by
// kind and name.
func clusterVersions(t *testing.T, c client.Client, ns string) map[string]string {
	t.Helper()
	versions := map[string]string{}
	for kind, list := range map[string]client.ObjectList{
		"Pod": &corev1.PodList{}, "ConfigMap": &corev1.ConfigMapList{}, "PersistentVolumeClaim": &corev1.PersistentVolumeClaimList{},
		"Service": &corev1.ServiceList{}, "PodDisruptionBudget": &policyv1.PodDisruptionBudgetList{}, "KafkaNodePool": &apiv1.KafkaNodePoolList{},
	} {
		if err := c.List(t.Context(), list, client.InNamespace(ns), client.HasLabels{apiv1.LabelCluster}); err != nil {
			t.Fatal(err)
		}
		items, err := meta.ExtractList(list)
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range items {
			o, err := meta.Accessor(item)
			if err != nil {
				t.Fatal(err)
			}
			versions[kind+" "+o.GetName()] = o.GetResourceVersion()
		}
	}
	return versions
}

func clusterPool(ns, name string, replicas int64, role string) *apiv1.KafkaNodePool {
	pool := &apiv1.KafkaNodePool{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name, Labels: map[string]string{apiv1.LabelCluster: "c"}},
		Spec:       apiv1.KafkaNodePoolSpec{Replicas: &replicas, Roles: []string{role}},
	}
	pool.Spec.Storage = &apiv1.Storage{SingleVolume: apiv1.SingleVolume{Type: apiv1.StoragePersistentClaim, Size: "1Gi", DeleteClaim: true}}
	return pool
}

// The rights are the chart's own, and what the API server fills in is no difference
// that would be written again and again.
func TestClusterIsMadeUnderTheChartsRightsAndThenLeftAlone(t *testing.T) {
	in, op := install(t, harness.ControlPlaneOptions{}, nil)
	const ns = "kafka"
	namespace(t, in.Client, ns, nil)
	kafka := &apiv1.Kafka{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "c", Annotations: map[string]string{apiv1.AnnotationSluiceManaged: "true"}}}
	kafka.Spec.Kafka.Version = "4.3.1"
	kafka.Spec.Kafka.Listeners = []apiv1.KafkaListener{{Name: "plain", Port: 9092, Type: apiv1.ListenerInternal}}
	createAll(t, in, kafka, clusterPool(ns, "brokers", 2, apiv1.RoleBroker), clusterPool(ns, "controllers", 1, apiv1.RoleController))
	want := []string{"ConfigMap c-brokers-0", "ConfigMap c-brokers-1", "ConfigMap c-controllers-2", "KafkaNodePool brokers", "KafkaNodePool controllers",
		"PersistentVolumeClaim data-c-brokers-0", "PersistentVolumeClaim data-c-brokers-1", "PersistentVolumeClaim data-c-controllers-2",
		"Pod c-brokers-0", "Pod c-brokers-1", "Pod c-controllers-2", "PodDisruptionBudget c-kafka",
		"Service c-kafka-bootstrap", "Service c-kafka-brokers"}
	eventually(t, func() error {
		if diff := cmp.Diff(want, slices.Sorted(maps.Keys(clusterVersions(t, in.Client, ns)))); diff != "" {
			return fmt.Errorf("-want +got:\n%s", diff)
		}
		if err := in.Client.Get(t.Context(), client.ObjectKeyFromObject(kafka), kafka); err != nil {
			return err
		}
		if len(kafka.Status.Conditions) == 0 || kafka.Status.ClusterID == "" {
			return errors.New("the Kafka has no status yet")
		}
		return nil
	})
	before := afterLook(t, in, op, kafka, "1")
	after := afterLook(t, in, op, kafka, "2")
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("a look with nothing to do wrote: -before +after:\n%s", diff)
	}
	log, err := os.ReadFile(op.Log)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(log), "forbidden") {
		t.Errorf("a right is missing:\n%s", log)
	}
}

// afterLook provokes a look at the cluster and waits for its end.
func afterLook(t *testing.T, in *harness.Installation, op *harness.Operator, kafka *apiv1.Kafka, value string) map[string]string {
	t.Helper()
	looks := func() float64 {
		m, err := op.Metrics(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return m.Sum("sluice_cluster_reconciliations_total", "result=successful")
	}
	base := kafka.DeepCopy()
	kafka.Annotations["looked-at"] = value
	began := looks()
	if err := in.Client.Patch(t.Context(), kafka, client.MergeFrom(base)); err != nil {
		t.Fatal(err)
	}
	// One look may have been under way.
	eventually(t, func() error {
		if n := looks() - began; n < 1 {
			return fmt.Errorf("no look since, after %v", began)
		}
		return nil
	})
	return clusterVersions(t, in.Client, kafka.Namespace)
}
