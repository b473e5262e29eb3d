package rebalance_test

import (
	"context"
	"testing"

	"github.com/sluice-kafka/sluice/test/kafka/kafkatest"
)

// TestContract runs on the fake what test/integration runs on real brokers.
func TestContract(t *testing.T) {
	f := newFake(3)
	kafkatest.ReassignContract(t, kafkatest.Moved{
		Reassigner: f,
		Create: func(_ context.Context, topic string, replicas ...[]int32) error {
			f.topic(topic, replicas...)
			return nil
		},
		Go: func(topic string) { f.finish(topic) },
	})
}
