package validation_test

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/validation"
)

const inKafka = "spec.kafka.template"

func TestKafkaBesideItsPools(t *testing.T) {
	t.Parallel()
	creds := secret("creds", "creds-{nodeId}")
	ownPod := &apiv1.KafkaTemplate{Pod: &apiv1.PodTemplate{}}
	longName := strings.Repeat("p", 60)
	byPod := secret("creds", strings.Repeat("a", 190)+"-{nodePodName}")
	for name, tc := range map[string]struct {
		kafka *apiv1.Kafka
		pools []*apiv1.KafkaNodePool
		// settled as refusals, else as warnings.
		want []string
		// always are findings that do not depend on the Kafka's state.
		always []string
	}{
		"a mount without a volume while no pool is known": {kafka: kafka(kafkaTemplate(mounting("creds")))},
		"a mount without a volume in any pool": {
			kafka: kafka(kafkaTemplate(mounting("creds"))), pools: []*apiv1.KafkaNodePool{pool("a", 1), pool("b", 1)},
			want: []string{"join-mount-of-no-volume " + inKafka + ".kafkaContainer.volumeMounts[0].name"},
		},
		"the only pool brings the volume": {
			kafka: kafka(kafkaTemplate(mounting("creds"))),
			pools: []*apiv1.KafkaNodePool{pool("a", 1, poolTemplate(&apiv1.KafkaTemplate{Pod: template(creds).Pod}))},
		},
		"a pool brings it in its annotation": {
			kafka: kafka(kafkaTemplate(mounting("creds"))),
			pools: []*apiv1.KafkaNodePool{pool("a", 1, poolAnnotation(`[{"name":"creds","secret":{"secretName":"x-{nodeId}"}}]`))},
		},
		"what a pool brings cannot be read": {
			kafka: kafka(kafkaTemplate(mounting("creds"))), pools: []*apiv1.KafkaNodePool{pool("a", 1, poolAnnotation("["))},
		},
		"a pool mounts what the Kafka lacks": {
			kafka: kafka(), pools: []*apiv1.KafkaNodePool{pool("a", 1, poolTemplate(mounting("creds")))},
			want: []string{"join-mount-of-no-volume " + inKafka + ".pod"},
		},
		"a pool's own dangling mount is the pool's": {
			kafka: kafka(), pools: []*apiv1.KafkaNodePool{pool("a", 1, poolTemplate(&apiv1.KafkaTemplate{Pod: &apiv1.PodTemplate{}, KafkaContainer: mounting("creds").KafkaContainer}))},
		},
		"a pool's container mounts the Kafka's volume": {
			kafka: kafka(kafkaTemplate(&apiv1.KafkaTemplate{Pod: template(creds).Pod})), pools: []*apiv1.KafkaNodePool{pool("a", 1, poolTemplate(mounting("creds")))},
		},
		"every pool replaces the list": {
			kafka:  kafka(kafkaTemplate(&apiv1.KafkaTemplate{Pod: template(creds).Pod, InitContainer: nil, KafkaContainer: nil})),
			pools:  []*apiv1.KafkaNodePool{pool("a", 1, poolTemplate(ownPod))},
			always: []string{"warn join-templated-volumes-unused " + inKafka + ".pod.templatedVolumes", "warn templated-volume-unmounted " + inKafka + ".pod.templatedVolumes[0].name"},
		},
		"one pool replaces it and lacks the volume": {
			kafka: kafka(kafkaTemplate(template(creds))), pools: []*apiv1.KafkaNodePool{pool("a", 1), pool("b", 1, poolTemplate(ownPod))},
			want: []string{"join-mount-of-no-volume " + inKafka + ".kafkaContainer.volumeMounts[0].name"},
		},
		"a pool's name makes a Secret's too long": {
			kafka: kafka(kafkaTemplate(template(byPod))), pools: []*apiv1.KafkaNodePool{pool(longName, 1)},
			want: []string{"join-templated-volume-expansion " + inKafka + ".pod.templatedVolumes[0].secret.secretName"},
		},
		"a fault of the Kafka alone is said once": {
			kafka: kafka(kafkaTemplate(template(secret("creds", "Creds")))), pools: []*apiv1.KafkaNodePool{pool("a", 1)},
			always: []string{"refuse templated-volume-expansion " + inKafka + ".pod.templatedVolumes[0].secret.secretName"},
		},
		"a pool that is going counts no more": {
			kafka: kafka(kafkaTemplate(mounting("creds"))),
			pools: []*apiv1.KafkaNodePool{pool("a", 1, func(p *apiv1.KafkaNodePool) { p.DeletionTimestamp = &metav1.Time{} })},
		},
		"that pool has a list of its own": {
			kafka: kafka(kafkaTemplate(template(byPod))), pools: []*apiv1.KafkaNodePool{pool("a", 1), pool(longName, 1, poolTemplate(template(creds)))},
		},
		"one claim for the nodes of two pools": {
			kafka: kafka(kafkaTemplate(template(claim("audit", "audit")))), pools: []*apiv1.KafkaNodePool{pool("a", 1), pool("b", 1)},
			always: []string{"warn join-templated-volume-claim-shared " + inKafka + ".pod.templatedVolumes[0].persistentVolumeClaim.claimName"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var facts validation.KafkaFacts
			for _, p := range tc.pools {
				facts.Pools = append(facts.Pools, *p)
			}
			inState := func(severity string) []string {
				want := append([]string{}, tc.always...)
				for _, w := range tc.want {
					want = append(want, severity+" "+w)
				}
				return want
			}
			wantSaid(t, validation.Kafka(tc.kafka, nil, facts, validation.Options{}), inState("warn")...)
			before := kafka(settled, func(k *apiv1.Kafka) {
				// What the update adds must be new.
				k.Spec.Kafka.Template = nil
			})
			if tc.kafka.Spec.Kafka.Template != nil {
				wantSaid(t, validation.Kafka(tc.kafka, before, facts, validation.Options{}), inState("refuse")...)
			}
			stored := *tc.kafka
			settled(&stored)
			wantSaid(t, validation.Kafka(&stored, &stored, facts, validation.Options{}))
		})
	}
}

func TestPoolBesideItsKafka(t *testing.T) {
	t.Parallel()
	creds := secret("creds", "creds-{nodeId}")
	byPod := secret("creds", strings.Repeat("a", 190)+"-{nodePodName}")
	for name, tc := range map[string]struct {
		kafka  *apiv1.Kafka
		pool   *apiv1.KafkaNodePool
		want   []string // as refusals where the Kafka is settled, else as warnings
		always []string // whatever the Kafka's state
		open   []string // only where it is not settled
	}{
		"the Kafka has the volume": {kafka: kafka(kafkaTemplate(&apiv1.KafkaTemplate{Pod: template(creds).Pod})), pool: pool("a", 1, poolTemplate(mounting("creds")))},
		"neither has it": {
			kafka: kafka(), pool: pool("a", 1, poolTemplate(mounting("creds"))), want: []string{"join-mount-of-no-volume " + atMount + "[0].name"},
		},
		"the pool drops what the Kafka mounts": {
			kafka: kafka(kafkaTemplate(template(creds))), pool: pool("a", 1, poolTemplate(&apiv1.KafkaTemplate{Pod: &apiv1.PodTemplate{}})),
			want: []string{"join-mount-of-no-volume spec.template.pod"},
			// A refusal of the same path stands alone.
			open: []string{"warn join-templated-volumes-dropped spec.template.pod"},
		},
		"the pool drops it and has containers of its own": {
			kafka:  kafka(kafkaTemplate(template(creds))),
			pool:   pool("a", 1, poolTemplate(&apiv1.KafkaTemplate{Pod: &apiv1.PodTemplate{}, KafkaContainer: &apiv1.ContainerTemplate{}})),
			always: []string{"warn join-templated-volumes-dropped spec.template.pod"},
		},
		"the pool repeats what it needs": {
			kafka: kafka(kafkaTemplate(template(creds))), pool: pool("a", 1, poolTemplate(template(creds))),
		},
		"the pool's container mounts less than the Kafka's, which it replaces": {
			kafka:  kafka(kafkaTemplate(template(creds))),
			pool:   pool("a", 1, poolTemplate(&apiv1.KafkaTemplate{Pod: template(creds).Pod, KafkaContainer: &apiv1.ContainerTemplate{}})),
			always: []string{"warn templated-volume-unmounted " + atVolume + "[0].name"},
		},
		"the pool's name makes a Secret's too long": {
			kafka: kafka(kafkaTemplate(template(byPod))), pool: pool(strings.Repeat("p", 60), 1), want: []string{"join-templated-volume-expansion metadata.name"},
		},
		"two nodes share the Kafka's claim": {
			kafka: kafka(kafkaTemplate(template(claim("audit", "audit")))), pool: pool("a", 2), always: []string{"warn join-templated-volume-claim-shared spec.replicas"},
		},
		"the Kafka's list cannot be read": {
			kafka: kafka(kafkaTemplate(mounting("creds")), func(k *apiv1.Kafka) {
				k.Annotations = map[string]string{apiv1.AnnotationPodTemplatedVolumes: "["}
			}), pool: pool("a", 2),
		},
		"a name of one character where Sluice runs the pods": {
			kafka: kafka(func(k *apiv1.Kafka) { k.Annotations = map[string]string{apiv1.AnnotationSluiceManaged: "true"} }),
			pool:  pool("a", 1, poolTemplate(template(secret("s", "s-{nodeId}")))),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			open, done := *tc.kafka, *tc.kafka
			settled(&done)
			state := func(severity string) []string {
				want := append([]string{}, tc.always...)
				for _, w := range tc.want {
					want = append(want, severity+" "+w)
				}
				return want
			}
			warned := append(state("warn"), tc.open...)
			wantSaid(t, validation.KafkaNodePool(tc.pool, nil, validation.PoolFacts{Kafka: &open}, validation.Options{}), warned...)
			wantSaid(t, validation.KafkaNodePool(tc.pool, nil, validation.PoolFacts{Kafka: &done}, validation.Options{}), state("refuse")...)
			// Ready, but not at its generation: something is on its way.
			done.Generation++
			wantSaid(t, validation.KafkaNodePool(tc.pool, nil, validation.PoolFacts{Kafka: &done}, validation.Options{}), warned...)
		})
	}
}
