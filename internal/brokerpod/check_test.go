package brokerpod_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluice-kafka/sluice/internal/brokerpod"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		kafka, pool         string
		wantKafka, wantPool []string
	}{
		"nothing wrong": {},
		"each tells its own": {
			kafka:     `{spec: {kafka: {jvmOptions: {-XX: {A: []}}, template: {pod: {affinity: 3}, brokersService: {metadata: {labels: {a: 1}}}}}}}`,
			pool:      `{spec: {resources: {limits: {memory: much}}, template: {pod: {tolerations: [3]}}}}`,
			wantKafka: []string{"spec.kafka.jvmOptions.-XX[A]", "spec.kafka.template.pod.affinity", "spec.kafka.template.brokersService.metadata.labels[a]"},
			wantPool:  []string{"spec.resources", "spec.template.pod.tolerations[0]"},
		},
		"a claim's template and the budget's": {
			kafka:     `{spec: {kafka: {template: {persistentVolumeClaim: {metadata: {labels: {a: 1}}}, podDisruptionBudget: {metadata: {labels: {a: 1}}}}}}}`,
			wantKafka: []string{"spec.kafka.template.persistentVolumeClaim.metadata.labels[a]", "spec.kafka.template.podDisruptionBudget.metadata.labels[a]"},
		},
		"disks": {
			pool:     `{spec: {storage: {type: jbod, volumes: [{id: 0, type: ephemeral, sizeLimit: x}, {id: 1, type: persistent-claim}]}}}`,
			wantPool: []string{"spec.storage.volumes[0].sizeLimit", "spec.storage.volumes[1].size"},
		},
		"plain volumes": {
			pool:     `{spec: {template: {pod: {volumes: [{name: a, emptyDir: {sizeLimit: x}}]}}}}`,
			wantPool: []string{"spec.template.pod.volumes[0].emptyDir"},
		},
		"what other rules see is not told twice": {
			kafka: `{metadata: {annotations: {sluice.dev/pod-templated-volumes: "["}}, spec: {kafka: {listeners: [{name: a, port: 0, type: internal}]}}}`,
			pool:  `{spec: {storage: null, template: {kafkaContainer: {volumeMounts: [{name: a, mountPath: /mnt/a}]}}}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in, _ := read(t, "plain")
			in = changed(t, in, tc.kafka, tc.pool)
			if diff := cmp.Diff(tc.wantKafka, paths(brokerpod.CheckKafka(in.Kafka))); diff != "" {
				t.Errorf("Kafka (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.wantPool, paths(brokerpod.CheckPool(in.Pool))); diff != "" {
				t.Errorf("pool (-want +got):\n%s", diff)
			}
		})
	}
}

func paths(faults []brokerpod.Fault) []string {
	var all []string
	for _, f := range faults {
		all = append(all, f.Path.String())
	}
	return all
}
