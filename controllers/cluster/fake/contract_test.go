package fake_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/sluice-kafka/sluice/controllers/cluster/fake"
	"github.com/sluice-kafka/sluice/internal/kafka"
	"github.com/sluice-kafka/sluice/test/kafka/kafkatest"
)

// TestContract runs on the fake what test/integration runs on real brokers.
func TestContract(t *testing.T) {
	k := fake.New()
	k.Format("AAAAAAAAAAAAAAAAAAAAAA", kafkatest.ClusterContractMetadata)
	k.SetELR(true)
	k.SetQuorum(3)
	start := func(_ *testing.T, id int32) {
		lines := []string{fmt.Sprintf("log.dirs=/data/%d/log,/data/%d/more", id, id)}
		config := kafkatest.ClusterContractConfig()
		for _, name := range slices.Sorted(maps.Keys(config)) {
			lines = append(lines, name+"="+config[name])
		}
		k.Start(id, "4.3.1", strings.Join(lines, "\n"))
	}
	for id := range int32(3) {
		start(t, id)
	}
	kafkatest.ClusterContract(t, kafkatest.Driven{
		ClusterAdmin: k,
		Start:        start,
		Kill:         func(_ *testing.T, id int32) { k.Stop(id) },
		Create: func(_ context.Context, topic string, factor int) error {
			if k.Create(topic, factor) == nil {
				return fmt.Errorf("%w: too few brokers", kafka.ErrInvalidReplicationFactor)
			}
			return nil
		},
	})
}
