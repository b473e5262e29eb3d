// Package kafka starts Kafka on this machine for tests, benchmarks and the
// demo: real brokers from the jars on Maven Central where Java and Maven are
// there, or an embedded imitation that needs nothing but Go.
package kafka

import "context"

// Kafka is a running cluster, real or embedded.
type Kafka interface {
	// Bootstrap are host:port pairs of its brokers.
	Bootstrap() []string
	// Stop ends it and removes what it wrote. The context bounds the orderly
	// part; what does not stop in time is killed.
	Stop(ctx context.Context) error
	// String names it for a person.
	String() string
}

var (
	_ Kafka = (*Cluster)(nil)
	_ Kafka = (*Embedded)(nil)
)
