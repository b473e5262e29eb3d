// Package kafkatest brings Kafka into Go tests.
package kafkatest

import (
	"fmt"
	"os"
	"testing"

	"github.com/sluice-kafka/sluice/test/kafka"
)

// Require ends a test that needs real brokers where Java or Maven is missing.
// It is skipped, and that is said on standard error whatever the verbosity;
// with CI=true it fails, since there a skip hides a gap.
func Require(tb testing.TB) {
	tb.Helper()
	err := kafka.Available()
	if err == nil {
		return
	}
	if os.Getenv("CI") == "true" {
		tb.Fatalf("CI must run against real Kafka: %v", err)
	}
	_, _ = fmt.Fprintf(os.Stderr, "SKIPPED %s: %v\n", tb.Name(), err)
	tb.Skip(err)
}

// Start starts a real cluster that ends with the test, which needs what
// Require asks for.
func Start(tb testing.TB, options kafka.Options) *kafka.Cluster {
	tb.Helper()
	Require(tb)
	cluster, err := kafka.Start(tb.Context(), options)
	if err != nil {
		tb.Fatal(err)
	}
	// Nothing of it is needed any more, and an orderly stop takes its time where
	// there is much to close.
	tb.Cleanup(cluster.Kill)
	return cluster
}

// StartEmbedded starts an embedded cluster that ends with the test.
func StartEmbedded(tb testing.TB, brokers int) *kafka.Embedded {
	tb.Helper()
	embedded, err := kafka.StartEmbedded(brokers)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(embedded.Fake.Close)
	return embedded
}
