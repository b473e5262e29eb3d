package kafkatest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	client "github.com/sluice-kafka/sluice/internal/kafka"
)

func (s *suite) createMixed(t *testing.T) {
	created, err := s.client.CreateTopics(t.Context(), []client.NewTopic{
		{Name: "contract-mixed-1", Partitions: 1, ReplicationFactor: 1},
		{Name: "contract-mixed-12", Partitions: 12, ReplicationFactor: 1, Config: map[string]string{"retention.ms": "1000", "cleanup.policy": "compact"}},
		{Name: "contract-mixed-default", Partitions: -1, ReplicationFactor: -1, Config: map[string]string{"segment.bytes": "1048576", minInSync: "2"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	wantErrors(t, createErrors(created), map[string]error{"contract-mixed-1": nil, "contract-mixed-12": nil, "contract-mixed-default": nil})
	s.wantCalls(t, map[string]int{"CreateTopics": 1})

	names := []string{"contract-mixed-1", "contract-mixed-12", "contract-mixed-default"}
	s.shown(t, names...)
	s.calls.Take()
	seen, err := s.client.DescribeTopics(t.Context(), names)
	if err != nil {
		t.Fatal(err)
	}
	s.wantCalls(t, map[string]int{"Metadata": 1})
	for _, name := range names {
		made := created[name]
		if made.ID == "" || made.ID != seen[name].ID {
			t.Errorf("%s: created as %q, described as %q", name, made.ID, seen[name].ID)
		}
		if len(seen[name].Partitions) != int(made.Partitions) {
			t.Errorf("%s: created with %d partitions, described with %d", name, made.Partitions, len(seen[name].Partitions))
		}
		wantReplicas(t, name, seen[name], int(made.ReplicationFactor))
	}
	s.wantMinInSync(t, created["contract-mixed-default"], "2")
	if s.traits.TellsDefaults {
		s.wantMinInSync(t, created["contract-mixed-1"], "1")
	}
	if diff := cmp.Diff([]int32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, partitionIDs(seen["contract-mixed-12"])); diff != "" {
		t.Errorf("partitions (-want +got):\n%s", diff)
	}

	configs, err := s.client.DescribeTopicConfigs(t.Context(), names)
	if err != nil {
		t.Fatal(err)
	}
	s.wantCalls(t, map[string]int{"DescribeConfigs": 1})
	wantEntry(t, configs["contract-mixed-12"], "retention.ms", "1000", true)
	wantEntry(t, configs["contract-mixed-12"], "cleanup.policy", "compact", true)
	wantEntry(t, configs["contract-mixed-default"], "segment.bytes", "1048576", true)
	wantEntry(t, configs["contract-mixed-1"], "retention.ms", "604800000", false)
	wantEntry(t, configs["contract-mixed-1"], minInSync, "1", false)
	wantEntry(t, configs["contract-mixed-default"], minInSync, "2", true)
}

func (s *suite) wantMinInSync(t *testing.T, made client.CreatedTopic, want string) {
	t.Helper()
	if made.MinInSync != want {
		t.Errorf("created with %s=%q, want %q", minInSync, made.MinInSync, want)
	}
}

func (s *suite) createBad(t *testing.T) {
	s.create(t, "contract-bad.there")
	created, err := s.client.CreateTopics(t.Context(), []client.NewTopic{
		{Name: "contract-bad.there", Partitions: 1, ReplicationFactor: 1},
		{Name: "contract-bad_there", Partitions: 1, ReplicationFactor: 1},
		{Name: "contract-bad-rf", Partitions: 1, ReplicationFactor: 100},
		{Name: "contract-bad-partitions", Partitions: 0, ReplicationFactor: 1},
		{Name: "contract-bad-good", Partitions: 2, ReplicationFactor: 1},
	})
	if err != nil {
		t.Fatal(err)
	}
	wantErrors(t, createErrors(created), map[string]error{
		"contract-bad.there":      client.ErrTopicExists,
		"contract-bad_there":      client.ErrInvalidTopic,
		"contract-bad-rf":         client.ErrInvalidReplicationFactor,
		"contract-bad-partitions": client.ErrInvalidPartitions,
		"contract-bad-good":       nil,
	})
	if !s.traits.ChecksOptions {
		return
	}
	created, err = s.client.CreateTopics(t.Context(), []client.NewTopic{
		{Name: "contract-bad/name", Partitions: 1, ReplicationFactor: 1},
		{Name: "contract-bad-value", Partitions: 1, ReplicationFactor: 1, Config: map[string]string{"retention.ms": "soon"}},
		{Name: "contract-bad-option", Partitions: 1, ReplicationFactor: 1, Config: map[string]string{"retention.millis": "1"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	wantErrors(t, createErrors(created), map[string]error{
		"contract-bad/name":   client.ErrInvalidTopic,
		"contract-bad-value":  client.ErrInvalidConfig,
		"contract-bad-option": client.ErrInvalidConfig,
	})
	if e := created["contract-bad-value"].Err; !strings.Contains(e.Error(), "soon") {
		t.Errorf("the error lost Kafka's own message: %v", e)
	}
}

func (s *suite) describeUnknown(t *testing.T) {
	s.create(t, "contract-known")
	names := []string{"contract-known", "contract-unknown", "contract-known"}
	seen, err := s.client.DescribeTopics(t.Context(), names)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]error{}
	for name, d := range seen {
		got[name] = d.Err
	}
	wantErrors(t, got, map[string]error{"contract-known": nil, "contract-unknown": client.ErrUnknownTopic})

	configs, err := s.client.DescribeTopicConfigs(t.Context(), names)
	if err != nil {
		t.Fatal(err)
	}
	got = map[string]error{}
	for name, c := range configs {
		got[name] = c.Err
	}
	wantErrors(t, got, map[string]error{"contract-known": nil, "contract-unknown": client.ErrUnknownTopic})

	// A describe must not have created it.
	seen, err = s.client.DescribeTopics(t.Context(), []string{"contract-unknown"})
	if err != nil {
		t.Fatal(err)
	}
	if err := seen["contract-unknown"].Err; !errors.Is(err, client.ErrUnknownTopic) {
		t.Errorf("described again: %v, want that it is unknown", err)
	}
}

func (s *suite) values(t *testing.T) {
	given := map[string]string{
		"min.cleanable.dirty.ratio": "0.50",
		"cleanup.policy":            "compact, delete",
		"preallocate":               "TRUE",
		"retention.ms":              " 0100 ",
	}
	kept := map[string]string{
		"min.cleanable.dirty.ratio": "0.5",
		"cleanup.policy":            "compact,delete",
		"preallocate":               "true",
		"retention.ms":              "100",
	}
	if !s.traits.NormalisesValues {
		kept = given
	}
	created, err := s.client.CreateTopics(t.Context(), []client.NewTopic{{Name: "contract-values", Partitions: 1, ReplicationFactor: 1, Config: given}})
	if err != nil {
		t.Fatal(err)
	}
	wantErrors(t, createErrors(created), map[string]error{"contract-values": nil})
	s.shown(t, "contract-values")
	configs, err := s.client.DescribeTopicConfigs(t.Context(), []string{"contract-values"})
	if err != nil {
		t.Fatal(err)
	}
	config := configs["contract-values"]
	for option, value := range kept {
		wantEntry(t, config, option, value, true)
	}
	types := map[string]client.ConfigType{
		"retention.ms":   client.ConfigTypeLong,
		"segment.bytes":  client.ConfigTypeInt,
		"cleanup.policy": client.ConfigTypeList,
	}
	if s.traits.ChecksOptions {
		types["preallocate"] = client.ConfigTypeBoolean
		types["min.cleanable.dirty.ratio"] = client.ConfigTypeDouble
		types["compression.type"] = client.ConfigTypeString
	}
	for option, want := range types {
		if got := config.Entries[option].Type; got != want {
			t.Errorf("%s: type %d, want %d", option, got, want)
		}
	}
}

func (s *suite) alter(t *testing.T) {
	s.create(t, "contract-alter-a", "contract-alter-b")
	changes := []client.TopicConfigChange{
		{Name: "contract-alter-a", Ops: []client.ConfigOp{{Name: "retention.ms", Value: "5000"}, {Name: "segment.bytes", Value: "1048576"}}},
		{Name: "contract-alter-b", Ops: []client.ConfigOp{{Name: "cleanup.policy", Value: "compact"}}},
		{Name: "contract-alter-none", Ops: []client.ConfigOp{{Name: "cleanup.policy", Value: "compact"}}},
	}
	got, err := s.client.AlterTopicConfigs(t.Context(), changes)
	if err != nil {
		t.Fatal(err)
	}
	s.wantCalls(t, map[string]int{"IncrementalAlterConfigs": 1})
	wantErrors(t, got, map[string]error{"contract-alter-a": nil, "contract-alter-b": nil, "contract-alter-none": client.ErrUnknownTopic})
	s.configs(t, "contract-alter-a", map[string]string{"retention.ms": "5000", "segment.bytes": "1048576"})
	s.configs(t, "contract-alter-b", map[string]string{"cleanup.policy": "compact"})

	got, err = s.client.AlterTopicConfigs(t.Context(), []client.TopicConfigChange{
		{Name: "contract-alter-a", Ops: []client.ConfigOp{{Name: "retention.ms", Delete: true}, {Name: "segment.bytes", Value: "2097152"}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	wantErrors(t, got, map[string]error{"contract-alter-a": nil})
	s.configs(t, "contract-alter-a", map[string]string{"segment.bytes": "2097152"})
}

// configs waits until exactly these options are set on the topic.
func (s *suite) configs(t *testing.T, name string, want map[string]string) {
	t.Helper()
	Eventually(t, func(ctx context.Context) error {
		configs, err := s.client.DescribeTopicConfigs(ctx, []string{name})
		if err != nil {
			return err
		}
		got := map[string]string{}
		for option, e := range configs[name].Entries {
			if e.Dynamic {
				got[option] = e.Value
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			return fmt.Errorf("%s: options (-want +got):\n%s", name, diff)
		}
		return nil
	})
	s.some(t, name, want)
}

// some holds the answer to what is set on the topic and the option that is named.
func (s *suite) some(t *testing.T, name string, set map[string]string) {
	t.Helper()
	const named = "max.message.bytes"
	configs, err := s.client.DescribeTopicConfigs(t.Context(), []string{name}, named)
	if err != nil {
		t.Fatal(err)
	}
	want := slices.Sorted(maps.Keys(set))
	if _, ok := set[named]; !ok {
		want = slices.Sorted(slices.Values(append(want, named)))
	}
	if got := slices.Sorted(maps.Keys(configs[name].Entries)); !slices.Equal(got, want) {
		t.Errorf("%s: the answer has the options %v, want %v", name, got, want)
	}
}

func (s *suite) alterBad(t *testing.T) {
	s.create(t, "contract-atomic-bad", "contract-atomic-good")
	got, err := s.client.AlterTopicConfigs(t.Context(), []client.TopicConfigChange{
		{Name: "contract-atomic-bad", Ops: []client.ConfigOp{{Name: "retention.ms", Value: "5000"}, {Name: "segment.bytes", Value: "large"}}},
		{Name: "contract-atomic-good", Ops: []client.ConfigOp{{Name: "retention.ms", Value: "5000"}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	wantErrors(t, got, map[string]error{"contract-atomic-bad": client.ErrInvalidConfig, "contract-atomic-good": nil})
	// Once the good change is seen, the bad one would be as well: it came first.
	s.configs(t, "contract-atomic-good", map[string]string{"retention.ms": "5000"})
	s.configs(t, "contract-atomic-bad", map[string]string{})
}

func (s *suite) grow(t *testing.T) {
	s.create(t, "contract-grow-a", "contract-grow-b", "contract-grow-same")
	got, err := s.client.CreatePartitions(t.Context(), []client.PartitionGrowth{
		{Name: "contract-grow-a", Total: 3},
		{Name: "contract-grow-b", Total: 7},
		{Name: "contract-grow-same", Total: 1},
		{Name: "contract-grow-none", Total: 2},
	})
	if err != nil {
		t.Fatal(err)
	}
	s.wantCalls(t, map[string]int{"CreatePartitions": 1})
	same := client.ErrInvalidPartitions
	if !s.traits.RefusesSameCount {
		same = nil
	}
	wantErrors(t, got, map[string]error{
		"contract-grow-a":    nil,
		"contract-grow-b":    nil,
		"contract-grow-same": same,
		"contract-grow-none": client.ErrUnknownTopic,
	})
	want := map[string]int{"contract-grow-a": 3, "contract-grow-b": 7, "contract-grow-same": 1}
	Eventually(t, func(ctx context.Context) error {
		seen, err := s.client.DescribeTopics(ctx, []string{"contract-grow-a", "contract-grow-b", "contract-grow-same"})
		if err != nil {
			return err
		}
		counts := map[string]int{}
		for name, d := range seen {
			counts[name] = len(d.Partitions)
		}
		if diff := cmp.Diff(want, counts); diff != "" {
			return fmt.Errorf("partitions (-want +got):\n%s", diff)
		}
		return nil
	})
}

func (s *suite) delete(t *testing.T) {
	s.create(t, "contract-delete-a", "contract-delete-b", "contract-delete-kept")
	b := s.id(t, "contract-delete-b")
	got, err := s.client.DeleteTopics(t.Context(), []client.TopicDeletion{
		{Name: "contract-delete-a"}, {Name: "contract-delete-none"}, {Name: "contract-delete-b", ID: b}, {Name: "contract-delete-a"},
		// Another topic than the one that has the name.
		{Name: "contract-delete-kept", ID: "AAAAAAAAAAAAAAAAAAAAAQ"},
	})
	if err != nil {
		t.Fatal(err)
	}
	s.wantCalls(t, map[string]int{"DeleteTopics": 1})
	wantErrors(t, got, map[string]error{"contract-delete-a": nil, "contract-delete-b": nil, "contract-delete-none": client.ErrUnknownTopic, "contract-delete-kept": client.ErrUnknownTopicID})
	Eventually(t, func(ctx context.Context) error {
		seen, err := s.client.DescribeTopics(ctx, []string{"contract-delete-a", "contract-delete-b", "contract-delete-kept"})
		if err != nil {
			return err
		}
		for _, gone := range []string{"contract-delete-a", "contract-delete-b"} {
			if !errors.Is(seen[gone].Err, client.ErrUnknownTopic) {
				return fmt.Errorf("%s is still there", gone)
			}
		}
		return seen["contract-delete-kept"].Err
	})
}

// id waits until a topic's ID shows.
func (s *suite) id(t *testing.T, name string) (id string) {
	Eventually(t, func(ctx context.Context) error {
		seen, err := s.client.DescribeTopics(ctx, []string{name})
		if err == nil {
			id, err = seen[name].ID, seen[name].Err
		}
		return err
	})
	s.calls.Take()
	return id
}

func (s *suite) nothing(t *testing.T) {
	s.calls.Take()
	_, err1 := s.client.DescribeTopics(t.Context(), nil)
	_, err2 := s.client.DescribeTopicConfigs(t.Context(), nil)
	_, err3 := s.client.CreateTopics(t.Context(), nil)
	_, err4 := s.client.CreatePartitions(t.Context(), nil)
	_, err5 := s.client.AlterTopicConfigs(t.Context(), nil)
	_, err6 := s.client.DeleteTopics(t.Context(), nil)
	if err := errors.Join(err1, err2, err3, err4, err5, err6); err != nil {
		t.Error(err)
	}
	s.wantCalls(t, nil)
}

func (s *suite) identity(t *testing.T) {
	s.calls.Take()
	first, err := s.client.ClusterID(t.Context())
	if err != nil || first == "" {
		t.Fatalf("ID %q, error %v", first, err)
	}
	if second, err := s.client.ClusterID(t.Context()); err != nil || second != first {
		t.Errorf("ID %q (%v), then %q", first, err, second)
	}
	s.wantCalls(t, nil)
}

func (s *suite) brokerOptions(t *testing.T) {
	s.calls.Take()
	got, err := s.client.BrokerOptions(t.Context(), []string{"auto.create.topics.enable", "no.such.option"})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	if s.traits.KnowsAutoCreate {
		want["auto.create.topics.enable"] = "false" // as these clusters are started
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("options (-want +got):\n%s", diff)
	}
	s.wantCalls(t, nil)
}
