package kafkatest

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	client "github.com/sluice-kafka/sluice/internal/kafka"
	"github.com/sluice-kafka/sluice/test/kafka"
)

// limit is how many metadata records, and how many partitions, Kafka's controller
// takes in one request (MAX_RECORDS_PER_USER_OP in QuorumController,
// MAX_PARTITIONS_PER_BATCH in ReplicationControlManager).
const limit = 10_000

// Limits has an embedded cluster refuse requests that are too large, as Kafka does and
// kfake does not: all of their topics alike, and without doing anything.
func Limits(e *kafka.Embedded) {
	refuse := func(key int16, records func(kmsg.Request) int, refusal func(kmsg.Request) kmsg.Response) {
		e.Fake.ControlKey(key, func(req kmsg.Request) (kmsg.Response, error, bool) {
			e.Fake.KeepControl()
			if records(req) <= limit {
				return nil, nil, false
			}
			return refusal(req), nil, true
		})
	}
	refuse(kmsg.CreateTopics.Int16(), func(req kmsg.Request) int {
		n := 0
		for _, t := range req.(*kmsg.CreateTopicsRequest).Topics {
			n += 1 + max(1, int(t.NumPartitions)) + len(t.Configs)
		}
		return n
	}, tooManyTopics)
	refuse(kmsg.CreatePartitions.Int16(), func(req kmsg.Request) int {
		n := 0
		for _, t := range req.(*kmsg.CreatePartitionsRequest).Topics {
			n += int(t.Count)
		}
		return n
	}, tooMuchGrowth)
	refuse(kmsg.IncrementalAlterConfigs.Int16(), func(req kmsg.Request) int {
		n := 0
		for _, r := range req.(*kmsg.IncrementalAlterConfigsRequest).Resources {
			n += len(r.Configs)
		}
		return n
	}, tooManyChanges)
}

func tooManyTopics(req kmsg.Request) kmsg.Response {
	resp := req.ResponseKind().(*kmsg.CreateTopicsResponse)
	for _, t := range req.(*kmsg.CreateTopicsRequest).Topics {
		r := kmsg.NewCreateTopicsResponseTopic()
		r.Topic, r.ErrorCode = t.Topic, kerr.PolicyViolation.Code
		r.ErrorMessage = kmsg.StringPtr("Excessively large number of partitions per request.")
		resp.Topics = append(resp.Topics, r)
	}
	return resp
}

func tooMuchGrowth(req kmsg.Request) kmsg.Response {
	resp := req.ResponseKind().(*kmsg.CreatePartitionsResponse)
	for _, t := range req.(*kmsg.CreatePartitionsRequest).Topics {
		r := kmsg.NewCreatePartitionsResponseTopic()
		r.Topic, r.ErrorCode = t.Topic, kerr.UnknownServerError.Code
		resp.Topics = append(resp.Topics, r)
	}
	return resp
}

func tooManyChanges(req kmsg.Request) kmsg.Response {
	resp := req.ResponseKind().(*kmsg.IncrementalAlterConfigsResponse)
	for _, c := range req.(*kmsg.IncrementalAlterConfigsRequest).Resources {
		r := kmsg.NewIncrementalAlterConfigsResponseResource()
		r.ResourceType, r.ResourceName, r.ErrorCode = c.ResourceType, c.ResourceName, kerr.PolicyViolation.Code
		resp.Resources = append(resp.Resources, r)
	}
	return resp
}

// LimitContract checks that the client keeps below the limits of one request. It leaves
// a thousand topics and eleven thousand partitions behind, whose names begin with
// "limit".
func LimitContract(t *testing.T, bootstrap []string, traits Traits) {
	s := newSuite(t, bootstrap, traits)
	t.Run("one topic above the limit is the cluster's to refuse", s.tooLarge)
	t.Run("topics are split by their records", s.splitTopics)
	t.Run("changes are split by their keys", s.splitChanges)
	t.Run("changes are split by the length of their texts", s.splitLongChanges)
	t.Run("a thousand topics are one request each to describe", s.describeThousand)
	t.Run("growth is split by partitions", s.splitGrowth)
}

func (s *suite) tooLarge(t *testing.T) {
	created, err := s.client.CreateTopics(t.Context(), []client.NewTopic{{Name: "limit-large", Partitions: limit + 1, ReplicationFactor: 1}})
	if err != nil {
		t.Fatal(err)
	}
	wantErrors(t, createErrors(created), map[string]error{"limit-large": client.ErrPolicyViolation})
	s.wantCalls(t, map[string]int{"CreateTopics": 1})
}

// limitNames are a thousand.
func limitNames() []string {
	var names []string
	for i := range 1000 {
		names = append(names, fmt.Sprintf("limit-%d", i))
	}
	return names
}

// TwelveOptions all have a value that suits each of them.
func TwelveOptions(value string) map[string]string {
	out := map[string]string{}
	for _, name := range []string{
		"retention.ms", "retention.bytes", "segment.bytes", "segment.ms", "flush.ms", "flush.messages", "max.message.bytes",
		"index.interval.bytes", "delete.retention.ms", "file.delete.delay.ms", "min.compaction.lag.ms", "max.compaction.lag.ms",
	} {
		out[name] = value
	}
	return out
}

func (s *suite) splitTopics(t *testing.T) {
	var topics []client.NewTopic
	want := map[string]error{}
	for _, name := range limitNames() {
		topics = append(topics, client.NewTopic{Name: name, Partitions: 1, ReplicationFactor: 1, Config: TwelveOptions("2000000")})
		want[name] = nil
	}
	created, err := s.client.CreateTopics(t.Context(), topics)
	if err != nil {
		t.Fatal(err)
	}
	wantErrors(t, createErrors(created), want)
	s.wantCalls(t, map[string]int{"CreateTopics": 2})
}

func (s *suite) splitChanges(t *testing.T) {
	var changes []client.TopicConfigChange
	want := map[string]error{}
	values := TwelveOptions("3000000")
	for _, name := range limitNames() {
		change := client.TopicConfigChange{Name: name}
		for _, option := range slices.Sorted(maps.Keys(values)) {
			change.Ops = append(change.Ops, client.ConfigOp{Name: option, Value: values[option]})
		}
		changes = append(changes, change)
		want[name] = nil
	}
	got, err := s.client.AlterTopicConfigs(t.Context(), changes)
	if err != nil {
		t.Fatal(err)
	}
	wantErrors(t, got, want)
	s.wantCalls(t, map[string]int{"IncrementalAlterConfigs": 2})
}

// Together their records are more than Kafka's controllers append at a time, which
// would answer UNKNOWN_SERVER_ERROR for every topic.
func (s *suite) splitLongChanges(t *testing.T) {
	const option, topics = "leader.replication.throttled.replicas", 300
	long := strings.TrimSuffix(strings.Repeat("0:0,", 8000), ",")
	var changes, back []client.TopicConfigChange
	want := map[string]error{}
	for _, name := range limitNames()[:topics] {
		changes = append(changes, client.TopicConfigChange{Name: name, Ops: []client.ConfigOp{{Name: option, Value: long}}})
		back = append(back, client.TopicConfigChange{Name: name, Ops: []client.ConfigOp{{Name: option, Delete: true}}})
		want[name] = nil
	}
	got, err := s.client.AlterTopicConfigs(t.Context(), changes)
	if err != nil {
		t.Fatal(err)
	}
	wantErrors(t, got, want)
	s.wantCalls(t, map[string]int{"IncrementalAlterConfigs": 3})
	if got, err = s.client.AlterTopicConfigs(t.Context(), back); err != nil {
		t.Fatal(err)
	}
	wantErrors(t, got, want)
	s.wantCalls(t, map[string]int{"IncrementalAlterConfigs": 1})
}

func (s *suite) describeThousand(t *testing.T) {
	names := limitNames()
	seen, err := s.client.DescribeTopics(t.Context(), names)
	if err != nil || len(seen) != len(names) {
		t.Fatalf("%d described: %v", len(seen), err)
	}
	configs, err := s.client.DescribeTopicConfigs(t.Context(), names)
	if err != nil || len(configs) != len(names) {
		t.Fatalf("%d described: %v", len(configs), err)
	}
	s.wantCalls(t, map[string]int{"Metadata": 1, "DescribeConfigs": 1})
}

// In one request Kafka would answer UNKNOWN_SERVER_ERROR for the second topic and leave
// it with as many partitions as still fitted. The broker needs a while to open them,
// which this does not wait for: the controller knows.
func (s *suite) splitGrowth(t *testing.T) {
	growth := []client.PartitionGrowth{{Name: "limit-0", Total: 5500}, {Name: "limit-1", Total: 5500}}
	got, err := s.client.CreatePartitions(t.Context(), growth)
	if err = errors.Join(err, got["limit-0"], got["limit-1"]); err != nil {
		t.Fatal(err)
	}
	s.wantCalls(t, map[string]int{"CreatePartitions": 2})
	if !s.traits.RefusesSameCount {
		return
	}
	got, err = s.client.CreatePartitions(t.Context(), growth)
	if err != nil {
		t.Fatal(err)
	}
	for name, err := range got {
		if !errors.Is(err, client.ErrInvalidPartitions) {
			t.Errorf("%s has not all of its partitions: growing it again gives %v", name, err)
		}
	}
}
