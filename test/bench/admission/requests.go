package main

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/test/bench/workload"
)

// request is one kind of request. Those that would conflict with one another are
// dry runs, which admission answers alike.
type request struct {
	name string
	// webhook is its name in the API server's metrics, and operation is that
	// there and, in lower case, in the operator's.
	webhook, operation string
	// kind is the operator's name for it; empty where the operator is not asked.
	kind string
	// send sends the request of that number; no two have one.
	send func(ctx context.Context, n int) error
	// share of the mixed load, in twentieths.
	share int
}

// requests are those of Sluice's webhooks in workload.Namespace, or of the bare
// one in its namespace.
func (b *bench) requests(bare bool) []request {
	in, topics, pod := workload.Namespace, b.topics, workload.Pod(stored)
	if bare {
		in, topics, pod = bareNamespace, min(b.topics, bareTopics), podWithVolumes()
	}
	topic := func(n int) *apiv1.KafkaTopic { return within(in, workload.Topic(stored, n)) }
	kafka, newKafka := within(in, workload.Kafka(stored)), within(in, workload.Kafka(fresh))
	pod = within(in, pod)
	all := []request{
		{name: "topic-create", webhook: "kafkatopics", kind: apiv1.KindKafkaTopic, operation: create, share: 9,
			send: func(ctx context.Context, n int) error {
				return b.client.Create(ctx, topic(b.topics+n), client.DryRunAll)
			}},
		{name: "topic-update", webhook: "kafkatopics", kind: apiv1.KindKafkaTopic, operation: update, share: 8,
			send: func(ctx context.Context, n int) error {
				old := topic(n % topics)
				return b.client.Patch(ctx, workload.SetTopicOption(old, n), client.MergeFrom(old))
			}},
		{name: "kafka-create", webhook: "kafkas", kind: apiv1.KindKafka, operation: create, share: 1,
			send: func(ctx context.Context, _ int) error {
				return b.client.Create(ctx, newKafka.DeepCopy(), client.DryRunAll)
			}},
		{name: "kafka-update", webhook: "kafkas", kind: apiv1.KindKafka, operation: update, share: 1,
			send: func(ctx context.Context, n int) error {
				return b.client.Patch(ctx, workload.SetKafkaOption(kafka, n), client.MergeFrom(kafka), client.DryRunAll)
			}},
		{name: "pod-create", webhook: "pods", kind: "Pod", operation: create, share: 1,
			send: func(ctx context.Context, _ int) error { return b.createPod(ctx, pod.DeepCopy()) }},
	}
	for i := range all {
		if bare {
			all[i].webhook, all[i].kind = bareName(all[i].webhook), ""
		} else {
			all[i].webhook += ".sluice.dev"
		}
	}
	return all
}

const (
	create, update = "CREATE", "UPDATE"
	// bareTopics is how many topics the bare namespace has, for updates.
	bareTopics = 200
)

func within[T client.Object](namespace string, o T) T {
	o.SetNamespace(namespace)
	return o
}

// podWithVolumes has the volumes that its containers mount: no bare webhook gives
// it any.
func podWithVolumes() *corev1.Pod {
	pod := workload.Pod(stored)
	for _, m := range pod.Spec.Containers[0].VolumeMounts {
		pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: m.Name, VolumeSource: corev1.VolumeSource{
			Secret: &corev1.SecretVolumeSource{SecretName: m.Name + "-0"},
		}})
	}
	return pod
}

func (b *bench) createPod(ctx context.Context, pod *corev1.Pod) error {
	if err := b.client.Create(ctx, pod, client.DryRunAll); err != nil {
		return err
	}
	if len(pod.Spec.Volumes) != workload.Volumes {
		return fmt.Errorf("the pod came back with %d volumes of %d", len(pod.Spec.Volumes), workload.Volumes)
	}
	return nil
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
	// barePrefix is that of the phases in which the bare webhook is called.
	barePrefix = "bare-"
)

// phases alternate between the bare webhook and Sluice's.
func (b *bench) phases() []phase {
	bare, ours := b.requests(true), b.requests(false)
	phases := []phase{{name: barePrefix + mixed, requests: bare}, {name: mixed, requests: ours}}
	for i, r := range ours {
		phases = append(phases, phase{name: barePrefix + r.name, requests: bare[i : i+1]}, phase{name: r.name, requests: ours[i : i+1]})
	}
	return slices.DeleteFunc(phases, func(p phase) bool { return len(b.only) > 0 && !slices.Contains(b.only, p.name) })
}
