package validation

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/templating"
)

// combination is what the pods of one pool get from the pool and its Kafka
// together.
type combination struct {
	pool *apiv1.KafkaNodePool
	// kafkaList tells that the Kafka's templated volumes apply, and kafkaPod that
	// its pod template does.
	kafkaList, kafkaPod bool
	names               map[string]bool
	mounts              []placedMount
	// unreadable tells that an annotation hides which volumes there are.
	unreadable bool
	bySluice   bool // Sluice runs these pods
}

// placedMount is a mount with the place where it is given.
type placedMount struct {
	name   string // of the volume
	ofPool bool
	field  string // of the container
	list   *field.Path
	index  int
}

// path of the mount's name, in the Kafka or in the pool. Of most mounts nobody
// asks it.
func (m placedMount) path() *field.Path {
	return m.list.Index(m.index).Child("name")
}

func combine(kafka *apiv1.Kafka, pool *apiv1.KafkaNodePool) combination {
	kt, pt := kafka.Spec.Kafka.Template, pool.Spec.Template
	list, err := templating.ForKafkaNode(kafka, pool)
	pod, podOfPool := templating.PodTemplate(kt, pt)
	c := combination{
		pool: pool, kafkaList: list.Kind == apiv1.KindKafka, kafkaPod: !podOfPool,
		names: map[string]bool{}, unreadable: err != nil, bySluice: kafka.HandedOver(),
	}
	if pod != nil {
		for _, v := range pod.Volumes {
			c.names[v.Name] = true
		}
	}
	for _, v := range list.Volumes {
		c.names[v.Name] = true
	}
	kafkaContainer, containerOfPool := templating.KafkaContainer(kt, pt)
	c.place("kafkaContainer", kafkaContainer, containerOfPool)
	initContainer, initOfPool := templating.InitContainer(kt, pt)
	c.place("initContainer", initContainer, initOfPool)
	return c
}

func (c *combination) place(containerField string, t *apiv1.ContainerTemplate, ofPool bool) {
	if t == nil {
		return
	}
	path := field.NewPath("spec", "kafka", "template", containerField, "volumeMounts")
	if ofPool {
		path = field.NewPath("spec", "template", containerField, "volumeMounts")
	}
	c.mounts = slices.Grow(c.mounts, len(t.VolumeMounts))
	for i := range t.VolumeMounts {
		c.mounts = append(c.mounts, placedMount{name: t.VolumeMounts[i].Name, ofPool: ofPool, field: containerField, list: path, index: i})
	}
}

// dangling returns the mounts that name no volume, except those that the pool's
// own rules judge on sight.
func (c combination) dangling() []placedMount {
	if c.unreadable {
		return nil
	}
	var list []placedMount
	for _, m := range c.mounts {
		if m.ofPool && !c.kafkaPod || c.names[m.name] || reservedKafka.has(m.name) || c.bySluice && ofSluice.MatchString(m.name) {
			continue
		}
		list = append(list, m)
	}
	return list
}
