package offline_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/sluice-kafka/sluice/internal/offline"
)

// TestLines marks in each manifest the line that a message has to name.
func TestLines(t *testing.T) {
	t.Parallel()
	const head = "apiVersion: kafka.strimzi.io/v1\nkind: KafkaTopic\nmetadata:\n  name: t\n  labels: {strimzi.io/cluster: c}\n"
	const connect = "apiVersion: kafka.strimzi.io/v1\nkind: KafkaConnect\nmetadata:\n  name: c\n"
	tests := map[string]string{
		"a field":                  head + "spec:\n\n  # a remark\n  partitions: 0 # HERE\n",
		"a key with dots":          head + "spec:\n  config:\n    min: 1\n    retention.ms: null # HERE\n",
		"a key in quotes":          head + "spec:\n  config:\n    'retention.ms': null # HERE\n",
		"flow style":               head + "spec: {replicas: 1,\n  partitions: 0} # HERE\n",
		"behind another document":  "# nothing\n---\nkind: Other\n--- # and then\n" + head + "spec:\n  partitions: 0 # HERE\n",
		"Windows line ends":        strings.ReplaceAll(head+"spec:\n  partitions: 0 # HERE\n", "\n", "\r\n"),
		"a byte order mark":        "\ufeff" + head + "spec:\n  partitions: 0 # HERE\n",
		"an anchor":                "x: &x\n  partitions: 0 # HERE\n" + head + "spec: *x\n",
		"a merged mapping":         "x: &x\n  partitions: 0 # HERE\n" + head + "spec:\n  <<: *x\n  replicas: 3\n",
		"what overrides a merge":   "x: &x\n  partitions: 3\n" + head + "spec:\n  <<: *x\n  partitions: 0 # HERE\n",
		"an object in a list":      "apiVersion: v1\nkind: List\nitems:\n- " + strings.ReplaceAll(strings.TrimSpace(head), "\n", "\n  ") + "\n  spec:\n    partitions: 0 # HERE\n",
		"an item":                  connect + "spec:\n  template:\n    pod:\n      volumes:\n      - name: ok-1\n        configMap: {name: x}\n      - configMap: {name: x}\n        name: Bad_Name # HERE\n",
		"a field that is missing":  connect + "spec:\n  template:\n    connectContainer:\n      volumeMounts:\n      - name: c\n        mountPath: /mnt/x\n    pod:\n      templatedVolumes:\n      - name: c # HERE\n",
		"a label that is missing":  "apiVersion: kafka.strimzi.io/v1\nkind: KafkaNodePool\nmetadata:\n  name: p\n  labels: # HERE\n    a: b\nspec:\n  replicas: 1\n  roles: [broker]\n  storage: {type: ephemeral}\n",
		"metadata that is missing": "# none\napiVersion: kafka.strimzi.io/v1 # HERE\nkind: KafkaTopic\nspec:\n  topicName: t\n",
		"inside a literal text": connect + "  annotations:\n    sluice.dev/pod-templated-volumes: |\n      - name: creds\n        secret:\n          secretName: Bad_Name # HERE\n" +
			"spec:\n  template:\n    connectContainer:\n      volumeMounts:\n      - {name: creds, mountPath: /mnt/x}\n",
		"inside a quoted text": connect + "  annotations:\n    sluice.dev/pod-templated-volumes: '[{name: creds, secret: {secretName: Bad_Name}}]' # HERE\n" +
			"spec:\n  template:\n    connectContainer:\n      volumeMounts:\n      - {name: creds, mountPath: /mnt/x}\n",
		"bad YAML":            head + "spec: a: b # HERE\n",
		"bad YAML further on": head + "---\n" + head + "spec:\n\t- b # HERE\n",
		"a template":          head + "spec:\n  config: {{ .Values.config }} # HERE\n",
		"a wrong type":        head + "spec:\n  config:\n    a: b\n  replicas: three # HERE\n",
		"JSON": "{\"kind\": \"Other\"}\n{\"apiVersion\": \"kafka.strimzi.io/v1\", \"kind\": \"KafkaTopic\",\n" +
			"\t\"metadata\": {\"name\": \"t\", \"labels\": {\"strimzi.io/cluster\": \"c\", \"x\": \"HERE\"}}, \"spec\": {\"partitions\": 0}}\n",
	}
	for name, text := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before, _, ok := strings.Cut(text, "HERE")
			if !ok {
				t.Fatal("no line is marked")
			}
			want := "t.yaml:" + strconv.Itoa(1+strings.Count(before, "\n")) + ": error: "
			lines := judge(t, offline.Request{Files: folder(t, texts(map[string]string{"t.yaml": text}))})
			for _, l := range lines {
				if strings.HasPrefix(l, want) || strings.HasPrefix(l, strings.Replace(want, "error", "warning", 1)) {
					return
				}
			}
			t.Errorf("want %s, got\n%s", want, strings.Join(lines, "\n"))
		})
	}
}
