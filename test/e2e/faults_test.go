package e2e

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/sluice-kafka/sluice/internal/observed"
	"github.com/sluice-kafka/sluice/test/gate"
	"github.com/sluice-kafka/sluice/test/harness"
)

// TestFaults scales one cluster down again and again, each time with something that
// goes wrong on the way. It has five brokers before each.
func TestFaults(t *testing.T) {
	g := &gate.Gate{}
	c := startCluster(t, clusterOptions{brokers: 5, installed: func(c *cluster) { c.through(g) }})
	f := faults{gate: g}
	for _, s := range []struct {
		name string
		do   func(faults, *cluster)
	}{
		{"a cordoned broker restarts, and the removal is cancelled", faults.cordonedRestarts},
		{"another release of the operator takes over", faults.otherRelease},
		{"the API server restarts", faults.apiServerRestarts},
		{"a topic slips onto a broker that is about to stop", faults.topicSlips},
		{"a broker that is to go has been dead before", faults.deadGoes},
		{"a broker that stays has been dead before", faults.deadStays},
		{"the leader is paused in the middle of a removal", faults.leaderPaused},
	} {
		if !t.Run(s.name, func(t *testing.T) { s.do(f, c.in(t)) }) {
			t.Log("nothing is known of the cluster after that: what would come next is not tested")
			return
		}
	}
}

// faults are the stories; the operator goes through a gate.
type faults struct{ gate *gate.Gate }

// begin creates a topic on all brokers and writes to it. What is returned checks
// that nothing of it was lost, and has the cluster as it was.
func (c *cluster) begin(topic string) (end func()) {
	c.t.Helper()
	c.createTopic(topic, 10, 3)
	load := c.startLoad(topic)
	return func() {
		c.t.Helper()
		load.stopAndVerify()
		if _, err := c.kadm.DeleteTopics(c.t.Context(), topic); err != nil {
			c.t.Fatal(err)
		}
		c.scale("brokers", 5)
		c.await(slow, c.registered(0, 1, 2, 3, 4))
		c.await(slow, c.isReady)
		c.await(slow, c.cordoned())
	}
}

// removal waits until brokers are gone and the others are all that there are.
func (c *cluster) removal(left ...int64) {
	c.t.Helper()
	c.await(slow, c.nodeIDsAre("brokers", left...))
	var ids []int32
	for _, id := range left {
		ids = append(ids, int32(id))
	}
	c.await(slow, c.registered(ids...))
	c.await(slow, c.isReady)
}

// cordonedRestarts: what a process read from its file it keeps, so that uncordoning
// it takes an empty value, which goes when the file was read again.
func (faults) cordonedRestarts(c *cluster) {
	end := c.begin("restarted")
	defer end()
	c.scale("brokers", 4)
	c.await(slow, c.cordoned(4))
	before, done := c.running(), c.tally()

	c.kill(4)
	c.await(slow, c.cordonIs(4, "*", observed.SourceBroker, observed.SourceStatic))
	c.await(slow, c.registered(0, 1, 2, 3, 4))
	c.takesNothing(4)
	c.looks(2)
	c.did(done, tally{})

	c.scale("brokers", 5)
	c.await(slow, c.cordoned())
	c.await(slow, c.cordonIs(4, "", observed.SourceBroker, observed.SourceStatic))
	c.createTopic("uncordoned", 10, 3)
	c.holdsSomeOf("uncordoned", 4)
	c.looks(2)
	c.did(done, tally{lifted: 1, alters: 1})

	c.kill(4)
	c.await(slow, c.registered(0, 1, 2, 3, 4))
	c.await(slow, c.cordonIs(4, ""))
	c.looks(2)
	c.did(done, tally{lifted: 2, alters: 2})
	delete(before, brokerPod(4).Name)
	c.notRestarted(before)
}

// otherRelease: nothing of what is made may depend on which release makes it.
func (faults) otherRelease(c *cluster) {
	end := c.begin("released")
	defer end()
	c.scale("brokers", 4)
	c.await(slow, c.cordoned(4))
	c.await(slow, c.warnsOf("ScaleDownPreventionCheck", "4"))
	before, leader, made := c.running(), c.leader(), c.made()

	const release = "v99.0.0-test"
	path := filepath.Join(c.plane.Dir, "sluice-"+release)
	if err := harness.Stamped(c.t.Context(), path, release); err != nil {
		c.t.Fatal(err)
	}
	if said, err := exec.CommandContext(c.t.Context(), path, "version").Output(); err != nil || !strings.Contains(string(said), release) {
		c.t.Fatalf("the other release says it is %q, %v", said, err)
	}
	if err := c.operator.Stop(); err != nil {
		c.t.Fatal(err)
	}
	first := c.chart.Executable
	defer func() { c.chart.Executable = first }()
	c.chart.Executable = path
	c.startOperator()
	c.await(slow, func(context.Context) error {
		if now := c.leader(); now == leader || now == "" {
			return fmt.Errorf("the leader is %q, as before", now)
		}
		return nil
	})
	c.looks(3)
	c.did(tally{}, tally{})
	if err := differences(made, c.made()); err != nil {
		c.t.Errorf("another release makes other things: %v", err)
	}

	c.drain(4)
	c.removal(0, 1, 2, 3)
	c.notRestarted(before)
	c.did(tally{}, tally{alters: 1, unregistered: 1})
}

// apiServerRestarts: the brokers are emptied while nobody can be told.
func (faults) apiServerRestarts(c *cluster) {
	end := c.begin("unserved")
	defer end()
	c.scale("brokers", 4)
	c.await(slow, c.cordoned(4))
	before := c.running()
	keeper := c.keepOperator()

	if err := c.plane.StopAPIServer(); err != nil {
		c.t.Fatal(err)
	}
	c.drain(4)
	if err := c.plane.StartAPIServer(); err != nil {
		c.t.Fatal(err)
	}
	c.removal(0, 1, 2, 3)
	c.await(slow, c.cordoned())
	c.notRestarted(before)
	keeper.stop()
}

// topicSlips: somebody places a replica on a broker that was seen empty twice, just
// before it is stopped.
func (f faults) topicSlips(c *cluster) {
	end := c.begin("emptied")
	defer end()
	const slipped = "slipped"
	before, done := c.running(), c.tally()
	var once sync.Once
	var placed error
	stops := "DELETE /api/v1/namespaces/" + namespace + "/pods/" + brokerPod(4).Name
	f.gate.SetJudge(func(w gate.Write) (gate.Fate, func()) {
		if w.What == stops {
			once.Do(func() { placed = c.place(slipped, 4, 0, 1) })
		}
		return gate.Pass, nil
	})
	defer f.gate.SetJudge(nil)

	c.scale("brokers", 4)
	c.await(slow, c.cordoned(4))
	c.drain(4)
	c.await(slow, c.toldInOrder("BrokerRemoved", "PutBack"))
	if placed != nil {
		c.t.Fatal(placed)
	}
	c.await(slow, c.registered(0, 1, 2, 3, 4))
	c.await(slow, c.warnsOf("ScaleDownPreventionCheck", "1 replica"))
	c.hasNodeIDs("brokers", 0, 1, 2, 3, 4)
	c.takesNothing(4)
	c.holdsSomeOf(slipped, 4)
	load := c.startLoad(slipped)
	c.did(done, tally{set: 1, alters: 1})

	c.drain(4)
	c.removal(0, 1, 2, 3)
	load.stopAndVerify()
	delete(before, brokerPod(4).Name)
	c.notRestarted(before)
	c.did(done, tally{set: 1, alters: 2, unregistered: 1})
}

// deadGoes: of two brokers to be removed one is down; it can neither be cordoned nor
// asked, and is taken for empty only after it was seen so for long.
func (faults) deadGoes(c *cluster) {
	end := c.begin("orphaned")
	defer end()
	before, done := c.running(), c.tally()
	if err := c.nodes.Hold(c.t.Context(), brokerPod(4)); err != nil {
		c.t.Fatal(err)
	}
	c.await(slow, c.registeredOf([]int32{0, 1, 2, 3, 4}, 4))
	c.scale("brokers", 3)
	c.await(slow, c.cordoned(3))
	c.await(slow, c.warnsOf("ScaleDownPreventionCheck", "4"))
	c.createTopic("unheld", 6, 3)
	c.holdsNothingOf("unheld", 3, 4)
	c.looks(2)
	c.did(done, tally{set: 1, alters: 1})

	c.drain(3, 4)
	empty := time.Now()
	c.await(slow, c.nodeIDsAre("brokers", 0, 1, 2))
	if took := time.Since(empty); took < 30*time.Second {
		c.t.Errorf("the brokers went %s after they were empty; with one down it takes 30 s", took)
	}
	c.removal(0, 1, 2)
	for _, id := range []int32{3, 4} {
		delete(before, brokerPod(id).Name)
	}
	c.notRestarted(before)
	// What each of them leaves behind is cleared before it is unregistered.
	c.did(done, tally{set: 1, alters: 3, unregistered: 2})
	if err := c.nodes.Release(c.t.Context(), brokerPod(4)); err != nil {
		c.t.Fatal(err)
	}
}

// deadStays: a broker that is down hinders nothing that others need.
func (faults) deadStays(c *cluster) {
	end := c.begin("limping")
	defer end()
	before, done := c.running(), c.tally()
	if err := c.nodes.Hold(c.t.Context(), brokerPod(0)); err != nil {
		c.t.Fatal(err)
	}
	c.await(slow, c.registeredOf([]int32{0, 1, 2, 3, 4}, 0))
	c.scale("brokers", 4)
	c.await(slow, c.cordoned(4))
	c.drain(4)
	c.await(slow, c.nodeIDsAre("brokers", 0, 1, 2, 3))
	c.await(slow, c.registeredOf([]int32{0, 1, 2, 3}, 0))
	c.did(done, tally{set: 1, alters: 2, unregistered: 1})
	if err := c.nodes.Release(c.t.Context(), brokerPod(0)); err != nil {
		c.t.Fatal(err)
	}
	c.removal(0, 1, 2, 3)
	delete(before, brokerPod(0).Name)
	c.notRestarted(before)
	c.did(done, tally{set: 1, alters: 2, unregistered: 1})
}

// leaderPaused: the leader stands still with a write on its way, the deletion of a
// broker's pod. Another replica ends the removal, and the broker has come back when
// that write arrives.
func (f faults) leaderPaused(c *cluster) {
	end := c.begin("paused")
	defer end()
	if err := c.operator.Stop(); err != nil {
		c.t.Fatal(err)
	}
	// Webhooks are served by the replica that goes on.
	port, err := harness.FreePort()
	if err != nil {
		c.t.Fatal(err)
	}
	paused, err := c.chart.StartOperator(c.t.Context(), append(slices.Clone(c.args), fmt.Sprintf("--webhook-port=%d", port))...)
	if err != nil {
		c.t.Fatal(err)
	}
	defer paused.Kill()
	c.await(slow, func(context.Context) error {
		if c.leader() == "" {
			return errors.New("nobody leads")
		}
		return nil
	})
	leader := c.leader()
	c.chart.APIServer = nil // only the first one goes through the gate
	c.startOperator()

	before := c.running()
	held, release := make(chan struct{}), make(chan struct{})
	var once, free sync.Once
	defer free.Do(func() { close(release) })
	stops := "DELETE /api/v1/namespaces/" + namespace + "/pods/" + brokerPod(4).Name
	f.gate.SetJudge(func(w gate.Write) (gate.Fate, func()) {
		if w.What != stops {
			return gate.Pass, nil
		}
		once.Do(func() {
			if err := paused.Signal(syscall.SIGSTOP); err != nil {
				c.t.Error(err)
			}
			close(held)
		})
		<-release
		return gate.Mute, nil // it arrives, whoever waits for the answer
	})
	defer f.gate.SetJudge(nil)
	c.scale("brokers", 4)
	c.await(slow, c.cordoned(4))
	c.drain(4)
	select {
	case <-held:
	case <-time.After(patience * slow):
		c.t.Fatal("the leader never deleted the pod")
	}
	c.removal(0, 1, 2, 3)
	if now := c.leader(); now == leader {
		c.t.Errorf("%s leads still", now)
	}
	c.notRestarted(before)
	c.did(tally{}, tally{alters: 1, unregistered: 1})

	c.scale("brokers", 5)
	c.removal(0, 1, 2, 3, 4)
	before = c.running()
	if err := paused.Signal(syscall.SIGCONT); err != nil {
		c.t.Fatal(err)
	}
	free.Do(func() { close(release) })
	select {
	case <-paused.Ended():
	case <-time.After(patience * slow):
		c.t.Error("the old leader goes on")
	}
	c.looks(3)
	c.removal(0, 1, 2, 3, 4)
	c.notRestarted(before)
	c.did(tally{}, tally{alters: 1, unregistered: 1})
}

// made is what the operator made in Kubernetes, as snapshot has it.
func (c *cluster) made() map[string]string {
	c.t.Helper()
	all, err := c.snapshot(c.t.Context())
	if err != nil {
		c.t.Fatal(err)
	}
	maps.DeleteFunc(all, func(name, _ string) bool { return strings.HasPrefix(name, "Kafka") })
	return all
}

// leader is who holds the lease.
func (c *cluster) leader() string {
	c.t.Helper()
	lease := &coordinationv1.Lease{}
	if err := c.client.Get(c.t.Context(), types.NamespacedName{Namespace: harness.Namespace, Name: "sluice-leader"}, lease); err != nil {
		c.t.Fatal(err)
	}
	if lease.Spec.HolderIdentity == nil {
		return ""
	}
	return *lease.Spec.HolderIdentity
}

// kill ends a broker's process, which is started again.
func (c *cluster) kill(broker int32) {
	c.t.Helper()
	if err := c.nodes.Kill(c.t.Context(), brokerPod(broker)); err != nil {
		c.t.Fatal(err)
	}
}

// cordonIs waits until a broker has that value in effect, and values of its own or
// in its file from these sources.
func (c *cluster) cordonIs(broker int32, value string, sources ...observed.ConfigSource) func(context.Context) error {
	return func(ctx context.Context) error {
		entry, err := c.cordonConfig(ctx, broker)
		if err != nil {
			return err
		}
		var got []observed.ConfigSource
		for _, s := range entry.Synonyms {
			if s.Source != observed.SourceKafka {
				got = append(got, s.Source)
			}
		}
		if entry.Value != value || !slices.Equal(got, sources) {
			return fmt.Errorf("broker %d has %s=%q from %v, want %q from %v", broker, cordonOption, entry.Value, entry.Synonyms, value, sources)
		}
		return nil
	}
}

// takesNothing fails where new replicas are placed on a broker. After a restart it is
// all that tells of a cordon: see observed.Cluster.Cordoned.
func (c *cluster) takesNothing(broker int32) {
	c.t.Helper()
	topic := fmt.Sprintf("probe-%d", time.Now().UnixNano())
	c.createTopic(topic, 12, 1)
	c.holdsNothingOf(topic, broker)
	if _, err := c.kadm.DeleteTopics(c.t.Context(), topic); err != nil {
		c.t.Fatal(err)
	}
}

// registeredOf waits until these brokers are registered, and of them those are
// fenced.
func (c *cluster) registeredOf(want []int32, fenced ...int32) func(context.Context) error {
	return func(ctx context.Context) error {
		r, err := c.admin.DescribeCluster(ctx)
		if err != nil {
			return err
		}
		var all, down []int32
		for _, b := range r.Brokers {
			all = append(all, b.ID)
			if b.Fenced {
				down = append(down, b.ID)
			}
		}
		if !slices.Equal(all, want) || !slices.Equal(down, fenced) {
			return fmt.Errorf("registered are %v, of them fenced %v; want %v and %v", all, down, want, fenced)
		}
		return nil
	}
}

// place creates a topic of one partition on these brokers.
func (c *cluster) place(topic string, brokers ...int32) error {
	t := kmsg.NewCreateTopicsRequestTopic()
	t.Topic, t.NumPartitions, t.ReplicationFactor = topic, -1, -1
	t.ReplicaAssignment = []kmsg.CreateTopicsRequestTopicReplicaAssignment{{Partition: 0, Replicas: brokers}}
	req := kmsg.NewPtrCreateTopicsRequest()
	req.Topics, req.TimeoutMillis = append(req.Topics, t), 10_000
	answer, err := req.RequestWith(c.t.Context(), c.raw)
	if err != nil {
		return fmt.Errorf("placing topic %s: %w", topic, err)
	}
	if r := answer.Topics[0]; r.ErrorCode != 0 {
		return fmt.Errorf("placing topic %s on %v: error %d", topic, brokers, r.ErrorCode)
	}
	return nil
}
