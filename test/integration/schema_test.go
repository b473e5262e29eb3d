// Package integration tests Sluice on real parts: an API server, Kafka, and
// the product's binary under the chart's roles.
package integration

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/test/harness"
)

// controlPlane starts an API server that ends with the test.
func controlPlane(t *testing.T, opts harness.ControlPlaneOptions) *harness.ControlPlane {
	t.Helper()
	opts.Out = os.Stderr
	opts.Dir = t.TempDir()
	cp, err := harness.StartControlPlane(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cp.Stop(); err != nil {
			t.Error(err)
		}
	})
	return cp
}

const oddities = `
apiVersion: kafka.strimzi.io/v1
kind: Kafka
metadata: {name: odd, namespace: default}
spec:
  unknown: {deep: [1, {x: null2}]}
  kafka:
    futureField: 1.5
    config: {a: 1, b: null, c: {d: e}, f: [1, "2"]}
    listeners: [{name: plain, port: 9092, type: internal, tls: false, authentication: {type: scram-sha-512}}]
    rack: {topologyKey: zone}
    template:
      podSet: {metadata: {labels: {a: b}}}
      pod:
        affinity: {nodeAffinity: {x: [1]}}
        volumes: [{name: v, emptyDir: {sizeLimit: not-a-quantity, medium: Memory}, future: {a: 1}}]
        templatedVolumes: [{name: t, secret: {secretName: "s-{nodeId}", items: [{key: k}], odd: 1}, hostPath: {path: /x}}]
      kafkaContainer:
        env: [{name: A, value: "1"}]
        volumeMounts: [{name: v, mountPath: /mnt/v, futureOption: true}]
`

func TestUnknownFieldsNullsAndOddValuesSurviveARoundTrip(t *testing.T) {
	cp := controlPlane(t, harness.ControlPlaneOptions{})
	objects, err := harness.RenderChart(t.Context(), os.Stderr, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := cp.Install(t.Context(), crdsOf(objects)); err != nil {
		t.Fatal(err)
	}
	want, err := harness.DecodeYAML(bytes.NewBufferString(oddities))
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range want {
		if diff, err := cp.RoundTrip(t.Context(), o); err != nil || diff != "" {
			t.Errorf("%s %s came back changed (-sent +got): %s%v", o.GetKind(), o.GetName(), diff, err)
		}
	}
}

func crdsOf(objects []*unstructured.Unstructured) []*unstructured.Unstructured {
	var crds []*unstructured.Unstructured
	for _, o := range objects {
		if o.GetKind() == "CustomResourceDefinition" {
			crds = append(crds, o)
		}
	}
	return crds
}

// One value that the schema lets through and Go cannot decode would hide a whole
// list from every controller.
func TestWhatTheSchemaAcceptsTheTypesDecode(t *testing.T) {
	cp := controlPlane(t, harness.ControlPlaneOptions{})
	objects, err := harness.RenderChart(t.Context(), os.Stderr, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := cp.Install(t.Context(), crdsOf(objects)); err != nil {
		t.Fatal(err)
	}
	client, err := rest.HTTPClientFor(cp.Config)
	if err != nil {
		t.Fatal(err)
	}
	accepted := 0
	for _, value := range []string{`1e30`, `9223372036854775808`, `3.0`, `1e3`, `-1`, `1.5`, `"three"`, `null`, `true`, `{}`, `[]`} {
		for _, body := range []string{
			`{"apiVersion":"kafka.strimzi.io/v1","kind":"KafkaTopic","metadata":{"generateName":"t-"},"spec":{"partitions":%s}}`,
			`{"apiVersion":"kafka.strimzi.io/v1","kind":"KafkaTopic","metadata":{"generateName":"t-"},"spec":{"topicName":%s}}`,
			`{"apiVersion":"kafka.strimzi.io/v1","kind":"KafkaTopic","metadata":{"generateName":"t-"},"spec":{"config":%s}}`,
			`{"apiVersion":"kafka.strimzi.io/v1","kind":"KafkaTopic","metadata":{"generateName":"t-"},"spec":%s}`,
		} {
			resp, err := client.Post(strings.TrimSuffix(cp.Config.Host, "/")+"/apis/kafka.strimzi.io/v1/namespaces/default/kafkatopics", "application/json",
				strings.NewReader(fmt.Sprintf(body, value)))
			if err != nil {
				t.Fatal(err)
			}
			_ = resp.Body.Close()
			if resp.StatusCode == http.StatusCreated {
				accepted++
			}
			var list apiv1.KafkaTopicList
			if err := cp.Client.List(t.Context(), &list); err != nil {
				t.Fatalf("after %s was accepted in %s, the list does not decode: %v", value, body, err)
			}
			if len(list.Items) != accepted {
				t.Fatalf("the list has %d topics, want %d", len(list.Items), accepted)
			}
		}
	}
	if accepted == 0 {
		t.Error("no value was accepted, so nothing was tested")
	}
}
