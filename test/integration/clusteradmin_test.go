package integration

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	client "github.com/sluice-kafka/sluice/internal/kafka"
	"github.com/sluice-kafka/sluice/internal/observed"
	"github.com/sluice-kafka/sluice/test/kafka"
	"github.com/sluice-kafka/sluice/test/kafka/kafkatest"
)

const cordoned = "cordoned.log.dirs"

// adminVersions are the versions of Kafka on which the calls of the cluster
// controller are tried, each begun at an older metadata version and raised to the
// newer one.
var adminVersions = map[string]struct {
	before, after string
	// cordons tells that the version has cordoned.log.dirs, which bites at after.
	cordons bool
}{
	"4.2.1": {before: "4.1-IV1", after: "4.2-IV1"},
	"4.3.1": {before: "4.2-IV1", after: "4.3-IV0", cordons: true},
	"4.4.0": {before: "4.2-IV1", after: "4.4-IV0", cordons: true},
}

// TestClusterAdmin runs on the default version of Kafka, and on every known one
// with SLUICE_KAFKA_VERSIONS=all. Its steps share a cluster and build upon each
// other: what they need of it takes most of the time.
func TestClusterAdmin(t *testing.T) {
	versions := []string{kafka.DefaultVersion}
	if os.Getenv("SLUICE_KAFKA_VERSIONS") == "all" {
		versions = kafka.Versions()
	}
	for _, version := range versions {
		t.Run(version, func(t *testing.T) {
			v, known := adminVersions[version]
			if !known {
				t.Fatalf("say in adminVersions at which metadata versions Kafka %s is to be tried", version)
			}
			cluster := kafkatest.Start(t, kafka.Options{Version: version, MetadataVersion: v.before, Brokers: 3})
			a := newAdmin(t, cluster)
			a.createTopics(t)
			t.Run("one look shows the whole cluster", func(t *testing.T) { a.look(t, v.before) })
			if v.cordons {
				t.Run("below its level cordoning is refused", a.refusedCordon)
			}
			t.Run("the metadata version rises", func(t *testing.T) { a.raise(t, v.before, v.after) })
			if v.cordons {
				t.Run("at its level a broker is cordoned and uncordoned", a.cordon)
			}
			t.Run("options are set for all brokers", a.defaults)
			t.Run("a broker's min.insync.replicas is refused", a.brokerMinInSync)
			t.Run("a reassignment in flight shows", a.reassignment)
			t.Run("a dead broker fails alone and fast", func(t *testing.T) { a.dead(t, v.cordons) })
			t.Run("a removed broker comes back clean", a.remove)
		})
	}
}

// admin is a client under test, with another to make what it must see.
type admin struct {
	*client.Client
	cluster *kafka.Cluster
	calls   *kafkatest.Calls
	raw     *kgo.Client
}

func newAdmin(t *testing.T, cluster *kafka.Cluster) *admin {
	t.Helper()
	a := &admin{cluster: cluster, calls: &kafkatest.Calls{}}
	var err error
	a.Client, err = client.New(client.Config{BootstrapServers: cluster.Bootstrap(), Controllers: cluster.Controllers(), Observe: a.calls.Observe})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.Close)
	if a.raw, err = kgo.NewClient(kgo.SeedBrokers(cluster.Bootstrap()...)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.raw.Close)
	return a
}

// adminReplicas are those of what createTopics makes.
const adminReplicas = 2*3 + 1 + 3*3

// createTopics makes topics, an internal one among them, and waits until every
// broker knows of all of them and has its replicas.
func (a *admin) createTopics(t *testing.T) {
	created, err := a.CreateTopics(t.Context(), []client.NewTopic{
		{Name: "admin-all", Partitions: 2, ReplicationFactor: 3, Config: map[string]string{"min.insync.replicas": "2"}},
		{Name: "admin-one", Partitions: 1, ReplicationFactor: 1},
	})
	wantCreated(t, created, err, nil, "admin-all", "admin-one")
	// That somebody asks for a group is what creates the topic of all groups.
	find := kmsg.NewPtrFindCoordinatorRequest()
	find.CoordinatorKeys = []string{"admin"}
	kafkatest.Eventually(t, func(ctx context.Context) error {
		if _, err := find.RequestWith(ctx, a.raw); err != nil {
			return err
		}
		held := int64(0)
		for broker := range int32(3) {
			// Each of three looks is answered by another broker.
			partitions, err := a.Partitions(ctx)
			if err != nil {
				return err
			}
			if unready := slices.IndexFunc(partitions, func(p observed.Partition) bool { return p.Leader < 0 || len(p.InSync) != len(p.Replicas) }); unready >= 0 {
				return fmt.Errorf("not in sync: %+v", partitions[unready])
			}
			if len(partitions) != 6 {
				return fmt.Errorf("%d partitions, want 2, 1 and 3 internal ones", len(partitions))
			}
			dirs, err := a.LogDirs(ctx, broker)
			if err != nil {
				return err
			}
			held += dirs[0].Replicas
		}
		if held != adminReplicas {
			return fmt.Errorf("%d replicas in the log directories, want %d", held, adminReplicas)
		}
		return nil
	})
	a.calls.Take()
}

func (a *admin) look(t *testing.T, metadataVersion string) {
	registration, err := a.DescribeCluster(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if registration.ClusterID == "" {
		t.Error("no cluster ID")
	}
	want := []observed.Broker{{ID: 0}, {ID: 1}, {ID: 2}}
	if diff := cmp.Diff(want, registration.Brokers); diff != "" {
		t.Errorf("brokers (-want +got):\n%s", diff)
	}
	features, err := a.Features(t.Context())
	if err != nil || features.MetadataVersion != metadataVersion {
		t.Errorf("features %+v, %v, want metadata version %s", features, err, metadataVersion)
	}
	if !features.EligibleLeaderReplicas {
		t.Error("eligible leader replicas are off: Kafka turns them on in new clusters since 4.1")
	}
	partitions, err := a.Partitions(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	a.wantPartitions(t, partitions)
	held := int64(0)
	for broker := range int32(3) {
		held += a.lookAt(t, broker)
	}
	if held != adminReplicas {
		t.Errorf("%d replicas in the log directories", held)
	}
	if config, err := a.DefaultConfig(t.Context()); err != nil || len(config[cordoned].Synonyms) != 0 {
		t.Errorf("set for all: %v, %v", config, err)
	}
	wantCalls(t, a.calls, map[string]int{
		"DescribeCluster": 1, "ApiVersions": 1, "Metadata": 1, "ListPartitionReassignments": 1, "DescribeLogDirs": 3, "DescribeConfigs": 4,
	})
	quorum, err := a.Quorum(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(quorum.Voters) != 1 || quorum.Leader != quorum.Voters[0].ID || quorum.Voters[0].LogEndOffset <= 0 || time.Since(quorum.Voters[0].LastCaughtUp) > time.Minute {
		t.Errorf("the quorum of one controller: %+v", quorum)
	}
}

func (a *admin) wantPartitions(t *testing.T, partitions []observed.Partition) {
	t.Helper()
	var names []string
	for _, p := range partitions {
		names = append(names, fmt.Sprintf("%s-%d", p.Topic, p.ID))
		if len(p.Adding)+len(p.Removing) > 0 || !slices.Contains(p.Replicas, p.Leader) {
			t.Errorf("at rest: %+v", p)
		}
	}
	want := []string{"__consumer_offsets-0", "__consumer_offsets-1", "__consumer_offsets-2", "admin-all-0", "admin-all-1", "admin-one-0"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("partitions (-want +got):\n%s", diff)
	}
}

// lookAt reads what a broker says of itself and returns the replicas that it
// holds.
func (a *admin) lookAt(t *testing.T, broker int32) int64 {
	t.Helper()
	dirs, err := a.LogDirs(t.Context(), broker)
	if err != nil {
		t.Fatal(err)
	}
	config, err := a.BrokerConfig(t.Context(), broker)
	if err != nil {
		t.Fatal(err)
	}
	if len(dirs) != 1 || dirs[0].Path != config["log.dirs"].Value || dirs[0].Cordoned || dirs[0].Offline {
		t.Errorf("broker %d: log directories %+v, configured %q", broker, dirs, config["log.dirs"].Value)
	}
	if id, ok := config["node.id"].Synonym("node.id", observed.SourceStatic); !ok || id != fmt.Sprint(broker) {
		t.Errorf("broker %d: node.id in its file is %q, of %+v", broker, id, config["node.id"])
	}
	return dirs[0].Replicas
}

func (a *admin) refusedCordon(t *testing.T) {
	for name, op := range map[string]client.ConfigOp{"SET": {Name: cordoned, Value: "*"}, "DELETE": {Name: cordoned, Delete: true}} {
		err := a.AlterBrokerConfig(t.Context(), 0, []client.ConfigOp{op})
		if !errors.Is(err, client.ErrInvalidConfig) || client.Passing(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// One that cannot be set needs no clearing.
	if err := a.ClearBrokerConfig(t.Context(), 0, []string{"log.retention.ms", cordoned}); err != nil {
		t.Errorf("cleared: %v", err)
	}
}

func (a *admin) raise(t *testing.T, before, after string) {
	for _, version := range []string{before, after, after} {
		if err := a.UpdateMetadataVersion(t.Context(), version); err != nil {
			t.Errorf("to %s: %v", version, err)
		}
	}
	kafkatest.Eventually(t, func(ctx context.Context) error {
		features, err := a.Features(ctx)
		if err == nil && features.MetadataVersion != after {
			err = fmt.Errorf("at %s", features.MetadataVersion)
		}
		return err
	})
	if err := a.UpdateMetadataVersion(t.Context(), before); !errors.Is(err, client.ErrInvalidUpdateVersion) || client.Passing(err) {
		t.Errorf("lowered: %v", err)
	}
	if err := a.UpdateMetadataVersion(t.Context(), "99.0-IV0"); !errors.Is(err, client.ErrInvalidUpdateVersion) {
		t.Errorf("to an unknown one: %v", err)
	}
}

func (a *admin) cordon(t *testing.T) {
	steps := []struct {
		op       client.ConfigOp
		cordoned bool
		set      bool
	}{
		{op: client.ConfigOp{Name: cordoned, Value: "*"}, cordoned: true, set: true},
		{op: client.ConfigOp{Name: cordoned, Value: ""}, set: true},
		{op: client.ConfigOp{Name: cordoned, Value: "*"}, cordoned: true, set: true},
		{op: client.ConfigOp{Name: cordoned, Delete: true}},
	}
	for _, step := range steps {
		a.calls.Take()
		if err := a.AlterBrokerConfig(t.Context(), 1, []client.ConfigOp{step.op}); err != nil {
			t.Fatalf("%+v: %v", step.op, err)
		}
		wantCalls(t, a.calls, map[string]int{"IncrementalAlterConfigs": 1})
		a.wantCordon(t, 1, step.cordoned)
		a.wantSet(t, 1, map[string]bool{cordoned: step.set})
	}
	a.wantCordon(t, 0, false)
	err := a.AlterDefaultConfig(t.Context(), []client.ConfigOp{{Name: cordoned, Value: "*"}})
	if !errors.Is(err, client.ErrInvalidRequest) {
		t.Errorf("all brokers at once: %v", err)
	}
}

// wantCordon waits until the broker says so.
func (a *admin) wantCordon(t *testing.T, broker int32, want bool) {
	t.Helper()
	kafkatest.Eventually(t, func(ctx context.Context) error {
		dirs, err := a.LogDirs(ctx, broker)
		if err == nil && dirs[0].Cordoned != want {
			err = fmt.Errorf("broker %d: %+v", broker, dirs)
		}
		return err
	})
}

// wantSet waits until the broker says of each option whether it is set on it.
func (a *admin) wantSet(t *testing.T, broker int32, want map[string]bool) {
	t.Helper()
	kafkatest.Eventually(t, func(ctx context.Context) error {
		config, err := a.BrokerConfig(ctx, broker)
		if err != nil {
			return err
		}
		got := map[string]bool{}
		for name := range want {
			_, got[name] = config[name].Synonym(name, observed.SourceBroker)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			return fmt.Errorf("set on broker %d (-want +got):\n%s", broker, diff)
		}
		return nil
	})
}

func (a *admin) defaults(t *testing.T) {
	effective := func(want map[string]int) {
		t.Helper()
		kafkatest.Eventually(t, func(ctx context.Context) error {
			got, err := a.MinInSyncReplicas(ctx, []string{"admin-all", "admin-one", "admin-none"})
			if diff := cmp.Diff(want, got); diff != "" {
				err = errors.Join(err, fmt.Errorf("min.insync.replicas (-want +got):\n%s", diff))
			}
			return err
		})
	}
	effective(map[string]int{"admin-all": 2, "admin-one": 1})
	err := a.AlterDefaultConfig(t.Context(), []client.ConfigOp{{Name: "min.insync.replicas", Value: "3"}, {Name: "log.retention.ms", Value: "777777"}})
	if err != nil {
		t.Fatal(err)
	}
	effective(map[string]int{"admin-all": 2, "admin-one": 3})
	kafkatest.Eventually(t, func(ctx context.Context) error {
		config, err := a.DefaultConfig(ctx)
		if err != nil {
			return err
		}
		for name, want := range map[string]string{"min.insync.replicas": "3", "log.retention.ms": "777777"} {
			if got, ok := config[name].Synonym(name, observed.SourceDefault); !ok || got != want || config[name].Value != want {
				return fmt.Errorf("%s: %+v", name, config[name])
			}
		}
		if names := slices.Sorted(maps.Keys(config)); len(names) != 2 {
			return fmt.Errorf("set for all: %v", names)
		}
		return nil
	})
	// One bad option takes the other with it. What is no number a broker refuses
	// before the controller is asked, which would say ErrInvalidConfig.
	err = a.AlterDefaultConfig(t.Context(), []client.ConfigOp{{Name: "min.insync.replicas", Value: "1"}, {Name: "log.retention.ms", Value: "soon"}})
	if !errors.Is(err, client.ErrInvalidRequest) {
		t.Errorf("a bad value: %v", err)
	}
	// With eligible leader replicas the default may not be deleted.
	err = a.AlterDefaultConfig(t.Context(), []client.ConfigOp{{Name: "min.insync.replicas", Delete: true}})
	if !errors.Is(err, client.ErrInvalidConfig) {
		t.Errorf("deleted: %v", err)
	}
	err = a.AlterDefaultConfig(t.Context(), []client.ConfigOp{{Name: "min.insync.replicas", Value: "1"}, {Name: "log.retention.ms", Delete: true}})
	if err != nil {
		t.Fatal(err)
	}
	effective(map[string]int{"admin-all": 2, "admin-one": 1})
}

func (a *admin) brokerMinInSync(t *testing.T) {
	other := client.ConfigOp{Name: "log.retention.ms", Value: "888888"}
	for name, op := range map[string]client.ConfigOp{
		"SET":    {Name: "min.insync.replicas", Value: "2"},
		"DELETE": {Name: "min.insync.replicas", Delete: true},
	} {
		err := a.AlterBrokerConfig(t.Context(), 1, []client.ConfigOp{other, op})
		if !errors.Is(err, client.ErrInvalidConfig) {
			t.Errorf("%s: %v", name, err)
		}
	}
	a.wantSet(t, 1, map[string]bool{"log.retention.ms": false, "min.insync.replicas": false})
}

// reassignment moves a replica with more data than a throttle lets through at
// first, and cancels that.
func (a *admin) reassignment(t *testing.T) {
	const topic = "admin-one"
	from := a.partition(t, topic)
	source := from.Replicas[0]
	target := (source + 1) % 3
	a.fill(t, topic)
	// A byte a second: after the first fetch, of a megabyte, it waits for as long
	// as Kafka's quotas look back, eleven seconds.
	throttle := []client.ConfigOp{{Name: "leader.replication.throttled.rate", Value: "1"}}
	if err := a.AlterBrokerConfig(t.Context(), source, throttle); err != nil {
		t.Fatal(err)
	}
	throttled := client.TopicConfigChange{Name: topic, Ops: []client.ConfigOp{{Name: "leader.replication.throttled.replicas", Value: "*"}}}
	if altered, err := a.AlterTopicConfigs(t.Context(), []client.TopicConfigChange{throttled}); err != nil || altered[topic] != nil {
		t.Fatal(err, altered)
	}
	a.wantSet(t, source, map[string]bool{throttle[0].Name: true})

	a.reassign(t, topic, []int32{target})
	if p := a.partition(t, topic); !slices.Equal(p.Adding, []int32{target}) || !slices.Equal(p.Removing, []int32{source}) ||
		!slices.Equal(slices.Sorted(slices.Values(p.Replicas)), slices.Sorted(slices.Values([]int32{source, target}))) || p.Leader != source {
		t.Errorf("on the way from %d to %d: %+v", source, target, p)
	}
	a.reassign(t, topic, nil)
	kafkatest.Eventually(t, func(context.Context) error {
		if diff := cmp.Diff(from, a.partition(t, topic)); diff != "" {
			return fmt.Errorf("cancelled (-before +after):\n%s", diff)
		}
		return nil
	})
	throttle[0] = client.ConfigOp{Name: throttle[0].Name, Delete: true}
	if err := a.AlterBrokerConfig(t.Context(), source, throttle); err != nil {
		t.Fatal(err)
	}
}

// fill writes five megabytes, not compressed, to the topic's first partition.
func (a *admin) fill(t *testing.T, topic string) {
	t.Helper()
	producer, err := kgo.NewClient(kgo.SeedBrokers(a.cluster.Bootstrap()...), kgo.DefaultProduceTopic(topic), kgo.ProducerBatchCompression(kgo.NoCompression()))
	if err != nil {
		t.Fatal(err)
	}
	defer producer.Close()
	var records []*kgo.Record
	for range 10 {
		records = append(records, &kgo.Record{Value: make([]byte, 500_000)})
	}
	if err := producer.ProduceSync(t.Context(), records...).FirstErr(); err != nil {
		t.Fatal(err)
	}
}

func (a *admin) partition(t *testing.T, topic string) observed.Partition {
	t.Helper()
	partitions, err := a.Partitions(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(partitions, func(p observed.Partition) bool { return p.Topic == topic })
	if i < 0 {
		t.Fatalf("no topic %s", topic)
	}
	return partitions[i]
}

// reassign moves the topic's first partition, or cancels that without replicas.
func (a *admin) reassign(t *testing.T, name string, to []int32) {
	t.Helper()
	topic := kmsg.NewAlterPartitionAssignmentsRequestTopic()
	topic.Topic = name
	partition := kmsg.NewAlterPartitionAssignmentsRequestTopicPartition()
	partition.Replicas = to
	topic.Partitions = append(topic.Partitions, partition)
	req := kmsg.NewPtrAlterPartitionAssignmentsRequest()
	req.Topics = append(req.Topics, topic)
	resp, err := req.RequestWith(t.Context(), a.raw)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(kerr.ErrorForCode(resp.ErrorCode), kerr.ErrorForCode(resp.Topics[0].Partitions[0].ErrorCode)); err != nil {
		t.Fatalf("reassigning to %v: %v", to, err)
	}
}

// dead kills broker 2, with options set on it, and leaves it so.
func (a *admin) dead(t *testing.T, cordons bool) {
	ops := []client.ConfigOp{{Name: "log.retention.ms", Value: "999999"}}
	if cordons {
		ops = append(ops, client.ConfigOp{Name: cordoned, Value: "*"})
	}
	if err := a.AlterBrokerConfig(t.Context(), 2, ops); err != nil {
		t.Fatal(err)
	}
	a.wantSet(t, 2, map[string]bool{"log.retention.ms": true, cordoned: cordons})
	if err := a.cluster.KillNode(2); err != nil {
		t.Fatal(err)
	}
	// The controller believes it to live for a while.
	a.wantUnreachable(t, 2)
	kafkatest.Eventually(t, func(ctx context.Context) error {
		registration, err := a.DescribeCluster(ctx)
		if err != nil {
			return err
		}
		if diff := cmp.Diff([]observed.Broker{{ID: 0}, {ID: 1}, {ID: 2, Fenced: true}}, registration.Brokers); diff != "" {
			return fmt.Errorf("brokers (-want +got):\n%s", diff)
		}
		return nil
	})
	a.wantUnreachable(t, 2)
	// As many as there are brokers, so that each would have had its turn.
	for range 3 {
		_, err1 := a.Features(t.Context())
		_, err2 := a.Partitions(t.Context())
		_, err3 := a.Quorum(t.Context())
		_, err4 := a.DefaultConfig(t.Context())
		if err := errors.Join(err1, err2, err3, err4); err != nil {
			t.Errorf("what the others can answer: %v", err)
		}
	}
}

// wantUnreachable checks that one broker's calls fail, and fast, while another's
// go through.
func (a *admin) wantUnreachable(t *testing.T, broker int32) {
	t.Helper()
	start := time.Now()
	_, err1 := a.BrokerConfig(t.Context(), broker)
	_, err2 := a.LogDirs(t.Context(), broker)
	err3 := a.AlterBrokerConfig(t.Context(), broker, []client.ConfigOp{{Name: "log.retention.ms", Value: "1"}})
	for _, err := range []error{err1, err2, err3} {
		if !errors.Is(err, client.ErrUnreachable) || !client.Passing(err) {
			t.Errorf("broker %d: %v", broker, err)
		}
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("that broker %d is dead took %s to say three times", broker, took)
	}
	if _, err := a.BrokerConfig(t.Context(), 0); err != nil {
		t.Errorf("another broker: %v", err)
	}
}

// remove clears and unregisters the dead broker, and starts it again.
func (a *admin) remove(t *testing.T) {
	a.calls.Take()
	// As many calls as the refused option makes of one.
	if err := a.ClearBrokerConfig(t.Context(), 2, []string{"log.retention.ms", "min.insync.replicas", cordoned}); err != nil {
		t.Fatal(err)
	}
	wantCalls(t, a.calls, map[string]int{"IncrementalAlterConfigs": 4})
	for range 2 {
		if err := a.UnregisterBroker(t.Context(), 2); err != nil {
			t.Fatal(err)
		}
	}
	wantCalls(t, a.calls, map[string]int{"UnregisterBroker": 2})
	if err := a.ClearBrokerConfig(t.Context(), 2, []string{"log.retention.ms"}); !errors.Is(err, client.ErrBrokerNotRegistered) || client.Passing(err) {
		t.Errorf("cleared after it was unregistered: %v", err)
	}
	kafkatest.Eventually(t, func(ctx context.Context) error {
		registration, err := a.DescribeCluster(ctx)
		if _, there := registration.Broker(2); err == nil && there {
			err = fmt.Errorf("registered: %+v", registration.Brokers)
		}
		return err
	})
	a.wantUnreachable(t, 2)
	if err := a.cluster.StartNode(t.Context(), 2); err != nil {
		t.Fatal(err)
	}
	a.wantCordon(t, 2, false)
	config, err := a.BrokerConfig(t.Context(), 2)
	if err != nil {
		t.Fatal(err)
	}
	for name, entry := range config {
		if value, ok := entry.Synonym(name, observed.SourceBroker); ok {
			t.Errorf("%s came back as %q", name, value)
		}
	}
}
