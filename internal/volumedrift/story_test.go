package volumedrift

import (
	"fmt"
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
)

// creator makes pods from a pod set's entries, as Strimzi and admission do
// together.
type creator struct {
	cluster *Cluster
	// made counts the pods by name; given is the Secret that a new one gets.
	made  map[string]int
	given func(name string) string
}

// follow applies a decision, and what the creator does thereupon.
func (s *creator) follow(d Decision) {
	for _, r := range d.Records {
		o := s.cluster.Object(r.Owner)
		if text := r.Record.String(); text != "" {
			annotate(o, apiv1.AnnotationVolumeRestarts, text)
		} else {
			delete(o.GetAnnotations(), apiv1.AnnotationVolumeRestarts)
		}
	}
	for i := range s.cluster.Pods {
		p := &s.cluster.Pods[i]
		if d.Action != Wait && p.Name == d.Pod.Name {
			s.made[p.Name]++
			*p = pod(int(idOf(p)), s.given(p.Name))
			p.Live.UID = types.UID(fmt.Sprintf("%s-%d", p.Name, s.made[p.Name]))
		}
	}
}

func idOf(p *Pod) (n int64) {
	_, _ = fmt.Sscanf(p.Name, "c-brokers-%d", &n)
	return n
}

func TestEachPodIsRestartedOnceAndThenNothingIsWritten(t *testing.T) {
	helps := func(name string) string { return "creds-" + name[len("c-brokers-"):] }
	tests := map[string]struct {
		pods  []Pod
		given func(string) string
		want  map[string]int
		// wantRecord is left at the end.
		wantRecord bool
	}{
		"all of them": {
			[]Pod{wrong(0), wrong(1), wrong(2)}, helps, map[string]int{"c-brokers-0": 1, "c-brokers-1": 1, "c-brokers-2": 1}, false,
		},
		"two that hang": {
			[]Pod{wrong(0), wrong(1, hangs), wrong(2, hangs)}, helps, map[string]int{"c-brokers-0": 1, "c-brokers-1": 1, "c-brokers-2": 1}, false,
		},
		"none": {
			[]Pod{right(0), right(1)}, helps, map[string]int{}, false,
		},
		"the first, for nothing": {
			[]Pod{wrong(0), wrong(1)}, func(string) string { return "old" }, map[string]int{"c-brokers-0": 1}, true,
		},
		"the second, for nothing": {
			[]Pod{wrong(0), wrong(1), wrong(2)}, func(name string) string {
				if name == "c-brokers-1" {
					return "old"
				}
				return helps(name)
			}, map[string]int{"c-brokers-0": 1, "c-brokers-1": 1}, true,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := &creator{cluster: cluster(tc.pods...), made: map[string]int{}, given: tc.given}
			var last Decision
			for range 20 {
				last = Decide(s.cluster)
				s.follow(last)
			}
			if diff := cmp.Diff(tc.want, maps.Clone(s.made)); diff != "" {
				t.Errorf("restarts (-want +got):\n%s", diff)
			}
			if last.Writes() {
				t.Errorf("it goes on writing: %s, %v", last.Reason, last.Records)
			}
			if _, left := s.cluster.Owners.Kafka.Annotations[apiv1.AnnotationVolumeRestarts]; left != tc.wantRecord {
				t.Errorf("a record is left: %v, want %v", left, tc.wantRecord)
			}
		})
	}
}
