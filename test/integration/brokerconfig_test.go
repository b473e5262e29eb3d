package integration

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/brokerconfig"
	client "github.com/sluice-kafka/sluice/internal/kafka"
	"github.com/sluice-kafka/sluice/internal/nodepool"
	"github.com/sluice-kafka/sluice/internal/observed"
	"github.com/sluice-kafka/sluice/test/kafka"
	"github.com/sluice-kafka/sluice/test/kafka/kafkatest"
)

// configured is a real broker, number 0, whose configuration is changed as
// brokerconfig says.
type configured struct {
	client  *client.Client
	calls   *kafkatest.Calls
	options map[string]string
	cordon  bool
}

// TestBrokerConfigOnRealKafka adds, changes and removes options of one broker and
// of all, with eligible leader replicas (of clusters that were formatted at 4.1
// or later) and without: each change is one call, and none is repeated.
func TestBrokerConfigOnRealKafka(t *testing.T) {
	for name, tc := range map[string]struct {
		metadataVersion string
		elr             bool
	}{
		"with eligible leader replicas":    {metadataVersion: "4.3-IV0", elr: true},
		"without eligible leader replicas": {metadataVersion: "4.0-IV3"},
	} {
		t.Run(name, func(t *testing.T) {
			read := map[string]string{"log.retention.ms": "3600000", "ssl.enabled.protocols": "TLSv1.3"}
			config := map[string]string{}
			for option, value := range read {
				config[option] = value
			}
			if !tc.elr {
				config[brokerconfig.CordonedLogDirs] = "*" // of no effect at this level
			}
			cluster := kafkatest.Start(t, kafka.Options{MetadataVersion: tc.metadataVersion, Config: config})
			c := &configured{options: read}
			c.calls = &kafkatest.Calls{}
			var err error
			c.client, err = client.New(client.Config{BootstrapServers: cluster.Bootstrap(), Controllers: cluster.Controllers(), Observe: c.calls.Observe})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(c.client.Close)
			c.changes(t, tc.elr)
			c.strays(t, tc.elr)
			c.threads(t)
			if tc.elr {
				c.cordons(t)
			} else {
				c.cordonsOnceTheLevelRises(t)
			}
			c.leaves(t)
		})
	}
}

func (c *configured) changes(t *testing.T, elr bool) {
	const limit = "listener.name.plain-9092.max.connections"
	c.step(t, "nothing is to be done", nil, nil)

	c.options["log.cleaner.min.cleanable.ratio"] = "0.250"
	c.options["log.cleanup.policy"] = "compact, delete"
	c.options["min.insync.replicas"] = "2"
	c.options["unclean.leader.election.enable"] = "FALSE" // Kafka's default
	c.options["ssl.protocol"] = "TLSv1.2"
	c.options[limit] = "1000"
	c.step(t, "options come",
		[]string{"ssl.protocol=TLSv1.2"},
		[]string{limit + "=1000", "log.cleaner.min.cleanable.ratio=0.250", "log.cleanup.policy=compact, delete", "min.insync.replicas=2"})

	c.options["log.cleaner.min.cleanable.ratio"] = "0.3"
	c.options["log.retention.ms"] = " 7200000"
	c.options["min.insync.replicas"] = "3"
	c.options["ssl.protocol"] = "TLSv1.3" // Kafka's default
	c.options["ssl.enabled.protocols"] = "TLSv1.2,TLSv1.3"
	c.options[limit] = "2000"
	c.step(t, "options change",
		[]string{"ssl.enabled.protocols=TLSv1.2,TLSv1.3", "ssl.protocol=TLSv1.3"},
		[]string{limit + "=2000", "log.cleaner.min.cleanable.ratio=0.3", "log.retention.ms= 7200000", "min.insync.replicas=3"})

	clear(c.options)
	isr := "min.insync.replicas deleted"
	if elr {
		isr = "min.insync.replicas=1"
	}
	// The process read log.retention.ms from its file: Kafka's default is set. So
	// it is with ssl.enabled.protocols, where that is set already.
	c.step(t, "options go",
		[]string{"ssl.protocol deleted"},
		[]string{limit + " deleted", "log.cleaner.min.cleanable.ratio deleted", "log.cleanup.policy deleted", "log.retention.ms=604800000", isr})
}

// strays were set by somebody.
func (c *configured) strays(t *testing.T, elr bool) {
	ops := []client.ConfigOp{{Name: "compression.type", Value: "zstd"}, {Name: "leader.replication.throttled.rate", Value: "1000"}}
	want := []string{"compression.type deleted"}
	isr := []client.ConfigOp{{Name: "min.insync.replicas", Value: "2"}}
	err := c.client.AlterBrokerConfig(t.Context(), 0, isr)
	switch {
	case elr && !errors.Is(err, client.ErrInvalidConfig):
		t.Errorf("Kafka took a broker's own min.insync.replicas: %v", err)
	case !elr && err != nil:
		t.Error(err)
	case !elr:
		want = append(want, "min.insync.replicas deleted")
	}
	if err := c.client.AlterBrokerConfig(t.Context(), 0, ops); err != nil {
		t.Fatal(err)
	}
	c.await(t, map[string]string{"compression.type": "zstd", "leader.replication.throttled.rate": "1000"})
	c.step(t, "strays go, and throttles stay", want, nil)
	c.await(t, map[string]string{"leader.replication.throttled.rate": "1000"})
}

func (c *configured) threads(t *testing.T) {
	c.options["num.io.threads"] = "40"
	for _, want := range []string{"=16", "=32", "=40"} {
		c.call(t, "a pool grows", nil, []string{"num.io.threads" + want})
		c.await(t, map[string]string{"num.io.threads": want[1:]})
	}
	delete(c.options, "num.io.threads")
	for _, want := range []string{"=20", "=10"} {
		c.call(t, "a pool shrinks", nil, []string{"num.io.threads" + want})
		c.await(t, map[string]string{"num.io.threads": want[1:]})
	}
	c.step(t, "a pool is as it was", nil, []string{"num.io.threads deleted"})
}

func (c *configured) cordons(t *testing.T) {
	c.cordon = true
	c.step(t, "cordon", []string{"cordoned.log.dirs=*"}, nil)
	c.cordon = false
	c.step(t, "uncordon", []string{"cordoned.log.dirs deleted"}, nil)
}

func (c *configured) cordonsOnceTheLevelRises(t *testing.T) {
	c.cordon = true
	change, _ := c.diff(t)
	if change.CordonState != brokerconfig.CordonAwaitsMetadataVersion || change.Cordon != nil {
		t.Errorf("below the level: %+v", change)
	}
	err := c.client.AlterBrokerConfig(t.Context(), 0, []client.ConfigOp{{Name: brokerconfig.CordonedLogDirs, Value: "*"}})
	if !errors.Is(err, client.ErrInvalidConfig) {
		t.Errorf("Kafka took a cordon below the level: %v", err)
	}
	if err := c.client.UpdateMetadataVersion(t.Context(), "4.3-IV0"); err != nil {
		t.Fatal(err)
	}
	c.step(t, "what stands in the file counts at once", nil, nil)
	c.cordon = false
	c.step(t, "uncordon over the file", []string{"cordoned.log.dirs="}, nil)
	c.cordon = true
	c.step(t, "cordon again", []string{"cordoned.log.dirs=*"}, nil)
	c.cordon = false
	c.step(t, "and uncordon", []string{"cordoned.log.dirs="}, nil)
}

// leaves clears all that the broker may carry, as of one whose configuration
// cannot be read any more: Kafka refuses none of it.
func (c *configured) leaves(t *testing.T) {
	ops := []client.ConfigOp{
		{Name: "ssl.protocol", Value: "TLSv1.2"}, {Name: "listener.name.plain-9092.max.connections", Value: "5"},
		{Name: "follower.replication.throttled.rate", Value: "1000"}, {Name: "compression.type", Value: "zstd"},
	}
	if err := c.client.AlterBrokerConfig(t.Context(), 0, ops); err != nil {
		t.Fatal(err)
	}
	features, err := c.client.Features(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	in := renderInput(nil)
	names := brokerconfig.Leftovers(in.Kafka, in.Version, 0, brokerconfig.Live{Features: observed.Seen(features)})
	c.calls.Take()
	if err := c.client.ClearBrokerConfig(t.Context(), 0, names); err != nil {
		t.Fatal(err)
	}
	if got := c.calls.Take()["IncrementalAlterConfigs"]; got != 1 {
		t.Errorf("%d calls for %d options", got, len(names))
	}
	kafkatest.Eventually(t, func(ctx context.Context) error {
		config, err := c.client.BrokerConfig(ctx, 0)
		for name, entry := range config {
			if _, carried := entry.Synonym(name, observed.SourceBroker); carried {
				err = errors.Join(err, fmt.Errorf("%s is left", name))
			}
		}
		return err
	})
}

func (c *configured) diff(t *testing.T) (brokerconfig.BrokerChange, brokerconfig.DefaultChange) {
	t.Helper()
	config := apiv1.Config{}
	for name, value := range c.options {
		raw, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		config[name] = apiextensionsv1.JSON{Raw: raw}
	}
	in := renderInput(config)
	in.Node, in.Cordoned = nodepool.Node{ID: 0, Pool: "pool", Pod: "cluster-pool-0", Broker: true, Controller: true}, c.cordon
	f := brokerconfig.Render(in)
	if len(f.Refused) > 0 {
		t.Fatalf("refused: %+v", f.Refused)
	}
	ctx := t.Context()
	var live brokerconfig.Live
	live.Brokers = map[int32]observed.Of[observed.Config]{0: observed.From(c.client.BrokerConfig(ctx, 0))}
	live.Default = observed.From(c.client.DefaultConfig(ctx))
	live.Features = observed.From(c.client.Features(ctx))
	broker, all := brokerconfig.DiffBroker(f, live), brokerconfig.DiffDefault([]brokerconfig.File{f}, live)
	if err := errors.Join(broker.Unobserved, all.Unobserved, live.Features.Err()); err != nil {
		t.Fatal(err)
	}
	return broker, all
}

func renderInput(config apiv1.Config) brokerconfig.Input {
	in := brokerconfig.Input{Kafka: &apiv1.Kafka{ObjectMeta: metav1.ObjectMeta{Name: "cluster", Namespace: "ns"}}, Version: kafka.DefaultVersion}
	in.Kafka.Spec.Kafka.Config = config
	in.Kafka.Spec.Kafka.Listeners = []apiv1.KafkaListener{{Name: "plain", Port: 9092, Type: apiv1.ListenerInternal}}
	in.Pool = &apiv1.KafkaNodePool{Spec: apiv1.KafkaNodePoolSpec{Storage: &apiv1.Storage{
		SingleVolume: apiv1.SingleVolume{Type: apiv1.StorageJBOD},
		Volumes:      []apiv1.SingleVolume{{ID: ptr.To[int64](0), Type: apiv1.StorageEphemeral}, {ID: ptr.To[int64](1), Type: apiv1.StorageEphemeral}},
	}}}
	return in
}

// step makes the calls that are due, which have to be those that are wanted, and
// waits until there is nothing left to do.
func (c *configured) step(t *testing.T, what string, broker, all []string) {
	t.Helper()
	c.call(t, what, broker, all)
	kafkatest.Eventually(t, func(context.Context) error {
		left, leftAll := c.diff(t)
		if ops := slices.Concat(left.Cordon, left.Options, leftAll.Options); len(ops) > 0 {
			return fmt.Errorf("%s: left to do: %v", what, written(ops))
		}
		return nil
	})
}

// call makes the calls that are due, which have to be those that are wanted.
func (c *configured) call(t *testing.T, what string, broker, all []string) {
	t.Helper()
	change, allChange := c.diff(t)
	if diff := cmp.Diff(broker, written(slices.Concat(change.Cordon, change.Options))); diff != "" {
		t.Errorf("%s, of the broker, -want +got:\n%s", what, diff)
	}
	if diff := cmp.Diff(all, written(allChange.Options)); diff != "" {
		t.Errorf("%s, of all brokers, -want +got:\n%s", what, diff)
	}
	c.calls.Take()
	calls := 0
	for _, ops := range [][]brokerconfig.Op{change.Cordon, change.Options} {
		if err := c.client.AlterBrokerConfig(t.Context(), 0, kafkaOps(ops)); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		calls += min(1, len(ops))
	}
	if err := c.client.AlterDefaultConfig(t.Context(), kafkaOps(allChange.Options)); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	calls += min(1, len(allChange.Options))
	if got := c.calls.Take()["IncrementalAlterConfigs"]; got != calls {
		t.Errorf("%s: %d calls, want %d", what, got, calls)
	}
}

// await waits until the broker goes by these values.
func (c *configured) await(t *testing.T, want map[string]string) {
	t.Helper()
	kafkatest.Eventually(t, func(ctx context.Context) error {
		config, err := c.client.BrokerConfig(ctx, 0)
		for name, value := range want {
			if err == nil && config[name].Value != value {
				err = fmt.Errorf("%s is %q, want %q", name, config[name].Value, value)
			}
		}
		return err
	})
}

func kafkaOps(ops []brokerconfig.Op) []client.ConfigOp {
	var list []client.ConfigOp
	for _, op := range ops {
		list = append(list, client.ConfigOp{Name: op.Name, Value: op.Value, Delete: op.Delete})
	}
	return list
}

func written(ops []brokerconfig.Op) []string {
	var list []string
	for _, op := range ops {
		if op.Delete {
			list = append(list, op.Name+" deleted")
		} else {
			list = append(list, op.Name+"="+op.Value)
		}
	}
	return list
}

// TestKafkaFormatsByRenderedFiles gives Kafka's own tool the files of nodes of
// each role: it reads and validates them as a broker does.
func TestKafkaFormatsByRenderedFiles(t *testing.T) {
	kafkatest.Require(t)
	libs, err := kafka.Fetch(t.Context(), kafka.DefaultVersion, os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	in := renderInput(apiv1.Config{"min.insync.replicas": {Raw: []byte("2")}, "my.own": {Raw: []byte(`" ümläut = \\ \n🌊 "`)}})
	in.Cordoned = true
	nodes := map[string]nodepool.Node{
		"broker":     {ID: 0, Pod: "cluster-pool-0", Broker: true},
		"controller": {ID: 1, Pod: "cluster-pool-1", Controller: true},
		"both":       {ID: 2, Pod: "cluster-pool-2", Broker: true, Controller: true},
	}
	in.Controllers = []nodepool.Node{nodes["controller"], nodes["both"]}
	for role, node := range nodes {
		t.Run(role, func(t *testing.T) {
			t.Parallel()
			in, dir := in, t.TempDir()
			in.Node = node
			path := filepath.Join(dir, "server.config")
			text := strings.ReplaceAll(brokerconfig.Render(in).Text(), "/var/lib/kafka", dir)
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			java := "java"
			if home := os.Getenv("JAVA_HOME"); home != "" {
				java = filepath.Join(home, "bin", java)
			}
			output, err := exec.CommandContext(t.Context(), java, "-Xmx128m", "-XX:TieredStopAtLevel=1", "-cp", filepath.Join(libs, "*"),
				"kafka.tools.StorageTool", "format", "-t", "MkU3OEVBNTcwNTJENDM2Qg", "-r", "4.3-IV0", "-c", path).CombinedOutput()
			if err != nil {
				t.Fatalf("%v:\n%s\n%s", err, output, text)
			}
			for _, volume := range brokerconfig.Volumes(in.Pool, node) {
				meta := filepath.Join(strings.ReplaceAll(volume.LogDir, "/var/lib/kafka", dir), "meta.properties")
				got, err := os.ReadFile(meta)
				if err != nil || !strings.Contains(string(got), fmt.Sprintf("node.id=%d\n", node.ID)) {
					t.Errorf("%s: %v:\n%s", meta, err, got)
				}
			}
		})
	}
}
