package podvolumes

import (
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/templating"
)

func TestIdentify(t *testing.T) {
	labels := func(component, cluster, pool, podName string) map[string]string {
		return map[string]string{
			apiv1.LabelComponentType: component, apiv1.LabelCluster: cluster,
			apiv1.LabelPoolName: pool, apiv1.LabelPodName: podName,
		}
	}
	tests := map[string]struct {
		name   string
		labels map[string]string
		want   Identity
	}{
		"a broker": {
			name: "c-brokers-7", labels: labels("kafka", "c", "brokers", "c-brokers-7"), want: broker7,
		},
		"cluster and pool may hold dashes and numbers": {
			name: "a-1-b-2-0", labels: labels("kafka", "a-1", "b-2", "a-1-b-2-0"),
			want: Identity{Component: "kafka", Cluster: "a-1", Pool: "b-2", Node: templating.Node{PodName: "a-1-b-2-0"}},
		},
		"the highest node ID": {
			name: "c-p-2147483647", labels: labels("kafka", "c", "p", "c-p-2147483647"),
			want: Identity{Component: "kafka", Cluster: "c", Pool: "p", Node: templating.Node{ID: 2147483647, PodName: "c-p-2147483647"}},
		},
		"a Connect worker": {
			name: "c-connect-2", labels: labels("kafka-connect", "c", "", "c-connect-2"),
			want: Identity{Component: "kafka-connect", Cluster: "c", Node: templating.Node{ID: 2, PodName: "c-connect-2"}},
		},
		"a MirrorMaker 2 worker": {
			name: "m-mirrormaker2-0", labels: labels("kafka-mirror-maker-2", "m", "", "m-mirrormaker2-0"),
			want: Identity{Component: "kafka-mirror-maker-2", Cluster: "m", Node: templating.Node{PodName: "m-mirrormaker2-0"}},
		},
		"a copy made for debugging":        {name: "copy", labels: labels("kafka", "c", "brokers", "c-brokers-7")},
		"a name to be generated":           {labels: labels("kafka", "c", "brokers", "c-brokers-7")},
		"no name and no label":             {labels: labels("kafka", "c", "brokers", "")},
		"a name of another pool":           {name: "c-other-7", labels: labels("kafka", "c", "brokers", "c-other-7")},
		"a node ID that is no number":      {name: "c-brokers-x", labels: labels("kafka", "c", "brokers", "c-brokers-x")},
		"no node ID":                       {name: "c-brokers-", labels: labels("kafka", "c", "brokers", "c-brokers-")},
		"a node ID with a leading zero":    {name: "c-brokers-07", labels: labels("kafka", "c", "brokers", "c-brokers-07")},
		"a node ID with a sign":            {name: "c-brokers-+7", labels: labels("kafka", "c", "brokers", "c-brokers-+7")},
		"a negative node ID":               {name: "c-brokers--7", labels: labels("kafka", "c", "brokers", "c-brokers--7")},
		"a node ID beyond int32":           {name: "c-brokers-2147483648", labels: labels("kafka", "c", "brokers", "c-brokers-2147483648")},
		"no cluster":                       {name: "-brokers-7", labels: labels("kafka", "", "brokers", "-brokers-7")},
		"no pool":                          {name: "c--7", labels: labels("kafka", "c", "", "c--7")},
		"another component":                {name: "c-connect-2", labels: labels("kafka-bridge", "c", "", "c-connect-2")},
		"a Connect worker's name on Kafka": {name: "c-connect-2", labels: labels("kafka", "c", "brokers", "c-connect-2")},
		"no labels":                        {name: "c-brokers-7"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := Identify(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: tt.name, Labels: tt.labels}})
			if got != tt.want {
				t.Errorf("Identify = %+v, want %+v", got, tt.want)
			}
			if wantErr := tt.want == (Identity{}); wantErr != errors.Is(err, ErrNoIdentity) || wantErr != (err != nil) {
				t.Errorf("error = %v, want one: %v", err, wantErr)
			}
		})
	}
}
