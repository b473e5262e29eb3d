package integration

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/test/harness"
	testkafka "github.com/sluice-kafka/sluice/test/kafka"
	"github.com/sluice-kafka/sluice/test/kafka/kafkatest"
)

// patience bounds every wait for topics; a loaded two-core machine is slow.
const patience = 4 * time.Minute

// Names of metrics that the tests read.
const (
	metricBatches    = "sluice_topic_batches_total"
	metricAdminCalls = "sluice_topic_admin_call_duration_seconds"
	metricWrites     = "sluice_topic_kubernetes_write_duration_seconds"
)

// topicCluster is the name of the Kafka in the chart's table of clusters.
const topicCluster = "east"

// topicEnv is the installed operator between a real API server and a real
// Kafka, which tests share. Each test has a namespace, and runs operators of its
// own, whose metrics tell of nothing else.
type topicEnv struct {
	*testing.T
	namespace string
	kube      client.WithWatch
	kafka     *testkafka.Cluster
	admin     *kadm.Client
	installed *harness.Installation
	operator  *harness.Operator
}

// topicParts starts the API server with the chart in it, and Kafka; no operator
// runs yet.
func topicParts(t *testing.T, opts harness.ControlPlaneOptions, namespaces ...any) (*harness.Installation, *testkafka.Cluster) {
	t.Helper()
	return topicPartsOn(t, testkafka.Options{Heap: "512m"}, opts, namespaces...)
}

// topicPartsOn is topicParts with a Kafka of one's own.
func topicPartsOn(t *testing.T, kafka testkafka.Options, opts harness.ControlPlaneOptions, namespaces ...any) (*harness.Installation, *testkafka.Cluster) {
	t.Helper()
	cluster := kafkatest.Start(t, kafka)
	table := []any{map[string]any{"name": topicCluster, "namespaces": namespaces, "bootstrapServers": cluster.Bootstrap()}}
	in, err := controlPlane(t, opts).InstallChart(t.Context(), os.Stderr, map[string]any{"externalClusters": table})
	if err != nil {
		t.Fatal(err)
	}
	return in, cluster
}

// newTopicEnv makes the namespace; the operator is the test's to start.
func newTopicEnv(t *testing.T, in *harness.Installation, cluster *testkafka.Cluster, name string, labels map[string]string) *topicEnv {
	t.Helper()
	namespace(t, in.Client, name, labels)
	e := &topicEnv{T: t, namespace: name, kafka: cluster, installed: in}
	config := rest.CopyConfig(in.Config)
	config.QPS, config.Burst = 2000, 4000
	var err error
	if e.kube, err = client.NewWithWatch(config, client.Options{Scheme: harness.Scheme()}); err != nil {
		t.Fatal(err)
	}
	raw, err := kgo.NewClient(kgo.SeedBrokers(cluster.BootstrapServers...))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(raw.Close)
	e.admin = kadm.NewClient(raw)
	t.Cleanup(e.leaveNothing)
	return e
}

// leaveNothing takes away the resources of this test, for the next operator
// looks at whatever there is. No operator runs by then.
func (e *topicEnv) leaveNothing() {
	ctx := context.WithoutCancel(e.Context())
	var list apiv1.KafkaTopicList
	if err := e.kube.List(ctx, &list, client.InNamespace(e.namespace)); err != nil {
		e.Error(err)
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(16)
	for _, kt := range list.Items {
		g.Go(func() error {
			if err := e.kube.Patch(ctx, &kt, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))); err != nil {
				return err
			}
			return e.kube.Delete(ctx, &kt)
		})
	}
	if err := g.Wait(); err != nil {
		e.Error(err)
	}
}

// start runs the operator until stop, kill or the test's end.
func (e *topicEnv) start(args ...string) {
	e.Helper()
	op, err := e.installed.StartOperator(e.Context(), args...)
	if err != nil {
		e.Fatal(err)
	}
	e.operator = op
	e.Cleanup(func() {
		if e.operator == op {
			e.stop()
		}
	})
}

// stop ends the operator, which must do so gracefully and must never have lacked
// a right.
func (e *topicEnv) stop() {
	e.Helper()
	op := e.operator
	e.operator = nil
	if err := op.Stop(); err != nil {
		op.Kill()
		e.Error(err)
	}
	e.checkLog(op)
}

// kill ends the operator as a crash would.
func (e *topicEnv) kill() {
	e.Helper()
	op := e.operator
	e.operator = nil
	op.Kill()
	e.checkLog(op)
}

func (e *topicEnv) checkLog(op *harness.Operator) {
	e.Helper()
	raw, err := os.ReadFile(op.Log)
	if err != nil {
		e.Fatal(err)
	}
	for line := range strings.Lines(string(raw)) {
		if strings.Contains(line, "forbidden") {
			e.Errorf("the chart's roles lack a right: %s", line)
		}
	}
}

// each does something for n topics, sixteen at a time.
func (e *topicEnv) each(n int, do func(ctx context.Context, i int) error) {
	e.Helper()
	g, ctx := errgroup.WithContext(e.Context())
	g.SetLimit(16)
	for i := range n {
		g.Go(func() error { return do(ctx, i) })
	}
	if err := g.Wait(); err != nil {
		e.Fatal(err)
	}
}

// topic builds a resource; its topic's name carries the namespace, since tests
// share the Kafka.
func (e *topicEnv) topic(i int, spec apiv1.KafkaTopicSpec) *apiv1.KafkaTopic {
	name := fmt.Sprintf("topic-%04d", i)
	if spec.TopicName == nil {
		inKafka := e.inKafka(i)
		spec.TopicName = &inKafka
	}
	return &apiv1.KafkaTopic{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: e.namespace, Labels: map[string]string{apiv1.LabelCluster: topicCluster}},
		Spec:       spec,
	}
}

func (e *topicEnv) inKafka(i int) string { return fmt.Sprintf("%s-%04d", e.namespace, i) }

func (e *topicEnv) patch(ctx context.Context, i int, patch string) error {
	return e.kube.Patch(ctx, e.topic(i, apiv1.KafkaTopicSpec{}), client.RawPatch("application/merge-patch+json", []byte(patch)))
}

func isReady(kt *apiv1.KafkaTopic) bool {
	return kt.Status.ObservedGeneration == kt.Generation && len(kt.Status.Conditions) > 0 &&
		kt.Status.Conditions[0].Type == apiv1.ConditionReady && kt.Status.Conditions[0].Status == "True"
}

// waitTopics waits until n resources are there, and all as they should be.
func (e *topicEnv) waitTopics(n int, good func(*apiv1.KafkaTopic) bool) {
	e.Helper()
	var last *apiv1.KafkaTopic
	bad := 0
	err := wait.PollUntilContextTimeout(e.Context(), 500*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		var list apiv1.KafkaTopicList
		if err := e.kube.List(ctx, &list, client.InNamespace(e.namespace)); err != nil {
			return false, err
		}
		bad = 0
		for i := range list.Items {
			if !good(&list.Items[i]) {
				last, bad = &list.Items[i], bad+1
			}
		}
		return bad == 0 && len(list.Items) == n, nil
	})
	if err != nil {
		e.Fatalf("waiting for %d topics: %v; %d are not as they should be, such as %+v", n, err, bad, last)
	}
}

// waitMetric waits until a metric reaches a value.
func (e *topicEnv) waitMetric(family string, least float64, labels ...string) {
	e.Helper()
	last := 0.0
	err := wait.PollUntilContextTimeout(e.Context(), 100*time.Millisecond, patience, true, func(context.Context) (bool, error) {
		last = e.metrics().sum(family, labels...)
		return last >= least, nil
	})
	if err != nil {
		e.Fatalf("waiting for %s to reach %v: %v; it is %v", family, least, err, last)
	}
}

// reading is one reading of an operator's metrics.
type reading struct{ harness.Metrics }

func (e *topicEnv) metrics() reading {
	e.Helper()
	m, err := e.operator.Metrics(e.Context())
	if err != nil {
		e.Fatal(err)
	}
	return reading{m}
}

func (r reading) sum(family string, labels ...string) float64 {
	return r.Sum(family, append(labels, "cluster="+topicCluster)...)
}

// settled reads the metrics between two batches: two readings agree.
func (e *topicEnv) settled() reading {
	e.Helper()
	last := e.metrics()
	err := wait.PollUntilContextTimeout(e.Context(), 300*time.Millisecond, patience, false, func(context.Context) (bool, error) {
		now := e.metrics()
		same := true
		for _, family := range []string{metricBatches, metricAdminCalls, metricWrites} {
			same = same && now.sum(family) == last.sum(family)
		}
		last = now
		return same, nil
	})
	if err != nil {
		e.Fatalf("waiting for the operator to come to rest: %v", err)
	}
	return last
}

// calls tells of the batches and the Admin calls, by API, since an earlier
// reading.
func (r reading) calls(before reading) string {
	var parts []string
	for _, api := range r.apis() {
		if n := r.sum(metricAdminCalls, "api="+api) - before.sum(metricAdminCalls, "api="+api); n > 0 {
			parts = append(parts, fmt.Sprintf("%s %v", api, n))
		}
	}
	since := func(family string, labels ...string) float64 {
		return r.sum(family, labels...) - before.sum(family, labels...)
	}
	return fmt.Sprintf("%v batches, %v Admin calls (%s), %v writes to Kubernetes of which %v failed",
		since(metricBatches), since(metricAdminCalls), strings.Join(parts, ", "), since(metricWrites), since(metricWrites, "result=failed"))
}

func (r reading) apis() []string {
	var apis []string
	for _, s := range r.Metrics[metricAdminCalls].GetMetric() {
		for _, l := range s.Label {
			if l.GetName() == "api" && !slices.Contains(apis, l.GetValue()) {
				apis = append(apis, l.GetValue())
			}
		}
	}
	slices.Sort(apis)
	return apis
}

// lookThatFindsNothing waits for two full looks at a settled set of at most one
// batch, and holds them to two calls each and no write.
func (e *topicEnv) lookThatFindsNothing() {
	e.Helper()
	e.findNothingIn(2)
}

// findNothingIn is lookThatFindsNothing for a set of as many batches.
func (e *topicEnv) findNothingIn(slices float64) {
	e.Helper()
	before := e.settled()
	e.waitMetric(metricBatches, before.sum(metricBatches)+slices)
	after := e.settled()
	batches := after.sum(metricBatches) - before.sum(metricBatches)
	for _, api := range after.apis() {
		want := 0.0
		if api == "Metadata" || api == "DescribeConfigs" {
			want = batches
		}
		if got := after.sum(metricAdminCalls, "api="+api) - before.sum(metricAdminCalls, "api="+api); got != want {
			e.Errorf("%v calls of %s in %v looks that found nothing, want %v", got, api, batches, want)
		}
	}
	if got := after.sum(metricWrites) - before.sum(metricWrites); got != 0 {
		e.Errorf("%v writes to Kubernetes in looks that found nothing", got)
	}
	e.Logf("found nothing: %s", after.calls(before))
}

// eventually polls until something holds or patience runs out; what it found
// last is for its caller to judge.
func (e *topicEnv) eventually(holds func(context.Context) (bool, error)) {
	e.Helper()
	err := wait.PollUntilContextTimeout(e.Context(), 200*time.Millisecond, patience, true, holds)
	if err != nil && !wait.Interrupted(err) {
		e.Fatal(err)
	}
}

// list are the resources of this test.
func (e *topicEnv) list() []apiv1.KafkaTopic {
	e.Helper()
	var list apiv1.KafkaTopicList
	if err := e.kube.List(e.Context(), &list, client.InNamespace(e.namespace)); err != nil {
		e.Fatal(err)
	}
	return list.Items
}

// count counts the resources of this test that are in some state.
func (e *topicEnv) count(is func(*apiv1.KafkaTopic) bool) int {
	e.Helper()
	n := 0
	for _, kt := range e.list() {
		if is(&kt) {
			n++
		}
	}
	return n
}

// details are the topics of this test in Kafka.
func (e *topicEnv) details() kadm.TopicDetails {
	e.Helper()
	all, err := e.admin.ListTopics(e.Context())
	if err != nil {
		e.Fatal(err)
	}
	all.FilterInternal()
	for name := range all {
		if !strings.HasPrefix(name, e.namespace+"-") {
			delete(all, name)
		}
	}
	return all
}
