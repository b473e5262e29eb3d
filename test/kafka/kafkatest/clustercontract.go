package kafkatest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	client "github.com/sluice-kafka/sluice/internal/kafka"
	"github.com/sluice-kafka/sluice/internal/observed"
)

// Options of Kafka that the promises are about.
const (
	cordonedDirs = "cordoned.log.dirs"
	minInSync    = "min.insync.replicas"
	retention    = "log.retention.ms"
)

// ClusterAdmin is what the cluster controller asks of Kafka.
type ClusterAdmin interface {
	DescribeCluster(ctx context.Context) (observed.Registration, error)
	Features(ctx context.Context) (observed.Features, error)
	Partitions(ctx context.Context) ([]observed.Partition, error)
	LogDirs(ctx context.Context, broker int32) ([]observed.LogDir, error)
	BrokerConfig(ctx context.Context, broker int32) (observed.Config, error)
	DefaultConfig(ctx context.Context) (observed.Config, error)
	Quorum(ctx context.Context) (observed.Quorum, error)
	MinInSyncReplicas(ctx context.Context, topics []string) (map[string]int, error)
	AlterBrokerConfig(ctx context.Context, broker int32, ops []client.ConfigOp) error
	AlterDefaultConfig(ctx context.Context, ops []client.ConfigOp) error
	ClearBrokerConfig(ctx context.Context, broker int32, options []string) error
	UnregisterBroker(ctx context.Context, broker int32) error
	UpdateMetadataVersion(ctx context.Context, version string) error
}

// Driven is a cluster for ClusterContract: of Kafka 4.3 with the brokers 0, 1 and
// 2, which have read ClusterContractConfig from their files, formatted at
// ClusterContractMetadata and without any topic.
type Driven struct {
	ClusterAdmin
	// Kill ends a broker's process without warning; Start starts it with the same
	// file and returns when it serves.
	Kill, Start func(t *testing.T, broker int32)
	// Create makes a topic of one partition, which the cluster places.
	Create func(ctx context.Context, topic string, factor int) error
}

// ClusterContractMetadata is below the level of cordoned.log.dirs, and of a
// cluster with eligible leader replicas.
const ClusterContractMetadata = "4.2-IV1"

// ClusterContractConfig is what every broker has read from its file.
func ClusterContractConfig() map[string]string {
	return map[string]string{cordonedDirs: "*", retention: "3600000"}
}

// ClusterContract checks what the cluster controller relies on. Its steps build
// upon each other.
func ClusterContract(t *testing.T, driven Driven) {
	d := &contract{driven}
	t.Run("below its level a cordon is refused and one in the file does nothing", d.belowLevel)
	t.Run("one in the file begins to bite when the level rises", d.rises)
	t.Run("an empty value lifts what is in the file, deleting does not", d.overStatic)
	t.Run("only a broker's own directories can be cordoned", d.cordonValues)
	t.Run("a call changes all of a broker's options or none", d.allOrNone)
	t.Run("what is set for all is outranked by a broker's own", d.ranks)
	t.Run("a killed broker is fenced, and nobody answers for it", d.killed)
	t.Run("what was set on a broker outlives its registration", d.outlives)
	t.Run("what is cleared before comes back clean", d.cleared)
}

type contract struct{ Driven }

func (d *contract) alter(t *testing.T, broker int32, ops ...client.ConfigOp) {
	t.Helper()
	if err := d.AlterBrokerConfig(t.Context(), broker, ops); err != nil {
		t.Fatalf("changing %+v on broker %d: %v", ops, broker, err)
	}
}

// refused wants a refusal that is no passing trouble.
func refused(t *testing.T, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) || client.Passing(err) {
		t.Errorf("%s: %v, want: %v", what, err, want)
	}
}

func setTo(name, value string) client.ConfigOp { return client.ConfigOp{Name: name, Value: value} }
func unset(name string) client.ConfigOp        { return client.ConfigOp{Name: name, Delete: true} }

// cordoned waits until exactly these brokers say that they are.
func (d *contract) cordoned(t *testing.T, want ...int32) {
	t.Helper()
	Eventually(t, func(ctx context.Context) error {
		var got []int32
		for id := range int32(3) {
			dirs, err := d.LogDirs(ctx, id)
			if err != nil {
				return err
			}
			if dirs[0].Cordoned {
				got = append(got, id)
			}
		}
		if !slices.Equal(got, want) {
			return fmt.Errorf("cordoned are %v, want %v", got, want)
		}
		return nil
	})
}

// has waits until a broker's option has this value, and these sources, highest
// first.
func (d *contract) has(t *testing.T, broker int32, name, value string, sources ...observed.ConfigSource) {
	t.Helper()
	Eventually(t, func(ctx context.Context) error {
		config, err := d.BrokerConfig(ctx, broker)
		if err != nil {
			return err
		}
		var got []observed.ConfigSource
		for _, s := range config[name].Synonyms {
			if s.Name == name && s.Source != observed.SourceKafka {
				got = append(got, s.Source)
			}
		}
		if config[name].Value != value || !slices.Equal(got, sources) {
			return fmt.Errorf("broker %d: %s=%q from %v, want %q from %v", broker, name, config[name].Value, got, value, sources)
		}
		return nil
	})
}

// placesNone waits until a topic has too few brokers to be placed on: the
// controller hears of a cordon with a broker's next heartbeat.
func (d *contract) placesNone(t *testing.T, topic string, factor int) {
	t.Helper()
	tries := 0
	Eventually(t, func(ctx context.Context) error {
		tries++
		err := d.Create(ctx, fmt.Sprintf("%s-%d", topic, tries), factor)
		if !errors.Is(err, client.ErrInvalidReplicationFactor) {
			return fmt.Errorf("a topic of factor %d: %w, want: %w", factor, err, client.ErrInvalidReplicationFactor)
		}
		return nil
	})
}

func (d *contract) belowLevel(t *testing.T) {
	features, err := d.Features(t.Context())
	if err != nil || features.MetadataVersion != ClusterContractMetadata || !features.EligibleLeaderReplicas {
		t.Fatalf("features %+v, %v", features, err)
	}
	refused(t, "SET", d.AlterBrokerConfig(t.Context(), 0, []client.ConfigOp{setTo(cordonedDirs, "*")}), client.ErrInvalidConfig)
	refused(t, "SET to nothing", d.AlterBrokerConfig(t.Context(), 0, []client.ConfigOp{setTo(cordonedDirs, "")}), client.ErrInvalidConfig)
	refused(t, "DELETE", d.AlterBrokerConfig(t.Context(), 0, []client.ConfigOp{unset(cordonedDirs)}), client.ErrInvalidConfig)
	d.cordoned(t)
	d.has(t, 0, cordonedDirs, "*", observed.SourceStatic)
	if err := d.Create(t.Context(), "before", 3); err != nil {
		t.Errorf("a topic: %v", err)
	}
}

func (d *contract) rises(t *testing.T) {
	for _, version := range []string{"4.3-IV0", "4.3-IV0"} {
		if err := d.UpdateMetadataVersion(t.Context(), version); err != nil {
			t.Fatal(err)
		}
	}
	Eventually(t, func(ctx context.Context) error {
		features, err := d.Features(ctx)
		if err == nil && features.MetadataVersion != "4.3-IV0" {
			err = fmt.Errorf("at %s", features.MetadataVersion)
		}
		return err
	})
	refused(t, "lowered", d.UpdateMetadataVersion(t.Context(), ClusterContractMetadata), client.ErrInvalidUpdateVersion)
	refused(t, "to an unknown one", d.UpdateMetadataVersion(t.Context(), "99.0-IV0"), client.ErrInvalidUpdateVersion)
	d.cordoned(t, 0, 1, 2)
	d.placesNone(t, "nowhere", 1)
}

func (d *contract) overStatic(t *testing.T) {
	d.alter(t, 0, unset(cordonedDirs))
	d.has(t, 0, cordonedDirs, "*", observed.SourceStatic)
	d.alter(t, 0, setTo(cordonedDirs, ""))
	d.has(t, 0, cordonedDirs, "", observed.SourceBroker, observed.SourceStatic)
	d.cordoned(t, 1, 2)
	d.placesNone(t, "on-two", 2)
	Eventually(t, func(ctx context.Context) error { return d.Create(ctx, "on-one", 1) })
	d.alter(t, 0, unset(cordonedDirs))
	d.cordoned(t, 0, 1, 2)
	for id := range int32(3) {
		d.alter(t, id, setTo(cordonedDirs, ""))
	}
	d.cordoned(t)
}

func (d *contract) cordonValues(t *testing.T) {
	dirs, err := d.LogDirs(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	for what, value := range map[string]string{"another directory": "/no/such/dir", "all and one": "*," + dirs[0].Path} {
		refused(t, what, d.AlterBrokerConfig(t.Context(), 1, []client.ConfigOp{setTo(cordonedDirs, value)}), client.ErrInvalidRequest)
	}
	refused(t, "for all brokers", d.AlterDefaultConfig(t.Context(), []client.ConfigOp{setTo(cordonedDirs, "*")}), client.ErrInvalidRequest)
	d.alter(t, 1, setTo(cordonedDirs, dirs[0].Path))
	d.cordoned(t, 1)
	d.alter(t, 1, setTo(cordonedDirs, ""))
	d.cordoned(t)
}

func (d *contract) allOrNone(t *testing.T) {
	other := setTo("compression.type", "zstd")
	for what, op := range map[string]client.ConfigOp{
		"a broker's own minimum is set": setTo(minInSync, "2"), "and deleted": unset(minInSync),
	} {
		refused(t, what, d.AlterBrokerConfig(t.Context(), 1, []client.ConfigOp{other, op}), client.ErrInvalidConfig)
	}
	refused(t, "an option that a restart takes",
		d.AlterBrokerConfig(t.Context(), 1, []client.ConfigOp{other, setTo("queued.max.requests", "400")}), client.ErrInvalidRequest)
	refused(t, "the default of the minimum is deleted",
		d.AlterDefaultConfig(t.Context(), []client.ConfigOp{other, unset(minInSync)}), client.ErrInvalidConfig)
	refused(t, "an option that a restart takes, for all",
		d.AlterDefaultConfig(t.Context(), []client.ConfigOp{other, setTo("queued.max.requests", "400")}), client.ErrInvalidRequest)
	d.has(t, 1, other.Name, "producer")
}

func (d *contract) ranks(t *testing.T) {
	if err := d.AlterDefaultConfig(t.Context(), []client.ConfigOp{setTo(retention, "7200000"), setTo(minInSync, "2")}); err != nil {
		t.Fatal(err)
	}
	d.has(t, 1, retention, "7200000", observed.SourceDefault, observed.SourceStatic)
	Eventually(t, func(ctx context.Context) error {
		got, err := d.MinInSyncReplicas(ctx, []string{"before"})
		if err == nil && got["before"] != 2 {
			err = fmt.Errorf("the topic's minimum is %v", got)
		}
		return err
	})
	d.alter(t, 1, setTo(retention, "8000000"))
	d.has(t, 1, retention, "8000000", observed.SourceBroker, observed.SourceDefault, observed.SourceStatic)
	d.has(t, 2, retention, "7200000", observed.SourceDefault, observed.SourceStatic)
	config, err := d.DefaultConfig(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	set := map[string]string{}
	for name, entry := range config {
		if value, ok := entry.Synonym(name, observed.SourceDefault); ok {
			set[name] = value
		}
	}
	if diff := cmp.Diff(map[string]string{retention: "7200000", minInSync: "2"}, set); diff != "" {
		t.Errorf("set for all (-want +got):\n%s", diff)
	}
	if err := d.AlterDefaultConfig(t.Context(), []client.ConfigOp{unset(retention), setTo(minInSync, "1")}); err != nil {
		t.Fatal(err)
	}
	d.alter(t, 1, unset(retention))
	d.has(t, 1, retention, "3600000", observed.SourceStatic)
}

func (d *contract) killed(t *testing.T) {
	d.alter(t, 2, setTo(cordonedDirs, "*"), setTo("compression.type", "zstd"))
	d.cordoned(t, 2)
	d.Kill(t, 2)
	d.isFenced(t)
	for what, err := range map[string]error{
		"its options": second(d.BrokerConfig(t.Context(), 2)), "its directories": second(d.LogDirs(t.Context(), 2)),
		"a change": d.AlterBrokerConfig(t.Context(), 2, []client.ConfigOp{unset(cordonedDirs)}),
	} {
		if !errors.Is(err, client.ErrUnreachable) {
			t.Errorf("%s: %v", what, err)
		}
	}
	Eventually(t, func(ctx context.Context) error {
		partitions, err := d.Partitions(ctx)
		if err != nil {
			return err
		}
		for _, p := range partitions {
			if p.Topic == "before" && (slices.Contains(p.InSync, 2) || p.Leader == 2 || p.Leader < 0 || !slices.Contains(p.Replicas, 2)) {
				return fmt.Errorf("a partition of three, without broker 2: %+v", p)
			}
		}
		return nil
	})
	if q, err := d.Quorum(t.Context()); err != nil || !slices.ContainsFunc(q.Voters, func(v observed.Voter) bool { return v.ID == q.Leader }) {
		t.Errorf("the quorum: %+v, %v", q, err)
	}
}

func second[T any](_ T, err error) error { return err }

// isFenced waits until broker 2 alone is.
func (d *contract) isFenced(t *testing.T) {
	t.Helper()
	Eventually(t, func(ctx context.Context) error {
		r, err := d.DescribeCluster(ctx)
		if err != nil {
			return err
		}
		fenced := map[int32]bool{}
		for _, b := range r.Brokers {
			fenced[b.ID] = b.Fenced
		}
		if want := map[int32]bool{0: false, 1: false, 2: true}; !maps.Equal(fenced, want) {
			return fmt.Errorf("fenced are %v, want %v", fenced, want)
		}
		return nil
	})
}

// forget unregisters broker 2, which is stopped.
func (d *contract) forget(t *testing.T) {
	t.Helper()
	for range 2 { // the second time it is gone already
		if err := d.UnregisterBroker(t.Context(), 2); err != nil {
			t.Fatal(err)
		}
	}
	Eventually(t, func(ctx context.Context) error {
		r, err := d.DescribeCluster(ctx)
		if _, there := r.Broker(2); err == nil && there {
			err = fmt.Errorf("registered: %+v", r.Brokers)
		}
		return err
	})
	refused(t, "cleared after it was unregistered", d.ClearBrokerConfig(t.Context(), 2, []string{"compression.type"}), client.ErrBrokerNotRegistered)
}

func (d *contract) outlives(t *testing.T) {
	d.forget(t)
	d.Start(t, 2)
	d.has(t, 2, cordonedDirs, "*", observed.SourceBroker, observed.SourceStatic)
	d.has(t, 2, "compression.type", "zstd", observed.SourceBroker)
	d.cordoned(t, 2)
}

func (d *contract) cleared(t *testing.T) {
	d.Kill(t, 2)
	d.isFenced(t)
	if err := d.ClearBrokerConfig(t.Context(), 2, []string{"compression.type", cordonedDirs, retention}); err != nil {
		t.Fatal(err)
	}
	d.forget(t)
	d.Start(t, 2)
	d.has(t, 2, "compression.type", "producer")
	d.has(t, 2, cordonedDirs, "*", observed.SourceStatic) // of its file
	d.cordoned(t, 2)
}
