package validation_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/validation"
)

// said is one expected finding: severity, rule and path, as "refuse
// topic-renamed spec.topicName".
func said(r validation.Result) []string {
	var all []string
	for _, f := range r.Refusals {
		all = append(all, "refuse "+f.Rule+" "+f.Path.String())
	}
	for _, f := range r.Warnings {
		all = append(all, "warn "+f.Rule+" "+f.Path.String())
	}
	slices.Sort(all)
	return all
}

func wantSaid(t *testing.T, r validation.Result, want ...string) {
	t.Helper()
	slices.Sort(want)
	if got := said(r); !slices.Equal(got, want) {
		t.Errorf("findings:\n got %s\nwant %s\nerrors %v\nwarnings %v",
			strings.Join(got, "\n     "), strings.Join(want, "\n     "), r.Errors(), r.WarningTexts())
	}
}

// mod changes an object under construction.
type mod[T any] func(*T)

func build[T any](obj T, mods ...mod[T]) *T {
	for _, m := range mods {
		m(&obj)
	}
	return &obj
}

func topic(mods ...mod[apiv1.KafkaTopic]) *apiv1.KafkaTopic {
	return build(apiv1.KafkaTopic{ObjectMeta: metav1.ObjectMeta{
		Namespace: "kafka", Name: "orders", Labels: map[string]string{apiv1.LabelCluster: "my-cluster"},
	}}, mods...)
}

func topicName(name string) mod[apiv1.KafkaTopic] {
	return func(t *apiv1.KafkaTopic) { t.Spec.TopicName = &name }
}

func resourceName(namespace, name string) mod[apiv1.KafkaTopic] {
	return func(t *apiv1.KafkaTopic) { t.Namespace, t.Name = namespace, name }
}

func partitions(n int64) mod[apiv1.KafkaTopic] {
	return func(t *apiv1.KafkaTopic) { t.Spec.Partitions = &n }
}

func replicas(n int64) mod[apiv1.KafkaTopic] {
	return func(t *apiv1.KafkaTopic) { t.Spec.Replicas = &n }
}

func option(key, rawJSON string) mod[apiv1.KafkaTopic] {
	return func(t *apiv1.KafkaTopic) { t.Spec.Config = withOption(t.Spec.Config, key, rawJSON) }
}

func withOption(c apiv1.Config, key, rawJSON string) apiv1.Config {
	out := apiv1.Config{}
	for k, v := range c {
		out[k] = v
	}
	var v apiextensionsv1.JSON
	if err := json.Unmarshal([]byte(rawJSON), &v); err != nil {
		panic(err)
	}
	out[key] = v
	return out
}

func managed(value string) mod[apiv1.KafkaTopic] {
	return func(t *apiv1.KafkaTopic) { t.Annotations = map[string]string{apiv1.AnnotationManaged: value} }
}

// created is a topic as it stands once Kafka has it.
func created(name string, partitions int64) mod[apiv1.KafkaTopic] {
	return func(t *apiv1.KafkaTopic) {
		t.Generation = 1
		t.Status = apiv1.KafkaTopicStatus{
			ObservedGeneration: 1, TopicName: name, Partitions: partitions, Conditions: ready("True"),
		}
	}
}

func ready(status string) []apiv1.Condition {
	return []apiv1.Condition{{Type: apiv1.ConditionReady, Status: status}}
}

func kafka(mods ...mod[apiv1.Kafka]) *apiv1.Kafka {
	return build(apiv1.Kafka{ObjectMeta: metav1.ObjectMeta{Namespace: "kafka", Name: "my-cluster"}}, mods...)
}

func brokerOption(key, rawJSON string) mod[apiv1.Kafka] {
	return func(k *apiv1.Kafka) { k.Spec.Kafka.Config = withOption(k.Spec.Kafka.Config, key, rawJSON) }
}

func kafkaTemplate(t *apiv1.KafkaTemplate) mod[apiv1.Kafka] {
	return func(k *apiv1.Kafka) { k.Spec.Kafka.Template = t }
}

// settled is a Kafka whose operator is done with it.
func settled(k *apiv1.Kafka) {
	k.Generation, k.Status.ObservedGeneration, k.Status.Conditions = 3, 3, ready("True")
}

func pool(name string, replicas int64, mods ...mod[apiv1.KafkaNodePool]) *apiv1.KafkaNodePool {
	p := apiv1.KafkaNodePool{ObjectMeta: metav1.ObjectMeta{
		Namespace: "kafka", Name: name, Labels: map[string]string{apiv1.LabelCluster: "my-cluster"},
	}}
	p.Spec.Replicas = &replicas
	p.Spec.Roles = []string{apiv1.RoleBroker}
	return build(p, mods...)
}

func poolTemplate(t *apiv1.KafkaTemplate) mod[apiv1.KafkaNodePool] {
	return func(p *apiv1.KafkaNodePool) { p.Spec.Template = t }
}

func poolAnnotation(text string) mod[apiv1.KafkaNodePool] {
	return func(p *apiv1.KafkaNodePool) {
		p.Annotations = map[string]string{apiv1.AnnotationPodTemplatedVolumes: text}
	}
}

func nodeIDs(ids ...int64) mod[apiv1.KafkaNodePool] {
	return func(p *apiv1.KafkaNodePool) { p.Status.NodeIDs = ids }
}

// template has a pod template of these volumes, and a container that mounts all
// of them below /mnt.
func template(volumes ...apiv1.TemplatedVolume) *apiv1.KafkaTemplate {
	t := &apiv1.KafkaTemplate{Pod: &apiv1.PodTemplate{TemplatedVolumes: volumes}, KafkaContainer: &apiv1.ContainerTemplate{}}
	for _, v := range volumes {
		t.KafkaContainer.VolumeMounts = append(t.KafkaContainer.VolumeMounts, mount(v.Name))
	}
	return t
}

// mounting has a container that mounts these names and no pod template.
func mounting(names ...string) *apiv1.KafkaTemplate {
	t := &apiv1.KafkaTemplate{KafkaContainer: &apiv1.ContainerTemplate{}}
	for _, n := range names {
		t.KafkaContainer.VolumeMounts = append(t.KafkaContainer.VolumeMounts, mount(n))
	}
	return t
}

func mount(name string) corev1.VolumeMount {
	return corev1.VolumeMount{Name: name, MountPath: "/mnt/" + name}
}

func secret(volume, name string, items ...corev1.KeyToPath) apiv1.TemplatedVolume {
	return apiv1.TemplatedVolume{Name: volume, Secret: &corev1.SecretVolumeSource{SecretName: name, Items: items}}
}

func configMap(volume, name string) apiv1.TemplatedVolume {
	v := apiv1.TemplatedVolume{Name: volume, ConfigMap: &corev1.ConfigMapVolumeSource{}}
	v.ConfigMap.Name = name
	return v
}

func claim(volume, name string) apiv1.TemplatedVolume {
	return apiv1.TemplatedVolume{Name: volume, PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name}}
}

func item(key, path string) corev1.KeyToPath { return corev1.KeyToPath{Key: key, Path: path} }
