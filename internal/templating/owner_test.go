package templating

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
)

const annotation = apiv1.AnnotationPodTemplatedVolumes

func kafka(t *apiv1.KafkaTemplate, annotations map[string]string) *apiv1.Kafka {
	k := &apiv1.Kafka{ObjectMeta: metav1.ObjectMeta{Name: "my-cluster", Annotations: annotations}}
	k.Spec.Kafka.Template = t
	return k
}

func pool(t *apiv1.KafkaTemplate, annotations map[string]string) *apiv1.KafkaNodePool {
	p := &apiv1.KafkaNodePool{ObjectMeta: metav1.ObjectMeta{Name: "brokers", Annotations: annotations}}
	p.Spec.Template = t
	return p
}

func withPod(volumes ...apiv1.TemplatedVolume) *apiv1.KafkaTemplate {
	return &apiv1.KafkaTemplate{Pod: &apiv1.PodTemplate{TemplatedVolumes: volumes}}
}

func TestForKafkaNode(t *testing.T) {
	ofKafka, ofPool := secretVolume("a", "of-kafka"), secretVolume("a", "of-pool")
	fromKafka := Applied{
		Volumes: []apiv1.TemplatedVolume{ofKafka}, Kind: "Kafka", Name: "my-cluster", Path: "spec.kafka.template.pod.templatedVolumes",
	}
	fromPool := func(volumes ...apiv1.TemplatedVolume) Applied {
		return Applied{Volumes: volumes, Kind: "KafkaNodePool", Name: "brokers", Path: "spec.template.pod.templatedVolumes"}
	}
	tests := map[string]struct {
		kafka   *apiv1.Kafka
		pool    *apiv1.KafkaNodePool
		want    Applied
		wantErr error
	}{
		"a pool without a template takes the Kafka's": {
			kafka: kafka(withPod(ofKafka), nil), pool: pool(nil, nil), want: fromKafka,
		},
		"a pool with a template for its container only takes the Kafka's": {
			kafka: kafka(withPod(ofKafka), nil),
			pool:  pool(&apiv1.KafkaTemplate{KafkaContainer: &apiv1.ContainerTemplate{}}, nil),
			want:  fromKafka,
		},
		"a pool's own pod template replaces the Kafka's": {
			kafka: kafka(withPod(ofKafka), nil), pool: pool(withPod(ofPool), nil), want: fromPool(ofPool),
		},
		"a pool's empty pod template replaces the Kafka's too": {
			kafka: kafka(withPod(ofKafka), nil), pool: pool(withPod(), nil), want: fromPool(),
		},
		"a pool's annotation replaces the Kafka's list without a pod template": {
			kafka: kafka(withPod(ofKafka), nil),
			pool:  pool(nil, map[string]string{annotation: "[{name: a, secret: {secretName: of-pool}}]"}),
			want: Applied{
				Volumes: []apiv1.TemplatedVolume{ofPool}, Kind: "KafkaNodePool", Name: "brokers",
				Path: "metadata.annotations[sluice.dev/pod-templated-volumes]",
			},
		},
		"a pool's annotation that cannot be read does not bring the Kafka's back": {
			kafka: kafka(withPod(ofKafka), nil),
			pool:  pool(nil, map[string]string{annotation: "["}),
			want: Applied{
				Kind: "KafkaNodePool", Name: "brokers", Path: "metadata.annotations[sluice.dev/pod-templated-volumes]",
			},
			wantErr: ErrAnnotation,
		},
		"the Kafka's annotation": {
			kafka: kafka(nil, map[string]string{annotation: "[{name: a, secret: {secretName: of-kafka}}]"}),
			pool:  pool(nil, nil),
			want: Applied{
				Volumes: []apiv1.TemplatedVolume{ofKafka}, Kind: "Kafka", Name: "my-cluster",
				Path: "metadata.annotations[sluice.dev/pod-templated-volumes]",
			},
		},
		"neither has a list": {
			kafka: kafka(nil, nil), pool: pool(nil, nil),
			want: Applied{Kind: "Kafka", Name: "my-cluster", Path: "spec.kafka.template.pod.templatedVolumes"},
		},
		"a pool that decides needs no Kafka": {pool: pool(withPod(ofPool), nil), want: fromPool(ofPool)},
		"nothing known":                      {},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := ForKafkaNode(tt.kafka, tt.pool)
			if !errors.Is(err, tt.wantErr) {
				t.Errorf("error = %v, want %v", err, tt.wantErr)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("ForKafkaNode (-want +got):\n%s", diff)
			}
		})
	}
}

func TestForWorkers(t *testing.T) {
	v := secretVolume("a", "s")
	template := &apiv1.ConnectTemplate{Pod: &apiv1.PodTemplate{TemplatedVolumes: []apiv1.TemplatedVolume{v}}}
	connect := &apiv1.KafkaConnect{ObjectMeta: metav1.ObjectMeta{Name: "c"}, Spec: apiv1.ConnectSpec{Template: template}}
	got, err := ForConnect(connect)
	want := Applied{Volumes: []apiv1.TemplatedVolume{v}, Kind: "KafkaConnect", Name: "c", Path: "spec.template.pod.templatedVolumes"}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("ForConnect: %v (-want +got):\n%s", err, diff)
	}
	mm2 := &apiv1.KafkaMirrorMaker2{ObjectMeta: metav1.ObjectMeta{Name: "m"}}
	got, err = ForMirrorMaker2(mm2)
	want = Applied{Kind: "KafkaMirrorMaker2", Name: "m", Path: "spec.template.pod.templatedVolumes"}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("ForMirrorMaker2: %v (-want +got):\n%s", err, diff)
	}
}

func TestEachPartOfATemplateIsReplacedOnItsOwn(t *testing.T) {
	mounts := func(name string) *apiv1.ContainerTemplate {
		return &apiv1.ContainerTemplate{VolumeMounts: []corev1.VolumeMount{{Name: name}}}
	}
	kafka := &apiv1.KafkaTemplate{Pod: &apiv1.PodTemplate{}, KafkaContainer: mounts("kafka"), InitContainer: mounts("kafka-init")}
	pool := &apiv1.KafkaTemplate{InitContainer: &apiv1.ContainerTemplate{}}

	if got, ofPool := PodTemplate(kafka, pool); got != kafka.Pod || ofPool {
		t.Errorf("PodTemplate = %v, of the pool: %v", got, ofPool)
	}
	if got, ofPool := KafkaContainer(kafka, pool); got != kafka.KafkaContainer || ofPool {
		t.Errorf("KafkaContainer = %v, of the pool: %v", got, ofPool)
	}
	if got, ofPool := InitContainer(kafka, pool); got != pool.InitContainer || !ofPool {
		t.Errorf("InitContainer = %v, of the pool: %v", got, ofPool)
	}
	if got, ofPool := InitContainer(nil, nil); got != nil || ofPool {
		t.Errorf("InitContainer of nothing = %v, of the pool: %v", got, ofPool)
	}
}
