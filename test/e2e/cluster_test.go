package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
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
	// brokers is their number; there is one controller beside them, or so many.
	brokers, controllers int
	// kafka, if set, changes the Kafka before it is created.
	kafka func(*apiv1.Kafka)
	// pools, if set, are those to create in place of these two.
	pools []client.Object
	// versions of Kafka that pods may run besides.
	versions []string
	// nodes with their labels, in place of one in each of the zones a and b.
	nodes map[string]map[string]string
	// installed, if set, is called before the operator is started.
	installed func(*cluster)
}

// startCluster returns when the cluster says that it is ready.
func startCluster(t *testing.T, opts clusterOptions) *cluster {
	t.Helper()
	if opts.version == "" {
		opts.version = kafka.DefaultVersion
	}
	if opts.nodes == nil {
		opts.nodes = map[string]map[string]string{"node-a": {corev1.LabelTopologyZone: "a"}, "node-b": {corev1.LabelTopologyZone: "b"}}
	}
	plane, nodes := startNodes(t, harness.NodesOptions{
		Nodes:  opts.nodes,
		Images: kafkaImages(t, append(opts.versions, opts.version)...),
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
	create(t, c.client, k)
	if opts.pools == nil {
		opts.pools = []client.Object{
			newPool("controllers", max(opts.controllers, 1), apiv1.RoleController),
			newPool("brokers", opts.brokers, apiv1.RoleBroker),
		}
	}
	create(t, c.client, opts.pools...)
	c.await(6*time.Minute, c.isReady)
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

func newPool(pool string, replicas int, roles ...string) *unstructured.Unstructured {
	p := &unstructured.Unstructured{}
	fromYAML(fmt.Sprintf(`
apiVersion: kafka.strimzi.io/v1
kind: KafkaNodePool
spec:
  replicas: %d
  roles: [%s]
  storage: {type: jbod, volumes: [{id: 0, type: persistent-claim, size: 1Gi, deleteClaim: true}]}
  jvmOptions: {"-Xms": 128m, "-Xmx": 256m, "-XX": {UseG1GC: "false", UseSerialGC: "true", TieredStopAtLevel: "1"}}
`, replicas, strings.Join(roles, ", ")), p)
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

// patience is what bounds are multiplied by: they are those of an idle machine,
// and ten JVMs that start make two cores busy.
const patience = 3

// await tries until there is no error.
func (c *cluster) await(bound time.Duration, try func(context.Context) error) {
	c.t.Helper()
	bound *= patience
	// Cut off only after the bound, so that the last error tells what was not so.
	ctx, cancel := context.WithTimeout(c.t.Context(), bound+15*time.Second)
	defer cancel()
	ticker := time.NewTicker(200 * time.Millisecond)
	defer ticker.Stop()
	deadline := time.After(bound)
	for {
		start := time.Now()
		err := try(ctx)
		if err == nil {
			return
		}
		select {
		case <-ticker.C:
		case <-deadline:
			c.t.Fatalf("still after %s: %v (the last try took %s)", bound, err, time.Since(start).Round(time.Millisecond))
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
	c.patchPool(pool, map[string]any{"spec": map[string]any{"replicas": replicas}})
}

// patchPool merges into a pool; nil takes a field away.
func (c *cluster) patchPool(pool string, merge map[string]any) {
	c.t.Helper()
	p := &apiv1.KafkaNodePool{}
	p.Namespace, p.Name = namespace, pool
	c.merge(p, merge)
}

// patch merges into the Kafka; nil takes a field away.
func (c *cluster) patch(merge map[string]any) {
	c.t.Helper()
	k := &apiv1.Kafka{}
	k.Namespace, k.Name = namespace, name
	c.merge(k, merge)
}

func (c *cluster) merge(o client.Object, merge map[string]any) {
	c.t.Helper()
	body, err := json.Marshal(merge)
	if err != nil {
		c.t.Fatal(err)
	}
	if err := c.client.Patch(c.t.Context(), o, client.RawPatch(types.MergePatchType, body)); err != nil {
		c.t.Fatal(err)
	}
}

// configure merges into spec.kafka.config; nil takes an option away.
func (c *cluster) configure(options map[string]any) {
	c.t.Helper()
	c.patch(map[string]any{"spec": map[string]any{"kafka": map[string]any{"config": options}}})
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
