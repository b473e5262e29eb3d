package kafka_test

import (
	"testing"

	"github.com/sluice-kafka/sluice/test/kafka/kafkatest"
)

// TestContract runs on kfake what test/integration runs on real brokers. kfake
// differs: it takes any option, value and topic name, returns values as they
// were given, lets partitions "grow" to the number that is there, gives no
// messages with its errors, tells of no defaults when it creates, and has no limits on
// requests.
func TestContract(t *testing.T) {
	for name, brokers := range map[string]int{"one broker": 1, "three brokers": 3} {
		t.Run(name, func(t *testing.T) {
			kafkatest.Contract(t, kafkatest.StartEmbedded(t, brokers).Bootstrap(), kafkatest.Fake)
		})
	}
}

// TestLimitContract runs on kfake, with Kafka's limits put before it, what
// test/integration runs on real brokers.
func TestLimitContract(t *testing.T) {
	embedded := kafkatest.StartEmbedded(t, 1)
	kafkatest.Limits(embedded)
	kafkatest.LimitContract(t, embedded.Bootstrap(), kafkatest.Fake)
}
