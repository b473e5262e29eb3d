package scaledown_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sluice-kafka/sluice/internal/scaledown"
)

// step is one look of a story: at a second, what is seen then, and what each held
// broker awaits.
type step struct {
	at    time.Duration
	see   change
	want  awaits
	drain []int32
}

type awaits map[int32]scaledown.Awaits

func nothing(*scaledown.Input) {}

// Stories of broker 3 alone, which is to go.
func TestEvidence(t *testing.T) {
	t.Parallel()
	const s = time.Second
	sighting := awaits{3: scaledown.AwaitsSighting}
	drain := awaits{3: scaledown.AwaitsDrain}
	gone := awaits{}
	for name, story := range map[string][]step{
		"an empty broker is cordoned first, and then seen empty twice": {
			{at: 0, see: nothing, want: awaits{3: scaledown.AwaitsCordon}},
			{at: 5 * s, see: cordoned(3), want: sighting},
			{at: 6 * s, see: cordoned(3), want: sighting},
			{at: 10 * s, see: cordoned(3), want: sighting},
			{at: 11 * s, see: cordoned(3), want: gone},
			{at: 12 * s, see: cordoned(3), want: gone},
		},
		"the look that first shows the cordon does not count, however late the next": {
			{at: 0, see: cordoned(3), want: sighting},
			{at: 60 * s, see: cordoned(3), want: sighting},
			{at: 65 * s, see: cordoned(3), want: gone},
		},
		"the same look twice is one look": {
			{at: 0, see: cordoned(3), want: sighting},
			{at: 0, see: cordoned(3), want: sighting},
			{at: 5 * s, see: cordoned(3), want: sighting},
			{at: 5 * s, see: cordoned(3), want: sighting},
			{at: 10 * s, see: cordoned(3), want: gone},
		},
		"a drained broker has been cordoned for long": {
			{at: 0, see: both(cordoned(3), holds(3)), want: drain, drain: []int32{3}},
			{at: 60 * s, see: both(cordoned(3), holds(3)), want: drain, drain: []int32{3}},
			{at: 65 * s, see: cordoned(3), want: sighting},
			{at: 70 * s, see: cordoned(3), want: gone},
		},
		"a replica between the looks begins it anew": {
			{at: 0, see: cordoned(3), want: sighting},
			{at: 1 * s, see: cordoned(3), want: sighting},
			{at: 5 * s, see: both(cordoned(3), holds(3)), want: drain, drain: []int32{3}},
			{at: 7 * s, see: cordoned(3), want: sighting},
			{at: 11 * s, see: cordoned(3), want: sighting},
			{at: 12 * s, see: cordoned(3), want: gone},
		},
		"a replica takes away evidence that was complete": {
			{at: 0, see: cordoned(3), want: sighting},
			{at: 5 * s, see: cordoned(3), want: sighting},
			{at: 10 * s, see: cordoned(3), want: gone},
			{at: 15 * s, see: both(cordoned(3), holds(3)), want: drain, drain: []int32{3}},
			{at: 20 * s, see: cordoned(3), want: sighting},
		},
		"the target of a reassignment is not empty": {
			{at: 0, see: cordoned(3), want: sighting},
			{at: 5 * s, see: cordoned(3), want: sighting},
			{at: 10 * s, see: both(cordoned(3), target(3)), want: drain, drain: []int32{3}},
		},
		"a cordon that goes meanwhile begins it anew, from the look that shows it again": {
			{at: 0, see: cordoned(3), want: sighting},
			{at: 5 * s, see: cordoned(3), want: sighting},
			{at: 8 * s, see: nothing, want: awaits{3: scaledown.AwaitsCordon}},
			{at: 11 * s, see: cordoned(3), want: sighting},
			{at: 16 * s, see: cordoned(3), want: sighting},
			{at: 21 * s, see: cordoned(3), want: gone},
		},
		"a look without partitions begins it anew; the cordon was seen all the same": {
			{at: 0, see: cordoned(3), want: sighting},
			{at: 5 * s, see: cordoned(3), want: sighting},
			{at: 10 * s, see: both(cordoned(3), unseenPartitions), want: awaits{3: scaledown.AwaitsPartitions}},
			{at: 15 * s, see: cordoned(3), want: sighting},
			{at: 20 * s, see: cordoned(3), want: gone},
		},
		"a look without an answer of the broker begins it anew": {
			{at: 0, see: cordoned(3), want: sighting},
			{at: 5 * s, see: cordoned(3), want: sighting},
			{at: 10 * s, see: silent(3), want: awaits{3: scaledown.AwaitsAnswer}},
			{at: 15 * s, see: cordoned(3), want: sighting},
			{at: 20 * s, see: cordoned(3), want: sighting},
			{at: 25 * s, see: cordoned(3), want: gone},
		},
		"a look without the registration begins it anew": {
			{at: 0, see: cordoned(3), want: sighting},
			{at: 5 * s, see: cordoned(3), want: sighting},
			{at: 10 * s, see: both(cordoned(3), unseenRegistration), want: awaits{3: scaledown.AwaitsRegistration}},
			{at: 15 * s, see: cordoned(3), want: sighting},
			{at: 20 * s, see: cordoned(3), want: sighting},
			{at: 25 * s, see: cordoned(3), want: gone},
		},
		"without partitions the last ones that were seen say what is to be drained": {
			{at: 0, see: both(cordoned(3), holds(3)), want: drain, drain: []int32{3}},
			{at: 5 * s, see: unseenPartitions, want: awaits{3: scaledown.AwaitsPartitions}, drain: []int32{3}},
			{at: 10 * s, see: unseenPartitions, want: awaits{3: scaledown.AwaitsPartitions}, drain: []int32{3}},
			{at: 15 * s, see: cordoned(3), want: sighting},
			{at: 20 * s, see: unseenPartitions, want: awaits{3: scaledown.AwaitsPartitions}},
		},
		"nothing was ever seen": {
			{at: 0, see: both(unseenPartitions, unseenRegistration, unseenFeatures, silent(3)), want: awaits{3: scaledown.AwaitsPartitions}},
			{at: 300 * s, see: both(unseenPartitions, unseenRegistration, unseenFeatures, silent(3)), want: awaits{3: scaledown.AwaitsPartitions}},
		},
		"a clock that jumps back begins it anew": {
			{at: 0, see: cordoned(3), want: sighting},
			{at: 5 * s, see: cordoned(3), want: sighting},
			{at: -3600 * s, see: cordoned(3), want: sighting},
			{at: -3599 * s, see: cordoned(3), want: sighting},
			{at: 6 * s, see: cordoned(3), want: gone},
		},
		"before 4.3 nothing is cordoned, and the looks lie farther apart": {
			{at: 0, see: both(oldVersion, unseenFeatures), want: sighting},
			{at: 5 * s, see: oldVersion, want: sighting},
			{at: 29 * s, see: oldVersion, want: sighting},
			{at: 30 * s, see: oldVersion, want: gone},
		},
		"below the level nothing is cordoned either": {
			{at: 0, see: level(29), want: sighting},
			{at: 30 * s, see: level(29), want: gone},
		},
		"where nothing can be cordoned, readiness says nothing of emptiness": {
			{at: 0, see: both(level(29), unready(3)), want: sighting},
			{at: 30 * s, see: both(level(29), silent(3), noPod(3)), want: gone},
		},
		"a level that rises meanwhile asks for the cordon": {
			{at: 0, see: level(29), want: sighting},
			{at: 25 * s, see: level(29), want: sighting},
			{at: 30 * s, see: level(30), want: awaits{3: scaledown.AwaitsCordon}},
			{at: 35 * s, see: cordoned(3), want: sighting},
			{at: 40 * s, see: cordoned(3), want: sighting},
			{at: 45 * s, see: cordoned(3), want: gone},
		},
		"a level that was not seen may be high enough": {
			{at: 0, see: level(29), want: sighting},
			{at: 25 * s, see: unseenFeatures, want: awaits{3: scaledown.AwaitsFeatures}},
			{at: 30 * s, see: level(29), want: sighting},
			{at: 60 * s, see: level(29), want: gone},
		},
		"a broker that reports its cordon proves the level": {
			{at: 0, see: both(unseenFeatures, cordoned(3)), want: sighting},
			{at: 5 * s, see: both(unseenFeatures, cordoned(3)), want: sighting},
			{at: 10 * s, see: both(unseenFeatures, cordoned(3)), want: gone},
		},
		"a dead broker is seen empty twice while it is fenced": {
			{at: 0, see: dead(3), want: sighting},
			{at: 5 * s, see: dead(3), want: sighting},
			{at: 29 * s, see: dead(3), want: sighting},
			{at: 30 * s, see: dead(3), want: gone},
		},
		"a dead broker with replicas stays until they are elsewhere": {
			{at: 0, see: both(dead(3), holds(3)), want: drain, drain: []int32{3}},
			{at: 60 * s, see: both(dead(3), holds(3)), want: drain, drain: []int32{3}},
			{at: 65 * s, see: dead(3), want: sighting},
			{at: 95 * s, see: dead(3), want: gone},
		},
		"a fenced broker that comes back begins anew": {
			{at: 0, see: dead(3), want: sighting},
			{at: 15 * s, see: nothing, want: awaits{3: scaledown.AwaitsCordon}},
			{at: 20 * s, see: dead(3), want: sighting},
			{at: 45 * s, see: dead(3), want: sighting},
			{at: 50 * s, see: dead(3), want: gone},
		},
		"a cordoned broker that dies begins anew": {
			{at: 0, see: cordoned(3), want: sighting},
			{at: 5 * s, see: cordoned(3), want: sighting},
			{at: 10 * s, see: dead(3), want: sighting},
			{at: 40 * s, see: dead(3), want: gone},
		},
		"a fenced broker counts as fenced though its pod is ready and reports a cordon": {
			{at: 0, see: both(fenced(3), cordoned(3)), want: sighting},
			{at: 10 * s, see: both(fenced(3), cordoned(3)), want: sighting},
			{at: 30 * s, see: both(fenced(3), cordoned(3)), want: gone},
		},
		"a fenced broker whose pod is there and unready": {
			{at: 0, see: both(fenced(3), unready(3), silent(3)), want: sighting},
			{at: 30 * s, see: both(fenced(3), unready(3), silent(3)), want: gone},
		},
		"a broker without a pod that is not fenced yet is waited for": {
			{at: 0, see: both(noPod(3), silent(3)), want: awaits{3: scaledown.AwaitsAnswer}},
			{at: 40 * s, see: both(noPod(3), silent(3)), want: awaits{3: scaledown.AwaitsAnswer}},
			{at: 45 * s, see: dead(3), want: sighting},
			{at: 75 * s, see: dead(3), want: gone},
		},
		"a broker whose pod is not ready answers and is cordoned": {
			{at: 0, see: both(unready(3), cordoned(3)), want: sighting},
			{at: 5 * s, see: both(unready(3), cordoned(3)), want: sighting},
			{at: 10 * s, see: both(unready(3), cordoned(3)), want: gone},
		},
		"a broker that is not registered and holds nothing": {
			{at: 0, see: both(unregistered(3), noPod(3), silent(3)), want: sighting},
			{at: 30 * s, see: both(unregistered(3), noPod(3), silent(3)), want: gone},
		},
		"a broker that is not registered may hold replicas nevertheless": {
			{at: 0, see: both(unregistered(3), silent(3), holds(3)), want: drain, drain: []int32{3}},
		},
		"a broker that registers meanwhile has to be cordoned": {
			{at: 0, see: both(unregistered(3), silent(3)), want: sighting},
			{at: 30 * s, see: nothing, want: awaits{3: scaledown.AwaitsCordon}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tell(t, story, removing(3))
		})
	}
}

// tell goes through a story as a controller does.
func tell(t *testing.T, story []step, always ...change) {
	t.Helper()
	var memory scaledown.Memory
	for i, step := range story {
		in := input(always...)
		in.Seen.At = start.Add(step.at)
		in.Memory = memory
		step.see(&in)
		d := scaledown.Decide(in)
		if diff := cmp.Diff(step.want, awaited(d)); diff != "" {
			t.Fatalf("step %d: held (-want +got):\n%s", i, diff)
		}
		if diff := cmp.Diff(step.drain, d.Drain, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("step %d: drain (-want +got):\n%s", i, diff)
		}
		memory = d.Memory
	}
}

func awaited(d scaledown.Decision) awaits {
	of := awaits{}
	for _, h := range d.Held {
		of[h.ID] = h.Awaits
	}
	return of
}

// Stories of several brokers.
func TestRemoval(t *testing.T) {
	t.Parallel()
	const s = time.Second
	sighting, drain, cordon := scaledown.AwaitsSighting, scaledown.AwaitsDrain, scaledown.AwaitsCordon
	c := cordoned(3, 4)
	for name, story := range map[string][]step{
		"one empty long before the other": {
			{at: 0, see: holds(4), want: awaits{3: cordon, 4: drain}, drain: []int32{3, 4}},
			{at: 5 * s, see: both(c, holds(4)), want: awaits{3: sighting, 4: drain}, drain: []int32{3, 4}},
			{at: 10 * s, see: both(c, holds(4)), want: awaits{3: sighting, 4: drain}, drain: []int32{3, 4}},
			{at: 15 * s, see: both(c, holds(4)), want: awaits{4: drain}, drain: []int32{3, 4}},
			{at: 20 * s, see: c, want: awaits{4: sighting}},
			{at: 25 * s, see: c, want: awaits{}},
		},
		"a broker that stays after all and goes later begins anew": {
			{at: 0, see: c, want: awaits{3: sighting, 4: sighting}},
			{at: 5 * s, see: c, want: awaits{3: sighting, 4: sighting}},
			{at: 8 * s, see: both(c, removing(4)), want: awaits{4: sighting}},
			{at: 10 * s, see: c, want: awaits{3: sighting}},
			{at: 15 * s, see: c, want: awaits{3: sighting}},
			{at: 20 * s, see: c, want: awaits{}},
		},
		"another broker goes mid-way": {
			{at: 0, see: both(c, removing(4)), want: awaits{4: sighting}},
			{at: 5 * s, see: both(c, removing(4)), want: awaits{4: sighting}},
			{at: 10 * s, see: both(c, removing(2, 4)), want: awaits{2: drain}, drain: []int32{2, 4}},
		},
		"a node that loses its role is guarded like one that goes": {
			{at: 0, see: both(c, removing(4), losingRole(3)), want: awaits{3: sighting, 4: sighting}},
			{at: 5 * s, see: both(c, removing(4), losingRole(3)), want: awaits{3: sighting, 4: sighting}},
			{at: 10 * s, see: both(c, removing(4), losingRole(3), holds(3)), want: awaits{3: drain}, drain: []int32{3, 4}},
		},
		"what leaves already holds nobody, and is to be drained when a replica slips onto it": {
			{at: 0, see: both(c, removing(3), leaving(4)), want: awaits{3: sighting}},
			{at: 5 * s, see: both(c, removing(3), leaving(4)), want: awaits{3: sighting}},
			{at: 10 * s, see: both(c, removing(3), leaving(4), holds(4)), want: awaits{}, drain: []int32{3, 4}},
			{at: 15 * s, see: both(c, removing(3, 4)), want: awaits{4: sighting}},
			{at: 20 * s, see: both(c, removing(3, 4)), want: awaits{}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tell(t, story)
		})
	}
}

func TestDecideSets(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		in         scaledown.Input
		wantCordon []int32
		wantHeld   []int32
		wantDrain  []int32
		wantAgain  time.Duration
	}{
		"nothing goes":                   {in: input(removing(), holds(3))},
		"all that goes is cordoned":      {in: input(losingRole(1), leaving(0)), wantCordon: []int32{0, 1, 3, 4}, wantHeld: []int32{1, 3, 4}, wantDrain: []int32{0, 1, 3, 4}, wantAgain: 5 * time.Second},
		"an ID given twice is one":       {in: input(removing(4, 3, 3), leaving(3)), wantCordon: []int32{3, 4}, wantHeld: []int32{3, 4}, wantAgain: 5 * time.Second},
		"the guard is lifted":            {in: input(skip, holds(3), losingRole(1), leaving(2))},
		"only what leaves is left":       {in: input(removing(), leaving(3)), wantCordon: []int32{3}, wantAgain: 5 * time.Second},
		"looks as often as is told":      {in: input(func(in *scaledown.Input) { in.Interval = time.Second }), wantCordon: []int32{3, 4}, wantHeld: []int32{3, 4}, wantAgain: time.Second},
		"a moving replica is to drain":   {in: input(target(4)), wantCordon: []int32{3, 4}, wantHeld: []int32{3, 4}, wantDrain: []int32{3, 4}, wantAgain: 5 * time.Second},
		"unseen partitions drain no one": {in: input(holds(3), unseenPartitions), wantCordon: []int32{3, 4}, wantHeld: []int32{3, 4}, wantAgain: 5 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := scaledown.Decide(tc.in)
			var held []int32
			for _, h := range d.Held {
				held = append(held, h.ID)
			}
			got := []any{d.Cordon, held, d.Drain, d.RequeueAfter}
			want := []any{tc.wantCordon, tc.wantHeld, tc.wantDrain, tc.wantAgain}
			if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("cordon, held, drain, requeue (-want +got):\n%s", diff)
			}
		})
	}
}

func TestLooksAgainWhenEvidenceIsDue(t *testing.T) {
	t.Parallel()
	in := input(cordoned(3), removing(3))
	for _, tc := range []struct{ at, want time.Duration }{
		{0, 5 * time.Second}, {2 * time.Second, 5 * time.Second}, {6 * time.Second, time.Second}, {7 * time.Second, 5 * time.Second},
	} {
		in.Seen.At = start.Add(tc.at)
		d := scaledown.Decide(in)
		if d.RequeueAfter != tc.want {
			t.Errorf("at %v: looks again after %v, want %v", tc.at, d.RequeueAfter, tc.want)
		}
		in.Memory = d.Memory
	}
}

func TestOwnIntervals(t *testing.T) {
	t.Parallel()
	short := func(in *scaledown.Input) { in.Interval, in.UncordonedInterval = time.Second, 3*time.Second }
	sighting := awaits{3: scaledown.AwaitsSighting}
	tell(t, []step{
		{at: 0, see: cordoned(3), want: sighting},
		{at: 1 * time.Second, see: cordoned(3), want: sighting},
		{at: 2 * time.Second, see: cordoned(3), want: awaits{}},
		{at: 3 * time.Second, see: dead(3), want: sighting},
		{at: 5 * time.Second, see: dead(3), want: sighting},
		{at: 6 * time.Second, see: dead(3), want: awaits{}},
	}, short, removing(3))
}
