package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"golang.org/x/sync/errgroup"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
)

const (
	// cluster is the name of the Kafka that the operator serves, with the topics of
	// its namespace.
	cluster   = "bench"
	namespace = "kafka"
	// bareCluster and bareNamespace are served by nobody but the bare loop.
	bareCluster   = "bare"
	bareNamespace = "bare"
	// roundLabel marks the resources of one round.
	roundLabel = "bench.example.com/round"

	partitions = 3
	replicas   = 1
	// writers is how many Kubernetes writes are under way at once: the operator's
	// own concurrency, and that of whoever applies topics.
	writers = 16
)

// side is one of the two that are compared.
type side struct {
	cluster, namespace string
}

var (
	ours = side{cluster, namespace}
	bare = side{bareCluster, bareNamespace}
)

// seeded is the topic of that number among those that are there all along. It
// brings the finalizer with it, which spares a write of loading.
func seeded(n int) *apiv1.KafkaTopic {
	t := ours.topic("seed", n)
	t.Finalizers = []string{apiv1.FinalizerTopic}
	return t
}

// topic is the resource of that number in a round.
func (s side) topic(round string, n int) *apiv1.KafkaTopic {
	name, count, factor := inKafka(s, round, n), int64(partitions), int64(replicas)
	return &apiv1.KafkaTopic{
		TypeMeta: metav1.TypeMeta{APIVersion: apiv1.GroupVersion.String(), Kind: apiv1.KindKafkaTopic},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: s.namespace, Name: fmt.Sprintf("%s-orders-%d", round, n),
			Labels: map[string]string{apiv1.LabelCluster: s.cluster, roundLabel: round, "team": fmt.Sprintf("team-%d", n%patterns)},
		},
		Spec: apiv1.KafkaTopicSpec{
			TopicName: &name, Partitions: &count, Replicas: &factor,
			Config: apiv1.Config{
				"retention.ms": number(retentionOf(n)), "segment.bytes": number(1073741824), "min.insync.replicas": number(1),
			},
		},
	}
}

const (
	// patterns is how many kinds of labels and of options there are among topics:
	// people make them from a few patterns, but not from one.
	patterns = 50
	// retention is that of the topic with the number 0.
	retention = 604800000
)

// retentionOf is that of a new topic.
func retentionOf(n int) int { return retention + 3600000*(n%patterns) }

func inKafka(s side, round string, n int) string {
	return fmt.Sprintf("%s.%s.orders.%d", s.cluster, round, n)
}

func number(n int) apiextensionsv1.JSON {
	return apiextensionsv1.JSON{Raw: strconv.AppendInt(nil, int64(n), 10)}
}

// retentionPatch changes one option.
func retentionPatch(ms int) []byte {
	return fmt.Appendf(nil, `{"spec":{"config":{"retention.ms":%d}}}`, ms)
}

// each calls f with each number from first to below end, as many at once as there
// are writers, until one fails.
func each(ctx context.Context, first, end int, f func(ctx context.Context, n int) error) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(writers)
	for n := first; n < end && ctx.Err() == nil; n++ {
		g.Go(func() error { return f(ctx, n) })
	}
	return g.Wait()
}

func isReady(t *apiv1.KafkaTopic) bool {
	return t.Status.ObservedGeneration == t.Generation && slices.ContainsFunc(t.Status.Conditions, func(c apiv1.Condition) bool {
		return c.Type == apiv1.ConditionReady && c.Status == "True"
	})
}
