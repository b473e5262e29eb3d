package integration

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	client "github.com/sluice-kafka/sluice/internal/kafka"
	"github.com/sluice-kafka/sluice/internal/observed"
	"github.com/sluice-kafka/sluice/internal/rebalance"
	"github.com/sluice-kafka/sluice/test/kafka"
	"github.com/sluice-kafka/sluice/test/kafka/kafkatest"
	"github.com/sluice-kafka/sluice/test/kafka/traffic"
)

// factorVersions tell of each version of Kafka whether it has cordons, and whether
// it refuses a list of replicas that names a cordoned broker which holds one already.
var factorVersions = map[string]struct{ cordons, refuses bool }{
	"4.2.1": {},
	"4.3.1": {cordons: true},
	"4.4.0": {cordons: true, refuses: true},
}

// TestReplicationFactors runs on the default version of Kafka, and on every known one
// with SLUICE_KAFKA_VERSIONS=all. Its steps share a cluster of three brokers, the
// first two on one rack.
func TestReplicationFactors(t *testing.T) {
	t.Parallel()
	versions := []string{kafka.DefaultVersion}
	if os.Getenv("SLUICE_KAFKA_VERSIONS") == "all" {
		versions = kafka.Versions()
	}
	for _, version := range versions {
		t.Run(version, func(t *testing.T) {
			v, known := factorVersions[version]
			if !known {
				t.Fatalf("say in factorVersions what Kafka %s does", version)
			}
			r := startMoved(t, version)
			t.Run("the calls keep their promises", func(t *testing.T) {
				kafkatest.ReassignContract(t, kafkatest.Moved{Reassigner: r.Client, Create: r.create, Go: func(string) {}})
			})
			t.Run("factors rise and fall in one batch and no record is lost", r.traffic)
			t.Run("a replica goes to the other rack", r.otherRack)
			if v.cordons {
				t.Run("nothing is put on a cordoned broker", func(t *testing.T) { r.cordoned(t, v.refuses) })
			}
			t.Run("a change that another process began is found, and begun anew once cancelled", r.found)
			t.Run("a stopped broker gets nothing and loses its replicas first", r.stopped)
		})
	}
}

// moved is the builtin engine on a cluster, with its client and one beside it.
type moved struct {
	*client.Client
	// whole outlives its subtests, and so do the clients.
	whole   *testing.T
	cluster *kafka.Cluster
	calls   *kafkatest.Calls
	raw     *kgo.Client
	engine  *rebalance.Builtin
}

func startMoved(t *testing.T, version string) *moved {
	t.Helper()
	r := &moved{whole: t, cluster: kafkatest.Start(t, kafka.Options{Version: version, Brokers: 3, Racks: []string{"a", "a", "b"}})}
	r.restart(r.cluster.Bootstrap())
	var err error
	if r.raw, err = kgo.NewClient(kgo.SeedBrokers(r.cluster.Bootstrap()...)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.raw.Close)
	return r
}

// restart makes an engine that knows nothing.
func (r *moved) restart(servers []string) {
	r.whole.Helper()
	r.Client, r.calls = kafkaClient(r.whole, servers)
	r.engine = rebalance.NewBuiltin(r.Client, rebalance.Options{})
}

// create makes a topic whose partitions have these replicas.
func (r *moved) create(ctx context.Context, name string, replicas ...[]int32) error {
	topic := kmsg.NewCreateTopicsRequestTopic()
	topic.Topic, topic.NumPartitions, topic.ReplicationFactor = name, -1, -1
	for id, list := range replicas {
		a := kmsg.NewCreateTopicsRequestTopicReplicaAssignment()
		a.Partition, a.Replicas = int32(id), list
		topic.ReplicaAssignment = append(topic.ReplicaAssignment, a)
	}
	req := kmsg.NewPtrCreateTopicsRequest()
	req.Topics = append(req.Topics, topic)
	resp, err := req.RequestWith(ctx, r.raw)
	if err != nil {
		return err
	}
	return kerr.ErrorForCode(resp.Topics[0].ErrorCode)
}

// topic makes one and waits until all of its replicas are in sync, as every broker
// knows.
func (r *moved) topic(t *testing.T, name string, replicas ...[]int32) {
	t.Helper()
	if err := r.create(t.Context(), name, replicas...); err != nil {
		t.Fatal(err)
	}
	r.settled(t, name, func(p observed.Partition) bool { return slices.Equal(p.Replicas, replicas[p.ID]) })
}

// settled waits until, whichever broker is asked, nothing of a topic is in flight, its
// replicas on living brokers are in sync, and they are as wanted.
func (r *moved) settled(t *testing.T, topic string, wanted func(observed.Partition) bool) {
	t.Helper()
	kafkatest.Eventually(t, func(ctx context.Context) error {
		registration, err := r.DescribeCluster(ctx)
		if err != nil {
			return err
		}
		for range 3 {
			topics, err := r.TopicPartitions(ctx, []string{topic})
			if err != nil {
				return err
			}
			seen, ok := topics[topic].Get()
			if !ok {
				return fmt.Errorf("%s is not seen: %w", topic, topics[topic].Err())
			}
			for _, p := range seen.Partitions {
				behind := slices.DeleteFunc(slices.Clone(p.Replicas), func(id int32) bool {
					b, _ := registration.Broker(id)
					return b.Fenced || slices.Contains(p.InSync, id)
				})
				if len(behind)+len(p.Adding)+len(p.Removing) > 0 || !wanted(p) {
					return fmt.Errorf("not settled: %+v", p)
				}
			}
		}
		return nil
	})
}

// change begins to change topics, and fails the test unless all are begun.
func (r *moved) change(t *testing.T, factors map[string]int16) map[string]string {
	t.Helper()
	started, err := r.engine.ChangeReplicas(t.Context(), factors)
	if err != nil {
		t.Fatal(err)
	}
	sessions := map[string]string{}
	for topic := range factors {
		if s := started[topic]; s.Err != nil || s.Session == "" || s.Message != "" {
			t.Fatalf("%s: %+v", topic, s)
		}
		sessions[topic] = started[topic].Session
	}
	return sessions
}

// done waits until sessions are done, and never Unknown or Failed on the way.
func (r *moved) done(t *testing.T, sessions map[string]string) {
	t.Helper()
	kafkatest.Eventually(t, func(ctx context.Context) error {
		progress, err := r.engine.PollReplicas(ctx, sessions)
		if err != nil {
			return err
		}
		for topic := range sessions {
			switch p := progress[topic]; p.State {
			case rebalance.Done:
			case rebalance.Running:
				err = fmt.Errorf("%s: %s", topic, p.Message)
			default:
				t.Fatalf("%s: %+v", topic, p)
			}
		}
		return err
	})
}

// exactly wants these replicas of a topic of one partition.
func exactly(ids ...int32) func(observed.Partition) bool {
	return func(p observed.Partition) bool { return slices.Equal(p.Replicas, ids) }
}

// quiet fails the test unless changing what is at its factor asks for nothing but the
// partitions.
func (r *moved) quiet(t *testing.T, factors map[string]int16) {
	t.Helper()
	r.calls.Take()
	r.change(t, factors)
	wantCalls(t, r.calls, map[string]int{"Metadata": 1, "ListPartitionReassignments": 1})
}

func (r *moved) traffic(t *testing.T) {
	had := map[string][][]int32{
		"up-from-1": {{0}, {1}, {2}}, "up-from-2": {{1, 2}, {2, 0}, {0, 1}}, "down-from-3": {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}},
	}
	factors := map[string]int16{"up-from-1": 3, "up-from-2": 3, "down-from-3": 2}
	var names []string
	for name, replicas := range had {
		r.topic(t, name, replicas...)
		names = append(names, name)
	}
	load, err := traffic.Start(r.cluster.Bootstrap(), names...)
	if err != nil {
		t.Fatal(err)
	}
	acknowledged := func(n int64) {
		t.Helper()
		kafkatest.Eventually(t, func(context.Context) error {
			if got := load.Acknowledged(); got < n {
				return fmt.Errorf("%d records were acknowledged, want %d", got, n)
			}
			return nil
		})
	}
	acknowledged(300)
	r.calls.Take()
	sessions := r.change(t, factors)
	wantCalls(t, r.calls, map[string]int{
		"Metadata": 1, "ListPartitionReassignments": 1, "DescribeCluster": 1, "ApiVersions": 1, "DescribeLogDirs": 3, "DescribeConfigs": 3, "AlterPartitionAssignments": 1,
	})
	r.done(t, sessions)
	acknowledged(load.Acknowledged() + 300)
	for name := range had {
		r.settled(t, name, func(p observed.Partition) bool {
			before := had[name][p.ID]
			if factors[name] == 3 {
				return len(p.Replicas) == 3 && slices.Equal(p.Replicas[:len(before)], before)
			}
			// Of the two on one rack one went.
			return len(p.Replicas) == 2 && slices.Contains(p.Replicas, 2)
		})
	}
	r.quiet(t, factors)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	report, err := load.Stop(ctx)
	if err != nil || report.Lost > 0 || report.Refused > 0 {
		t.Errorf("%+v, %v", report, err)
	}
	t.Logf("%d records were acknowledged, %d lost, %d refused", report.Acknowledged, report.Lost, report.Refused)
}

func (r *moved) otherRack(t *testing.T) {
	// The broker on the other rack holds the most.
	r.topic(t, "ballast", []int32{2}, []int32{2}, []int32{2}, []int32{2}, []int32{2}, []int32{2}, []int32{2}, []int32{2})
	r.topic(t, "racked", []int32{1})
	r.done(t, r.change(t, map[string]int16{"racked": 2}))
	r.settled(t, "racked", exactly(1, 2))
	r.done(t, r.change(t, map[string]int16{"racked": 1}))
	r.settled(t, "racked", exactly(1))
}

// cordon sets or clears the cordon of broker 2 and waits until it says so.
func (r *moved) cordon(t *testing.T, value string) {
	t.Helper()
	if err := r.AlterBrokerConfig(t.Context(), 2, []client.ConfigOp{{Name: cordoned, Value: value}}); err != nil {
		t.Fatal(err)
	}
	kafkatest.Eventually(t, func(ctx context.Context) error {
		dirs, err := r.LogDirs(ctx, 2)
		if err == nil && dirs[0].Cordoned != (value != "") {
			err = fmt.Errorf("broker 2 says of its directories: %+v", dirs)
		}
		return err
	})
}

func (r *moved) cordoned(t *testing.T, refuses bool) {
	for name, list := range map[string][]int32{"free": {0}, "too-many": {0}, "holder": {2}, "leaver": {0, 2}} {
		r.topic(t, name, list)
	}
	r.cordon(t, "*")
	r.done(t, r.change(t, map[string]int16{"free": 2, "leaver": 1}))
	r.settled(t, "free", exactly(0, 1))
	r.settled(t, "leaver", exactly(0))

	r.calls.Take()
	started, err := r.engine.ChangeReplicas(t.Context(), map[string]int16{"too-many": 3, "holder": 2})
	if err != nil {
		t.Fatal(err)
	}
	for topic, want := range map[string]string{"too-many": "left out: broker 2 (cordoned)", "holder": "broker 2, which holds a replica, is cordoned; clear cordoned.log.dirs"} {
		if s := started[topic]; !errors.Is(s.Err, rebalance.ErrLeftOut) || !strings.Contains(s.Err.Error(), want) {
			t.Errorf("%s: %+v, want %q", topic, s, want)
		}
	}
	if n := r.calls.Take()["AlterPartitionAssignments"]; n != 0 {
		t.Errorf("%d reassignments were submitted", n)
	}
	// What Kafka itself does with a list that keeps a cordoned broker. The controller
	// hears of a cordon later than the broker says so.
	if refuses {
		kafkatest.Eventually(t, func(ctx context.Context) error {
			answers, err := r.Reassign(ctx, map[string]map[int32][]int32{"holder": {0: {2}}})
			if err == nil && !errors.Is(answers["holder"][0], client.ErrInvalidReplicaAssignment) {
				err = fmt.Errorf("answered %v", answers)
			}
			return err
		})
	}
	r.cordon(t, "")
	// Nor does the controller hear at once that it is lifted.
	sessions := map[string]string{}
	kafkatest.Eventually(t, func(ctx context.Context) error {
		started, err := r.engine.ChangeReplicas(ctx, map[string]int16{"too-many": 3, "holder": 2})
		for topic, s := range started {
			sessions[topic], err = s.Session, errors.Join(err, s.Err)
		}
		return err
	})
	r.done(t, sessions)
	r.settled(t, "too-many", func(p observed.Partition) bool { return len(p.Replicas) == 3 })
	r.settled(t, "holder", func(p observed.Partition) bool { return len(p.Replicas) == 2 && p.Replicas[0] == 2 })
}

// found uses that a reassignment to a stopped broker lasts until that is back.
func (r *moved) found(t *testing.T) {
	r.topic(t, "found", []int32{0})
	r.stop(t)
	answers, err := r.Reassign(t.Context(), map[string]map[int32][]int32{"found": {0: {0, 1}}})
	if err != nil || answers["found"][0] != nil {
		t.Fatalf("%v, %v", answers, err)
	}
	// The stopped one would cost a request that is not answered.
	r.restart(slices.Delete(slices.Clone(r.cluster.Bootstrap()), 1, 2))
	sessions := r.change(t, map[string]int16{"found": 2})
	wantCalls(t, r.calls, map[string]int{"Metadata": 1, "ListPartitionReassignments": 1})
	progress, err := r.engine.PollReplicas(t.Context(), sessions)
	if err != nil || progress["found"].State != rebalance.Running || !strings.Contains(progress["found"].Message, "0 of 1 partitions") {
		t.Errorf("%+v, %v", progress, err)
	}

	var cancel kadm.AlterPartitionAssignmentsReq
	cancel.CancelAssign("found", 0)
	if answer, err := kadm.NewClient(r.raw).AlterPartitionAssignments(t.Context(), cancel); errors.Join(err, answer.Error()) != nil {
		t.Fatalf("%+v, %v", answer, err)
	}
	kafkatest.Eventually(t, func(ctx context.Context) error {
		progress, err := r.engine.PollReplicas(ctx, sessions)
		if err == nil && progress["found"].State != rebalance.Unknown {
			err = fmt.Errorf("after it was cancelled: %+v", progress)
		}
		return err
	})
	if diff := cmp.Diff(sessions, r.change(t, map[string]int16{"found": 2})); diff != "" {
		t.Errorf("sessions (-before +anew):\n%s", diff)
	}
	r.done(t, sessions)
	r.settled(t, "found", exactly(0, 2))
	r.start(t)
}

// stop ends broker 1, and waits until it is known to be fenced.
func (r *moved) stop(t *testing.T) {
	t.Helper()
	if err := r.cluster.StopNode(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	kafkatest.Eventually(t, func(ctx context.Context) error {
		registration, err := r.DescribeCluster(ctx)
		if b, _ := registration.Broker(1); err == nil && !b.Fenced {
			err = errors.New("broker 1 is not fenced")
		}
		return err
	})
}

func (r *moved) start(t *testing.T) {
	t.Helper()
	if err := r.cluster.StartNode(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
}

func (r *moved) stopped(t *testing.T) {
	for name, list := range map[string][]int32{"spared": {0}, "lowered": {1, 0, 2}, "beside": {0, 1}} {
		r.topic(t, name, list)
	}
	r.stop(t)
	sessions := r.change(t, map[string]int16{"spared": 2, "lowered": 2})
	r.done(t, sessions)
	r.settled(t, "spared", exactly(0, 2))
	r.settled(t, "lowered", exactly(0, 2))
	started, err := r.engine.ChangeReplicas(t.Context(), map[string]int16{"spared": 3})
	if s := started["spared"]; err != nil || !errors.Is(s.Err, rebalance.ErrLeftOut) || !strings.Contains(s.Err.Error(), "broker 1 (fenced") {
		t.Errorf("raised above the living brokers: %+v, %v", s, err)
	}
	// A replica on the stopped broker stays, and counts when that is back.
	sessions = r.change(t, map[string]int16{"beside": 3})
	r.start(t)
	r.done(t, sessions)
	r.settled(t, "beside", exactly(0, 1, 2))
	r.quiet(t, map[string]int16{"beside": 3, "lowered": 2})
}
