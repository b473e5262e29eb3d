package pod

import (
	"context"
	"encoding/json"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/test/bench/workload"
)

// BenchmarkHandler completes a pod with 50 volumes. Its owners are copied as a
// cache copies them.
func BenchmarkHandler(b *testing.B) {
	kafka, pool := workload.Kafka("bench"), workload.NodePools("bench")[1]
	owners := getterFunc(func(_ context.Context, _ client.ObjectKey, obj client.Object) error {
		switch obj := obj.(type) {
		case *apiv1.Kafka:
			kafka.DeepCopyInto(obj)
		case *apiv1.KafkaNodePool:
			pool.DeepCopyInto(obj)
		}
		return nil
	})
	raw, err := json.Marshal(workload.Pod("bench"))
	if err != nil {
		b.Fatal(err)
	}
	h := newHandler(owners, owners)
	req := admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
		Kind:      metav1.GroupVersionKind{Version: corev1.SchemeGroupVersion.Version, Kind: "Pod"},
		Operation: admissionv1.Create, Namespace: workload.Namespace, Object: runtime.RawExtension{Raw: raw},
	}}
	b.ReportAllocs()
	for b.Loop() {
		if resp := h.Handle(context.Background(), req); !resp.Allowed || len(resp.Patches) == 0 {
			b.Fatalf("not completed: %+v", resp)
		}
	}
}
