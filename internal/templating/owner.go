package templating

import (
	apiv1 "github.com/sluice-kafka/sluice/api/v1"
)

// Paths of a list of templated volumes within its object.
const (
	pathKafka      = "spec.kafka.template.pod.templatedVolumes"
	pathOther      = "spec.template.pod.templatedVolumes"
	pathAnnotation = "metadata.annotations[" + apiv1.AnnotationPodTemplatedVolumes + "]"
)

// Applied is the list of templated volumes that applies to a pod, and whose it
// is.
type Applied struct {
	// Volumes in the order in which the owner lists them.
	Volumes []apiv1.TemplatedVolume
	// Kind and Name are those of the object that the list stands in.
	Kind, Name string
	// Path is where in that object the list stands.
	Path string
}

// InAnnotation tells whether the list stands in the annotation, not in the field.
func (a Applied) InAnnotation() bool { return a.Path == pathAnnotation }

// ForKafkaNode returns the list that applies to the pods of a pool. The pool's
// replaces the Kafka's whole, never merging, where the pool has a pod template
// (also an empty one) or the annotation. An error is ErrAnnotation; Applied then
// still tells whose list could not be read.
func ForKafkaNode(kafka *apiv1.Kafka, pool *apiv1.KafkaNodePool) (Applied, error) {
	if pool != nil {
		pod := podTemplate(pool.Spec.Template)
		a, fromAnnotation, err := applied(apiv1.KindKafkaNodePool, pool.Name, pathOther, pod, pool.Annotations)
		if pod != nil || fromAnnotation {
			return a, err
		}
	}
	if kafka == nil {
		return Applied{}, nil
	}
	a, _, err := applied(apiv1.KindKafka, kafka.Name, pathKafka, podTemplate(kafka.Spec.Kafka.Template), kafka.Annotations)
	return a, err
}

// ForConnect returns the list that applies to the workers of a KafkaConnect. An
// error is as in ForKafkaNode.
func ForConnect(c *apiv1.KafkaConnect) (Applied, error) {
	return forWorkers(apiv1.KindKafkaConnect, c.Name, c.Spec.Template, c.Annotations)
}

// ForMirrorMaker2 returns the list that applies to the workers of a
// KafkaMirrorMaker2. An error is as in ForKafkaNode.
func ForMirrorMaker2(m *apiv1.KafkaMirrorMaker2) (Applied, error) {
	return forWorkers(apiv1.KindKafkaMirrorMaker2, m.Name, m.Spec.Template, m.Annotations)
}

func forWorkers(kind, name string, t *apiv1.ConnectTemplate, annotations map[string]string) (Applied, error) {
	var pod *apiv1.PodTemplate
	if t != nil {
		pod = t.Pod
	}
	a, _, err := applied(kind, name, pathOther, pod, annotations)
	return a, err
}

func applied(kind, name, path string, pod *apiv1.PodTemplate, annotations map[string]string) (Applied, bool, error) {
	var field []apiv1.TemplatedVolume
	if pod != nil {
		field = pod.TemplatedVolumes
	}
	list, fromAnnotation, err := List(field, annotations[apiv1.AnnotationPodTemplatedVolumes])
	if fromAnnotation {
		path = pathAnnotation
	}
	return Applied{Volumes: list, Kind: kind, Name: name, Path: path}, fromAnnotation, err
}

// PodTemplate returns the pod template that applies to the pods of a pool, and
// whether it is the pool's own: a pool's template.pod, where it is there, even
// as {}, replaces the Kafka's whole. The annotation with templated volumes plays
// no part here.
func PodTemplate(kafka, pool *apiv1.KafkaTemplate) (t *apiv1.PodTemplate, ofPool bool) {
	return choose(podTemplate(kafka), podTemplate(pool))
}

// KafkaContainer returns the template of the container named kafka that applies
// to the pods of a pool, and whether it is the pool's own; it is replaced
// independently of the pod template.
func KafkaContainer(kafka, pool *apiv1.KafkaTemplate) (t *apiv1.ContainerTemplate, ofPool bool) {
	of := func(t *apiv1.KafkaTemplate) *apiv1.ContainerTemplate { return t.KafkaContainer }
	return choose(part(kafka, of), part(pool, of))
}

// InitContainer returns the template of the init container named kafka-init that
// applies to the pods of a pool, and whether it is the pool's own; it is
// replaced independently of the pod template.
func InitContainer(kafka, pool *apiv1.KafkaTemplate) (t *apiv1.ContainerTemplate, ofPool bool) {
	of := func(t *apiv1.KafkaTemplate) *apiv1.ContainerTemplate { return t.InitContainer }
	return choose(part(kafka, of), part(pool, of))
}

func podTemplate(t *apiv1.KafkaTemplate) *apiv1.PodTemplate {
	return part(t, func(t *apiv1.KafkaTemplate) *apiv1.PodTemplate { return t.Pod })
}

func part[T any](t *apiv1.KafkaTemplate, of func(*apiv1.KafkaTemplate) *T) *T {
	if t == nil {
		return nil
	}
	return of(t)
}

func choose[T any](kafka, pool *T) (t *T, ofPool bool) {
	if pool != nil {
		return pool, true
	}
	return kafka, false
}
