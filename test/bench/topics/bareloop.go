package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
)

// bareLoop makes the calls and the writes that the operator makes for topics, and
// nothing else: it describes nothing and decides nothing.
type bareLoop struct {
	kafka *kgo.Client
	kube  client.Client
}

// linger is the operator's default.
const linger = 100 * time.Millisecond

func (b *bareLoop) afterCreate(ctx context.Context, written <-chan *apiv1.KafkaTopic) error {
	return batches(written, func(part []*apiv1.KafkaTopic) error {
		err := eachOf(ctx, part, func(ctx context.Context, t *apiv1.KafkaTopic) error {
			return b.patch(ctx, t, false, map[string]any{"metadata": map[string]any{
				"resourceVersion": t.ResourceVersion, "finalizers": []string{apiv1.FinalizerTopic},
			}})
		})
		if err != nil {
			return err
		}
		if err := bareCreate(ctx, b.kafka, part); err != nil {
			return err
		}
		return b.statuses(ctx, part)
	})
}

func (b *bareLoop) afterChange(ctx context.Context, written <-chan *apiv1.KafkaTopic) error {
	return batches(written, func(part []*apiv1.KafkaTopic) error {
		if err := bareAlter(ctx, b.kafka, part); err != nil {
			return err
		}
		return b.statuses(ctx, part)
	})
}

func (b *bareLoop) afterDelete(ctx context.Context, written <-chan *apiv1.KafkaTopic) error {
	return batches(written, func(part []*apiv1.KafkaTopic) error {
		if err := bareDelete(ctx, b.kafka, part); err != nil {
			return err
		}
		return eachOf(ctx, part, func(ctx context.Context, t *apiv1.KafkaTopic) error {
			return b.patch(ctx, t, false, map[string]any{"metadata": map[string]any{"finalizers": nil}})
		})
	})
}

// statuses writes what the operator's statuses say.
func (b *bareLoop) statuses(ctx context.Context, part []*apiv1.KafkaTopic) error {
	return eachOf(ctx, part, func(ctx context.Context, t *apiv1.KafkaTopic) error {
		return b.patch(ctx, t, true, map[string]any{
			"metadata": map[string]any{"resourceVersion": t.ResourceVersion},
			"status": map[string]any{
				"conditions": []apiv1.Condition{{
					Type: apiv1.ConditionReady, Status: "True", LastTransitionTime: time.Now().UTC().Format(time.RFC3339),
				}},
				"observedGeneration": t.Generation, "topicName": *t.Spec.TopicName, "topicId": "AAAAAAAAAAAAAAAAAAAAAA",
				"partitions": partitions, "replicas": replicas, "replicasChange": nil,
			},
		})
	})
}

func (b *bareLoop) patch(ctx context.Context, t *apiv1.KafkaTopic, status bool, patch map[string]any) error {
	raw, err := json.Marshal(patch)
	if err != nil {
		return err
	}
	merge := client.RawPatch(types.MergePatchType, raw)
	if status {
		return b.kube.Status().Patch(ctx, t, merge, client.FieldOwner("bare"))
	}
	return b.kube.Patch(ctx, t, merge, client.FieldOwner("bare"))
}

// batches gathers what comes as the operator does: until a batch is full or the
// first of it has lingered.
func batches[T any](in <-chan T, work func([]T) error) error {
	for open := true; open; {
		var part []T
		part, open = gather(in)
		if len(part) == 0 {
			continue
		}
		if err := work(part); err != nil {
			return err
		}
	}
	return nil
}

func gather[T any](in <-chan T) (part []T, open bool) {
	first, open := <-in
	if !open {
		return nil, false
	}
	part = append(part, first)
	full := time.NewTimer(linger)
	defer full.Stop()
	for len(part) < batchSize {
		select {
		case next, open := <-in:
			if !open {
				return part, false
			}
			part = append(part, next)
		case <-full.C:
			return part, true
		}
	}
	return part, true
}

func eachOf[T any](ctx context.Context, items []T, f func(context.Context, T) error) error {
	return each(ctx, 0, len(items), func(ctx context.Context, n int) error { return f(ctx, items[n]) })
}

func bareCreate(ctx context.Context, c *kgo.Client, part []*apiv1.KafkaTopic) error {
	// As many as Kafka's controller takes in one request: 10,000 records, of the
	// topic, its partitions and its options each.
	for part := range slices.Chunk(part, 10_000/(1+partitions+3)) {
		req := kmsg.NewPtrCreateTopicsRequest()
		for _, t := range part {
			topic := kmsg.NewCreateTopicsRequestTopic()
			topic.Topic, topic.NumPartitions, topic.ReplicationFactor = *t.Spec.TopicName, partitions, replicas
			for name, value := range t.Spec.Config {
				option := kmsg.NewCreateTopicsRequestTopicConfig()
				option.Name, option.Value = name, kmsg.StringPtr(string(value.Raw))
				topic.Configs = append(topic.Configs, option)
			}
			req.Topics = append(req.Topics, topic)
		}
		resp, err := req.RequestWith(ctx, c)
		if err != nil {
			return err
		}
		for _, t := range resp.Topics {
			if err := kerr.ErrorForCode(t.ErrorCode); err != nil {
				return fmt.Errorf("creating topic %s: %w", t.Topic, err)
			}
		}
	}
	return nil
}

func bareAlter(ctx context.Context, c *kgo.Client, part []*apiv1.KafkaTopic) error {
	req := kmsg.NewPtrIncrementalAlterConfigsRequest()
	for _, t := range part {
		r := kmsg.NewIncrementalAlterConfigsRequestResource()
		r.ResourceType, r.ResourceName = kmsg.ConfigResourceTypeTopic, *t.Spec.TopicName
		o := kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
		o.Name, o.Op, o.Value = "retention.ms", kmsg.IncrementalAlterConfigOpSet, kmsg.StringPtr(string(t.Spec.Config["retention.ms"].Raw))
		r.Configs = append(r.Configs, o)
		req.Resources = append(req.Resources, r)
	}
	resp, err := req.RequestWith(ctx, c)
	if err != nil {
		return err
	}
	for _, r := range resp.Resources {
		if err := kerr.ErrorForCode(r.ErrorCode); err != nil {
			return fmt.Errorf("changing topic %s: %w", r.ResourceName, err)
		}
	}
	return nil
}

func bareDelete(ctx context.Context, c *kgo.Client, part []*apiv1.KafkaTopic) error {
	req := kmsg.NewPtrDeleteTopicsRequest()
	for _, t := range part {
		topic := kmsg.NewDeleteTopicsRequestTopic()
		topic.Topic = kmsg.StringPtr(*t.Spec.TopicName)
		req.Topics = append(req.Topics, topic)
	}
	resp, err := req.RequestWith(ctx, c)
	if err != nil {
		return err
	}
	for _, t := range resp.Topics {
		if err := kerr.ErrorForCode(t.ErrorCode); err != nil {
			return fmt.Errorf("deleting a topic: %w", err)
		}
	}
	return nil
}
