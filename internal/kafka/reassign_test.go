package kafka_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/sluice-kafka/sluice/internal/kafka"
	"github.com/sluice-kafka/sluice/internal/observed"
	testkafka "github.com/sluice-kafka/sluice/test/kafka"
	"github.com/sluice-kafka/sluice/test/kafka/kafkatest"
)

// moving makes an embedded Kafka say that these are in flight.
func moving(embedded *testkafka.Embedded, code int16, partitions ...observed.Partition) *[]*kmsg.ListPartitionReassignmentsRequest {
	return answered(embedded, func(_ *kmsg.ListPartitionReassignmentsRequest, a *kmsg.ListPartitionReassignmentsResponse) {
		a.ErrorCode = code
		for _, m := range partitions {
			p := kmsg.NewListPartitionReassignmentsResponseTopicPartition()
			p.Partition, p.Replicas, p.AddingReplicas, p.RemovingReplicas = m.ID, m.Replicas, m.Adding, m.Removing
			topic := kmsg.NewListPartitionReassignmentsResponseTopic()
			topic.Topic, topic.Partitions = m.Topic, append(topic.Partitions, p)
			a.Topics = append(a.Topics, topic)
		}
	})
}

func TestReassignmentsOfTopics(t *testing.T) {
	embedded := kafkatest.StartEmbedded(t, 1)
	c, calls := newClient(t, 10*time.Second, embedded.Bootstrap()...)
	inFlight := func(topic string, id int32) observed.Partition {
		return observed.Partition{Topic: topic, ID: id, Leader: -1, Replicas: []int32{1, 2, 3}, Adding: []int32{3}, Removing: []int32{2}}
	}
	moving(embedded, 0, inFlight("a", 4), inFlight("other", 0), inFlight("a", 2))
	got, err := c.Reassignments(t.Context(), []string{"a", "still"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string][]observed.Partition{"a": {inFlight("a", 2), inFlight("a", 4)}}, got); diff != "" {
		t.Errorf("in flight (-want +got):\n%s", diff)
	}
	if _, err := c.Reassignments(t.Context(), nil); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(map[string]int{"ListPartitionReassignments": 1}, calls.Take()); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

func TestReassignmentsThatMayNotBeListedSayWhatIsLacking(t *testing.T) {
	embedded := kafkatest.StartEmbedded(t, 1)
	c, _ := newClient(t, 10*time.Second, embedded.Bootstrap()...)
	moving(embedded, kerr.ClusterAuthorizationFailed.Code)
	_, err := c.Reassignments(t.Context(), []string{"a"})
	if !errors.Is(err, kafka.ErrAuthorization) || !strings.Contains(err.Error(), "needs DESCRIBE on the cluster") {
		t.Fatalf("got %v", err)
	}
	if got := strings.Count(err.Error(), "list the reassignments in flight"); got != 1 {
		t.Errorf("it says %d times what was being done: %v", got, err)
	}
}

func TestTopicPartitions(t *testing.T) {
	embedded := kafkatest.StartEmbedded(t, 1)
	c, calls := newClient(t, 10*time.Second, embedded.Bootstrap()...)
	asked := answered(embedded, func(q *kmsg.MetadataRequest, a *kmsg.MetadataResponse) {
		for i := range q.Topics {
			topic := kmsg.NewMetadataResponseTopic()
			topic.Topic, topic.TopicID = q.Topics[i].Topic, [16]byte{1}
			switch *topic.Topic {
			case "absent":
				topic.ErrorCode = kerr.UnknownTopicOrPartition.Code
			case "secret":
				topic.ErrorCode = kerr.TopicAuthorizationFailed.Code
			default:
				for _, id := range []int32{1, 0} {
					p := kmsg.NewMetadataResponseTopicPartition()
					p.Partition, p.Leader, p.Replicas, p.ISR = id, 2, []int32{2, 1}, []int32{2}
					p.ErrorCode = kerr.ReplicaNotAvailable.Code // a replica is offline
					topic.Partitions = append(topic.Partitions, p)
				}
			}
			a.Topics = append(a.Topics, topic)
		}
	})
	moving(embedded, 0,
		observed.Partition{Topic: "seen", ID: 1, Replicas: []int32{2, 1, 3}, Adding: []int32{3}},
		observed.Partition{Topic: "seen", ID: 2, Replicas: []int32{1, 3}, Removing: []int32{3}},
	)
	got, err := c.TopicPartitions(t.Context(), []string{"seen", "absent", "secret", "seen"})
	if err != nil {
		t.Fatal(err)
	}
	want := observed.Topic{ID: "AQAAAAAAAAAAAAAAAAAAAA", Partitions: []observed.Partition{
		{Topic: "seen", ID: 0, Leader: 2, Replicas: []int32{2, 1}, InSync: []int32{2}},
		{Topic: "seen", ID: 1, Leader: 2, Replicas: []int32{2, 1, 3}, InSync: []int32{2}, Adding: []int32{3}},
		// The broker does not show it yet.
		{Topic: "seen", ID: 2, Leader: -1, Replicas: []int32{1, 3}, Removing: []int32{3}},
	}}
	seen, _ := got["seen"].Get()
	if diff := cmp.Diff(want, seen, cmp.Transformer("empty", func(ids []int32) string { return fmt.Sprint(ids) })); diff != "" {
		t.Errorf("topic (-want +got):\n%s", diff)
	}
	if _, there := got["absent"]; there || !errors.Is(got["secret"].Err(), kafka.ErrAuthorization) {
		t.Errorf("got %v", got)
	}
	if diff := cmp.Diff(map[string]int{"Metadata": 1, "ListPartitionReassignments": 1}, calls.Take()); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	if q := (*asked)[len(*asked)-1]; q.AllowAutoTopicCreation || len(q.Topics) != 3 {
		t.Errorf("asked for %+v", q)
	}
}

// reassigning makes an embedded Kafka answer each partition; refuse gives the code of
// a whole request.
func reassigning(embedded *testkafka.Embedded, refuse func(partitions int) int16, code func(topic string, partition int32) int16) *[]*kmsg.AlterPartitionAssignmentsRequest {
	return answered(embedded, func(q *kmsg.AlterPartitionAssignmentsRequest, a *kmsg.AlterPartitionAssignmentsResponse) {
		n := 0
		for i := range q.Topics {
			n += len(q.Topics[i].Partitions)
		}
		if a.ErrorCode = refuse(n); a.ErrorCode != 0 {
			return
		}
		for i := range q.Topics {
			topic := kmsg.NewAlterPartitionAssignmentsResponseTopic()
			topic.Topic = q.Topics[i].Topic
			for _, asked := range q.Topics[i].Partitions {
				p := kmsg.NewAlterPartitionAssignmentsResponseTopicPartition()
				p.Partition, p.ErrorCode = asked.Partition, code(topic.Topic, asked.Partition)
				topic.Partitions = append(topic.Partitions, p)
			}
			a.Topics = append(a.Topics, topic)
		}
	})
}

func fine(int) int16 { return 0 }

func TestReassign(t *testing.T) {
	embedded := kafkatest.StartEmbedded(t, 1)
	c, calls := newClient(t, 10*time.Second, embedded.Bootstrap()...)
	asked := reassigning(embedded, fine, func(topic string, partition int32) int16 {
		if topic == "b" && partition == 1 {
			return kerr.InvalidReplicaAssignment.Code
		}
		return 0
	})
	got, err := c.Reassign(t.Context(), map[string]map[int32][]int32{"b": {1: nil, 0: {1}}, "a": {7: {2, 1}}})
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 2 || len(got["b"]) != 2 || len(got["a"]) != 1 || got["b"][0] != nil || got["a"][7] != nil {
		t.Errorf("answered %v", got)
	}
	if e := got["b"][1]; !errors.Is(e, kafka.ErrInvalidReplicaAssignment) || kafka.Passing(e) || !strings.Contains(e.Error(), `reassign partition "b-1": INVALID_REPLICA_ASSIGNMENT (39)`) {
		t.Errorf("b-1: %v", e)
	}
	if diff := cmp.Diff(map[string]int{"AlterPartitionAssignments": 1}, calls.Take()); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	var lists []string
	for _, topic := range (*asked)[0].Topics {
		for _, p := range topic.Partitions {
			// No list would cancel.
			lists = append(lists, fmt.Sprintf("%s-%d %v null=%t", topic.Topic, p.Partition, p.Replicas, p.Replicas == nil))
		}
	}
	if diff := cmp.Diff([]string{"a-7 [2 1] null=false", "b-0 [1] null=false", "b-1 [] null=false"}, lists); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
}

func TestAReassignmentThatIsNotAllowedSaysWhatIsLacking(t *testing.T) {
	embedded := kafkatest.StartEmbedded(t, 1)
	c, _ := newClient(t, 10*time.Second, embedded.Bootstrap()...)
	reassigning(embedded, func(int) int16 { return kerr.ClusterAuthorizationFailed.Code }, nil)
	if got, err := c.Reassign(t.Context(), map[string]map[int32][]int32{"a": {0: {1}}}); got != nil || !errors.Is(err, kafka.ErrAuthorization) || !strings.Contains(err.Error(), "needs ALTER on the cluster") {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestReassignIsSplitByWhatKafkaTakesInOneRequest(t *testing.T) {
	embedded := kafkatest.StartEmbedded(t, 1)
	c, calls := newClient(t, 10*time.Second, embedded.Bootstrap()...)
	var mu sync.Mutex
	sizes := map[int]int{}
	reassigning(embedded, func(n int) int16 {
		mu.Lock()
		defer mu.Unlock()
		sizes[n]++
		return 0
	}, func(string, int32) int16 { return 0 })
	lists := map[string]map[int32][]int32{}
	for _, topic := range []string{"a", "b", "c"} {
		lists[topic] = map[int32][]int32{}
		for id := range int32(4_000) {
			lists[topic][id] = []int32{1}
		}
	}
	got, err := c.Reassign(t.Context(), lists)
	if err != nil || len(got["a"])+len(got["b"])+len(got["c"]) != 12_000 {
		t.Fatalf("%d topics answered, %v", len(got), err)
	}
	mu.Lock()
	defer mu.Unlock()
	if diff := cmp.Diff(map[int]int{10_000: 1, 2_000: 1}, sizes); diff != "" || calls.Take()["AlterPartitionAssignments"] != 2 {
		t.Errorf("sizes of requests (-want +got):\n%s", diff)
	}
}
