// Package webhooks serves admission. Each kind has a thin typed adapter around
// the rules of internal/validation; pods are completed by webhooks/pod. What
// the rules need to know of other objects comes from the manager's cache:
// admission neither dials Kafka nor waits for anything but that cache.
package webhooks

import (
	"context"
	"fmt"
	"reflect"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/metrics"
	"github.com/sluice-kafka/sluice/internal/topicplan"
	"github.com/sluice-kafka/sluice/internal/validation"
	"github.com/sluice-kafka/sluice/webhooks/pod"
)

// Paths at which the manager's webhook server answers, one for each resource.
// The chart's webhook configuration names the same.
const (
	pathKafka        = "/validate-kafkas"
	pathNodePool     = "/validate-kafkanodepools"
	pathScale        = "/validate-kafkanodepools-scale"
	pathTopic        = "/validate-kafkatopics"
	pathRebalance    = "/validate-kafkarebalances"
	pathConnect      = "/validate-kafkaconnects"
	pathMirrorMaker2 = "/validate-kafkamirrormaker2s"
)

// Options of the webhooks.
type Options struct {
	// StrictConfig refuses options that are otherwise only warned of.
	StrictConfig bool
	// Alterable are the options of topics that the operator may alter.
	Alterable topicplan.Alterable
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

// Cached is what the manager's cache holds of kinds that are not Sluice's own: of
// all ConfigMaps only those with the facts of a Kafka cluster.
func Cached() map[client.Object]cache.ByObject {
	return map[client.Object]cache.ByObject{
		&corev1.ConfigMap{}: {Label: labels.SelectorFromSet(labels.Set{apiv1.LabelFacts: "true"})},
	}
}

// Add registers all webhooks with the manager's server, and the indexes and
// informers that they read with its cache.
func Add(mgr ctrl.Manager, opts Options) error {
	if err := addIndexes(context.Background(), mgr.GetFieldIndexer()); err != nil {
		return err
	}
	// Read by key alone, and by the first request otherwise started too late.
	for _, obj := range []client.Object{&corev1.ConfigMap{}, &apiv1.KafkaRebalance{}} {
		_, err := mgr.GetCache().GetInformer(context.Background(), obj, cache.BlockUntilSynced(false))
		if err != nil && !meta.IsNoMatchError(err) {
			return fmt.Errorf("watching %T for admission: %w", obj, err)
		}
	}
	certs := &certManager{mapper: mgr.GetRESTMapper(), clock: clock.RealClock{}}
	certs.look(context.Background())
	if err := mgr.Add(certs); err != nil {
		return fmt.Errorf("watching for cert-manager: %w", err)
	}
	s := source{reader: mgr.GetCache(), clusters: opts.Clusters}
	rules := validation.Options{StrictConfig: opts.StrictConfig, Alterable: opts.Alterable}
	r := registrar{mgr: mgr, decoder: admission.NewDecoder(mgr.GetScheme()), metrics: metrics.NewAdmission(ctrlmetrics.Registry)}

	register(r, pathKafka, apiv1.KindKafka, judgeKafka(s, func() validation.Options { return certs.in(rules) }), nil)
	register(r, pathNodePool, apiv1.KindKafkaNodePool, judgeNodePool(s, rules), judgeNodePoolDeletion(s))
	register(r, pathTopic, apiv1.KindKafkaTopic, judgeTopic(s, rules), nil)
	register(r, pathRebalance, apiv1.KindKafkaRebalance, judgeRebalance(s, rules), nil)
	register(r, pathConnect, apiv1.KindKafkaConnect, judgeConnect(rules), nil)
	register(r, pathMirrorMaker2, apiv1.KindKafkaMirrorMaker2, judgeMirrorMaker2(rules), nil)
	r.serve(pathScale, apiv1.KindKafkaNodePool, &scaleHandler{
		answers: r.answers(apiv1.KindKafkaNodePool), cache: mgr.GetCache(), live: mgr.GetAPIReader(), judge: judgeNodePool(s, rules),
	})
	return pod.Add(mgr, func(h admission.Handler) admission.Handler { return r.measured("Pod", h) })
}

// registrar registers handlers with what they share.
type registrar struct {
	mgr     ctrl.Manager
	decoder admission.Decoder
	metrics *metrics.Admission
}

func (r registrar) answers(kind string) answers {
	return answers{kind: kind, refused: r.metrics.Refused}
}

func (r registrar) measured(kind string, h admission.Handler) admission.Handler {
	return &measured{kind: kind, clock: clock.RealClock{}, metrics: r.metrics, next: h}
}

func (r registrar) serve(path, kind string, h admission.Handler) {
	// A panic is recovered into a refusal with code 500 by webhook.Admission.
	r.mgr.GetWebhookServer().Register(path, &webhook.Admission{Handler: r.measured(kind, h)})
}

func register[T client.Object](r registrar, path, kind string, judge func(ctx context.Context, obj, old T) (validation.Result, error),
	judgeDeletion func(context.Context, T) (validation.Result, error),
) {
	r.serve(path, kind, &handler[T]{answers: r.answers(kind), decoder: r.decoder, judge: judge, judgeDeletion: judgeDeletion})
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
