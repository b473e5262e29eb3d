package volumedrift

import (
	"strings"
	"testing"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
)

func TestNotes(t *testing.T) {
	tests := map[string]struct {
		cluster *Cluster
		// want has the owner, the reason and parts of the text of each note.
		want [][]string
	}{
		"a converged cluster": {cluster(right(0)), nil},
		"a drift that is mended is nothing to tell": {
			cluster(wrong(0), wrong(1)), nil,
		},
		"pods that wait, with both versions": {
			cluster(wrong(0), wrong(1), right(2)).edit(inField),
			[][]string{{"Kafka c", ReasonWait, "Pod c-brokers-0, c-brokers-1 waits for a restart", `annotate this Kafka with sluice.dev/roll-volumes: "true"`,
				`Volume "creds" is {"secret":{"secretName":"old"}}, the template says {"secret":{"secretName":"creds-0"}}`}},
		},
		"pods that crash": {
			cluster(wrong(0, crashes)), [][]string{{"Kafka c", ReasonWait, "Pod c-brokers-0 waits", "is not ready", "delete it"}},
		},
		"a restart that did not help": {
			cluster(wrong(0, successor), wrong(1)).remember(kafkaC, began("c-brokers-0")),
			[][]string{{"Kafka c", ReasonStopped, "Pod c-brokers-0 was restarted and still has not", "sluice.dev/volume-restarts", `"old"`, `"creds-0"`}},
		},
		"a record that cannot be read": {
			cluster(right(0)).edit(func(c *Cluster) { annotate(c.Owners.Kafka, apiv1.AnnotationVolumeRestarts, "{") }),
			[][]string{{"Kafka c", ReasonStopped, "is not a record of restarts", "take it away"}},
		},
		"the creator's own volume, where it differs": {
			cluster(wrong(0), right(1)).edit(func(c *Cluster) {
				for _, p := range c.Pods {
					p.Entry.Spec.Volumes = []corev1.Volume{secretVolume("creds", "creds-1")}
				}
			}),
			[][]string{{"Kafka c", ReasonOverruled, "creator's own volume stands", "in Pod c-brokers-0.", `is {"secret":{"secretName":"creds-1"}}, the template says {"secret":{"secretName":"creds-0"}}`}},
		},
		"the creator's own volume, while it may not have seen the template": {
			cluster(right(0)).edit(func(c *Cluster) {
				c.Pods[0].Entry.Spec.Volumes = []corev1.Volume{secretVolume("creds", "creds-1")}
				c.Pools["brokers"].Generation++
			}), nil,
		},
		"a list that cannot be read": {
			cluster(wrong(0)).edit(func(c *Cluster) { annotate(c.Owners.Kafka, apiv1.AnnotationPodTemplatedVolumes, "{") }),
			[][]string{{"Kafka c", ReasonUnknown, "c-brokers-0 cannot be told", "is not a list of templated volumes"}},
		},
		"pods that would be refused": {
			cluster(right(0, func(p *Pod) { p.Entry.Spec.Containers[0].VolumeMounts[0].Name = "nobody's" })),
			[][]string{{"Kafka c", ReasonUnknown, "a new pod would be refused", `"nobody's" of container kafka`}},
		},
		"an entry that cannot be read": {
			cluster(right(0, opaque)), [][]string{{"Kafka c", ReasonUnknown, "c-brokers-0", "its entry in the StrimziPodSet cannot be read"}},
		},
		"the list of a pool is the pool's affair": {
			cluster(wrong(0)).edit(func(c *Cluster) {
				annotate(c.Pools["brokers"], apiv1.AnnotationPodTemplatedVolumes, list)
				rollPool("false")(c)
			}),
			[][]string{{"KafkaNodePool brokers", ReasonWait, "annotate this KafkaNodePool"}},
		},
		"where admission is off": {
			cluster(wrong(0)).edit(inField).edit(func(c *Cluster) { c.AdmissionDisabled = true }), nil,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := Decide(tc.cluster).Notes
			if len(got) != len(tc.want) {
				t.Fatalf("%d notes, want %d: %v", len(got), len(tc.want), got)
			}
			for i, n := range got {
				if owner := n.Owner.Kind + " " + n.Owner.Name; owner != tc.want[i][0] || n.Reason != tc.want[i][1] {
					t.Errorf("note on %s for %s, want %v", owner, n.Reason, tc.want[i][:2])
				}
				for _, part := range tc.want[i][2:] {
					if !strings.Contains(n.Text, part) {
						t.Errorf("%q does not say %q", n.Text, part)
					}
				}
			}
		})
	}
}

func TestNotesFitIntoEvents(t *testing.T) {
	c := cluster()
	for n := range 40 {
		c.Pods = append(c.Pods, pod(n, strings.Repeat("é", 400)))
	}
	got := Decide(c.edit(inField)).Notes
	if len(got) != 1 || len(got[0].Text) > maxText || !utf8.ValidString(got[0].Text) {
		t.Fatalf("%d bytes: %v", len(got[0].Text), got)
	}
	for _, part := range []string{"c-brokers-4 (and 35 more)", "the template says"} {
		if !strings.Contains(got[0].Text, part) {
			t.Errorf("%q does not say %q", got[0].Text, part)
		}
	}
}
