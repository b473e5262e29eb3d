package offline_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/facts"
	"github.com/sluice-kafka/sluice/internal/offline"
)

// fakeCluster has what a test gives it, in namespace shop.
type fakeCluster struct {
	objects []metav1.Object
	kinds   []string
	facts   map[string]facts.Facts
	there   []string // kind/name
	denied  string   // a kind that the user may not read
	err     error
}

func (c *fakeCluster) Objects(_ context.Context, kind, namespace string) ([]metav1.Object, error) {
	if kind == c.denied {
		return nil, offline.ErrNotKnown
	}
	var list []metav1.Object
	for i, o := range c.objects {
		if c.kinds[i] == kind && o.GetNamespace() == namespace {
			list = append(list, o)
		}
	}
	return list, c.err
}

func (c *fakeCluster) Facts(_ context.Context, namespace string) (map[string]facts.Facts, error) {
	if namespace != "shop" {
		return nil, nil
	}
	return c.facts, nil
}

func (c *fakeCluster) Exists(_ context.Context, kind, namespace, name string) (bool, error) {
	if kind == c.denied {
		return false, offline.ErrNotKnown
	}
	return namespace == "shop" && slices.Contains(c.there, kind+"/"+name), nil
}

func (c *fakeCluster) has(t *testing.T, kind, text string) {
	t.Helper()
	object := map[string]metav1.Object{
		apiv1.KindKafka: &apiv1.Kafka{}, apiv1.KindKafkaNodePool: &apiv1.KafkaNodePool{}, apiv1.KindKafkaTopic: &apiv1.KafkaTopic{},
	}[kind]
	if err := yaml.Unmarshal([]byte(text), object); err != nil {
		t.Fatal(err)
	}
	object.SetNamespace("shop")
	c.objects, c.kinds = append(c.objects, object), append(c.kinds, kind)
}

const connectWithCreds = `apiVersion: kafka.strimzi.io/v1
kind: KafkaConnect
metadata:
  name: my-connect
spec:
  replicas: 2
  template:
    pod:
      templatedVolumes:
      - name: creds
        secret: {secretName: "creds-{nodeId}"}
      - name: more
        secret: {secretName: "more-{nodeId}", optional: true}
    connectContainer:
      volumeMounts:
      - {name: creds, mountPath: /mnt/creds}
      - {name: more, mountPath: /mnt/more}
`

func TestLiveCluster(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		cluster func(t *testing.T) *fakeCluster
		files   map[string]string
		want    string // the one line; empty for none
	}{
		"a topic that a live one claims": {
			cluster: func(t *testing.T) *fakeCluster {
				c := &fakeCluster{}
				c.has(t, apiv1.KindKafkaTopic, topic("b", "orders"))
				return c
			},
			files: map[string]string{"t.yaml": topic("a", "orders")},
			want:  "t.yaml:7: error: KafkaTopic/a: spec.topicName: Invalid value: \"orders\": KafkaTopic shop/b manages",
		},
		"a live topic that a file replaces": {
			cluster: func(t *testing.T) *fakeCluster {
				c := &fakeCluster{}
				c.has(t, apiv1.KindKafkaTopic, topic("b", "orders"))
				return c
			},
			files: map[string]string{"t.yaml": topic("a", "orders"), "u.yaml": topic("b", "payments")},
		},
		"an update of a live topic": {
			cluster: func(t *testing.T) *fakeCluster {
				c := &fakeCluster{}
				c.has(t, apiv1.KindKafkaTopic, topic("a", "orders")+"status: {topicName: orders}\n")
				return c
			},
			files: map[string]string{"t.yaml": topic("a", "payments")},
			want:  "t.yaml:7: error: KafkaTopic/a: spec.topicName: Invalid value: \"payments\": the topic exists",
		},
		"a live pool may be followed by another Kafka": {
			cluster: func(t *testing.T) *fakeCluster {
				c := &fakeCluster{}
				c.has(t, apiv1.KindKafkaNodePool, pool)
				return c
			},
			files: map[string]string{"k.yaml": kafka("")},
			want:  "k.yaml:10: warning: Kafka/my-cluster: spec.kafka.template.kafkaContainer.volumeMounts[0].name: the pods of pool brokers",
		},
		"a Secret that is not there": {
			cluster: func(*testing.T) *fakeCluster { return &fakeCluster{there: []string{"Secret/creds-0"}} },
			files:   map[string]string{"c.yaml": connectWithCreds},
			want:    "c.yaml:11: warning: KafkaConnect/my-connect: spec.template.pod.templatedVolumes[0].secret.secretName: for node 1 it is Secret creds-1",
		},
		"all Secrets are there": {
			cluster: func(*testing.T) *fakeCluster {
				return &fakeCluster{there: []string{"Secret/creds-0", "Secret/creds-1"}}
			},
			files: map[string]string{"c.yaml": connectWithCreds},
		},
		"Secrets that may not be read": {
			cluster: func(*testing.T) *fakeCluster { return &fakeCluster{denied: "Secret"} },
			files:   map[string]string{"c.yaml": strings.Replace(connectWithCreds, "replicas: 2", "replicas: 1", 1)},
			want:    "c.yaml:1: note: KafkaConnect/my-connect: whether Secret creds-0 exists is not known",
		},
		"a kind that may not be read": {
			cluster: func(*testing.T) *fakeCluster { return &fakeCluster{denied: apiv1.KindKafkaRebalance} },
			files:   map[string]string{"t.yaml": topic("a", "orders")},
			want:    "note: the objects of kind KafkaRebalance in namespace shop are not known",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lines := judge(t, offline.Request{Files: folder(t, texts(tc.files)), Namespace: "shop", Cluster: tc.cluster(t)})
			if len(lines) != 1 || !strings.HasPrefix(lines[0], tc.want) || (lines[0] == "") != (tc.want == "") {
				t.Errorf("want %q, got\n%s", tc.want, strings.Join(lines, "\n"))
			}
		})
	}
	failing := errors.New("no route")
	report, err := offline.Run(t.Context(), offline.Request{
		Files: folder(t, texts(map[string]string{"t.yaml": topic("a", "orders")})), Cluster: &fakeCluster{err: failing},
	})
	if report != nil || !errors.Is(err, failing) {
		t.Errorf("a cluster that fails gives %v, %v", report, err)
	}
}
