package scaledown_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sluice-kafka/sluice/internal/scaledown"
)

type verdict = scaledown.Verdict

func TestSlipped(t *testing.T) {
	t.Parallel()
	const justFenced = "it has just been seen fenced; its partitions have to be looked at after that"
	const notFenced = "it has stopped, and the controller has not fenced it yet"
	const slipped = "1 replica slipped onto it after it was last seen empty, among them __consumer_offsets-7"
	controller := pod(3, scaledown.Pod{Ready: true})
	stopped := both(dead(3))
	for name, tc := range map[string]struct {
		before, now change // what the last look saw, nil without one, and what this one sees
		want        scaledown.Departure
	}{
		"nobody leaves": {before: stopped, now: both(stopped, leaving()), want: scaledown.Departure{}},
		"its pod still terminates": {
			before: fenced(3), now: both(fenced(3), holds(3)),
			want: scaledown.Departure{Wait: []verdict{{ID: 3, Reason: "its pod is still there"}}},
		},
		"it has stopped and is not fenced yet": {
			before: noPod(3), now: noPod(3),
			want: scaledown.Departure{Wait: []verdict{{ID: 3, Reason: notFenced}}},
		},
		"it has just been fenced": {
			before: noPod(3), now: stopped,
			want: scaledown.Departure{Wait: []verdict{{ID: 3, Reason: justFenced}}},
		},
		"nobody remembers, for the operator was restarted": {
			now:  stopped,
			want: scaledown.Departure{Wait: []verdict{{ID: 3, Reason: justFenced}}},
		},
		"it was fenced before and is empty now": {
			before: stopped, now: stopped,
			want: scaledown.Departure{Unregister: []int32{3}},
		},
		"it was fenced, came back and is fenced again": {
			before: nothing, now: stopped,
			want: scaledown.Departure{Wait: []verdict{{ID: 3, Reason: justFenced}}},
		},
		"the clock has jumped back": {
			before: both(stopped, func(in *scaledown.Input) { in.Seen.At = start.Add(time.Hour) }), now: stopped,
			want: scaledown.Departure{Wait: []verdict{{ID: 3, Reason: justFenced}}},
		},
		"a topic slipped onto it": {
			before: stopped, now: both(stopped, holds(3)),
			want: scaledown.Departure{Back: []verdict{{ID: 3, Reason: slipped}}},
		},
		"a topic slipped onto it, and that is seen before it is fenced": {
			before: noPod(3), now: both(noPod(3), holds(3)),
			want: scaledown.Departure{Back: []verdict{{ID: 3, Reason: slipped}}},
		},
		"a topic slipped onto it, and the registration was not seen": {
			now:  both(stopped, holds(3), unseenRegistration),
			want: scaledown.Departure{Back: []verdict{{ID: 3, Reason: slipped}}},
		},
		"a reassignment slipped onto it": {
			before: stopped, now: both(stopped, target(3)),
			want: scaledown.Departure{Back: []verdict{{ID: 3, Reason: "1 replica slipped onto it after it was last seen empty, among them moving-0"}}},
		},
		"partitions were not seen": {
			before: stopped, now: both(stopped, unseenPartitions),
			want: scaledown.Departure{Wait: []verdict{{ID: 3, Reason: "whether it holds replicas could not be seen (" + errUnseen.Error() + ")"}}},
		},
		"the registration was not seen": {
			before: stopped, now: both(stopped, unseenRegistration),
			want: scaledown.Departure{Wait: []verdict{{ID: 3, Reason: "whether it is registered could not be seen (" + errUnseen.Error() + ")"}}},
		},
		"somebody has unregistered it already": {
			before: stopped, now: both(stopped, unregistered(3)),
			want: scaledown.Departure{Gone: []int32{3}},
		},
		"somebody has unregistered it with replicas": {
			before: stopped, now: both(unregistered(3), noPod(3), holds(3)),
			want: scaledown.Departure{Back: []verdict{{ID: 3, Reason: slipped}}},
		},
		"a node that runs as a controller only now": {
			before: both(fenced(3), controller), now: both(fenced(3), controller),
			want: scaledown.Departure{Unregister: []int32{3}},
		},
		"a node that runs as a controller only now, and a topic slipped onto it": {
			before: both(fenced(3), controller), now: both(fenced(3), controller, holds(3)),
			want: scaledown.Departure{Back: []verdict{{ID: 3, Reason: slipped}}},
		},
		"the guard is lifted: it goes with what it holds, at once": {
			now:  both(stopped, holds(3), unseenPartitions, skip),
			want: scaledown.Departure{Unregister: []int32{3}},
		},
		"the guard is lifted, and it is not fenced yet": {
			now:  both(noPod(3), holds(3), skip),
			want: scaledown.Departure{Wait: []verdict{{ID: 3, Reason: notFenced}}},
		},
		"the guard is lifted and its pod still terminates": {
			now:  both(fenced(3), skip),
			want: scaledown.Departure{Wait: []verdict{{ID: 3, Reason: "its pod is still there"}}},
		},
		"several, each for itself": {
			before: both(leaving(4, 3, 2, 1), stopped, dead(2), dead(4)),
			now:    both(leaving(4, 3, 2, 1), stopped, dead(2), dead(4), unregistered(4), noPod(1), holds(3)),
			want: scaledown.Departure{
				Back: []verdict{
					{ID: 1, Reason: "1 replica slipped onto it after it was last seen empty, among them orders-0"},
					{ID: 2, Reason: "1 replica slipped onto it after it was last seen empty, among them orders-0"},
					{ID: 3, Reason: slipped},
				},
				Gone: []int32{4},
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var memory scaledown.Memory
			if tc.before != nil {
				memory = scaledown.Decide(input(removing(), leaving(3), tc.before)).Memory
			}
			in := input(removing(), leaving(3), tc.now)
			in.Seen.At = start.Add(5 * time.Second)
			in.Memory = memory
			if diff := cmp.Diff(tc.want, scaledown.Slipped(in), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("departure (-want +got):\n%s", diff)
			}
		})
	}
}

// What was learnt of a dead broker while it was guarded counts after the commit.
func TestADeadBrokerLeavesAtOnce(t *testing.T) {
	t.Parallel()
	in := input(removing(3), dead(3))
	in.Memory = scaledown.Decide(in).Memory
	in.Seen.At = start.Add(30 * time.Second)
	d := scaledown.Decide(in)
	if len(d.Held) != 0 {
		t.Fatalf("held: %+v", d.Held)
	}
	after := input(removing(), leaving(3), dead(3))
	after.Seen.At = start.Add(31 * time.Second)
	after.Memory = d.Memory
	if got := scaledown.Slipped(after); !slices.Equal(got.Unregister, []int32{3}) {
		t.Errorf("got %+v, want it to be unregistered", got)
	}
}

func TestLeftover(t *testing.T) {
	t.Parallel()
	all := []int32{0, 1, 2, 3, 4}
	for name, tc := range map[string]struct {
		in    scaledown.Input
		known []int32
		want  []int32
	}{
		"a healthy cluster":                         {in: input(), known: all},
		"fenced, but its ID stands in a pool":       {in: input(dead(3)), known: all},
		"fenced, unknown, with a pod that is one":   {in: input(fenced(3)), known: []int32{0, 1, 2, 4}},
		"fenced, unknown, without a pod":            {in: input(dead(3)), known: []int32{0, 1, 2, 4}, want: []int32{3}},
		"unknown, without a pod, not fenced (yet)":  {in: input(noPod(3)), known: []int32{0, 1, 2, 4}},
		"fenced, and its pod is a controller only":  {in: input(fenced(3), pod(3, scaledown.Pod{Ready: true})), known: all, want: []int32{3}},
		"a controller that the broker outlived":     {in: input(pod(3, scaledown.Pod{Ready: true})), known: all},
		"several":                                   {in: input(dead(4), dead(1), fenced(3), pod(3, scaledown.Pod{})), known: []int32{0, 2, 3}, want: []int32{1, 3, 4}},
		"the registration was not seen":             {in: input(dead(3), unseenRegistration), known: []int32{0}},
		"unregistered already: Kafka knows nothing": {in: input(unregistered(3), noPod(3)), known: []int32{0, 1, 2, 4}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := scaledown.Leftover(tc.in.Seen.Registration, tc.known, tc.in.Pods)
			if diff := cmp.Diff(tc.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("left over (-want +got):\n%s", diff)
			}
		})
	}
}

// A broker whose replica slips onto it at any look before the last one, however
// late, is never unregistered.
func TestASlippedReplicaIsSeenWhereverItIsRead(t *testing.T) {
	t.Parallel()
	var memory scaledown.Memory
	for i, see := range []change{noPod(3), dead(3), both(dead(3), holds(3))} {
		in := input(removing(), leaving(3), see)
		in.Seen.At = start.Add(time.Duration(i) * time.Second)
		in.Memory = memory
		if d := scaledown.Slipped(in); len(d.Unregister)+len(d.Gone) > 0 {
			t.Fatalf("look %d: %+v", i, d)
		}
		memory = scaledown.Decide(in).Memory
	}
}
