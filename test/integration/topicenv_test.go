package integration

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/controllers/topic"
	"github.com/sluice-kafka/sluice/internal/kafka"
	"github.com/sluice-kafka/sluice/internal/metrics"
	"github.com/sluice-kafka/sluice/test/harness"
	testkafka "github.com/sluice-kafka/sluice/test/kafka"
	"github.com/sluice-kafka/sluice/test/kafka/kafkatest"
)

// patience bounds every wait for topics; a loaded two-core machine is slow.
const patience = 4 * time.Minute

// topicEnv is a topic controller of its own namespace between a real API server
// and a real Kafka, which tests share.
type topicEnv struct {
	*testing.T
	namespace string
	kube      client.WithWatch
	kafka     *testkafka.Cluster
	admin     *kadm.Client
	config    *rest.Config
	registry  *prometheus.Registry
	stop      func()
}

// topicParts starts the API server, with nothing of the chart but its CRDs, and
// Kafka.
func topicParts(t *testing.T) (*harness.ControlPlane, *testkafka.Cluster) {
	t.Helper()
	cluster := kafkatest.Start(t, testkafka.Options{Heap: "512m"})
	cp := controlPlane(t, harness.ControlPlaneOptions{})
	objects, err := harness.RenderChart(t.Context(), os.Stderr, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := cp.Install(t.Context(), crdsOf(objects)); err != nil {
		t.Fatal(err)
	}
	return cp, cluster
}

func newTopicEnv(t *testing.T, cp *harness.ControlPlane, cluster *testkafka.Cluster, name string, edits ...func(*topic.Options)) *topicEnv {
	t.Helper()
	namespace(t, cp.Client, name, nil)
	e := &topicEnv{T: t, namespace: name, kafka: cluster, config: rest.CopyConfig(cp.Config)}
	e.config.QPS, e.config.Burst = 2000, 4000
	var err error
	if e.kube, err = client.NewWithWatch(e.config, client.Options{Scheme: harness.Scheme()}); err != nil {
		t.Fatal(err)
	}
	raw, err := kgo.NewClient(kgo.SeedBrokers(cluster.BootstrapServers...))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(raw.Close)
	e.admin = kadm.NewClient(raw)
	e.start(edits...)
	return e
}

// start runs a controller that knows nothing yet, until stop or the test's end.
func (e *topicEnv) start(edits ...func(*topic.Options)) {
	e.Helper()
	e.registry = prometheus.NewRegistry()
	m := metrics.NewTopic(e.registry)
	opts := topic.Options{
		Clusters:      []topic.Cluster{{Name: "east", Namespaces: []string{e.namespace}, BootstrapServers: e.kafka.BootstrapServers}},
		UseFinalizers: true,
		Metrics:       m,
	}
	for _, edit := range edits {
		edit(&opts)
	}
	skipNames := true // one process runs several managers
	mgr, err := ctrl.NewManager(e.config, ctrl.Options{
		Scheme:     harness.Scheme(),
		Metrics:    metricsserver.Options{BindAddress: "0"},
		Controller: config.Controller{SkipNameValidation: &skipNames},
	})
	if err != nil {
		e.Fatal(err)
	}
	err = topic.Add(mgr, opts, func(c topic.Cluster) (topic.Admin, error) {
		return kafka.New(kafka.Config{BootstrapServers: c.BootstrapServers, Observe: m.AdminObserver(c.Name)})
	})
	if err != nil {
		e.Fatal(err)
	}
	ctx, cancel := context.WithCancel(e.Context())
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	stopped := false
	e.stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-ended; err != nil {
			e.Errorf("the manager ended: %v", err)
		}
	}
	e.Cleanup(e.stop)
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
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: e.namespace, Labels: map[string]string{apiv1.LabelCluster: "east"}},
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
	err := wait.PollUntilContextTimeout(e.Context(), 200*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
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
func (e *topicEnv) waitMetric(family string, least float64) {
	e.Helper()
	err := wait.PollUntilContextTimeout(e.Context(), 50*time.Millisecond, patience, true, func(context.Context) (bool, error) {
		return e.metric(family) >= least, nil
	})
	if err != nil {
		e.Fatalf("waiting for %s to reach %v: %v; it is %v", family, least, err, e.metric(family))
	}
}

// metric is the sum of a family's values, or of its counts.
func (e *topicEnv) metric(family string) float64 {
	e.Helper()
	families, err := e.registry.Gather()
	if err != nil {
		e.Fatal(err)
	}
	var sum float64
	for _, f := range families {
		if f.GetName() != family {
			continue
		}
		for _, m := range f.Metric {
			sum += m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
		}
	}
	return sum
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
		if len(name) < len(e.namespace) || name[:len(e.namespace)] != e.namespace {
			delete(all, name)
		}
	}
	return all
}
