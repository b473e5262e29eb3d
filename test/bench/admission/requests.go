package main

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sluice-kafka/sluice/test/bench/workload"
)

// request is one kind of request. Those that would conflict with one another are
// dry runs, which admission answers alike.
type request struct {
	name string
	// webhook is its name in the API server's metrics; kind is the operator's, and
	// operation is that of both, in lower case.
	webhook, kind, operation string
	// send sends the request of that number; no two have one.
	send func(ctx context.Context, n int) error
}

func (b *bench) requests() []request {
	kafka := workload.Kafka(stored)
	return []request{
		{
			name: "topic-create", webhook: "kafkatopics.sluice.dev", kind: "KafkaTopic", operation: "create",
			send: func(ctx context.Context, n int) error {
				return b.client.Create(ctx, workload.Topic(stored, b.topics+n), client.DryRunAll)
			},
		},
		{
			name: "topic-update", webhook: "kafkatopics.sluice.dev", kind: "KafkaTopic", operation: "update",
			send: func(ctx context.Context, n int) error {
				old := workload.Topic(stored, n%b.topics)
				return b.client.Patch(ctx, workload.SetTopicOption(old, n), client.MergeFrom(old))
			},
		},
		{
			name: "kafka-create", webhook: "kafkas.sluice.dev", kind: "Kafka", operation: "create",
			send: func(ctx context.Context, _ int) error {
				return b.client.Create(ctx, workload.Kafka(fresh), client.DryRunAll)
			},
		},
		{
			name: "kafka-update", webhook: "kafkas.sluice.dev", kind: "Kafka", operation: "update",
			send: func(ctx context.Context, n int) error {
				return b.client.Patch(ctx, workload.SetKafkaOption(kafka, n), client.MergeFrom(kafka), client.DryRunAll)
			},
		},
		{name: "pod-create", webhook: "pods.sluice.dev", kind: "Pod", operation: "create", send: b.createPod},
	}
}

func (b *bench) createPod(ctx context.Context, _ int) error {
	pod := workload.Pod(stored)
	if err := b.client.Create(ctx, pod, client.DryRunAll); err != nil {
		return err
	}
	if len(pod.Spec.Volumes) != workload.Volumes {
		return fmt.Errorf("the pod came back with %d volumes of %d", len(pod.Spec.Volumes), workload.Volumes)
	}
	return nil
}
