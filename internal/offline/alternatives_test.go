package offline_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sluice-kafka/sluice/internal/offline"
)

func topic(name, topicName string) string {
	return fmt.Sprintf(`apiVersion: kafka.strimzi.io/v1
kind: KafkaTopic
metadata:
  name: %s
  labels: {strimzi.io/cluster: my-cluster}
spec:
  topicName: %s
`, name, topicName)
}

// kafka mounts a volume that none of its pools has, unless it is given.
func kafka(volume string) string {
	pod := "{}"
	if volume != "" {
		pod = fmt.Sprintf(`{templatedVolumes: [{name: %s, secret: {secretName: "x-{nodeId}"}}]}`, volume)
	}
	return fmt.Sprintf(`apiVersion: kafka.strimzi.io/v1
kind: Kafka
metadata:
  name: my-cluster
spec:
  kafka:
    template:
      pod: %s
      kafkaContainer:
        volumeMounts: [{name: creds, mountPath: /mnt/creds}]
`, pod)
}

const pool = `apiVersion: kafka.strimzi.io/v1
kind: KafkaNodePool
metadata:
  name: brokers
  labels: {strimzi.io/cluster: my-cluster}
spec:
  replicas: 3
  roles: [broker]
  storage: {type: ephemeral}
`

// TestNeighbours covers which objects of a set are judged together. In all of it
// "dangling" is what is said of a mount without a volume, and "claimed" of a
// topic that another resource manages.
func TestNeighbours(t *testing.T) {
	t.Parallel()
	const dangling, claimed, unsettled = "creds", "manages this topic already", "not settled"
	tests := map[string]struct {
		files map[string]string
		want  []string // file: severity: part of the text, in any order
	}{
		"a pool waits for its Kafka": {
			files: map[string]string{"pool.yaml": pool},
		},
		"a Kafka waits for its pools": {
			files: map[string]string{"kafka.yaml": kafka("")},
		},
		"a set that holds both sides is refused": {
			files: map[string]string{"kafka.yaml": kafka(""), "pool.yaml": pool},
			want:  []string{"kafka.yaml: error: " + dangling, "pool.yaml: error: " + dangling},
		},
		"both sides in one file are refused": {
			files: map[string]string{"all.yaml": kafka("") + "---\n" + pool},
			want:  []string{"all.yaml: error: " + dangling, "all.yaml: error: " + dangling},
		},
		"in another namespace is another cluster": {
			files: map[string]string{"kafka.yaml": kafka(""), "pool.yaml": strings.Replace(pool, "name: brokers", "name: brokers\n  namespace: other", 1)},
		},
		"of alternatives the one of the same file counts": {
			files: map[string]string{
				"a.yaml": kafka("creds") + "---\n" + pool,
				"b.yaml": kafka("") + "---\n" + pool,
			},
			want: []string{"b.yaml: error: " + dangling, "b.yaml: error: " + dangling},
		},
		"a pool whose Kafka is not settled waits": {
			files: map[string]string{"a.yaml": kafka("creds"), "b.yaml": kafka("creds"), "pool.yaml": pool},
			want:  []string{"pool.yaml: note: " + unsettled},
		},
		"a Kafka in two files takes a pool that belongs to neither": {
			files: map[string]string{"a.yaml": kafka(""), "b.yaml": kafka("creds"), "pool.yaml": pool},
			want:  []string{"a.yaml: error: " + dangling, "pool.yaml: note: " + unsettled},
		},
		"a pool beside another alternative is not this Kafka's": {
			files: map[string]string{"a.yaml": kafka(""), "b.yaml": kafka("creds") + "---\n" + pool},
		},
		"two topics of one name in Kafka": {
			files: map[string]string{"a.yaml": topic("a", "orders"), "b.yaml": topic("b", "orders")},
			want:  []string{"a.yaml: error: " + claimed, "b.yaml: error: " + claimed},
		},
		"topics that metrics cannot tell apart": {
			files: map[string]string{"a.yaml": topic("a", "shop.orders"), "b.yaml": topic("b", "shop_orders")},
			want:  []string{"a.yaml: error: metrics", "b.yaml: error: metrics"},
		},
		"one topic in two overlays": {
			files: map[string]string{"dev/t.yaml": topic("a", "orders"), "prod/t.yaml": topic("a", "orders")},
		},
		"one topic twice in a file": {
			files: map[string]string{"t.yaml": topic("a", "orders") + "---\n" + topic("a", "orders")},
		},
		"a topic that only one of two alternatives clashes with": {
			files: map[string]string{"dev.yaml": topic("a", "orders"), "prod.yaml": topic("a", "other"), "b.yaml": topic("b", "orders")},
			want:  []string{"dev.yaml: error: " + claimed, "b.yaml: note: " + unsettled},
		},
		"the topic of the same overlay clashes": {
			files: map[string]string{
				"dev.yaml":  topic("a", "orders") + "---\n" + topic("b", "orders"),
				"prod.yaml": topic("a", "orders") + "---\n" + topic("b", "payments"),
			},
			want: []string{"dev.yaml: error: " + claimed, "dev.yaml: error: " + claimed},
		},
		"a neighbour that cannot be read is not known": {
			files: map[string]string{"kafka.yaml": kafka(""), "pool.yaml": strings.Replace(pool, "replicas: 3", "replicas: three", 1)},
			want:  []string{"pool.yaml: error: whole number"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			report, err := offline.Run(t.Context(), offline.Request{Files: folder(t, texts(tc.files))})
			if err != nil {
				t.Fatal(err)
			}
			missing := slices.Clone(tc.want)
			for _, m := range report.Messages {
				i := slices.IndexFunc(missing, func(w string) bool {
					place, part, _ := strings.Cut(w, ": ")
					severity, part, _ := strings.Cut(part, ": ")
					return m.File == place && string(m.Severity) == severity && strings.Contains(m.Text, part)
				})
				if i < 0 {
					t.Errorf("unwanted: %s", m)
					continue
				}
				missing = slices.Delete(missing, i, i+1)
			}
			if len(missing) > 0 {
				t.Errorf("missing: %q", missing)
			}
		})
	}
}

func TestOldObjects(t *testing.T) {
	t.Parallel()
	was := topic("a", "orders") + "status: {topicName: orders, partitions: 6}\n"
	tests := map[string]struct {
		files, old map[string]string
		want       string
	}{
		"a new name for a topic that exists": {
			files: map[string]string{"t.yaml": topic("a", "payments")}, old: map[string]string{"t.yaml": was},
			want: "t.yaml:7: error: KafkaTopic/a: spec.topicName",
		},
		"the status of the file does not count": {
			files: map[string]string{"t.yaml": topic("a", "orders") + "status: {topicName: payments}\n"}, old: map[string]string{"t.yaml": was},
		},
		"a topic that claims the old name": {
			files: map[string]string{"t.yaml": topic("a", "payments"), "u.yaml": topic("b", "orders")}, old: map[string]string{"t.yaml": was},
			want: "u.yaml:7: error: KafkaTopic/b: spec.topicName",
		},
		"the old file has another name": {
			files: map[string]string{"new.yaml": topic("a", "payments")}, old: map[string]string{"old.yaml": was},
			want: "new.yaml:7: error",
		},
		"of old alternatives that of the same file": {
			files: map[string]string{"dev/t.yaml": topic("a", "payments"), "prod/t.yaml": topic("a", "payments")},
			old:   map[string]string{"dev/t.yaml": was, "prod/t.yaml": topic("a", "orders")},
			want:  "dev/t.yaml:7: error",
		},
		"old alternatives of which none has that file": {
			files: map[string]string{"t.yaml": topic("a", "payments")},
			old:   map[string]string{"dev/t.yaml": was, "prod/t.yaml": was},
			want:  "t.yaml:1: note: KafkaTopic/a: it is not settled",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lines := judge(t, offline.Request{Files: folder(t, texts(tc.files)), Old: folder(t, texts(tc.old))})
			if !slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, tc.want) && (l == "") == (tc.want == "") }) {
				t.Errorf("want %q, got\n%s", tc.want, strings.Join(lines, "\n"))
			}
		})
	}
}
