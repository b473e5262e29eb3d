package topic

import (
	"context"
	"fmt"
	"testing"

	kafkav1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/batch"
	"github.com/sluice-kafka/sluice/internal/kafka"

	"github.com/go-logr/logr"
)

// steady answers every describe as a Kafka with everything in step does.
type steady struct {
	Admin
	topics  map[string]kafka.TopicDescription
	configs map[string]kafka.TopicConfig
}

func (s steady) DescribeTopics(context.Context, []string) (map[string]kafka.TopicDescription, error) {
	return s.topics, nil
}

func (s steady) Close() {}

func (s steady) DescribeTopicConfigs(context.Context, []string, ...string) (map[string]kafka.TopicConfig, error) {
	return s.configs, nil
}

// BenchmarkLook is what a batch costs that finds nothing, without what Kafka and
// its client take.
func BenchmarkLook(b *testing.B) {
	const n = 1000
	kafkaSide := steady{topics: map[string]kafka.TopicDescription{}, configs: map[string]kafka.TopicConfig{}}
	e := newEnv(b)
	for i := range n {
		name := fmt.Sprintf("orders-%d", i)
		kt := aTopic(name, partitions(3), replicas(1), config("retention.ms", "604800000"), config("segment.bytes", "1073741824"), config("min.insync.replicas", "1"))
		kt.Status = kafkav1.KafkaTopicStatus{
			ObservedGeneration: 1, TopicName: name, TopicID: "id", Partitions: 3, Replicas: 1,
			Conditions: []kafkav1.Condition{{Type: kafkav1.ConditionReady, Status: "True"}},
		}
		kt.Finalizers = []string{kafkav1.FinalizerTopic}
		e.loop.index.put(kt, false)
		d := kafka.TopicDescription{ID: "id"}
		for p := range int32(3) {
			d.Partitions = append(d.Partitions, kafka.Partition{ID: p, Replicas: []int32{p}})
		}
		kafkaSide.topics[name] = d
		entries := map[string]kafka.ConfigEntry{
			"retention.ms":        {Value: "604800000", Type: kafka.ConfigTypeLong, Dynamic: true},
			"segment.bytes":       {Value: "1073741824", Type: kafka.ConfigTypeInt, Dynamic: true},
			"min.insync.replicas": {Value: "1", Type: kafka.ConfigTypeInt, Dynamic: true},
		}
		for o := range 31 { // as many as Kafka has
			entries[fmt.Sprintf("option.%d", o)] = kafka.ConfigEntry{Value: "1", Type: kafka.ConfigTypeLong}
		}
		kafkaSide.configs[name] = kafka.TopicConfig{Entries: entries}
	}
	e.loop.link.use(Connection{Admin: kafkaSide})
	ctx := logr.NewContext(b.Context(), logr.Discard())
	keys := e.loop.index.keysByUrgency()
	b.ReportAllocs()
	for b.Loop() {
		e.loop.queue.Add(batch.Resync, keys...)
		next, err := e.loop.queue.Next(ctx, batch.Window{MaxSize: n})
		if err != nil {
			b.Fatal(err)
		}
		e.loop.reconcile(ctx, next, e.loop.hearts[0])
		e.loop.queue.Done(next)
	}
	if w := e.takeWrites(); len(w) > 0 {
		b.Errorf("%d writes, the first %s", len(w), w[0])
	}
}
