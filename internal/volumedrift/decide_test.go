package volumedrift

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
)

func annotate(o metav1.Object, name, value string) {
	annotations := o.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[name] = value
	o.SetAnnotations(annotations)
}

func inField(c *Cluster) {
	delete(c.Owners.Kafka.Annotations, apiv1.AnnotationPodTemplatedVolumes)
	c.Owners.Kafka.Spec.Kafka.Template = &apiv1.KafkaTemplate{Pod: &apiv1.PodTemplate{TemplatedVolumes: []apiv1.TemplatedVolume{
		{Name: "creds", Secret: &corev1.SecretVolumeSource{SecretName: "creds-{nodeId}"}},
	}}}
}

func rollKafka(value string) func(*Cluster) {
	return func(c *Cluster) { annotate(c.Owners.Kafka, apiv1.AnnotationRollVolumes, value) }
}

func rollPool(value string) func(*Cluster) {
	return func(c *Cluster) { annotate(c.Pools["brokers"], apiv1.AnnotationRollVolumes, value) }
}

func TestDecide(t *testing.T) {
	tests := map[string]struct {
		cluster *Cluster
		want    Action
		wantPod string
		// wantReason is a part of the reason.
		wantReason string
	}{
		"a converged cluster": {
			cluster: cluster(right(0), right(1)), want: Wait, wantReason: "no pod has drifted",
		},
		"a cluster without any list": {
			cluster: cluster(wrong(0), wrong(1)).edit(func(c *Cluster) {
				c.Owners.Kafka.Annotations = nil
				for _, p := range c.Pods {
					p.Entry.Spec.Containers[0].VolumeMounts = nil
				}
			}),
			want: Wait, wantReason: "no pod has drifted",
		},
		"volumes that the pod set carries are not looked at": {
			cluster: cluster(wrong(0), wrong(1)).edit(func(c *Cluster) {
				for _, p := range c.Pods {
					p.Entry.Spec.Volumes = []corev1.Volume{secretVolume("creds", "strimzi's")}
				}
			}),
			want: Wait, wantReason: "no pod has drifted",
		},
		"defaults of the API server are no drift": {
			cluster: cluster(right(0, func(p *Pod) {
				mode := corev1.SecretVolumeSourceDefaultMode
				p.Live.Spec.Volumes[1].Secret.DefaultMode = &mode
			})),
			want: Wait, wantReason: "no pod has drifted",
		},
		"the lowest node goes first": {
			cluster: cluster(wrong(10), wrong(9), right(1)), want: Mark, wantPod: "c-brokers-9", wantReason: "all others are ready",
		},
		"a volume that is missing": {
			cluster: cluster(right(0), right(1, func(p *Pod) { p.Live.Spec.Volumes = nil })), want: Mark, wantPod: "c-brokers-1",
		},
		"another pod is not ready": {
			cluster: cluster(wrong(0), right(1, crashes)), want: Wait, wantReason: "pod c-brokers-1 is not ready (Unready)",
		},
		"another pod was not created yet": {
			cluster: cluster(wrong(0), right(1, absent)), want: Wait, wantReason: "pod c-brokers-1 is not ready (Missing)",
		},
		"another pod is going": {
			cluster: cluster(wrong(0), right(1, leaving)), want: Wait, wantReason: "pod c-brokers-1 is not ready (Going)",
		},
		"another pod has drifted too and is not ready": {
			cluster: cluster(wrong(0), wrong(1, crashes)), want: Wait, wantReason: "pod c-brokers-1 is not ready",
		},
		"a pod of another pool is not ready": {
			cluster: cluster(wrong(0), right(7, crashes, func(p *Pod) {
				p.Name = "c-others-7"
				p.Entry.Name, p.Entry.Labels[apiv1.LabelPodName], p.Entry.Labels[apiv1.LabelPoolName] = p.Name, p.Name, "others"
			})).edit(func(c *Cluster) {
				c.Pools["others"] = &apiv1.KafkaNodePool{ObjectMeta: metav1.ObjectMeta{Name: "others", Labels: map[string]string{apiv1.LabelCluster: "c"}}}
			}),
			want: Wait, wantReason: "pod c-others-7 is not ready",
		},
		"the pod is marked already": {
			cluster: cluster(wrong(0, asked), right(1)), want: Wait, wantReason: "pod c-brokers-0 is marked",
		},
		"another pod is marked, by whomever": {
			cluster: cluster(wrong(0), right(1, asked)), want: Wait, wantReason: "pod c-brokers-1 is marked",
		},
		"another pod is about to be replaced by its creator": {
			cluster: cluster(wrong(0), right(1, older)), want: Wait, wantReason: "pod c-brokers-1 is not of its pod set's revision",
		},
		"a pod that cannot be judged does not stop the others": {
			cluster: cluster(wrong(0), right(1, opaque)), want: Mark, wantPod: "c-brokers-0",
		},
		"a pod that would be refused anew is left alone": {
			cluster: cluster(wrong(0, func(p *Pod) {
				c := &p.Entry.Spec.Containers[0]
				c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: "nobody's"})
			})),
			want: Wait, wantReason: "no pod has drifted",
		},
		"a pod that never started goes before a ready one": {
			cluster: cluster(wrong(0), wrong(5, hangs)), want: Delete, wantPod: "c-brokers-5",
		},
		"a pod that never started waits for no other's readiness": {
			cluster: cluster(right(0, crashes), wrong(5, hangs), right(6, older)), want: Delete, wantPod: "c-brokers-5",
		},
		"a pod that never started but is right is left alone": {
			cluster: cluster(wrong(0), right(5, hangs)), want: Wait, wantReason: "pod c-brokers-5 is not ready (NeverStarted)",
		},
		"a pod that never started and will be replaced by its creator is left to it": {
			cluster: cluster(wrong(5, hangs, older)), want: Wait,
		},
		"of two that never started one is replaced at a time": {
			cluster: cluster(right(4, absent), wrong(5, hangs)).remember(kafkaC, began("c-brokers-4")),
			want:    Wait, wantReason: "pod c-brokers-4 is being replaced",
		},
		"the second of two is replaced before the first is ready": {
			cluster: cluster(right(4, hangs, successor), wrong(5, hangs)).remember(kafkaC, began("c-brokers-4")),
			want:    Delete, wantPod: "c-brokers-5",
		},
		"a mark that Strimzi cannot heed does not stop what never started": {
			cluster: cluster(wrong(4, asked), wrong(5, hangs)).remember(kafkaC, began("c-brokers-4")),
			want:    Delete, wantPod: "c-brokers-5",
		},
		"a restart that was recorded and not begun is begun": {
			cluster: cluster(wrong(4), wrong(5)).remember(kafkaC, began("c-brokers-4")), want: Mark, wantPod: "c-brokers-4",
		},
		"the list stands in the field": {
			cluster: cluster(wrong(0)).edit(inField), want: Wait, wantReason: "no drifted pod may be restarted",
		},
		"the list stands in the field, and the Kafka allows it": {
			cluster: cluster(wrong(0)).edit(inField).edit(rollKafka("true")), want: Mark, wantPod: "c-brokers-0",
		},
		"the list stands in the field, and the pool allows it": {
			cluster: cluster(wrong(0)).edit(inField).edit(rollPool("true")), want: Mark, wantPod: "c-brokers-0",
		},
		"the Kafka allows it and the pool forbids it": {
			cluster: cluster(wrong(0)).edit(rollKafka("true")).edit(rollPool("false")), want: Wait, wantReason: "no drifted pod may be restarted",
		},
		"the list stands in an annotation, and the Kafka forbids it": {
			cluster: cluster(wrong(0)).edit(rollKafka("no")), want: Wait, wantReason: "no drifted pod may be restarted",
		},
		"a hanging pod is not deleted without consent either": {
			cluster: cluster(wrong(0, hangs)).edit(inField), want: Wait, wantReason: "no drifted pod may be restarted",
		},
		"the Kafka's generation was not reconciled": {
			cluster: cluster(wrong(0)).edit(func(c *Cluster) { c.Owners.Kafka.Generation++ }), want: Wait, wantReason: "Kafka c has a generation that was not reconciled",
		},
		"the pool's generation was not reconciled": {
			cluster: cluster(wrong(0)).edit(func(c *Cluster) { c.Pools["brokers"].Generation++ }), want: Wait, wantReason: "KafkaNodePool brokers has a generation",
		},
		"a hanging pod keeps its pool's generation from being reconciled": {
			cluster: cluster(wrong(0, hangs)).edit(func(c *Cluster) { c.Pools["brokers"].Generation++ }), want: Delete, wantPod: "c-brokers-0",
		},
		"reconciliation is paused": {
			cluster: cluster(wrong(0), wrong(1, hangs)).edit(func(c *Cluster) { annotate(c.Owners.Kafka, apiv1.AnnotationPauseReconciliation, "true") }),
			want:    Wait, wantReason: "paused",
		},
		"the namespace has the emergency label": {
			cluster: cluster(wrong(0), wrong(1, hangs)).edit(func(c *Cluster) { c.AdmissionDisabled = true }), want: Wait, wantReason: "sluice.dev/admission=disabled",
		},
		"the Kafka is being deleted": {
			cluster: cluster(wrong(0)).edit(func(c *Cluster) { c.Owners.Kafka.DeletionTimestamp = &metav1.Time{} }), want: Wait, wantReason: "being deleted",
		},
		"the Kafka does not exist": {
			cluster: cluster(wrong(0)).edit(func(c *Cluster) { c.Owners.Kafka = nil }), want: Wait, wantReason: "does not exist",
		},
		"the pool does not exist": {
			cluster: cluster(wrong(0)).edit(func(c *Cluster) { delete(c.Pools, "brokers") }), want: Wait, wantReason: "no pod has drifted",
		},
		"the list cannot be read": {
			cluster: cluster(wrong(0)).edit(func(c *Cluster) { annotate(c.Owners.Kafka, apiv1.AnnotationPodTemplatedVolumes, "{") }),
			want:    Wait, wantReason: "no pod has drifted",
		},
		"the record cannot be read": {
			cluster: cluster(wrong(0)).edit(func(c *Cluster) { annotate(c.Owners.Kafka, apiv1.AnnotationVolumeRestarts, "{") }),
			want:    Wait, wantReason: "no drifted pod may be restarted",
		},
		"a restart did not help": {
			cluster: cluster(wrong(0, successor), wrong(1)).remember(kafkaC, began("c-brokers-0")), want: Wait, wantReason: "no drifted pod may be restarted",
		},
		"a deletion did not help": {
			cluster: cluster(wrong(0, successor, hangs), wrong(1, hangs)).remember(kafkaC, began("c-brokers-0")), want: Wait, wantReason: "no drifted pod may be restarted",
		},
		"a restart did not help, and something else is wanted now": {
			cluster: cluster(wrong(0, successor), wrong(1)).remember(kafkaC, Record{"c-brokers-0": {UID: "first-c-brokers-0", Wanted: "else"}}),
			want:    Mark, wantPod: "c-brokers-0",
		},
		"a restart for another owner's list did not help": {
			cluster: cluster(wrong(0, successor), wrong(1)).remember(kafkaC, began("c-brokers-0")).edit(func(c *Cluster) {
				annotate(c.Pools["brokers"], apiv1.AnnotationPodTemplatedVolumes, list)
			}),
			want: Mark, wantPod: "c-brokers-0",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := Decide(tc.cluster)
			gotPod := ""
			if got.Pod != nil {
				gotPod = got.Pod.Name
			}
			if got.Action != tc.want || gotPod != tc.wantPod || !strings.Contains(got.Reason, tc.wantReason) {
				t.Errorf("%s %s, since %s; want %s %s, since %s", got.Action, gotPod, got.Reason, tc.want, tc.wantPod, tc.wantReason)
			}
			if got.Action == Wait {
				return
			}
			recorded := false
			for _, r := range got.Records {
				recorded = recorded || r.Owner == got.Owner && r.Record[gotPod] == (Attempt{UID: got.Pod.UID, Wanted: wantedBy(gotPod)})
			}
			// What is recorded already needs not be written again.
			before, _ := parseRecord(tc.cluster.Object(got.Owner).GetAnnotations()[apiv1.AnnotationVolumeRestarts])
			if !recorded && before[gotPod] != (Attempt{UID: got.Pod.UID, Wanted: wantedBy(gotPod)}) {
				t.Errorf("the restart is not recorded: %v", got.Records)
			}
		})
	}
}

func TestWorkersOfConnectAndMirrorMaker2(t *testing.T) {
	for component, name := range map[string]string{apiv1.ComponentKafkaConnect: "c-connect-1", apiv1.ComponentMirrorMaker2: "c-mirrormaker2-1"} {
		t.Run(component, func(t *testing.T) {
			meta := metav1.ObjectMeta{Name: "c", Annotations: map[string]string{apiv1.AnnotationPodTemplatedVolumes: list}}
			c := cluster(wrong(1)).edit(func(c *Cluster) {
				c.Component, c.Owners.Kafka, c.Pools = component, nil, nil
				c.Owners.Connect = &apiv1.KafkaConnect{ObjectMeta: meta}
				c.Owners.MirrorMaker2 = &apiv1.KafkaMirrorMaker2{ObjectMeta: meta}
				p := &c.Pods[0]
				p.Name, p.Entry.Name, p.Live.Name = name, name, name
				p.Entry.Labels[apiv1.LabelPodName], p.Entry.Labels[apiv1.LabelComponentType] = name, component
			})
			got := Decide(c)
			if got.Action != Mark || got.Pod.Name != name || len(got.Records) != 1 || got.Owner.Name != "c" {
				t.Errorf("got %s, since %s", got.Action, got.Reason)
			}
		})
	}
}

func TestRecords(t *testing.T) {
	none := []OwnerRecord{{Owner: kafkaC, Record: Record{}}}
	tests := map[string]struct {
		cluster *Cluster
		want    []OwnerRecord
	}{
		"a restart that helped is struck out": {
			cluster(right(0, successor)).remember(kafkaC, began("c-brokers-0")), none,
		},
		"one of a node that is gone is struck out": {
			cluster(right(1)).remember(kafkaC, began("c-brokers-0")), none,
		},
		"one that is not needed any more is struck out": {
			cluster(right(0)).remember(kafkaC, began("c-brokers-0")), none,
		},
		"one for a list that does not apply to the pod any more is struck out": {
			cluster(wrong(0, successor)).remember(kafkaC, began("c-brokers-0")).edit(func(c *Cluster) {
				annotate(c.Pools["brokers"], apiv1.AnnotationPodTemplatedVolumes, list)
			}).edit(rollPool("false")), none,
		},
		"one that is under way stays": {
			cluster(wrong(0, asked)).remember(kafkaC, began("c-brokers-0")), nil,
		},
		"one whose pod does not exist at the moment stays": {
			cluster(wrong(0, absent)).remember(kafkaC, began("c-brokers-0")), nil,
		},
		"one whose successor cannot be judged stays": {
			cluster(wrong(0, successor, opaque)).remember(kafkaC, began("c-brokers-0")), nil,
		},
		"one that did not help stays": {
			cluster(wrong(0, successor)).remember(kafkaC, began("c-brokers-0")), nil,
		},
		"where admission is off nothing is written": {
			cluster(right(0, successor)).remember(kafkaC, began("c-brokers-0")).edit(func(c *Cluster) { c.AdmissionDisabled = true }), nil,
		},
		"a record that cannot be read is left to people": {
			cluster(right(0)).edit(func(c *Cluster) { annotate(c.Owners.Kafka, apiv1.AnnotationVolumeRestarts, "{") }), nil,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := Decide(tc.cluster)
			if diff := cmp.Diff(tc.want, got.Records); diff != "" {
				t.Errorf("records (-want +got):\n%s", diff)
			}
			if got.Action != Wait {
				t.Errorf("%s, since %s", got.Action, got.Reason)
			}
		})
	}
}
