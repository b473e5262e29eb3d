package validation_test

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/validation"
	"github.com/sluice-kafka/sluice/test/bench/workload"
)

// BenchmarkKafkaTopic judges one update among others that are found by index,
// as the webhook's cache finds them: their number must not show.
func BenchmarkKafkaTopic(b *testing.B) {
	for _, others := range []int{0, 100, 10_000} {
		b.Run(fmt.Sprintf("others=%d", others), func(b *testing.B) {
			byName, byMetric := map[string][]apiv1.KafkaTopic{}, map[string][]apiv1.KafkaTopic{}
			for i := range others {
				t := *topic(resourceName("kafka", fmt.Sprintf("orders.%d", i)), partitions(3), replicas(3))
				name := t.ClaimedName()
				byName[name] = append(byName[name], t)
				byMetric[validation.MetricName(name)] = append(byMetric[validation.MetricName(name)], t)
			}
			old := topic(partitions(12), replicas(3), option("retention.ms", "604800000"), created("orders", 12))
			obj := topic(partitions(12), replicas(3), option("retention.ms", "86400000"), created("orders", 12))
			b.ReportAllocs()
			for b.Loop() {
				name := obj.ClaimedName()
				facts := validation.TopicFacts{SameName: byName[name], SameMetric: byMetric[validation.MetricName(name)]}
				if r := validation.KafkaTopic(obj, old, facts, validation.Options{}); len(r.Refusals) > 0 {
					b.Fatal(r.Errors())
				}
			}
		})
	}
}

// BenchmarkKafka judges a new Kafka and an update, with 50 templated volumes and
// 20 pools.
func BenchmarkKafka(b *testing.B) {
	obj := workload.SetKafkaOption(workload.Kafka("bench"), 1)
	facts := validation.KafkaFacts{AllPools: true}
	for _, p := range workload.NodePools("bench") {
		facts.Pools = append(facts.Pools, *p)
	}
	for name, old := range map[string]*apiv1.Kafka{"create": nil, "update": workload.Kafka("bench")} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if r := validation.Kafka(obj, old, facts, validation.Options{}); len(r.Refusals) > 0 {
					b.Fatal(r.Errors())
				}
			}
		})
	}
}

// TestTheWorkloadHasNoFault keeps the benchmarks from measuring refusals.
func TestTheWorkloadHasNoFault(t *testing.T) {
	t.Parallel()
	var facts validation.KafkaFacts
	k := workload.Kafka("bench")
	for _, p := range workload.NodePools("bench") {
		facts.Pools = append(facts.Pools, *p)
	}
	wantSaid(t, validation.Kafka(k, nil, facts, validation.Options{}))
	for i := range facts.Pools {
		wantSaid(t, validation.KafkaNodePool(&facts.Pools[i], nil, validation.PoolFacts{Kafka: k, Pools: facts.Pools}, validation.Options{}))
	}
	wantSaid(t, validation.KafkaTopic(workload.Topic("bench", 7), nil, validation.TopicFacts{Kafka: k}, validation.Options{}))
}

// TestLargeObjectsTakeBoundedTime gives the rules about as much as the API
// server lets through, in the forms that cost most. The bound is generous; work
// that grows with the square of the size takes minutes.
func TestLargeObjectsTakeBoundedTime(t *testing.T) {
	t.Parallel()
	const n = 10_000
	many := &apiv1.KafkaTemplate{Pod: &apiv1.PodTemplate{}, KafkaContainer: &apiv1.ContainerTemplate{}}
	items := secret("big", "x")
	ids := make([]int64, n)
	for i := range n {
		many.Pod.TemplatedVolumes = append(many.Pod.TemplatedVolumes, secret(fmt.Sprintf("v%d", i), "x-{nodePodName}-{nodeId}"))
		many.KafkaContainer.VolumeMounts = append(many.KafkaContainer.VolumeMounts, corev1.VolumeMount{Name: fmt.Sprintf("w%d", i)})
		items.Secret.Items = append(items.Secret.Items, item("k", "same"))
		ids[i] = int64(i)
	}
	many.Pod.TemplatedVolumes = append(many.Pod.TemplatedVolumes, items)
	p := pool("brokers", n, poolTemplate(many), nodeIDs(ids...))
	config := topic()
	config.Spec.Config = apiv1.Config{}
	for i := range n {
		config.Spec.Config[fmt.Sprint(i)] = apiv1.Config{}["null"]
	}
	start := time.Now()
	r := validation.KafkaNodePool(p, p.DeepCopy(), validation.PoolFacts{Kafka: kafka(kafkaTemplate(many))}, validation.Options{})
	if len(r.Refusals) > 0 {
		t.Errorf("an unchanged pool is refused: %v", r.Errors()[0])
	}
	r = validation.KafkaNodePool(p, nil, validation.PoolFacts{}, validation.Options{})
	if len(r.Refusals) < 2*n {
		t.Errorf("got %d refusals of at least %d", len(r.Refusals), 2*n)
	}
	r = validation.KafkaTopic(config, nil, validation.TopicFacts{}, validation.Options{})
	if len(r.Refusals) != n {
		t.Errorf("got %d refusals of %d", len(r.Refusals), n)
	}
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("took %v", took)
	}
}
