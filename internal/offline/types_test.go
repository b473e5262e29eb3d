package offline_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/sluice-kafka/sluice/internal/offline"
)

// TestWrongTypes covers what the API server's schema refuses.
func TestWrongTypes(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		manifest string
		want     []string // "path: value: part of the message"
	}{
		"a text for a number": {"kind: KafkaTopic\nspec: {partitions: three}", []string{`spec.partitions: "three": write digits only`}},
		"a number in quotes":  {"kind: KafkaTopic\nspec: {partitions: '3'}", []string{`spec.partitions: "3": take away the quotes`}},
		"a broken number":     {"kind: KafkaTopic\nspec: {partitions: 1.5}", []string{`spec.partitions: "1.5": whole number`}},
		"a whole number with a point": {
			"kind: KafkaTopic\nspec: {partitions: 3.0}", nil,
		},
		"a number for a text":           {"kind: KafkaTopic\nspec: {topicName: 2024}", []string{`spec.topicName: "2024": put it in quotes`}},
		"an empty text for a number":    {"kind: KafkaTopic\nspec: {replicas: ''}", []string{`spec.replicas: "\"\"": whole number`}},
		"null counts as not given":      {"kind: KafkaTopic\nspec: {replicas: null, partitions: 3}", nil},
		"a list for an object":          {"kind: KafkaTopic\nspec: [partitions]", []string{`spec: "[\"partitions\"]": has to be an object`}},
		"an object for a list":          {"kind: KafkaNodePool\nspec: {roles: {broker: true}}", []string{`spec.roles: "{\"broker\":true}": has to be a list`}},
		"a text for a list":             {"kind: KafkaNodePool\nspec: {roles: broker}", []string{`spec.roles: "broker": has to be a list`}},
		"null in a list":                {"kind: KafkaNodePool\nspec: {roles: [null]}", []string{`spec.roles[0]: "null": has to be a text`}},
		"a text for a truth value":      {"kind: KafkaRebalance\nspec: {rebalanceDisk: 'true'}", []string{`spec.rebalanceDisk: "true": true or false without quotes`}},
		"options are of any type":       {"kind: KafkaTopic\nspec: {config: {a: 1, b: true, c: x, d: [1]}}", nil},
		"options in a list":             {"kind: KafkaTopic\nspec: {config: [a]}", []string{`spec.config: "[\"a\"]": has to be an object`}},
		"an unquoted annotation":        {"kind: KafkaTopic\nmetadata: {name: t, annotations: {strimzi.io/managed: false}}", []string{`metadata.annotations[strimzi.io/managed]: "false": put it in quotes`}},
		"a name that is a number":       {"kind: KafkaTopic\nmetadata: {name: 7}", []string{`metadata.name: "7": put it in quotes`}},
		"no name":                       {"kind: KafkaTopic\nmetadata: {labels: {a: b}}", []string{`metadata.name: Required value: name or generateName is required`}},
		"a generated name":              {"kind: KafkaTopic\nmetadata: {generateName: t-, labels: {strimzi.io/cluster: c}}\nspec: {topicName: t}", nil},
		"a bad label":                   {"kind: KafkaTopic\nmetadata: {name: t, labels: {strimzi.io/cluster: 'a b'}}", []string{`metadata.labels: "a b": alphanumeric`}},
		"a time that is none":           {"kind: KafkaTopic\nmetadata: {name: t, creationTimestamp: yesterday}", []string{`metadata.creationTimestamp: "yesterday": this is a time`}},
		"a time that is null":           {"kind: KafkaTopic\nmetadata: {name: t, labels: {strimzi.io/cluster: c}, creationTimestamp: null}", nil},
		"a number beyond its type":      {"kind: KafkaConnect\nspec: {template: {pod: {volumes: [{name: aa, secret: {secretName: s, defaultMode: 9999999999}}]}}}", []string{`spec.template.pod.volumes[0].secret.defaultMode: "9999999999": a number from -2147483648`}},
		"two faults at once":            {"kind: KafkaTopic\nspec: {partitions: x, replicas: z}", []string{`spec.partitions: "x": whole`, `spec.replicas: "z": whole`}},
		"fields that nobody knows":      {"kind: KafkaTopic\nspec: {someday: [1, {a: b}]}", nil},
		"the YAML of long ago":          {"kind: KafkaRebalance\nspec: {rebalanceDisk: yes}", nil},
		"a text where JSON is expected": {"kind: KafkaTopic\nstatus: {conditions: none}", []string{`status.conditions: "none": has to be a list`}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := "apiVersion: kafka.strimzi.io/v1\n" + tc.manifest + "\n"
			if !strings.Contains(text, "metadata:") {
				text += "metadata: {name: t, labels: {strimzi.io/cluster: c}}\n"
			}
			report, err := offline.Run(t.Context(), offline.Request{Files: folder(t, texts(map[string]string{"t.yaml": text}))})
			if err != nil || len(report.Objects) != 1 {
				t.Fatalf("judged %v, %v", report, err)
			}
			var said []string
			for _, m := range report.Messages {
				if m.Severity == offline.Error && strings.HasPrefix(m.Rule, "manifest-") {
					said = append(said, m.Path+": "+m.Text)
				}
			}
			if len(said) != len(tc.want) {
				t.Fatalf("want %q, got %q", tc.want, said)
			}
			for _, w := range tc.want {
				path, rest, _ := strings.Cut(w, ": ")
				value, part, _ := strings.Cut(rest, ": ")
				if !slices.ContainsFunc(said, func(s string) bool {
					return strings.HasPrefix(s, path+": ") && strings.Contains(s, value) && strings.Contains(s, part)
				}) {
					t.Errorf("want %q, got %q", w, said)
				}
			}
		})
	}
}

func TestFoldersAndLinks(t *testing.T) {
	t.Parallel()
	files := texts(map[string]string{"a.yaml": "", "b.yml": "", "c.json": "", "d.txt": "", "sub/e.yaml": "", "sub/sub/f.yaml": ""})
	for recursive, want := range map[bool]int{false: 3, true: 5} {
		list, err := offline.Folder(files, recursive, func(s string) string { return "x/" + s })
		if err != nil || len(list) != want || list[0].Name != "x/a.yaml" || list[0].Relative != "a.yaml" {
			t.Errorf("recursive %t: %v, %v", recursive, list, err)
		}
	}
}
