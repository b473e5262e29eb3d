package validation

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/templating"
)

// pods is what the rules see of one object's pod template and of the containers
// that mount its volumes. It looks the same for all four kinds.
type pods struct {
	kind string
	base *field.Path // of the template that holds pod and containers
	pod  *apiv1.PodTemplate

	containers []container
	// elsewhere are the names that containers of other objects mount of this one.
	elsewhere map[string]bool

	list             []apiv1.TemplatedVolume
	listPath         *field.Path
	fromAnnotation   bool
	unusedAnnotation bool
	annotation       string // as it is written
	listErr          error

	secrets   map[string]bool // volumes that the operator may make of the object's Secrets
	misplaced []*field.Path   // other pod templates with templated volumes
	final     bool            // no other object can add the volumes of these pods
	bySluice  bool            // Sluice runs these pods
	nodes     []templating.Node
	count     int64 // of nodes, where this object alone decides it
	before    *pods // of the old object; only where final is not enough
}

// container is one container whose mounts a template gives.
type container struct {
	name   string // of the field
	path   *field.Path
	mounts []corev1.VolumeMount
}

// podRules judge the pod template of every kind. The order is that of reading:
// whether the list can be read, then each entry, then how entries go together.
var podRules = []rule[pods]{
	{"templated-volumes-misplaced", podsMisplaced},
	{"templated-volumes-unreadable", podsUnreadable},
	{"templated-volumes-annotation-unused", podsAnnotationUnused},
	{"volume-name-illegal", podsVolumeName},
	{"volume-name-duplicate", podsDuplicateName},
	{"volume-name-reserved", podsReservedName},
	{"templated-volume-source", podsSource},
	{"templated-volume-placeholder", podsPlaceholder},
	{"volume-placeholder-literal", podsLiteralPlaceholder},
	{"templated-volume-expansion", podsExpansion},
	{"templated-volume-items-collide", podsItemsCollide},
	{"templated-volume-claim-shared", podsSharedClaim},
	{"templated-volume-unmounted", podsUnmounted},
	{"mount-placeholder", podsMountPlaceholder},
	{"mount-path", podsMountPath},
	{"mount-path-duplicate", podsMountPathDuplicate},
	{"mount-of-no-volume", podsDanglingMount},
	{"templated-volume-removed", podsRemoved},
}

// withList reads the object's templated volumes from field or annotation.
func (p pods) withList(annotations map[string]string) pods {
	var given []apiv1.TemplatedVolume
	if p.pod != nil {
		given = p.pod.TemplatedVolumes
	}
	text, there := annotations[apiv1.AnnotationPodTemplatedVolumes]
	p.list, p.fromAnnotation, p.listErr = templating.List(given, text)
	p.listPath = p.base.Child("pod", "templatedVolumes")
	if p.fromAnnotation {
		p.listPath = annotationPath()
	}
	p.annotation, p.unusedAnnotation = text, there && len(given) > 0
	return p
}

func annotationPath() *field.Path {
	return field.NewPath("metadata", "annotations").Key(apiv1.AnnotationPodTemplatedVolumes)
}

func (p pods) volumes() []apiv1.AdditionalVolume {
	if p.pod == nil {
		return nil
	}
	return p.pod.Volumes
}

// names tells which volumes the object itself gives.
func (p pods) names() map[string]bool {
	names := make(map[string]bool, len(p.volumes())+len(p.list))
	for _, v := range p.volumes() {
		names[v.Name] = true
	}
	for _, v := range p.list {
		names[v.Name] = true
	}
	return names
}

// sometimes tells whether the operator gives these pods a volume of this name
// with some settings or in some versions; mayHave adds those that it always
// gives.
func (p pods) sometimes(name string) bool {
	return p.secrets[name] || reservedNames[p.kind].sometimes.MatchString(name)
}

func (p pods) mayHave(name string) bool {
	return p.secrets[name] || reservedNames[p.kind].has(name) || p.bySluice && ofSluice.MatchString(name)
}

func podsOfKafka(kafka, old *apiv1.Kafka, facts KafkaFacts) pods {
	p := pods{
		kind: apiv1.KindKafka, base: field.NewPath("spec", "kafka", "template"),
		bySluice:  kafka.HandedOver(),
		nodes:     kafkaSpecimen(kafka),
		misplaced: misplacedInKafka(kafka),
		elsewhere: map[string]bool{},
	}
	p = p.withKafkaTemplate(kafka.Spec.Kafka.Template).withList(kafka.Annotations)
	for i := range facts.Pools {
		for _, c := range kafkaContainers(p.base, facts.Pools[i].Spec.Template) {
			addMounts(p.elsewhere, c.mounts)
		}
	}
	if old != nil {
		before := pods{base: p.base}.withKafkaTemplate(old.Spec.Kafka.Template).withList(old.Annotations)
		p.before = &before
	}
	return p
}

// kafkaSpecimen is a node of a Kafka of which no pool is known. Any pool's name
// makes a pod's name at least as long as this.
func kafkaSpecimen(kafka *apiv1.Kafka) []templating.Node {
	return []templating.Node{{ID: 0, PodName: kafka.Name + "-a-0"}}
}

func misplacedInKafka(kafka *apiv1.Kafka) []*field.Path {
	var paths []*field.Path
	other := func(component string, t *apiv1.OtherTemplate) {
		if t != nil {
			paths = append(paths, misplaced(field.NewPath("spec", component, "template", "pod"), t.Pod)...)
		}
	}
	if c := kafka.Spec.EntityOperator; c != nil {
		other("entityOperator", c.Template)
	}
	if c := kafka.Spec.CruiseControl; c != nil {
		other("cruiseControl", c.Template)
	}
	if c := kafka.Spec.KafkaExporter; c != nil {
		other("kafkaExporter", c.Template)
	}
	return paths
}

func misplaced(path *field.Path, t *apiv1.OtherPodTemplate) []*field.Path {
	if t == nil || t.TemplatedVolumes == nil {
		return nil
	}
	return []*field.Path{path.Child("templatedVolumes")}
}

func podsOfPool(pool *apiv1.KafkaNodePool, facts PoolFacts) pods {
	p := pods{
		kind: apiv1.KindKafkaNodePool, base: field.NewPath("spec", "template"),
		bySluice:  facts.Kafka.HandedOver(),
		nodes:     poolNodes(pool, facts),
		count:     poolCount(pool),
		elsewhere: map[string]bool{},
	}
	p = p.withKafkaTemplate(pool.Spec.Template).withList(pool.Annotations)
	p.final = p.pod != nil
	if facts.Kafka != nil {
		own := map[string]bool{}
		for _, c := range p.containers {
			own[c.name] = true
		}
		for _, c := range kafkaContainers(p.base, facts.Kafka.Spec.Kafka.Template) {
			if !own[c.name] {
				addMounts(p.elsewhere, c.mounts)
			}
		}
	}
	return p
}

func poolCount(pool *apiv1.KafkaNodePool) int64 {
	count := int64(len(pool.Status.NodeIDs))
	if pool.Spec.Replicas != nil {
		count = max(count, *pool.Spec.Replicas)
	}
	return count
}

func (p pods) withKafkaTemplate(t *apiv1.KafkaTemplate) pods {
	if t != nil {
		p.pod = t.Pod
	}
	p.containers = kafkaContainers(p.base, t)
	return p
}

func kafkaContainers(base *field.Path, t *apiv1.KafkaTemplate) []container {
	if t == nil {
		return nil
	}
	return containers(base, named{"kafkaContainer", t.KafkaContainer}, named{"initContainer", t.InitContainer})
}

// named is a container's template with the name of its field.
type named struct {
	field    string
	template *apiv1.ContainerTemplate
}

func containers(base *field.Path, all ...named) []container {
	var list []container
	for _, n := range all {
		if n.template != nil {
			list = append(list, container{name: n.field, path: base.Child(n.field, "volumeMounts"), mounts: n.template.VolumeMounts})
		}
	}
	return list
}

func addMounts(names map[string]bool, mounts []corev1.VolumeMount) {
	for _, m := range mounts {
		names[m.Name] = true
	}
}

func podsOfConnect(c *apiv1.KafkaConnect) pods {
	return podsOfWorkers(apiv1.KindKafkaConnect, c.Name+"-connect", c.Spec, c.Annotations)
}

func podsOfMirrorMaker2(m *apiv1.KafkaMirrorMaker2) pods {
	return podsOfWorkers(apiv1.KindKafkaMirrorMaker2, m.Name+"-mirrormaker2", m.Spec, m.Annotations)
}

func podsOfWorkers(kind, podPrefix string, spec apiv1.ConnectSpec, annotations map[string]string) pods {
	p := pods{kind: kind, base: field.NewPath("spec", "template"), secrets: secretVolumes(spec), final: true, count: 1}
	if spec.Replicas != nil {
		p.count = *spec.Replicas
	}
	p.nodes = workerNodes(podPrefix, p.count)
	if t := spec.Template; t != nil {
		p.pod = t.Pod
		p.containers = containers(p.base, named{"connectContainer", t.ConnectContainer}, named{"initContainer", t.InitContainer})
		p.misplaced = misplaced(p.base.Child("buildPod"), t.BuildPod)
	}
	return p.withList(annotations)
}
