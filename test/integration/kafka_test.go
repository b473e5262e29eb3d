package integration

import (
	"testing"

	"github.com/sluice-kafka/sluice/test/kafka"
	"github.com/sluice-kafka/sluice/test/kafka/kafkatest"
)

func TestKafkaContract(t *testing.T) {
	cluster := kafkatest.Start(t, kafka.Options{})
	kafkatest.Contract(t, cluster.Bootstrap(), kafkatest.Real)
}
