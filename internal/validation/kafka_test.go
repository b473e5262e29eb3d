package validation_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/validation"
)

func TestKafkaOptions(t *testing.T) {
	t.Parallel()
	listener := func(k *apiv1.Kafka) {
		k.Spec.Kafka.Listeners = []apiv1.KafkaListener{{Name: "plain", Port: 9092}}
	}
	for name, tc := range map[string]struct {
		kafka, old *apiv1.Kafka
		strict     bool
		want       []string
	}{
		"the operator's cordon is refused": {
			kafka: kafka(brokerOption("cordoned.log.dirs", `"*"`)), want: []string{"refuse kafka-cordoned-log-dirs spec.kafka.config[cordoned.log.dirs]"},
		},
		"blanks do not hide it": {
			kafka: kafka(brokerOption(" cordoned.log.dirs\t", `"*"`)), want: []string{"refuse kafka-cordoned-log-dirs spec.kafka.config[ cordoned.log.dirs\t]"},
		},
		"capitals do not hide it": {
			kafka: kafka(brokerOption("Cordoned.Log.Dirs", `"*"`)), want: []string{"refuse kafka-cordoned-log-dirs spec.kafka.config[Cordoned.Log.Dirs]"},
		},
		"an empty value is refused too": {
			kafka: kafka(brokerOption("cordoned.log.dirs", `""`)), want: []string{"refuse kafka-cordoned-log-dirs spec.kafka.config[cordoned.log.dirs]"},
		},
		"one from before stays until it is changed": {
			old: kafka(brokerOption("cordoned.log.dirs", `"*"`)), kafka: kafka(brokerOption("cordoned.log.dirs", `"*"`), brokerOption("num.partitions", "3")),
		},
		"a changed one is refused": {
			old: kafka(brokerOption("cordoned.log.dirs", `"*"`)), kafka: kafka(brokerOption("cordoned.log.dirs", `"/d"`)),
			want: []string{"refuse kafka-cordoned-log-dirs spec.kafka.config[cordoned.log.dirs]"},
		},
		"an owned option is warned of":        {kafka: kafka(brokerOption("node.id", "3")), want: []string{"warn kafka-option-owned spec.kafka.config[node.id]"}},
		"in any case":                         {kafka: kafka(brokerOption("Node.ID", "3")), want: []string{"warn kafka-option-owned spec.kafka.config[Node.ID]"}},
		"a prefix with a capital in the list": {kafka: kafka(brokerOption("zookeeper.clientCnxnSocket", `"x"`)), want: []string{"warn kafka-option-owned spec.kafka.config[zookeeper.clientCnxnSocket]"}},
		"a prefix needs no dot":               {kafka: kafka(brokerOption("log.dirs", `"/d"`)), want: []string{"warn kafka-option-owned spec.kafka.config[log.dirs]"}},
		"log.retention is nobody's prefix":    {kafka: kafka(brokerOption("log.retention.ms", "1"))},
		"and refused where that is asked for": {kafka: kafka(brokerOption("node.id", "3")), strict: true, want: []string{"refuse kafka-option-owned spec.kafka.config[node.id]"}},
		"an exception is the user's":          {kafka: kafka(brokerOption("controller.quorum.fetch.timeout.ms", "3000")), strict: true},
		"an exception is exact": {
			kafka: kafka(brokerOption("ssl.protocolx", `"a"`)), want: []string{"warn kafka-option-owned spec.kafka.config[ssl.protocolx]"},
		},
		"an option of a declared listener": {kafka: kafka(listener, brokerOption("listener.name.plain-9092.max.connections", "10"))},
		"of one that is not declared": {
			kafka: kafka(listener, brokerOption("listener.name.plain-9093.max.connections", "10")),
			want:  []string{"warn kafka-option-owned spec.kafka.config[listener.name.plain-9093.max.connections]"},
		},
		"another option of a declared listener": {
			kafka: kafka(listener, brokerOption("listener.name.plain-9092.ssl.keystore.location", `"x"`)),
			want:  []string{"warn kafka-option-owned spec.kafka.config[listener.name.plain-9092.ssl.keystore.location]"},
		},
		"in-sync replicas above the default factor": {
			kafka: kafka(brokerOption("min.insync.replicas", "3"), brokerOption("default.replication.factor", `"2"`)),
			want:  []string{"warn kafka-min-isr-above-factor spec.kafka.config[min.insync.replicas]"},
		},
		"of one alone nothing is known": {kafka: kafka(brokerOption("min.insync.replicas", "3"))},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wantSaid(t, validation.Kafka(tc.kafka, tc.old, validation.KafkaFacts{}, validation.Options{StrictConfig: tc.strict}), tc.want...)
		})
	}
}

func TestMisplacedTemplatedVolumes(t *testing.T) {
	t.Parallel()
	misplaced := &apiv1.OtherTemplate{Pod: &apiv1.OtherPodTemplate{TemplatedVolumes: &apiextensionsv1.JSON{Raw: []byte(`[]`)}}}
	everywhere := kafka(func(k *apiv1.Kafka) {
		k.Spec.EntityOperator = &apiv1.EntityOperatorSpec{Template: misplaced}
		k.Spec.CruiseControl = &apiv1.CruiseControlSpec{Template: misplaced}
		k.Spec.KafkaExporter = &apiv1.KafkaExporterSpec{Template: misplaced}
	})
	want := []string{
		"refuse templated-volumes-misplaced spec.cruiseControl.template.pod.templatedVolumes",
		"refuse templated-volumes-misplaced spec.entityOperator.template.pod.templatedVolumes",
		"refuse templated-volumes-misplaced spec.kafkaExporter.template.pod.templatedVolumes",
	}
	wantSaid(t, validation.Kafka(everywhere, nil, validation.KafkaFacts{}, validation.Options{}), want...)
	wantSaid(t, validation.Kafka(everywhere, everywhere, validation.KafkaFacts{}, validation.Options{}))
}

func TestRemovingATemplatedVolumeOfAKafka(t *testing.T) {
	t.Parallel()
	with := template(secret("creds", "creds-{nodeId}"))
	mountsOnly := mounting("creds")
	plain := mounting("creds")
	plain.Pod = &apiv1.PodTemplate{Volumes: []apiv1.AdditionalVolume{{Name: "creds", Secret: &corev1.SecretVolumeSource{SecretName: "creds"}}}}
	for name, tc := range map[string]struct {
		before, after *apiv1.KafkaTemplate
		want          []string
	}{
		"the mount stays":                      {with, mountsOnly, []string{"refuse templated-volume-removed spec.kafka.template.kafkaContainer.volumeMounts[0].name"}},
		"the mount goes too":                   {with, nil, nil},
		"a plain volume of that name comes in": {with, plain, nil},
		"a mount that never had one":           {mountsOnly, mountsOnly, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			old := kafka(kafkaTemplate(tc.before))
			wantSaid(t, validation.Kafka(kafka(kafkaTemplate(tc.after)), old, validation.KafkaFacts{}, validation.Options{}), tc.want...)
		})
	}
}
