package integration

import (
	"context"
	"testing"

	client "github.com/sluice-kafka/sluice/internal/kafka"
	"github.com/sluice-kafka/sluice/test/kafka"
	"github.com/sluice-kafka/sluice/test/kafka/kafkatest"
)

// TestClusterContract holds real Kafka to what the fake of the cluster controller
// promises of it.
func TestClusterContract(t *testing.T) {
	cluster := kafkatest.Start(t, kafka.Options{
		Brokers: 3, MetadataVersion: kafkatest.ClusterContractMetadata, Config: kafkatest.ClusterContractConfig(),
	})
	c, err := client.New(client.Config{BootstrapServers: cluster.Bootstrap(), Controllers: cluster.Controllers()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	kafkatest.ClusterContract(t, kafkatest.Driven{
		ClusterAdmin: c,
		Kill: func(t *testing.T, id int32) {
			if err := cluster.KillNode(id); err != nil {
				t.Fatal(err)
			}
		},
		Start: func(t *testing.T, id int32) {
			if err := cluster.StartNode(t.Context(), id); err != nil {
				t.Fatal(err)
			}
		},
		Create: func(ctx context.Context, topic string, factor int) error {
			created, err := c.CreateTopics(ctx, []client.NewTopic{{Name: topic, Partitions: 1, ReplicationFactor: int16(factor)}})
			if err != nil {
				return err
			}
			return created[topic].Err
		},
	})
}
