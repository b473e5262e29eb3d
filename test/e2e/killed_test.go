package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/brokerconfig"
	"github.com/sluice-kafka/sluice/test/gate"
)

// TestKilledAtEveryWrite kills the operator at each write of a scale-down in turn.
// A first round, without a kill, tells which writes there are. In the round of each of
// them that write is lost and the operator killed; the one that is started then gets
// it through, but is killed too before it hears of it. However often it is killed,
// the end is the same as without, no broker restarts and no record is lost.
func TestKilledAtEveryWrite(t *testing.T) {
	g := &gate.Gate{}
	c := startCluster(t, clusterOptions{brokers: 4, installed: func(c *cluster) {
		c.through(g)
		// What is killed does not give its lease back, and each start would wait for
		// that to run out.
		c.args = append(c.args, "--leader-elect=false")
	}})
	keeper := c.keepOperator()
	first := &killer{keeper: keeper}
	reference := c.scaledDownWith(g, first, "orders-0", nil)
	first.sawAll(t)
	t.Logf("a scale-down of one broker has %d writes:\n%s", len(first.seen()), strings.Join(first.seen(), "\n"))
	for n, at := range first.seen() {
		start := time.Now()
		k := &killer{at: at, keeper: keeper}
		c.scaledDownWith(g, k, fmt.Sprintf("orders-%d", n+1), reference)
		t.Logf("round %d (%s): %s", n+1, time.Since(start).Round(time.Second), strings.Join(k.killed(), "; then "))
		// How often progress is told of varies; what is done first is done each time.
		if strings.HasPrefix(at, "1. ") && len(k.killed()) == 0 {
			t.Errorf("the operator never came to %s", at)
		}
		if t.Failed() {
			t.Fatalf("the writes of round %d:\n%s", n+1, strings.Join(k.seen(), "\n"))
		}
	}
}

// through has the operator go through a gate to all that it writes to.
func (c *cluster) through(g *gate.Gate) {
	c.t.Helper()
	server, err := gate.NewAPIServer(g, c.plane.Config, namespace)
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(server.Close)
	brokers, err := gate.NewBrokers(g, brokerconfig.ControlPlanePort, brokerconfig.ReplicationPort)
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(brokers.Close)
	c.chart.APIServer = server.Config
}

// scaledDownWith takes the last of four brokers away, and gives it back after the
// end was seen, which it returns. The end has to be the reference, if there is one.
func (c *cluster) scaledDownWith(g *gate.Gate, k *killer, topic string, reference map[string]string) map[string]string {
	c.t.Helper()
	c.createTopic(topic, 4, 3)
	load := c.startLoad(topic)
	before := c.running()

	g.SetJudge(k.judge)
	c.scale("brokers", 3)
	c.await(slow, c.cordoned(3))
	c.drain(3)
	c.await(slow, c.nodeIDsAre("brokers", 0, 1, 2))
	c.await(slow, c.registered(0, 1, 2))
	var end map[string]string
	c.await(slow, func(ctx context.Context) (err error) {
		if end, err = c.snapshot(ctx); err != nil {
			return err
		}
		if reference == nil {
			return k.quiet(10 * time.Second)
		}
		return differences(reference, end)
	})
	g.SetJudge(nil)
	c.notRestarted(before)
	load.stopAndVerify()
	c.holdsNothingOf(topic, 3)

	if _, err := c.kadm.DeleteTopics(c.t.Context(), topic); err != nil {
		c.t.Fatal(err)
	}
	// The end may be reached with the operator killed: its webhooks are needed now.
	c.await(slow, k.isOver)
	c.scale("brokers", 4)
	c.await(slow, c.registered(0, 1, 2, 3))
	c.await(slow, c.isReady)
	// What was configured for the ID is not there any more.
	c.await(slow, c.cordoned())
	return end
}

// killer has the operator killed at one write, which is lost, and when that is made
// again.
type killer struct {
	// at is the write as seen lists it; empty for none.
	at     string
	keeper *keeper

	mu     sync.Mutex
	dying  bool // nothing that comes from it now gets through
	counts map[string]int
	writes []string
	kills  []string
	last   time.Time
}

func (k *killer) judge(w gate.Write) (gate.Fate, func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.dying {
		return gate.Lose, nil
	}
	if k.counts == nil {
		k.counts = map[string]int{}
	}
	k.last = time.Now()
	what := kindOf(w)
	k.counts[what]++
	write := fmt.Sprintf("%d. %s", k.counts[what], what)
	k.writes = append(k.writes, write)
	fate := gate.Pass
	switch _, kind, _ := strings.Cut(k.at, " "); {
	case write == k.at:
		fate = gate.Lose
	case what == kind && len(k.kills) == 1:
		fate = gate.Mute
	default:
		return fate, nil
	}
	k.dying = true
	k.kills = append(k.kills, fmt.Sprintf("%s was %s", write, fate))
	return fate, func() {
		k.keeper.kill()
		k.mu.Lock()
		defer k.mu.Unlock()
		k.dying = false
	}
}

// kindOf is what a write is, however often it is made: the addresses of pods differ
// from round to round, and a pool's status both commits its nodes and tells of them.
func kindOf(w gate.Write) string {
	if api, broker, ok := strings.Cut(w.String(), " at "); ok {
		_, port, _ := strings.Cut(broker, ":")
		return api + " at port " + port
	}
	if strings.Contains(w.What, "/kafkanodepools/") && strings.Contains(w.Body, `"nodeIds"`) {
		return w.String() + " (nodeIds)"
	}
	return w.String()
}

func (k *killer) seen() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Clone(k.writes)
}

// sawAll fails unless the writes are among what was seen that a removal cannot do
// without.
func (k *killer) sawAll(t *testing.T) {
	t.Helper()
	all := strings.Join(k.seen(), "\n")
	for _, want := range []string{
		"Kafka: IncrementalAlterConfigs", "Kafka: UnregisterBroker", "kafkanodepools/brokers/status (nodeIds)",
		"DELETE /api/v1/namespaces/kafka/pods/", "DELETE /api/v1/namespaces/kafka/persistentvolumeclaims/",
	} {
		if !strings.Contains(all, want) {
			t.Fatalf("the gate has not seen %q:\n%s", want, all)
		}
	}
}

func (k *killer) killed() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Clone(k.kills)
}

// isOver tells that no kill is under way, and the operator is ready.
func (k *killer) isOver(context.Context) error {
	k.mu.Lock()
	dying := k.dying
	k.mu.Unlock()
	if dying || k.keeper.current() == nil {
		return errors.New("the operator is not back")
	}
	return nil
}

// quiet tells that no write came for some time.
func (k *killer) quiet(long time.Duration) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if since := time.Since(k.last); since < long {
		return fmt.Errorf("the last write came %s ago", since)
	}
	return nil
}

// snapshot is what there is of a cluster in Kubernetes, by kind and name, as text
// that is the same for what is the same.
func (c *cluster) snapshot(ctx context.Context) (map[string]string, error) {
	all := map[string]string{}
	for kind, list := range map[string]client.ObjectList{
		"Pod": &corev1.PodList{}, "ConfigMap": &corev1.ConfigMapList{}, "Service": &corev1.ServiceList{},
		"PersistentVolumeClaim": &corev1.PersistentVolumeClaimList{}, "PodDisruptionBudget": &policyv1.PodDisruptionBudgetList{},
		"Kafka": &apiv1.KafkaList{}, "KafkaNodePool": &apiv1.KafkaNodePoolList{},
	} {
		if err := c.client.List(ctx, list, client.InNamespace(namespace)); err != nil {
			return nil, err
		}
		raw, err := json.Marshal(list)
		if err != nil {
			return nil, err
		}
		var objects struct{ Items []map[string]any }
		if err := json.Unmarshal(raw, &objects); err != nil {
			return nil, err
		}
		for _, o := range objects.Items {
			metadata := o["metadata"].(map[string]any)
			name := metadata["name"].(string)
			text, err := yaml.Marshal(lasting(kind, o))
			if err != nil {
				return nil, err
			}
			all[kind+"/"+name] = string(text)
		}
	}
	return all, nil
}

// lasting leaves out of an object what differs from one time to the next, and what
// others than the operator write.
func lasting(kind string, o map[string]any) map[string]any {
	metadata := o["metadata"].(map[string]any)
	for _, field := range []string{"resourceVersion", "generation", "managedFields", "creationTimestamp"} {
		delete(metadata, field)
	}
	labels, _ := metadata["labels"].(map[string]any)
	switch {
	case labels[apiv1.LabelFacts] != nil:
		delete(o, "data") // how much is on each broker
	case !strings.HasPrefix(kind, "Kafka"):
		delete(o, "status")
	}
	status, _ := o["status"].(map[string]any)
	delete(status, "observedGeneration")
	conditions, _ := status["conditions"].([]any)
	for _, c := range conditions {
		delete(c.(map[string]any), "lastTransitionTime")
	}
	return o
}

// differences are those of two snapshots.
func differences(want, got map[string]string) error {
	var texts []string
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if is, there := got[name]; !there {
			texts = append(texts, name+" is not there")
		} else if is != want[name] {
			texts = append(texts, name+" differs (-want +got):\n"+cmp.Diff(strings.Split(want[name], "\n"), strings.Split(is, "\n")))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(got)) {
		if _, wanted := want[name]; !wanted {
			texts = append(texts, name+" is there")
		}
	}
	if len(texts) > 0 {
		return errors.New(strings.Join(texts, "\n"))
	}
	return nil
}
