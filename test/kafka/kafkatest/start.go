// Package kafkatest brings Kafka into Go tests.
package kafkatest

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/sluice-kafka/sluice/test/kafka"
)

// Start starts a real cluster that ends with the test. Where Java or Maven is
// missing the test is skipped, and that is said on standard error whatever the
// test's verbosity; with CI=true it fails, since there a skip hides a gap.
func Start(tb testing.TB, options kafka.Options) *kafka.Cluster {
	tb.Helper()
	if err := kafka.Available(); err != nil {
		if os.Getenv("CI") == "true" {
			tb.Fatalf("CI must run against real Kafka: %v", err)
		}
		_, _ = fmt.Fprintf(os.Stderr, "SKIPPED %s: %v\n", tb.Name(), err)
		tb.Skip(err)
	}
	cluster, err := kafka.Start(tb.Context(), options)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { stop(tb, cluster) })
	return cluster
}

// StartEmbedded starts an embedded cluster that ends with the test.
func StartEmbedded(tb testing.TB, brokers int) *kafka.Embedded {
	tb.Helper()
	embedded, err := kafka.StartEmbedded(brokers)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { stop(tb, embedded) })
	return embedded
}

// stop is given its own context: the test's has ended.
func stop(tb testing.TB, k kafka.Kafka) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := k.Stop(ctx); err != nil {
		tb.Errorf("stopping %s: %v", k, err)
	}
}
