package cluster

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlfake "sigs.k8s.io/controller-runtime/pkg/client/fake"

	kafkav1 "github.com/sluice-kafka/sluice/api/v1"
)

// remembered is the cache of an informer that hears of nothing from now on.
func (e *env) remembered() client.Reader {
	e.t.Helper()
	scheme, mapper := kinds()
	builder := ctrlfake.NewClientBuilder().WithScheme(scheme).WithRESTMapper(mapper)
	for _, list := range []client.ObjectList{
		&kafkav1.KafkaList{}, &kafkav1.KafkaNodePoolList{}, &corev1.PodList{}, &corev1.ConfigMapList{}, &corev1.PersistentVolumeClaimList{}, &corev1.ServiceList{},
	} {
		e.must(e.store.List(e.t.Context(), list))
		items, err := meta.ExtractList(list)
		e.must(err)
		for _, item := range items {
			if o := item.(client.Object); o.GetDeletionTimestamp() == nil {
				builder.WithObjects(o)
			}
		}
	}
	return builder.Build()
}

func TestCacheThatIsBehindBringsNothingBackAndStopsNothing(t *testing.T) {
	tests := map[string]struct {
		// when the cache stops to hear.
		when func(*env)
	}{
		"before the removal":                {func(*env) {}},
		"after the brokers' pods were gone": {func(e *env) { e.until("pods are gone", func() bool { return len(e.brokerPods()) == 3 }) }},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			e := held(t)
			e.kafka.Drain(3, 4)
			tc.when(e)
			stale := e.remembered()
			e.until("brokers 3 and 4 are forgotten", func() bool { return len(e.kafka.Registered()) == 3 })
			e.turns(2)
			e.takeWrites()
			e.kafka.TakeCalls()
			e.cached.resources, e.cached.objects = stale, stale
			for range 5 {
				_ = e.turn() // a conflict is no fault
			}
			for _, w := range append(e.takeWrites(), e.kafka.TakeWrites()...) {
				if !strings.HasSuffix(w, "/status") {
					t.Errorf("did %s", w)
				}
			}
			e.restartOperator()
			e.gone(3, 4)
		})
	}
}
