package kafka

import (
	"context"
	"fmt"

	"github.com/twmb/franz-go/pkg/kfake"
)

// Embedded is a Kafka that lives in this process. It keeps topics and their
// options and answers as Kafka does, but it takes options that Kafka refuses,
// returns values as they were given, and knows no limits.
type Embedded struct {
	// Fake injects faults.
	Fake *kfake.Cluster
}

// StartEmbedded starts an embedded Kafka of that many brokers on loopback,
// with ports that the kernel chooses.
func StartEmbedded(brokers int) (*Embedded, error) {
	fake, err := kfake.NewCluster(
		kfake.NumBrokers(brokers),
		// Kafka's own default of num.partitions.
		kfake.DefaultNumPartitions(1),
	)
	if err != nil {
		return nil, fmt.Errorf("starting the embedded kafka: %w", err)
	}
	return &Embedded{Fake: fake}, nil
}

// Bootstrap implements Kafka.
func (e *Embedded) Bootstrap() []string { return e.Fake.ListenAddrs() }

// Stop implements Kafka.
func (e *Embedded) Stop(context.Context) error {
	e.Fake.Close()
	return nil
}

// String implements Kafka.
func (e *Embedded) String() string { return "embedded Kafka (kfake, in this process)" }
