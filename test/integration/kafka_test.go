package integration

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	client "github.com/sluice-kafka/sluice/internal/kafka"
	"github.com/sluice-kafka/sluice/test/kafka"
	"github.com/sluice-kafka/sluice/test/kafka/kafkatest"
)

// TestKafkaContract runs on the default version of Kafka, and on every known
// one with SLUICE_KAFKA_VERSIONS=all.
func TestKafkaContract(t *testing.T) {
	versions := []string{kafka.DefaultVersion}
	if os.Getenv("SLUICE_KAFKA_VERSIONS") == "all" {
		versions = kafka.Versions()
	}
	for _, version := range versions {
		t.Run(version, func(t *testing.T) {
			cluster := kafkatest.Start(t, kafka.Options{Version: version})
			kafkatest.Contract(t, cluster.Bootstrap(), kafkatest.Real)
			t.Run("the cluster may go and come back", func(t *testing.T) { outage(t, cluster) })
		})
	}
}

// kafkaClient is a client of the cluster, and its count of requests.
func kafkaClient(t *testing.T, bootstrap []string) (*client.Client, *kafkatest.Calls) {
	t.Helper()
	calls := &kafkatest.Calls{}
	c, err := client.New(client.Config{BootstrapServers: bootstrap, Observe: calls.Observe})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c, calls
}

// outage checks that a client outlives its brokers: between two calls, and with
// a call while they are away.
func outage(t *testing.T, cluster *kafka.Cluster) {
	c, _ := kafkaClient(t, cluster.Bootstrap())
	create := func(name string) error {
		created, err := c.CreateTopics(t.Context(), []client.NewTopic{{Name: name, Partitions: 1, ReplicationFactor: 1}})
		return errors.Join(err, created[name].Err)
	}
	if err := create("outage-before"); err != nil {
		t.Fatal(err)
	}
	if err := cluster.StopNode(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	if err := cluster.StartNode(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	if err := create("outage-after-restart"); err != nil {
		t.Errorf("the first call after a restart: %v", err)
	}
	if err := cluster.KillNode(0); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	if err := create("outage-during"); !errors.Is(err, client.ErrUnreachable) || !client.Passing(err) {
		t.Errorf("while the cluster is away: %v", err)
	}
	if took := time.Since(start); took > 30*time.Second {
		t.Errorf("that it is away took %s to say", took)
	}
	if err := cluster.StartNode(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	names := []string{"outage-before", "outage-after-restart", "outage-during"}
	kafkatest.Eventually(t, func(ctx context.Context) error {
		seen, err := c.DescribeTopics(ctx, names)
		if err != nil {
			return err
		}
		if !errors.Is(seen["outage-during"].Err, client.ErrUnknownTopic) {
			return fmt.Errorf("outage-during: %w", seen["outage-during"].Err)
		}
		return errors.Join(seen["outage-before"].Err, seen["outage-after-restart"].Err)
	})
}

// TestKafkaLimits meets Kafka's own limits on requests, which kfake lacks.
func TestKafkaLimits(t *testing.T) {
	cluster := kafkatest.Start(t, kafka.Options{
		Heap: "512m",
		// A default that the client cannot know of.
		Config: map[string]string{"num.partitions": "5001"},
	})
	c, calls := kafkaClient(t, cluster.Bootstrap())

	t.Run("topics are split by their partitions", func(t *testing.T) {
		// The limit is checked first: a replication factor that cannot be
		// spares the broker the partitions.
		created, err := c.CreateTopics(t.Context(), []client.NewTopic{
			{Name: "limit-a", Partitions: 6000, ReplicationFactor: 2},
			{Name: "limit-b", Partitions: 6000, ReplicationFactor: 2},
		})
		wantCreated(t, created, err, client.ErrInvalidReplicationFactor, "limit-a", "limit-b")
		wantCalls(t, calls, map[string]int{"CreateTopics": 2})
	})
	t.Run("a refused request is halved", func(t *testing.T) {
		created, err := c.CreateTopics(t.Context(), []client.NewTopic{
			{Name: "limit-default-a", Partitions: -1, ReplicationFactor: 2},
			{Name: "limit-default-b", Partitions: -1, ReplicationFactor: 2},
		})
		wantCreated(t, created, err, client.ErrInvalidReplicationFactor, "limit-default-a", "limit-default-b")
		wantCalls(t, calls, map[string]int{"CreateTopics": 3})
	})
	kafkatest.LimitContract(t, cluster.Bootstrap(), kafkatest.Real)
}

func wantCreated(t *testing.T, created map[string]client.CreatedTopic, err, want error, names ...string) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	if len(created) != len(names) {
		t.Errorf("%d answers, want %d", len(created), len(names))
	}
	for _, name := range names {
		if got := created[name].Err; !errors.Is(got, want) {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
}

func wantCalls(t *testing.T, calls *kafkatest.Calls, want map[string]int) {
	t.Helper()
	if diff := cmp.Diff(want, calls.Take()); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

// TestKafkaWithOneBrokerDown makes calls that must pass over the dead broker.
func TestKafkaWithOneBrokerDown(t *testing.T) {
	cluster := kafkatest.Start(t, kafka.Options{Brokers: 3})
	c, _ := kafkaClient(t, cluster.Bootstrap())
	created, err := c.CreateTopics(t.Context(), []client.NewTopic{{Name: "down", Partitions: 3, ReplicationFactor: 3}})
	wantCreated(t, created, err, nil, "down")
	if err := cluster.KillNode(1); err != nil {
		t.Fatal(err)
	}
	// As many as there are brokers, so that each would have had its turn.
	for i := range 3 {
		name := fmt.Sprintf("down-%d", i)
		created, err := c.CreateTopics(t.Context(), []client.NewTopic{{Name: name, Partitions: 1, ReplicationFactor: 2}})
		if err != nil {
			t.Fatal(err)
		}
		// Until its session ends, the dead broker is given replicas as well.
		if err := created[name].Err; err != nil {
			t.Errorf("creating %s: %v", name, err)
		}
		altered, err := c.AlterTopicConfigs(t.Context(), []client.TopicConfigChange{{Name: "down", Ops: []client.ConfigOp{{Name: "retention.ms", Value: fmt.Sprint(1000 + i)}}}})
		if err = errors.Join(err, altered["down"]); err != nil {
			t.Errorf("altering: %v", err)
		}
		configs, err := c.DescribeTopicConfigs(t.Context(), []string{"down"})
		if err = errors.Join(err, configs["down"].Err); err != nil {
			t.Errorf("describing options: %v", err)
		}
		seen, err := c.DescribeTopics(t.Context(), []string{"down"})
		if err = errors.Join(err, seen["down"].Err); err != nil {
			t.Errorf("describing: %v", err)
		}
		// An offline replica is still a replica.
		for _, p := range seen["down"].Partitions {
			if len(p.Replicas) != 3 {
				t.Errorf("down-%d: replicas %v", p.ID, p.Replicas)
			}
		}
	}
}

func TestKafkaThatCannotStartSaysWhy(t *testing.T) {
	kafkatest.Require(t)
	dir := t.TempDir()
	started := time.Now()
	cluster, err := kafka.Start(t.Context(), kafka.Options{Dir: dir, Config: map[string]string{"log.retention.ms": "long"}})
	if err == nil {
		cluster.Kill()
		t.Fatal("started with an option that cannot be")
	}
	if !strings.Contains(err.Error(), "log.retention.ms") {
		t.Errorf("%v does not name the option", err)
	}
	if took := time.Since(started); took > time.Minute {
		t.Errorf("took %s to say so", took)
	}
}
