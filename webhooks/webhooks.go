// Package webhooks serves admission. Each kind has a thin typed adapter around
// the rules of internal/validation; pods are completed by webhooks/pod. What
// the rules need to know of other objects comes from the manager's cache:
// admission neither dials Kafka nor waits for anything but that cache.
package webhooks

import (
	"context"
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/api/meta"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/validation"
	"github.com/sluice-kafka/sluice/webhooks/pod"
)

// Paths at which the manager's webhook server answers, one for each resource.
// The chart's webhook configuration names the same.
const (
	PathKafka        = "/validate-kafkas"
	PathNodePool     = "/validate-kafkanodepools"
	PathTopic        = "/validate-kafkatopics"
	PathConnect      = "/validate-kafkaconnects"
	PathMirrorMaker2 = "/validate-kafkamirrormaker2s"
)

// Options of the webhooks.
type Options struct {
	// StrictConfig refuses options that are otherwise only warned of.
	StrictConfig bool
	// Clusters are those whose topics come from other namespaces than the one of
	// a Kafka resource.
	Clusters []Cluster
}

// Cluster is a Kafka that serves the topics of several namespaces.
type Cluster struct {
	// Name that the topics' label strimzi.io/cluster has.
	Name string
	// Namespaces of the topics.
	Namespaces []string
}

// Add registers all webhooks with the manager's server, and the indexes and
// informers that they read with its cache.
func Add(mgr ctrl.Manager, opts Options) error {
	if err := addIndexes(context.Background(), mgr.GetFieldIndexer()); err != nil {
		return err
	}
	s := source{reader: mgr.GetCache(), clusters: opts.Clusters}
	rules := validation.Options{StrictConfig: opts.StrictConfig}
	decoder := admission.NewDecoder(mgr.GetScheme())

	register(mgr, PathKafka, &handler[*apiv1.Kafka]{kind: apiv1.KindKafka, decoder: decoder, judge: judgeKafka(s, rules)})
	register(mgr, PathNodePool, &handler[*apiv1.KafkaNodePool]{kind: apiv1.KindKafkaNodePool, decoder: decoder, judge: judgeNodePool(s, rules)})
	register(mgr, PathTopic, &handler[*apiv1.KafkaTopic]{kind: apiv1.KindKafkaTopic, decoder: decoder, judge: judgeTopic(s, rules)})
	register(mgr, PathConnect, &handler[*apiv1.KafkaConnect]{kind: apiv1.KindKafkaConnect, decoder: decoder, judge: judgeConnect(rules)})
	register(mgr, PathMirrorMaker2, &handler[*apiv1.KafkaMirrorMaker2]{kind: apiv1.KindKafkaMirrorMaker2, decoder: decoder, judge: judgeMirrorMaker2(rules)})
	return pod.Add(mgr)
}

func register(mgr ctrl.Manager, path string, h admission.Handler) {
	// A panic is recovered into a refusal with code 500 by webhook.Admission.
	mgr.GetWebhookServer().Register(path, &webhook.Admission{Handler: h})
}

// newObject returns an empty object of a pointer type.
func newObject[T client.Object]() T {
	return reflect.New(reflect.TypeFor[T]().Elem()).Interface().(T)
}

// addIndexes also starts the informers: an index belongs to one.
func addIndexes(ctx context.Context, indexer client.FieldIndexer) error {
	for _, ix := range []struct {
		obj   client.Object
		field string
		keys  client.IndexerFunc
	}{
		{&apiv1.KafkaTopic{}, indexTopicClaim, topicClaimKeys},
		{&apiv1.KafkaTopic{}, indexTopicMetric, topicMetricKeys},
		{&apiv1.KafkaNodePool{}, indexPoolCluster, poolClusterKeys},
	} {
		err := indexer.IndexField(ctx, ix.obj, ix.field, ix.keys)
		if err != nil && !meta.IsNoMatchError(err) { // a kind that is not installed is never judged
			return fmt.Errorf("indexing %T by %s for admission: %w", ix.obj, ix.field, err)
		}
	}
	return nil
}
