package brokerpod_test

import (
	"errors"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/sluice-kafka/sluice/internal/brokerpod"
)

func TestDisruptionBudget(t *testing.T) {
	t.Parallel()
	in, _ := read(t, "plain")
	for existing, want := range map[int]int{0: 0, 1: 0, 2: 1, 5: 4} {
		b, err := brokerpod.DisruptionBudget(in.Kafka, existing)
		if err != nil || b.Spec.MinAvailable.IntValue() != want || b.Spec.MaxUnavailable != nil {
			t.Errorf("of %d pods %v have to stay, %v; want %d", existing, b.Spec.MinAvailable, err, want)
		}
	}
}

// The budget counts all pods of the cluster, the headless service names them all,
// and the bootstrap service leads to brokers alone.
func TestWhatIsSelected(t *testing.T) {
	t.Parallel()
	in, _ := read(t, "plain")
	services, err := brokerpod.Services(in.Kafka)
	if err != nil {
		t.Fatal(err)
	}
	budget, err := brokerpod.DisruptionBudget(in.Kafka, 3)
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct{ broker, controller bool }{
		"broker": {broker: true}, "controller": {controller: true}, "both": {broker: true, controller: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := in
			in.Node.Broker, in.Node.Controller = tc.broker, tc.controller
			have := labels.Set(pod(t, in).Labels)
			if !labels.SelectorFromSet(services[0].Spec.Selector).Matches(have) {
				t.Error("the headless service does not select it")
			}
			if got := labels.SelectorFromSet(services[1].Spec.Selector).Matches(have); got != tc.broker {
				t.Errorf("the bootstrap service selects it: %v", got)
			}
			if !labels.SelectorFromSet(budget.Spec.Selector.MatchLabels).Matches(have) {
				t.Error("the budget does not count it")
			}
		})
	}
}

func TestTemplatesOfAClusterThatAreNone(t *testing.T) {
	t.Parallel()
	in, _ := read(t, "plain")
	in = changed(t, in, `{spec: {kafka: {template: {brokersService: {metadata: {labels: 3}}, podDisruptionBudget: {metadata: {annotations: {a: 1}}}}}}}`, "")
	_, err := brokerpod.Services(in.Kafka)
	if !errors.Is(err, brokerpod.ErrInvalid) || !strings.Contains(err.Error(), "Kafka my-cluster: spec.kafka.template.brokersService.metadata.labels: ") {
		t.Errorf("services: %v", err)
	}
	_, err = brokerpod.DisruptionBudget(in.Kafka, 3)
	if !errors.Is(err, brokerpod.ErrInvalid) || !strings.Contains(err.Error(), "spec.kafka.template.podDisruptionBudget.metadata.annotations[a]: ") {
		t.Errorf("budget: %v", err)
	}
}

func TestConfigMapWithoutARack(t *testing.T) {
	t.Parallel()
	in, _ := read(t, "full")
	if _, there := brokerpod.ConfigMap(in, "", "4.3-IV0", nil).Data[brokerpod.KeyRack]; there {
		t.Error("the container would start before its rack is known")
	}
	none := ""
	if _, there := brokerpod.ConfigMap(in, "", "4.3-IV0", &none).Data[brokerpod.KeyRack]; !there {
		t.Error("on a node without a rack the container would wait for ever")
	}
}
