package kafka_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/sluice-kafka/sluice/internal/kafka"
	"github.com/sluice-kafka/sluice/internal/observed"
	"github.com/sluice-kafka/sluice/test/kafka/kafkatest"
)

func TestPartitions(t *testing.T) {
	type reassignment struct {
		topic                      string
		partition                  int32
		replicas, adding, removing []int32
	}
	type partition struct {
		topic         string
		partition     int32
		leader        int32
		replicas, isr []int32
	}
	for name, test := range map[string]struct {
		topicCode   int16
		shown       []partition
		moving      []reassignment
		movingError int16
		want        []observed.Partition
		wantErr     error
	}{
		"nothing": {},
		"sorted, with internal topics": {
			shown: []partition{
				{topic: "b", partition: 1, leader: 2, replicas: []int32{2, 1}, isr: []int32{2}},
				{topic: "b", leader: 1, replicas: []int32{1, 2}, isr: []int32{2, 1}},
				{topic: "__consumer_offsets", leader: -1, replicas: []int32{3}},
			},
			want: []observed.Partition{
				{Topic: "__consumer_offsets", Leader: -1, Replicas: []int32{3}, InSync: []int32{}},
				{Topic: "b", Leader: 1, Replicas: []int32{1, 2}, InSync: []int32{2, 1}},
				{Topic: "b", ID: 1, Leader: 2, Replicas: []int32{2, 1}, InSync: []int32{2}},
			},
		},
		"the controller knows more of what moves": {
			shown:  []partition{{topic: "a", leader: 1, replicas: []int32{1, 2}, isr: []int32{1, 2}}, {topic: "b", leader: 1, replicas: []int32{1}, isr: []int32{1}}},
			moving: []reassignment{{topic: "a", replicas: []int32{1, 2, 3}, adding: []int32{3}, removing: []int32{2}}},
			want: []observed.Partition{
				{Topic: "a", Leader: 1, Replicas: []int32{1, 2, 3}, InSync: []int32{1, 2}, Adding: []int32{3}, Removing: []int32{2}},
				{Topic: "b", Leader: 1, Replicas: []int32{1}, InSync: []int32{1}},
			},
		},
		"what moves counts though the broker does not show it yet": {
			shown:  []partition{{topic: "b", leader: 1, replicas: []int32{1}, isr: []int32{1}}},
			moving: []reassignment{{topic: "a", partition: 3, replicas: []int32{1, 4}, adding: []int32{4}}},
			want: []observed.Partition{
				{Topic: "a", ID: 3, Leader: -1, Replicas: []int32{1, 4}, Adding: []int32{4}},
				{Topic: "b", Leader: 1, Replicas: []int32{1}, InSync: []int32{1}},
			},
		},
		"a topic that is not shown is not taken for empty": {
			topicCode: kerr.TopicAuthorizationFailed.Code,
			shown:     []partition{{topic: "a", leader: 1, replicas: []int32{1}, isr: []int32{1}}},
			wantErr:   kafka.ErrAuthorization,
		},
		"nor is nothing in flight where that is not known": {
			shown:       []partition{{topic: "a", leader: 1, replicas: []int32{1}, isr: []int32{1}}},
			movingError: kerr.RequestTimedOut.Code,
			wantErr:     kafka.ErrTimeout,
		},
	} {
		t.Run(name, func(t *testing.T) {
			embedded := kafkatest.StartEmbedded(t, 1)
			c, calls := newClient(t, 10*time.Second, embedded.Bootstrap()...)
			answered(embedded, func(q *kmsg.MetadataRequest, a *kmsg.MetadataResponse) {
				if q.Topics != nil || q.AllowAutoTopicCreation {
					t.Errorf("asked for %+v", q)
				}
				for i := range test.shown {
					s := &test.shown[i]
					p := kmsg.NewMetadataResponseTopicPartition()
					p.Partition, p.Leader, p.Replicas, p.ISR = s.partition, s.leader, s.replicas, s.isr
					topic := kmsg.NewMetadataResponseTopic()
					topic.Topic, topic.ErrorCode, topic.Partitions = &s.topic, test.topicCode, append(topic.Partitions, p)
					a.Topics = append(a.Topics, topic)
				}
			})
			answered(embedded, func(q *kmsg.ListPartitionReassignmentsRequest, a *kmsg.ListPartitionReassignmentsResponse) {
				if q.Topics != nil {
					t.Errorf("asked for %+v", q)
				}
				a.ErrorCode = test.movingError
				for _, m := range test.moving {
					p := kmsg.NewListPartitionReassignmentsResponseTopicPartition()
					p.Partition, p.Replicas, p.AddingReplicas, p.RemovingReplicas = m.partition, m.replicas, m.adding, m.removing
					topic := kmsg.NewListPartitionReassignmentsResponseTopic()
					topic.Topic, topic.Partitions = m.topic, append(topic.Partitions, p)
					a.Topics = append(a.Topics, topic)
				}
			})
			got, err := c.Partitions(t.Context())
			if !errors.Is(err, test.wantErr) {
				t.Fatalf("got error %v, want %v", err, test.wantErr)
			}
			if err != nil {
				return
			}
			if diff := cmp.Diff(test.want, got, cmp.Transformer("empty", func(ids []int32) string { return fmt.Sprint(ids) })); diff != "" && len(test.want)+len(got) > 0 {
				t.Errorf("partitions (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(map[string]int{"Metadata": 1, "ListPartitionReassignments": 1}, calls.Take()); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
		})
	}
}

func TestLogDirs(t *testing.T) {
	dir := func(path string, code int16, sizes ...int64) kmsg.DescribeLogDirsResponseDir {
		d := kmsg.NewDescribeLogDirsResponseDir()
		d.Dir, d.ErrorCode = path, code
		for i, size := range sizes {
			p := kmsg.NewDescribeLogDirsResponseDirTopicPartition()
			p.Partition, p.Size, p.IsFuture = int32(i), size, i == 0
			topic := kmsg.NewDescribeLogDirsResponseDirTopic()
			topic.Topic, topic.Partitions = "t", append(topic.Partitions, p)
			d.Topics = append(d.Topics, topic)
		}
		return d
	}
	cordon := func(d kmsg.DescribeLogDirsResponseDir) kmsg.DescribeLogDirsResponseDir {
		d.IsCordoned = true
		return d
	}
	for name, test := range map[string]struct {
		dirs    []kmsg.DescribeLogDirsResponseDir
		code    int16
		want    []observed.LogDir
		wantErr error
	}{
		"replicas are counted and weighed": {
			dirs: []kmsg.DescribeLogDirsResponseDir{dir("/b", 0, 5, 7), cordon(dir("/a", 0))},
			want: []observed.LogDir{{Path: "/a", Cordoned: true}, {Path: "/b", Replicas: 2, Bytes: 12}},
		},
		"a failed one is offline": {
			dirs: []kmsg.DescribeLogDirsResponseDir{dir("/a", kerr.KafkaStorageError.Code), dir("/b", 0, 1)},
			want: []observed.LogDir{{Path: "/a", Offline: true}, {Path: "/b", Replicas: 1, Bytes: 1}},
		},
		"no directory is no answer": {wantErr: kafka.ErrNotAnswered},
		"not allowed":               {code: kerr.ClusterAuthorizationFailed.Code, wantErr: kafka.ErrAuthorization},
		"one that fails otherwise":  {dirs: []kmsg.DescribeLogDirsResponseDir{dir("/a", kerr.ClusterAuthorizationFailed.Code)}, wantErr: kafka.ErrAuthorization},
	} {
		t.Run(name, func(t *testing.T) {
			embedded := kafkatest.StartEmbedded(t, 1)
			c, calls := newClient(t, 10*time.Second, embedded.Bootstrap()...)
			answered(embedded, func(_ *kmsg.DescribeLogDirsRequest, a *kmsg.DescribeLogDirsResponse) {
				a.ErrorCode, a.Dirs = test.code, test.dirs
			})
			got, err := c.LogDirs(t.Context(), 0)
			if !errors.Is(err, test.wantErr) {
				t.Fatalf("got error %v, want %v", err, test.wantErr)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("log directories (-want +got):\n%s", diff)
			}
			// Finding the broker is not counted.
			if diff := cmp.Diff(map[string]int{"DescribeLogDirs": 1}, calls.Take()); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
		})
	}
}

func TestBrokerConfigs(t *testing.T) {
	embedded := kafkatest.StartEmbedded(t, 3)
	c, calls := newClient(t, 10*time.Second, embedded.Bootstrap()...)
	asked := answered(embedded, func(q *kmsg.DescribeConfigsRequest, a *kmsg.DescribeConfigsResponse) {
		r := kmsg.NewDescribeConfigsResponseResource()
		r.ResourceType, r.ResourceName = q.Resources[0].ResourceType, q.Resources[0].ResourceName
		secret := kmsg.NewDescribeConfigsResponseResourceConfig()
		secret.Name, secret.IsSensitive, secret.ReadOnly = "ssl.key.password", true, true
		plain := kmsg.NewDescribeConfigsResponseResourceConfig()
		plain.Name, plain.Value = "log.retention.ms", kmsg.StringPtr("5")
		for _, s := range []struct {
			name   string
			value  *string
			source kmsg.ConfigSource
		}{{"log.retention.ms", kmsg.StringPtr("5"), 2}, {"log.retention.hours", kmsg.StringPtr("168"), 5}, {"log.retention.ms", nil, 4}} {
			synonym := kmsg.NewDescribeConfigsResponseResourceConfigConfigSynonym()
			synonym.Name, synonym.Value, synonym.Source = s.name, s.value, s.source
			plain.ConfigSynonyms = append(plain.ConfigSynonyms, synonym)
		}
		r.Configs = append(r.Configs, secret, plain)
		a.Resources = append(a.Resources, r)
	})
	want := observed.Config{
		"ssl.key.password": {Sensitive: true, ReadOnly: true},
		"log.retention.ms": {Value: "5", Synonyms: []observed.ConfigSynonym{
			{Name: "log.retention.ms", Value: "5", Source: observed.SourceBroker},
			{Name: "log.retention.hours", Value: "168", Source: observed.SourceKafka},
			{Name: "log.retention.ms", Source: observed.SourceStatic},
		}},
	}
	broker, err1 := c.BrokerConfig(t.Context(), 2)
	all, err2 := c.DefaultConfig(t.Context())
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	for name, got := range map[string]observed.Config{"broker": broker, "all": all} {
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	var names []string
	for _, q := range *asked {
		names = append(names, fmt.Sprint(q.Resources[0].ResourceType, " ", q.Resources[0].ResourceName, q.IncludeSynonyms, q.IncludeDocumentation))
	}
	if diff := cmp.Diff([]string{"BROKER 2true false", "BROKER true false"}, names); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]int{"DescribeConfigs": 2}, calls.Take()); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

// TestABrokersOptionsAreChangedAtThatBroker relies on kfake, which refuses those
// of another broker as Kafka does.
func TestABrokersOptionsAreChangedAtThatBroker(t *testing.T) {
	embedded := kafkatest.StartEmbedded(t, 3)
	c, calls := newClient(t, 10*time.Second, embedded.Bootstrap()...)
	for broker := range int32(3) {
		if err := c.AlterBrokerConfig(t.Context(), broker, []kafka.ConfigOp{{Name: "log.retention.ms", Value: "5"}, {Name: "log.retention.bytes", Delete: true}}); err != nil {
			t.Errorf("broker %d: %v", broker, err)
		}
	}
	if err := c.AlterDefaultConfig(t.Context(), []kafka.ConfigOp{{Name: "log.retention.ms", Value: "5"}}); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(map[string]int{"IncrementalAlterConfigs": 4}, calls.Take()); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	if err := errors.Join(c.AlterBrokerConfig(t.Context(), 0, nil), c.AlterDefaultConfig(t.Context(), nil), c.ClearBrokerConfig(t.Context(), 0, nil)); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(map[string]int(nil), calls.Take()); diff != "" {
		t.Errorf("requests for no options (-want +got):\n%s", diff)
	}
}

func TestMinInSyncReplicas(t *testing.T) {
	embedded := kafkatest.StartEmbedded(t, 1)
	c, calls := newClient(t, 10*time.Second, embedded.Bootstrap()...)
	created, err := c.CreateTopics(t.Context(), []kafka.NewTopic{{Name: "own", Partitions: 1, ReplicationFactor: 1, Config: map[string]string{"min.insync.replicas": "2"}}, {Name: "default", Partitions: 1, ReplicationFactor: 1}})
	if err = errors.Join(err, created["own"].Err, created["default"].Err); err != nil {
		t.Fatal(err)
	}
	calls.Take()
	got, err := c.MinInSyncReplicas(t.Context(), []string{"own", "gone", "default", "own"})
	if diff := cmp.Diff(map[string]int{"own": 2, "default": 1}, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if diff := cmp.Diff(map[string]int{"DescribeConfigs": 1}, calls.Take()); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	answered(embedded, func(q *kmsg.DescribeConfigsRequest, a *kmsg.DescribeConfigsResponse) {
		for _, asked := range q.Resources {
			if diff := cmp.Diff([]string{"min.insync.replicas"}, asked.ConfigNames); diff != "" {
				t.Errorf("options (-want +got):\n%s", diff)
			}
			r := kmsg.NewDescribeConfigsResponseResource()
			r.ResourceType, r.ResourceName = asked.ResourceType, asked.ResourceName
			entry := kmsg.NewDescribeConfigsResponseResourceConfig()
			entry.Name, entry.Value = "min.insync.replicas", kmsg.StringPtr("3")
			switch asked.ResourceName {
			case "hidden":
				r.ErrorCode = kerr.TopicAuthorizationFailed.Code
			case "empty":
			default:
				r.Configs = append(r.Configs, entry)
			}
			a.Resources = append(a.Resources, r)
		}
	})
	got, err = c.MinInSyncReplicas(t.Context(), []string{"seen", "hidden", "empty"})
	if diff := cmp.Diff(map[string]int{"seen": 3}, got); diff != "" {
		t.Errorf("what could be read (-want +got):\n%s", diff)
	}
	if !errors.Is(err, kafka.ErrNotAnswered) || !strings.Contains(err.Error(), "2 of 3") {
		t.Errorf("what could not: %v", err)
	}
}
