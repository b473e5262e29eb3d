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
	"sigs.k8s.io/controller-runtime/pkg/client"

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
    jvmOptions: {-Xmx: 1g, -XX: {UseZGC: null, ConcGCThreads: 2}, javaSystemProperties: [{name: a, value: b, future: 1}], future: 1}
    template:
      podSet: {metadata: {labels: {a: b}}}
      bootstrapService: {metadata: {labels: {a: null, b: 1}, other: 2}, future: 3}
      podDisruptionBudget: {maxUnavailable: 50%}
      persistentVolumeClaim: {metadata: {annotations: {a: [1]}}}
      pod:
        metadata: {labels: {a: null}, annotations: {b: 1.5}}
        affinity: {nodeAffinity: {x: [1]}}
        tolerations: [{key: a, future: null2}, text, 3]
        imagePullSecrets: [{name: a}]
        securityContext: {runAsUser: root}
        terminationGracePeriodSeconds: 0
        volumes: [{name: v, emptyDir: {sizeLimit: not-a-quantity, medium: Memory}, future: {a: 1}}]
        templatedVolumes: [{name: t, secret: {secretName: "s-{nodeId}", items: [{key: k}], odd: 1}, hostPath: {path: /x}}]
      kafkaContainer:
        env: [{name: A, value: "1", future: {a: 1}}]
        securityContext: {capabilities: nothing}
        volumeMounts: [{name: v, mountPath: /mnt/v, futureOption: true}]
---
apiVersion: kafka.strimzi.io/v1
kind: KafkaNodePool
metadata: {name: odd, namespace: default}
spec:
  resources: {limits: {memory: 1.5, cpu: null}, claims: [x]}
  jvmOptions: {-XX: {}}
  storage:
    type: jbod
    volumes: [{id: 0, type: persistent-claim, size: much, selector: {a: null, b: 1}, volumeAttributesClass: x, future: 1}]
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
	topics, pools, kafkas := &apiv1.KafkaTopicList{}, &apiv1.KafkaNodePoolList{}, &apiv1.KafkaList{}
	for kind, tc := range map[string]struct {
		list  client.ObjectList
		count func() int
		specs []string
	}{
		"KafkaTopic": {topics, func() int { return len(topics.Items) }, []string{
			`{"partitions":%s}`, `{"topicName":%s}`, `{"config":%s}`, `%s`,
		}},
		"KafkaNodePool": {pools, func() int { return len(pools.Items) }, []string{
			`{"resources":%s}`, `{"resources":{"limits":{"memory":%s}}}`, `{"jvmOptions":%s}`, `{"jvmOptions":{"-XX":%s}}`, `{"jvmOptions":{"-XX":{"A":%s}}}`,
			`{"jvmOptions":{"-Xmx":%s}}`, `{"jvmOptions":{"javaSystemProperties":%s}}`, `{"jvmOptions":{"javaSystemProperties":[%s]}}`,
			`{"storage":{"selector":%s}}`, `{"storage":{"selector":{"a":%s}}}`, `{"storage":{"sizeLimit":%s}}`,
			`{"template":{"persistentVolumeClaim":%s}}`, `{"template":{"persistentVolumeClaim":{"metadata":{"labels":%s}}}}`,
			`{"template":{"pod":{"metadata":{"labels":{"a":%s}}}}}`, `{"template":{"pod":{"affinity":%s}}}`, `{"template":{"pod":{"affinity":{"nodeAffinity":%s}}}}`,
			`{"template":{"pod":{"tolerations":%s}}}`, `{"template":{"pod":{"tolerations":[%s]}}}`, `{"template":{"pod":{"hostAliases":[{"ip":%s}]}}}`,
			`{"template":{"pod":{"terminationGracePeriodSeconds":%s}}}`, `{"template":{"pod":{"enableServiceLinks":%s}}}`,
			`{"template":{"pod":{"securityContext":{"runAsUser":%s}}}}`, `{"template":{"pod":{"dnsConfig":%s}}}`, `{"template":{"pod":{"tmpDirSizeLimit":%s}}}`,
			`{"template":{"kafkaContainer":{"env":[%s]}}}`, `{"template":{"kafkaContainer":{"securityContext":{"capabilities":%s}}}}`,
		}},
		"Kafka": {kafkas, func() int { return len(kafkas.Items) }, []string{
			`{"kafka":{"jvmOptions":%s}}`, `{"kafka":{"template":{"bootstrapService":%s}}}`, `{"kafka":{"template":{"brokersService":{"ipFamilies":%s}}}}`,
			`{"kafka":{"template":{"podDisruptionBudget":{"maxUnavailable":%s}}}}`, `{"kafka":{"template":{"serviceAccount":%s}}}`,
		}},
	} {
		t.Run(kind, func(t *testing.T) { acceptsWhatDecodes(t, cp, kind, tc.specs, tc.list, tc.count) })
	}
}

func acceptsWhatDecodes(t *testing.T, cp *harness.ControlPlane, kind string, specs []string, list client.ObjectList, count func() int) {
	web, err := rest.HTTPClientFor(cp.Config)
	if err != nil {
		t.Fatal(err)
	}
	url := strings.TrimSuffix(cp.Config.Host, "/") + "/apis/kafka.strimzi.io/v1/namespaces/default/" + strings.ToLower(kind) + "s"
	accepted := 0
	for _, value := range []string{`1e30`, `9223372036854775808`, `3.0`, `1e3`, `-1`, `1.5`, `"three"`, `null`, `true`, `{}`, `[]`} {
		for _, spec := range specs {
			body := fmt.Sprintf(`{"apiVersion":"kafka.strimzi.io/v1","kind":%q,"metadata":{"generateName":"t-"},"spec":%s}`, kind, fmt.Sprintf(spec, value))
			resp, err := web.Post(url, "application/json", strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			_ = resp.Body.Close()
			if resp.StatusCode == http.StatusCreated {
				accepted++
			}
			if err := cp.Client.List(t.Context(), list); err != nil {
				t.Fatalf("after %s was accepted, the list does not decode: %v", body, err)
			}
			if count() != accepted {
				t.Fatalf("the list has %d of %d objects", count(), accepted)
			}
		}
	}
	if accepted == 0 || accepted == len(specs)*11 {
		t.Errorf("%d values were accepted, so nothing was tested", accepted)
	}
}
