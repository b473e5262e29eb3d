package e2e

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	internalkafka "github.com/sluice-kafka/sluice/internal/kafka"
	"github.com/sluice-kafka/sluice/test/harness"
	"github.com/sluice-kafka/sluice/test/kafka"
)

const (
	namespace = "kafka"
	name      = "my-cluster"
	// bootstrap is where clients connect to.
	bootstrap = name + "-kafka-bootstrap." + namespace + ".svc:9092"
)

// cluster is a Kafka cluster that the operator runs, with all that is around it.
type cluster struct {
	t        *testing.T
	plane    *harness.ControlPlane
	nodes    *harness.Nodes
	chart    *harness.Installation
	operator *harness.Operator
	client   client.Client
	admin    *internalkafka.Client
	kadm     *kadm.Client
	raw      *kgo.Client
	// args are added to the operator's.
	args []string
}

// clusterOptions say what to start.
type clusterOptions struct {
	// version of Kafka, and the metadata version that it is formatted at.
	version, metadata string
	// brokers is their number; there is one controller beside them.
	brokers int
	// kafka, if set, changes the Kafka before it is created.
	kafka func(*apiv1.Kafka)
	// installed, if set, is called before the operator is started.
	installed func(*cluster)
}

// startCluster returns when the cluster says that it is ready.
func startCluster(t *testing.T, opts clusterOptions) *cluster {
	t.Helper()
	if opts.version == "" {
		opts.version = kafka.DefaultVersion
	}
	plane, nodes := startNodes(t, harness.NodesOptions{
		Nodes:  map[string]map[string]string{"node-a": {corev1.LabelTopologyZone: "a"}, "node-b": {corev1.LabelTopologyZone: "b"}},
		Images: kafkaImages(t, opts.version),
		Env:    harness.JVM(),
	})
	c := &cluster{t: t, plane: plane, nodes: nodes, client: plane.Client}
	var err error
	if c.chart, err = plane.InstallChart(t.Context(), os.Stderr, nil); err != nil {
		t.Fatal(err)
	}
	if opts.installed != nil {
		opts.installed(c)
	}
	c.startOperator()
	t.Cleanup(func() {
		if c.operator != nil {
			_ = c.operator.Stop()
		}
		nodes.Stop()
	})
	create(t, c.client, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}})
	k := newKafka(opts)
	if opts.kafka != nil {
		opts.kafka(k)
	}
	create(t, c.client, k, newPool("controllers", 1, apiv1.RoleController), newPool("brokers", opts.brokers, apiv1.RoleBroker))
	c.await(5*time.Minute, c.isReady)
	c.connect()
	return c
}

func (c *cluster) startOperator() {
	c.t.Helper()
	var err error
	if c.operator, err = c.chart.StartOperator(c.t.Context(), c.args...); err != nil {
		c.t.Fatal(err)
	}
}

func newKafka(opts clusterOptions) *apiv1.Kafka {
	k := &apiv1.Kafka{}
	fromYAML(`
metadata:
  annotations: {sluice.dev/managed: "true"}
spec:
  kafka:
    listeners: [{name: plain, port: 9092, type: internal, tls: false}]
    config:
      default.replication.factor: 3
      min.insync.replicas: 2
      offsets.topic.replication.factor: 3
      transaction.state.log.replication.factor: 3
      transaction.state.log.min.isr: 2
`, k)
	k.Namespace, k.Name = namespace, name
	k.Spec.Kafka.Version, k.Spec.Kafka.MetadataVersion = opts.version, opts.metadata
	return k
}

func newPool(pool string, replicas int, role string) *unstructured.Unstructured {
	p := &unstructured.Unstructured{}
	fromYAML(fmt.Sprintf(`
apiVersion: kafka.strimzi.io/v1
kind: KafkaNodePool
spec:
  replicas: %d
  roles: [%s]
  storage: {type: jbod, volumes: [{id: 0, type: persistent-claim, size: 1Gi, deleteClaim: true}]}
  jvmOptions: {"-Xms": 128m, "-Xmx": 256m, "-XX": {UseG1GC: "false", UseSerialGC: "true", TieredStopAtLevel: "1"}}
`, replicas, role), p)
	p.SetNamespace(namespace)
	p.SetName(pool)
	p.SetLabels(map[string]string{apiv1.LabelCluster: name})
	return p
}

func fromYAML(text string, into any) {
	if err := yaml.Unmarshal([]byte(text), into); err != nil {
		panic(err)
	}
}

// await tries until there is no error.
func (c *cluster) await(bound time.Duration, try func(context.Context) error) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), bound)
	defer cancel()
	ticker := time.NewTicker(200 * time.Millisecond)
	defer ticker.Stop()
	var last error
	for {
		start := time.Now()
		err := try(ctx)
		if err == nil {
			return
		}
		// What the bound cut short tells nothing.
		if ctx.Err() == nil || last == nil {
			last = fmt.Errorf("%w (the last try took %s)", err, time.Since(start).Round(time.Millisecond))
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			c.t.Fatalf("still after %s: %v", bound, last)
		}
	}
}

func (c *cluster) get(ctx context.Context) (*apiv1.Kafka, error) {
	k := &apiv1.Kafka{}
	return k, c.client.Get(ctx, types.NamespacedName{Namespace: namespace, Name: name}, k)
}

// isReady tells whether the newest generation is.
func (c *cluster) isReady(ctx context.Context) error {
	k, err := c.get(ctx)
	if err != nil {
		return err
	}
	for _, cond := range k.Status.Conditions {
		if cond.Type == "Ready" && cond.Status == "True" && k.Status.ObservedGeneration == k.Generation {
			return nil
		}
	}
	return fmt.Errorf("not ready at generation %d: %+v", k.Generation, k.Status)
}

// scale asks for another number of nodes in a pool.
func (c *cluster) scale(pool string, replicas int) {
	c.t.Helper()
	p := &apiv1.KafkaNodePool{}
	p.Namespace, p.Name = namespace, pool
	body := fmt.Sprintf(`{"spec":{"replicas":%d}}`, replicas)
	if err := c.client.Patch(c.t.Context(), p, client.RawPatch(types.MergePatchType, []byte(body))); err != nil {
		c.t.Fatal(err)
	}
}

// connect makes clients of the running Kafka.
func (c *cluster) connect() {
	c.t.Helper()
	var err error
	if c.admin, err = internalkafka.New(internalkafka.Config{BootstrapServers: []string{bootstrap}}); err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(c.admin.Close)
	raw, err := kgo.NewClient(kgo.SeedBrokers(bootstrap), kgo.MetadataMinAge(100*time.Millisecond))
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(raw.Close)
	c.raw, c.kadm = raw, kadm.NewClient(raw)
}
