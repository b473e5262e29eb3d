package rolling_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sluice-kafka/sluice/internal/observed"
	"github.com/sluice-kafka/sluice/internal/rolling"
)

func TestWaitSaysForWhat(t *testing.T) {
	t.Parallel()
	io := errUnseen.Error()
	for name, tc := range map[string]struct {
		in   rolling.Input
		node int32
		want string
	}{
		"a turn":        {separate(old(4, 5)), 5, "node 5 comes after node 4"},
		"a rank's turn": {separate(old(0, 2, 3), unseenQuorum), 3, "node 3 comes after node 0"},
		"unready":       {separate(old(4), down(3)), 4, "node 4 waits for node 3: its pod c-pool-3 is not ready; if it stays so, see the pod's events and log"},
		"missing":       {separate(old(4), state(rolling.Missing, 3)), 4, "node 4 waits for node 3: it has no pod"},
		"terminating":   {separate(old(4), state(rolling.Terminating, 3)), 4, "node 4 waits for node 3: its pod c-pool-3 is terminating"},
		"unschedulable": {separate(old(4), state(rolling.Unschedulable, 3)), 4, "node 4 waits for node 3: no Kubernetes node takes its pod c-pool-3; see the pod's events"},
		"fenced": {
			separate(old(4), fenced(3), outOfSync(3)), 4,
			"node 4 waits for node 3: its pod c-pool-3 is ready, but the controllers have its broker fenced or not registered; if it stays so, see the pod's log",
		},
		"not in sync": {separate(old(4), outOfSync(3)), 4, "node 4 waits for node 3: it is not in sync for 1 partition (orders-0); if it stays so, see the log of pod c-pool-3"},
		"lagging":     {separate(old(0), lagging(2, time.Minute)), 0, "node 0 waits for node 2: as a controller it lags behind the active one; if it stays so, see the log of pod c-pool-2"},
		"partitions": {
			separate(old(3), moving("a", 1, ids(3, 4), ids(3), 4), moving("b", 1, ids(3, 4), ids(3), 4), moving("c", 1, ids(3, 4), ids(3), 4), moving("d", 1, ids(3, 4), ids(3), 4)), 3,
			"without node 3 4 partitions (a-0, b-0, c-0, …) would have too few replicas in sync for min.insync.replicas; " +
				"bring their other replicas back in sync, or, to restart it all the same, delete its pod c-pool-3",
		},
		"quorum": {
			separate(old(0), voters(1, 0, 1, 9), lagging(9, time.Minute)), 0,
			"without node 0 only 1 controller would be caught up where 2 have to be; bring the others back, or, to restart it all the same, delete its pod c-pool-0",
		},
		"partitions unseen": {separate(old(3), unseenPartitions), 3, "node 3 serves, and the partitions could not be seen (" + io + "); to restart it all the same, delete its pod c-pool-3"},
		"quorum unseen":     {separate(old(0), unseenQuorum), 0, "node 0 serves, and the quorum of the controllers could not be seen (" + io + "); to restart it all the same, delete its pod c-pool-0"},
		"minimum unseen":    {separate(old(3), unseenMinimums), 3, "node 3 is in sync for 1 partition (orders-0) whose min.insync.replicas could not be seen (" + io + ")"},
		"minimum of a new topic": {
			separate(old(3), part(observed.Partition{Topic: "new", ID: 2, Replicas: ids(3), InSync: ids(3)})), 3,
			"node 3 is in sync for 1 partition (new-2) whose min.insync.replicas could not be seen (their topics are new)",
		},
		"unready, and no broker known": {
			separate(old(3), state(rolling.Unready, 3), unseen), 3,
			"the pod of node 3 is not ready, but it may serve all the same, for whether it is registered could not be seen (" + io + "); to restart it all the same, delete its pod c-pool-3",
		},
		"unready, and no quorum known": {
			separate(old(0), state(rolling.Unready, 0), unseenQuorum), 0,
			"the pod of node 0 is not ready, but it may serve all the same, for the quorum of the controllers could not be seen (" + io + "); to restart it all the same, delete its pod c-pool-0",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := rolling.Next(tc.in)
			at := slices.IndexFunc(d.Waits, func(w rolling.Wait) bool { return w.Node == tc.node })
			if at < 0 {
				t.Fatalf("node %d does not wait: %+v", tc.node, d)
			}
			if diff := cmp.Diff(tc.want, d.Waits[at].Message); diff != "" {
				t.Errorf("message (-want +got):\n%s", diff)
			}
			told := d.Restart == nil && d.Waits[at].Cause != rolling.CauseTurn
			if got := strings.Contains(d.Message(), tc.want); got != told {
				t.Errorf("in the condition: %t, want %t: %s", got, told, d.Message())
			}
		})
	}
}

func TestRestartSaysWhy(t *testing.T) {
	t.Parallel()
	const revision = `pod c-pool-0 has revision "r0", and "r1" is wanted`
	for name, tc := range map[string]struct {
		in   rolling.Input
		want string
	}{
		"nothing suffers": {combined(old(0)), revision},
		"it is down":      {combined(old(0), down(0)), revision + "; the node is down in any case"},
		"no spare replica": {
			combined(old(0), topic("a", 1, ids(0), ids(0)), topic("b", 3, ids(0, 1, 2), ids(0, 1, 2))),
			revision + "; meanwhile 2 partitions (a-0, b-0) cannot be kept at min.insync.replicas, for there are no more replicas than that",
		},
		"the only node": {
			single(old(0)), revision + "; meanwhile 1 partition (orders-0) cannot be kept at min.insync.replicas, for there are no more replicas than that" +
				"; it is the only controller, so no metadata can change until it is back",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := rolling.Next(tc.in)
			if d.Restart == nil {
				t.Fatalf("none: %s", d.Message())
			}
			if diff := cmp.Diff(tc.want, d.Restart.Reason); diff != "" {
				t.Errorf("reason (-want +got):\n%s", diff)
			}
			if d.Message() != "" {
				t.Errorf("a condition says that none is restarted: %s", d.Message())
			}
		})
	}
}

func TestConditionIsBounded(t *testing.T) {
	t.Parallel()
	message := rolling.Next(separate(old(0, 1, 2, 4, 5), down(3))).Message()
	if !strings.HasPrefix(message, "5 nodes to be restarted, and none may be now: node 0 waits for node 3: ") {
		t.Errorf("message: %s", message)
	}
	in := rolling.Input{Partitions: observed.Seen([]observed.Partition(nil))}
	for id := range int32(9) {
		in.Nodes = append(in.Nodes, node(id, true, false))
	}
	old(1, 2, 3, 4, 5, 6, 7)(&in)
	state(rolling.Missing, 8)(&in)
	message = rolling.Next(in).Message()
	if strings.Count(message, "waits for node 8") != 3 || !strings.HasSuffix(message, "; and 4 more nodes.") {
		t.Errorf("message: %s", message)
	}
}

func TestTopics(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		in   rolling.Input
		want []string
	}{
		"nothing to restart":                    {in: separate()},
		"a controller serves no topic":          {in: separate(old(0, 3))},
		"what the brokers in turn are in sync":  {in: separate(old(3, 4), topic("b", 1, ids(4), ids(4)), topic("a", 1, ids(3), ids(3)), topic("c", 1, ids(5), ids(5))), want: []string{"a", "b", "orders"}},
		"a lagging replica does not matter":     {in: separate(old(3), topic("a", 1, ids(3, 4), ids(4)), topic("b", 1, ids(3), ids(3))), want: []string{"b", "orders"}},
		"others come first":                     {in: separate(old(3), down(4))},
		"a broker that is down serves no topic": {in: separate(old(3), down(3))},
		"partitions not seen":                   {in: separate(old(3), unseenPartitions)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, rolling.Topics(tc.in)); diff != "" {
				t.Errorf("topics (-want +got):\n%s", diff)
			}
		})
	}
}
