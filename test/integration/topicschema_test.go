package integration

import (
	"context"
	"os"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/test/harness"
)

// topicsUnderALesserSchema puts a CRD in place of ours that names no more than
// Strimzi's does, while the operator runs and before it starts: what the API
// server drops must not be written at every look.
func topicsUnderALesserSchema(e *topicEnv) {
	const n = 20
	lesser := lesserSchema(e.T)
	e.start("--resync-interval=5s")
	e.createTopics(n)
	e.waitTopics(n, func(kt *apiv1.KafkaTopic) bool {
		return isReady(kt) && kt.Status.Partitions == 1 && kt.Status.Replicas == 1
	})
	e.lookThatFindsNothing()

	if err := e.installed.Install(e.Context(), []*unstructured.Unstructured{lesser}); err != nil {
		e.Fatal(err)
	}
	bare := func(kt *apiv1.KafkaTopic) bool {
		return isReady(kt) && kt.Status.Partitions == 0 && kt.Status.Replicas == 0
	}
	e.waitTopics(n, bare)
	e.each(n, func(ctx context.Context, i int) error { return e.patch(ctx, i, `{"spec":{"partitions":3}}`) })
	e.waitTopics(n, bare)
	// The answers lacked what was written, and the schema is read again; the API
	// server publishes it a moment after the CRD has changed.
	e.eventually(func(context.Context) (bool, error) {
		before := e.settled()
		e.waitMetric(metricBatches, before.sum(metricBatches)+1)
		return e.settled().sum(metricWrites) == before.sum(metricWrites), nil
	})
	e.lookThatFindsNothing()
	e.stop()

	e.start("--resync-interval=5s")
	e.waitMetric(metricBatches, 2)
	if got := e.settled().sum(metricWrites); got != 0 {
		e.Errorf("%v writes to Kubernetes in the first looks of an operator that found nothing to do", got)
	}
	e.lookThatFindsNothing()
	if err := e.kube.Create(e.Context(), e.topic(n, apiv1.KafkaTopicSpec{})); err != nil {
		e.Fatal(err)
	}
	e.waitTopics(n+1, bare)
	if got := e.settled().sum(metricWrites); got != 2 {
		e.Errorf("%v writes to Kubernetes for a new topic, want the finalizer and the status", got)
	}
	e.waitInKafka(n + 1)
	e.lookThatFindsNothing()
}

// lesserSchema is our CRD of KafkaTopics less what Strimzi's does not have: the
// observed numbers, their columns, and the preservation of unknown fields around
// them.
func lesserSchema(t *testing.T) *unstructured.Unstructured {
	t.Helper()
	objects, err := harness.RenderChart(t.Context(), os.Stderr, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, crd := range crdsOf(objects) {
		if crd.GetName() != "kafkatopics.kafka.strimzi.io" {
			continue
		}
		versions, _, err := unstructured.NestedSlice(crd.Object, "spec", "versions")
		if err != nil || len(versions) != 1 {
			t.Fatalf("the CRD has %d versions, want one: %v", len(versions), err)
		}
		version := versions[0].(map[string]any)
		schema := version["schema"].(map[string]any)["openAPIV3Schema"].(map[string]any)
		properties := schema["properties"].(map[string]any)
		for _, part := range []string{"spec", "status"} {
			prune(properties[part].(map[string]any))
		}
		status := properties["status"].(map[string]any)["properties"].(map[string]any)
		if status["partitions"] == nil || status["replicas"] == nil {
			t.Fatal("our own CRD lacks what is to be taken away")
		}
		delete(status, "partitions")
		delete(status, "replicas")
		var columns []any
		for _, c := range version["additionalPrinterColumns"].([]any) {
			if path := c.(map[string]any)["jsonPath"]; path != ".status.partitions" && path != ".status.replicas" {
				columns = append(columns, c)
			}
		}
		version["additionalPrinterColumns"] = columns
		if err := unstructured.SetNestedSlice(crd.Object, versions, "spec", "versions"); err != nil {
			t.Fatal(err)
		}
		return crd
	}
	t.Fatal("the chart has no CRD of KafkaTopics")
	return nil
}

// prune takes the preservation of unknown fields off a schema, but where no
// fields are named at all.
func prune(schema map[string]any) {
	properties, ok := schema["properties"].(map[string]any)
	if ok {
		delete(schema, "x-kubernetes-preserve-unknown-fields")
	}
	for _, p := range properties {
		prune(p.(map[string]any))
	}
	if items, ok := schema["items"].(map[string]any); ok {
		prune(items)
	}
}
