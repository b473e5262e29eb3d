package main

import (
	"context"
	"fmt"
	"slices"

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
	// share of the mixed load, in twentieths.
	share int
}

// phase is what is sent at the full rate for a while.
type phase struct {
	name     string
	requests []request
}

// send sends the request of that number, each kind by its share.
func (p phase) send(ctx context.Context, n int) error {
	if len(p.requests) == 1 {
		return p.requests[0].send(ctx, n)
	}
	turn := n % shares
	for _, r := range p.requests {
		if turn -= r.share; turn < 0 {
			return r.send(ctx, n)
		}
	}
	return fmt.Errorf("the shares of phase %s do not add up to %d", p.name, shares)
}

const (
	shares = 20
	// mixed is the phase in which topics come with an occasional Kafka and pod, as
	// in a cluster. Each kind alone shows more, as far as the API server, for which
	// a large Kafka costs far more than for Sluice, keeps up.
	mixed = "mixed"
)

func (b *bench) phases() []phase {
	all := b.requests()
	phases := []phase{{name: mixed, requests: all}}
	for _, r := range all {
		phases = append(phases, phase{name: r.name, requests: []request{r}})
	}
	return slices.DeleteFunc(phases, func(p phase) bool { return len(b.only) > 0 && !slices.Contains(b.only, p.name) })
}

func (b *bench) requests() []request {
	kafka := workload.Kafka(stored)
	return []request{
		{
			name: "topic-create", webhook: "kafkatopics.sluice.dev", kind: "KafkaTopic", operation: "create", share: 9,
			send: func(ctx context.Context, n int) error {
				return b.client.Create(ctx, workload.Topic(stored, b.topics+n), client.DryRunAll)
			},
		},
		{
			name: "topic-update", webhook: "kafkatopics.sluice.dev", kind: "KafkaTopic", operation: "update", share: 8,
			send: func(ctx context.Context, n int) error {
				old := workload.Topic(stored, n%b.topics)
				return b.client.Patch(ctx, workload.SetTopicOption(old, n), client.MergeFrom(old))
			},
		},
		{
			name: "kafka-create", webhook: "kafkas.sluice.dev", kind: "Kafka", operation: "create", share: 1,
			send: func(ctx context.Context, _ int) error {
				return b.client.Create(ctx, workload.Kafka(fresh), client.DryRunAll)
			},
		},
		{
			name: "kafka-update", webhook: "kafkas.sluice.dev", kind: "Kafka", operation: "update", share: 1,
			send: func(ctx context.Context, n int) error {
				return b.client.Patch(ctx, workload.SetKafkaOption(kafka, n), client.MergeFrom(kafka), client.DryRunAll)
			},
		},
		{name: "pod-create", webhook: "pods.sluice.dev", kind: "Pod", operation: "create", share: 1, send: b.createPod},
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
