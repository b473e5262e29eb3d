package brokerpod_test

import (
	"testing"

	"github.com/sluice-kafka/sluice/internal/brokerpod"
)

func TestWhatChangesTheRevision(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		kafka, pool string
		change      func(*brokerpod.Input)
		same        bool
	}{
		"a static option":                 {change: func(in *brokerpod.Input) { in.ConfigurationHash = "other" }},
		"another version":                 {change: func(in *brokerpod.Input) { in.Version = "4.3.2" }},
		"another image":                   {kafka: `{spec: {kafka: {image: other}}}`},
		"the node loses a role":           {change: func(in *brokerpod.Input) { in.Node.Controller = false }},
		"a listener's port":               {kafka: `{spec: {kafka: {listeners: [{name: plain, port: 9096, type: internal}]}}}`},
		"the rack is to be known":         {kafka: `{spec: {kafka: {rack: {topologyKey: zone}}}}`},
		"more memory":                     {pool: `{spec: {resources: {limits: {memory: 9Gi}}}}`},
		"a JVM option":                    {pool: `{spec: {jvmOptions: {gcLoggingEnabled: true}}}`},
		"another disk":                    {pool: `{spec: {storage: {type: jbod, volumes: [{id: 0, type: persistent-claim, size: 1Gi}]}}}`},
		"a label of the template":         {pool: `{spec: {template: {pod: {metadata: {labels: {a: b}}}}}}`},
		"an annotation of it":             {pool: `{spec: {template: {pod: {metadata: {annotations: {a: b}}}}}}`},
		"a toleration":                    {pool: `{spec: {template: {pod: {tolerations: [{key: a}]}}}}`},
		"a variable of the Kafka's":       {kafka: `{spec: {kafka: {template: {kafkaContainer: {env: [{name: A, value: b}]}}}}}`},
		"a templated volume":              {kafka: `{spec: {kafka: {template: {pod: {templatedVolumes: [{name: a, secret: {secretName: s}}]}}}}}`},
		"one in the annotation":           {pool: `{metadata: {annotations: {sluice.dev/pod-templated-volumes: "[{name: a, secret: {secretName: s}}]"}}}`},
		"nothing":                         {same: true},
		"another number of nodes":         {pool: `{spec: {replicas: 9}}`, same: true},
		"a larger disk":                   {pool: `{spec: {storage: {size: 200Gi, deleteClaim: true}}}`, same: true},
		"a dynamic option":                {kafka: `{spec: {kafka: {config: {log.retention.ms: 1}}}}`, same: true},
		"the metadata version":            {kafka: `{spec: {kafka: {metadataVersion: 4.3-IV0}}}`, same: true},
		"the generation and the labels":   {kafka: `{metadata: {generation: 7, labels: {a: b}, resourceVersion: "9"}}`, pool: `{metadata: {generation: 7, labels: {a: b}}}`, same: true},
		"a label of claims and services":  {kafka: `{spec: {kafka: {template: {persistentVolumeClaim: {metadata: {labels: {a: b}}}, bootstrapService: {metadata: {labels: {a: b}}}}}}}`, same: true},
		"a Kafka of the name made anew":   {kafka: `{metadata: {uid: 22222222-2222-2222-2222-222222222222}}`, same: true},
		"a listener that nobody opens":    {kafka: `{spec: {kafka: {listeners: [{name: plain, port: 9092, type: internal}, {name: out, port: 9094, type: loadbalancer}]}}}`, same: true},
		"the same memory in other words":  {pool: `{spec: {resources: {limits: {memory: 8192Mi}}}}`, same: true},
		"the status of both":              {kafka: `{status: {kafkaVersion: 4.3.1, clusterId: x}}`, pool: `{status: {nodeIds: [4]}}`, same: true},
		"a cordon and other annotations":  {kafka: `{metadata: {annotations: {sluice.dev/cordon: "4"}}}`, same: true},
		"a template of no other sort":     {kafka: `{spec: {kafka: {template: {podSet: {metadata: {labels: {a: b}}}}}}}`, same: true},
		"a Kafka's template that is none": {kafka: `{spec: {kafka: {template: {}}}}`, pool: `{spec: {template: {}}}`, same: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			base, _ := read(t, "plain")
			base = changed(t, base, "", `{spec: {resources: {limits: {memory: 8Gi}}}}`)
			in := changed(t, base, tc.kafka, tc.pool)
			if tc.change != nil {
				tc.change(&in)
			}
			before, after := brokerpod.Revision(pod(t, base)), brokerpod.Revision(pod(t, in))
			if before == "" || (before == after) != tc.same {
				t.Errorf("revision %q, then %q; want the same: %v", before, after, tc.same)
			}
		})
	}
}

// Every node is restarted where an upgrade of the operator changes the revision of
// what nobody changed: this test is to be changed only with that in mind.
func TestTheRevisionOfAPlainNodeStays(t *testing.T) {
	t.Parallel()
	in, _ := read(t, "plain")
	if got, want := brokerpod.Revision(pod(t, in)), "e6eb61608fcb856b"; got != want {
		t.Errorf("revision %s, want %s", got, want)
	}
}

func TestRevisionIsReadNotComputed(t *testing.T) {
	t.Parallel()
	in, _ := read(t, "plain")
	live := pod(t, in)
	want := brokerpod.Revision(live)
	live.Spec.NodeName, live.Spec.DNSPolicy, live.Spec.ServiceAccountName = "node-1", "ClusterFirst", "default"
	live.Labels["added"] = "by someone"
	if got := brokerpod.Revision(live); got != want {
		t.Errorf("a pod that admission added to has revision %s, want %s", got, want)
	}
	delete(live.Annotations, "strimzi.io/revision")
	if got := brokerpod.Revision(live); got != "" {
		t.Errorf("a pod of someone else has revision %q", got)
	}
}
