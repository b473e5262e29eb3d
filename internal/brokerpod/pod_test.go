package brokerpod_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/brokerconfig"
	"github.com/sluice-kafka/sluice/internal/brokerpod"
	"github.com/sluice-kafka/sluice/internal/podvolumes"
)

func TestWhatNoPodCanBeMadeFromIsNamed(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		kafka, pool string
		want        []string
	}{
		"an affinity that is a text": {
			kafka: `{spec: {kafka: {template: {pod: {affinity: near}}}}}`,
			want:  []string{"Kafka my-cluster: spec.kafka.template.pod.affinity: it is no Kubernetes Affinity: it is a JSON string; correct it"},
		},
		"a part of it of a wrong type": {
			pool: `{spec: {template: {pod: {affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [1]}}}}}}`,
			want: []string{"KafkaNodePool dual: spec.template.pod.affinity: ", "nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution is a JSON array"},
		},
		"a toleration that is null": {
			pool: `{spec: {template: {pod: {tolerations: [{key: a}, null]}}}}`,
			want: []string{"KafkaNodePool dual: spec.template.pod.tolerations[1]: it is null"},
		},
		"a label that is a number": {
			pool: `{spec: {template: {pod: {metadata: {labels: {a: 1}}}}}}`,
			want: []string{"KafkaNodePool dual: spec.template.pod.metadata.labels[a]: it is no text; put it in quotes"},
		},
		"a memory that is none": {
			pool: `{spec: {resources: {limits: {memory: much}}}}`,
			want: []string{"KafkaNodePool dual: spec.resources: "},
		},
		"a JVM option that is a list": {
			kafka: `{spec: {kafka: {jvmOptions: {-XX: {MaxGCPauseMillis: [1]}}}}}`,
			want:  []string{"Kafka my-cluster: spec.kafka.jvmOptions.-XX[MaxGCPauseMillis]: "},
		},
		"a system property without a name": {
			pool: `{spec: {jvmOptions: {javaSystemProperties: [{name: a, value: b}, {value: c}]}}}`,
			want: []string{"KafkaNodePool dual: spec.jvmOptions.javaSystemProperties[1]: it has no name"},
		},
		"a variable that is a text": {
			kafka: `{spec: {kafka: {template: {kafkaContainer: {env: ["A=b"]}}}}}`,
			want:  []string{"Kafka my-cluster: spec.kafka.template.kafkaContainer.env[0]: "},
		},
		"no storage": {
			pool: `{spec: {storage: null}}`,
			want: []string{"KafkaNodePool dual: spec.storage: the nodes have no disk"},
		},
		"JBOD without a volume": {
			pool: `{spec: {storage: {type: jbod}}}`,
			want: []string{"KafkaNodePool dual: spec.storage: the nodes have no disk"},
		},
		"a type of storage that nobody knows": {
			pool: `{spec: {storage: {type: persistent-claims}}}`,
			want: []string{`KafkaNodePool dual: spec.storage.type: "persistent-claims"`},
		},
		"the same within JBOD": {
			pool: `{spec: {storage: {type: jbod, volumes: [{id: 0, type: ephemeral}, {id: 1, type: disk}]}}}`,
			want: []string{`KafkaNodePool dual: spec.storage.volumes[1].type: "disk"`},
		},
		"a size limit that is none": {
			pool: `{spec: {storage: {type: ephemeral, sizeLimit: 5 GB}}}`,
			want: []string{"KafkaNodePool dual: spec.storage.sizeLimit: ", "10Gi"},
		},
		"an annotation that is no list of volumes": {
			kafka: `{metadata: {annotations: {sluice.dev/pod-templated-volumes: "["}}}`,
			want:  []string{"Kafka my-cluster: metadata.annotations[sluice.dev/pod-templated-volumes]: "},
		},
		"a mount without a volume": {
			kafka: `{spec: {kafka: {template: {kafkaContainer: {volumeMounts: [{name: creds, mountPath: /mnt/creds}]}}}}}`,
			want:  []string{"Kafka my-cluster: spec.kafka.template.kafkaContainer.volumeMounts: ", `"creds"`, "/mnt/creds"},
		},
		"two volumes of a name": {
			pool: `{spec: {template: {pod: {volumes: [{name: a, emptyDir: {}}], templatedVolumes: [{name: a, secret: {secretName: s}}]}}}}`,
			want: []string{"KafkaNodePool dual: spec.template.pod: ", `"a"`},
		},
		"two mounts of a path": {
			pool: `{spec: {template: {pod: {volumes: [{name: a, emptyDir: {}}]}, kafkaContainer: {volumeMounts: [{name: a, mountPath: /mnt/a}, {name: a, mountPath: /mnt/a}]}}}}`,
			want: []string{"KafkaNodePool dual: spec.template.kafkaContainer.volumeMounts: ", "/mnt/a"},
		},
		"a port that is none": {
			kafka: `{spec: {kafka: {listeners: [{name: plain, port: 75628, type: internal}]}}}`,
			want:  []string{"Kafka my-cluster: spec.kafka.listeners[0].port: 75628"},
		},
		"a name that is too long": {
			kafka: `{metadata: {name: a-name-of-sixty-one-characters-is-too-long-for-the-host-names}}`,
			want:  []string{"KafkaNodePool dual: metadata.name: ", "68 characters"},
		},
		"two faults are told at once": {
			kafka: `{spec: {kafka: {listeners: [{name: plain, port: 0, type: internal}]}}}`,
			pool:  `{spec: {template: {pod: {affinity: 3, tmpDirSizeLimit: x}}}}`,
			want:  []string{"listeners[0].port", "spec.template.pod.affinity", "spec.template.pod.tmpDirSizeLimit"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in, _ := read(t, "plain")
			in = changed(t, in, tc.kafka, tc.pool)
			in.Node.Pod = in.Kafka.Name + "-dual-4"
			p, err := brokerpod.Pod(in)
			if p != nil || !errors.Is(err, brokerpod.ErrInvalid) {
				t.Fatalf("got pod %v and error %v, want ErrInvalid", p, err)
			}
			for _, part := range tc.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("the error does not say %q: %v", part, err)
				}
			}
			_, again := brokerpod.Pod(in)
			if again == nil || again.Error() != err.Error() {
				t.Errorf("the same input is told as %v, then as %v", err, again)
			}
		})
	}
}

func TestJVMOptions(t *testing.T) {
	t.Parallel()
	kafkas := []string{
		"-XX:+UseG1GC", "-XX:MaxGCPauseMillis=20", "-XX:InitiatingHeapOccupancyPercent=35",
		"-XX:+ExplicitGCInvokesConcurrent", "-XX:+ExitOnOutOfMemoryError",
	}
	always := []string{"-Djava.awt.headless=true", "-Dlog4j2.configurationFile=/opt/kafka/custom-config/log4j2.properties"}
	for name, tc := range map[string]struct {
		kafka, pool string
		heap        []string
		performance []string
		more        []string
	}{
		"nothing said": {heap: []string{"-Xms1024m", "-Xmx1024m"}, performance: kafkas},
		"half of the memory": {
			pool: `{spec: {resources: {limits: {memory: 3Gi}}}}`,
			heap: []string{"-Xms1536m", "-Xmx1536m"}, performance: kafkas,
		},
		"at most 5 GiB": {
			pool: `{spec: {resources: {limits: {memory: 64Gi}}}}`,
			heap: []string{"-Xms5120m", "-Xmx5120m"}, performance: kafkas,
		},
		"a request is no limit": {
			pool: `{spec: {resources: {requests: {memory: 64Gi}}}}`,
			heap: []string{"-Xms1024m", "-Xmx1024m"}, performance: kafkas,
		},
		"a heap of the Kafka's": {
			kafka: `{spec: {kafka: {jvmOptions: {-Xms: 1g, -Xmx: 2g}}}}`,
			heap:  []string{"-Xms1g", "-Xmx2g"}, performance: kafkas,
		},
		"the pool's replace the Kafka's whole": {
			kafka: `{spec: {kafka: {jvmOptions: {-Xms: 1g, gcLoggingEnabled: true}}}}`,
			pool:  `{spec: {jvmOptions: {-Xmx: 3g}}}`,
			heap:  []string{"-Xmx3g"}, performance: kafkas,
		},
		"a heap as a share": {
			pool: `{spec: {jvmOptions: {-XX: {MaxRAMPercentage: 60}}}}`,
			heap: nil, performance: []string{"-XX:MaxRAMPercentage=60"},
		},
		"another collector replaces Kafka's choice": {
			pool: `{spec: {jvmOptions: {-XX: {UseZGC: true, UnlockExperimentalVMOptions: "true", AlwaysPreTouch: "false", UnlockDiagnosticVMOptions: true}}}}`,
			heap: []string{"-Xms1024m", "-Xmx1024m"},
			performance: []string{
				"-XX:+UnlockDiagnosticVMOptions", "-XX:+UnlockExperimentalVMOptions", "-XX:-AlwaysPreTouch", "-XX:+UseZGC",
			},
		},
		"a null is no option": {
			pool: `{spec: {jvmOptions: {-XX: {UseZGC: null}}}}`,
			heap: []string{"-Xms1024m", "-Xmx1024m"}, performance: kafkas,
		},
		"properties come last, and the kubelet expands nothing in them": {
			pool: `{spec: {jvmOptions: {gcLoggingEnabled: true, javaSystemProperties: [{name: a, value: "$(B) $C"}, {name: d}]}}}`,
			heap: []string{"-Xms1024m", "-Xmx1024m"}, performance: kafkas,
			more: []string{"-Xlog:gc*:stdout:time", "-Da=$$(B) $$C", "-Dd="},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in, _ := read(t, "plain")
			got := pod(t, changed(t, in, tc.kafka, tc.pool)).Spec.Containers[0].Args
			if diff := cmp.Diff(slices.Concat(tc.heap, tc.performance, always, tc.more), got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// The pool's template replaces the Kafka's, of the pod and of the container each
// on its own, and it counts as soon as it is there.
func TestWhoseTemplate(t *testing.T) {
	t.Parallel()
	const ofKafka = `{spec: {kafka: {template: {pod: {priorityClassName: of-kafka, schedulerName: of-kafka}, kafkaContainer: {env: [{name: A, value: of-kafka}]}}}}}`
	for name, tc := range map[string]struct {
		pool                string
		priority, scheduler string
		variable            string
		gracePeriod         int64
	}{
		"the Kafka's":            {priority: "of-kafka", scheduler: "of-kafka", variable: "of-kafka", gracePeriod: 30},
		"an empty one":           {pool: `{spec: {template: {pod: {}}}}`, variable: "of-kafka", gracePeriod: 30},
		"the pool's":             {pool: `{spec: {template: {pod: {priorityClassName: of-pool, terminationGracePeriodSeconds: 0}}}}`, priority: "of-pool", variable: "of-kafka"},
		"the pool's container's": {pool: `{spec: {template: {kafkaContainer: {}}}}`, priority: "of-kafka", scheduler: "of-kafka", gracePeriod: 30},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in, _ := read(t, "plain")
			p := pod(t, changed(t, in, ofKafka, tc.pool))
			if p.Spec.PriorityClassName != tc.priority || p.Spec.SchedulerName != tc.scheduler || *p.Spec.TerminationGracePeriodSeconds != tc.gracePeriod {
				t.Errorf("got priority %q, scheduler %q, grace %d", p.Spec.PriorityClassName, p.Spec.SchedulerName, *p.Spec.TerminationGracePeriodSeconds)
			}
			got := ""
			for _, e := range p.Spec.Containers[0].Env {
				if e.Name == "A" {
					got = e.Value
				}
			}
			if got != tc.variable {
				t.Errorf("variable %q, want %q", got, tc.variable)
			}
		})
	}
}

func TestRackKey(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		rack               *apiv1.Rack
		broker, controller bool
		want               string
	}{
		"no rack":                      {broker: true},
		"a broker":                     {rack: &apiv1.Rack{TopologyKey: "zone"}, broker: true, want: "zone"},
		"both roles":                   {rack: &apiv1.Rack{TopologyKey: "zone"}, broker: true, controller: true, want: "zone"},
		"a controller":                 {rack: &apiv1.Rack{TopologyKey: "zone"}, controller: true},
		"the type is said":             {rack: &apiv1.Rack{Type: "topology-label", TopologyKey: "zone"}, broker: true, want: "zone"},
		"from an environment variable": {rack: &apiv1.Rack{Type: "environment-variable", TopologyKey: "zone"}, broker: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in, _ := read(t, "plain")
			in.Kafka.Spec.Kafka.Rack = tc.rack
			in.Node.Broker, in.Node.Controller = tc.broker, tc.controller
			if got := brokerpod.RackKey(in); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
			p := pod(t, in)
			asks := slices.ContainsFunc(p.Spec.Containers[0].Env, func(e corev1.EnvVar) bool { return e.Name == "KAFKA_RACK" })
			if asks != (tc.want != "") || (p.Spec.Affinity != nil) != asks {
				t.Errorf("the container waits for a rack: %v; the affinity is %v", asks, p.Spec.Affinity)
			}
		})
	}
}

func TestTheProbedListenerIsTheNodesOwn(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		broker, controller bool
		want               int
	}{
		"broker":     {broker: true, want: brokerconfig.ReplicationPort},
		"controller": {controller: true, want: brokerconfig.ControlPlanePort},
		"both":       {broker: true, controller: true, want: brokerconfig.ReplicationPort},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in, _ := read(t, "plain")
			in.Node.Broker, in.Node.Controller = tc.broker, tc.controller
			c := pod(t, in).Spec.Containers[0]
			for _, p := range []*corev1.Probe{c.StartupProbe, c.ReadinessProbe, c.LivenessProbe} {
				if got := p.TCPSocket.Port.IntValue(); got != tc.want {
					t.Errorf("port %d is probed, want %d", got, tc.want)
				}
			}
		})
	}
}

// Admission is asked about every pod that is created; what the operator made is
// complete.
func TestTheWebhookFindsNothingToDo(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"plain", "controller", "full"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in, _ := read(t, name)
			p := pod(t, in)
			id, err := podvolumes.Identify(p)
			if err != nil {
				t.Fatal(err)
			}
			if id.Cluster != in.Kafka.Name || id.Pool != in.Pool.Name || id.Node.ID != int64(in.Node.ID) {
				t.Errorf("the pod is taken for %+v", id)
			}
			plan, err := podvolumes.Decide(p, id, podvolumes.Owners{Kafka: in.Kafka, Pool: in.Pool})
			if err != nil || !plan.Empty() || len(plan.Warnings) > 0 {
				t.Errorf("plan %+v, %v", plan, err)
			}
		})
	}
}

// What is made may be changed by whoever sends it, and the Kafka and its pool come
// from a cache that others read.
func TestAPodSharesNothingWithItsInput(t *testing.T) {
	t.Parallel()
	in, _ := read(t, "full")
	kafka, pool := in.Kafka.DeepCopy(), in.Pool.DeepCopy()
	p := pod(t, in)
	*p.Spec.HostUsers, *p.Spec.EnableServiceLinks, *p.Spec.TerminationGracePeriodSeconds = true, false, 1
	p.Spec.Containers[0].VolumeMounts[len(p.Spec.Containers[0].VolumeMounts)-1].MountPath = "changed"
	if diff := cmp.Diff(kafka, in.Kafka) + cmp.Diff(pool, in.Pool); diff != "" {
		t.Errorf("changed with the pod:\n%s", diff)
	}
}
