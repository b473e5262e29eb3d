package volumes

import (
	"context"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	testingclock "k8s.io/utils/clock/testing"

	kafkav1 "github.com/sluice-kafka/sluice/api/v1"
)

// growingMapper learns of kinds while it is used.
type growingMapper struct {
	meta.RESTMapper
	mu sync.Mutex
}

func (m *growingMapper) RESTMapping(kind schema.GroupKind, versions ...string) (*meta.RESTMapping, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.RESTMapper.RESTMapping(kind, versions...)
}

func (m *growingMapper) serve(gvk schema.GroupVersionKind) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.RESTMapper.(*meta.DefaultRESTMapper).Add(gvk, meta.RESTScopeNamespace)
}

func TestItStandsByUntilAllKindsAreServed(t *testing.T) {
	mapper := &growingMapper{RESTMapper: meta.NewDefaultRESTMapper([]schema.GroupVersion{kafkav1.GroupVersion, podSets.GroupVersion()})}
	clock := testingclock.NewFakeClock(time.Unix(0, 0))
	c := &Controller{mapper: mapper, opts: Options{Clock: clock, LookInterval: time.Minute}}
	for _, kind := range []string{kafkav1.KindKafka, kafkav1.KindKafkaNodePool, kafkav1.KindKafkaConnect, kafkav1.KindKafkaMirrorMaker2} {
		mapper.serve(kafkav1.GroupVersion.WithKind(kind))
	}
	found := make(chan schema.GroupVersionKind, 1)
	go func() {
		gvk, _ := c.waitServed(t.Context())
		found <- gvk
	}()
	waiting := func(context.Context) (bool, error) { return clock.HasWaiters(), nil }
	if err := wait.PollUntilContextTimeout(t.Context(), time.Millisecond, 10*time.Second, true, waiting); err != nil {
		t.Fatal(err)
	}
	select {
	case gvk := <-found:
		t.Fatalf("found %v, which is not served", gvk)
	default:
	}
	mapper.serve(podSets)
	clock.Step(time.Minute)
	if gvk := <-found; gvk != podSets {
		t.Errorf("found %v", gvk)
	}
}

func TestItStopsWhileItStandsBy(t *testing.T) {
	c := &Controller{
		mapper: meta.NewDefaultRESTMapper(nil),
		opts:   Options{Clock: testingclock.NewFakeClock(time.Unix(0, 0)), LookInterval: time.Minute},
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.Start(ctx); err != nil {
		t.Error(err)
	}
}
