package topicplan

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	kafkav1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/rebalance"
)

func pending(target int64, message string) *kafkav1.ReplicasChange {
	return &kafkav1.ReplicasChange{TargetReplicas: target, State: ChangePending, Message: message}
}

func ongoing(target int64, message string) *kafkav1.ReplicasChange {
	return &kafkav1.ReplicasChange{TargetReplicas: target, State: ChangeOngoing, SessionID: "s", Message: message}
}

func progress(s rebalance.State) *rebalance.Progress { return &rebalance.Progress{State: s} }

// seenReplicas is a topic whose reassignments in flight are known.
func seenReplicas(moving map[int32]int, replicas ...int16) *Seen {
	return &Seen{ID: "id", Partitions: int32(len(replicas)), Replicas: replicas, Moving: moving, MovingKnown: true}
}

func TestDecideReplicas(t *testing.T) {
	two, three := seenReplicas(nil, 2, 2), seenReplicas(nil, 3, 3)
	notAsked := &Seen{ID: "id", Partitions: 2, Replicas: []int16{2, 2}}
	for name, test := range map[string]struct {
		in        ReplicasInput
		want      *kafkav1.ReplicasChange
		wantBegin bool
		wantAgain Again
	}{
		"a topic in step needs nothing":                  {in: ReplicasInput{Wanted: 2, Seen: notAsked}},
		"a number that is not given is left to Kafka":    {in: ReplicasInput{Wanted: BrokerDefault, Seen: notAsked}},
		"what differs is begun":                          {in: ReplicasInput{Wanted: 3, Seen: two}, want: pending(3, ""), wantBegin: true, wantAgain: AfterBackoff},
		"one partition that differs is begun":            {in: ReplicasInput{Wanted: 3, Seen: seenReplicas(nil, 3, 2)}, want: pending(3, ""), wantBegin: true, wantAgain: AfterBackoff},
		"what is in flight to the wanted number is none": {in: ReplicasInput{Wanted: 3, Seen: seenReplicas(map[int32]int{0: 3}, 4, 3)}},
		"what is in flight to another number is one":     {in: ReplicasInput{Wanted: 3, Seen: seenReplicas(map[int32]int{0: 2}, 3, 3)}, want: pending(3, ""), wantBegin: true, wantAgain: AfterBackoff},
		"a move that adds before it removes is none":     {in: ReplicasInput{Wanted: 2, Seen: seenReplicas(map[int32]int{0: 2, 1: 2}, 3, 4)}},
		"nothing is begun while what is in flight is not known": {
			in: ReplicasInput{Wanted: 3, Seen: notAsked}, wantAgain: AfterBackoff,
		},
		"nor is a pending change given up": {
			in: ReplicasInput{Was: pending(2, "m"), Wanted: 2, Seen: notAsked}, want: pending(2, "m"), wantAgain: AfterBackoff,
		},

		"pending: begun, and the last error stays until there is an answer": {in: ReplicasInput{Was: pending(3, "m"), Wanted: 3, Seen: two}, want: pending(3, "m"), wantBegin: true, wantAgain: AfterBackoff},
		"pending: another number is begun, and the error was not its":       {in: ReplicasInput{Was: pending(4, "m"), Wanted: 3, Seen: two}, want: pending(3, ""), wantBegin: true, wantAgain: AfterBackoff},
		"pending: the goal is met":                                          {in: ReplicasInput{Was: pending(3, ""), Wanted: 3, Seen: three}},
		"pending: the spec is reverted":                                     {in: ReplicasInput{Was: pending(3, "m"), Wanted: 2, Seen: two}},
		"pending: no number is wanted any more":                             {in: ReplicasInput{Was: pending(3, "m"), Wanted: BrokerDefault, Seen: two}},
		"pending: what is in flight mends it":                               {in: ReplicasInput{Was: pending(3, "m"), Wanted: 3, Seen: seenReplicas(map[int32]int{0: 3, 1: 3}, 3, 3)}, want: pending(3, ""), wantAgain: Soon},
		"ongoing without a session, as Strimzi leaves one that failed, is pending": {
			in:   ReplicasInput{Was: &kafkav1.ReplicasChange{TargetReplicas: 3, State: ChangeOngoing, Message: "m"}, Wanted: 3, Seen: two},
			want: pending(3, "m"), wantBegin: true, wantAgain: AfterBackoff,
		},
		"a state that is not known is pending": {
			in: ReplicasInput{Was: &kafkav1.ReplicasChange{State: "x", SessionID: "s"}, Wanted: 3, Seen: two}, want: pending(3, ""), wantBegin: true, wantAgain: AfterBackoff,
		},

		"ongoing: it runs": {
			in:   ReplicasInput{Was: ongoing(3, ""), Wanted: 3, Seen: seenReplicas(map[int32]int{0: 3, 1: 3}, 3, 3), Progress: &rebalance.Progress{State: rebalance.Running, Message: "half"}},
			want: ongoing(3, "half"), wantAgain: Soon,
		},
		"ongoing: it runs and nothing moves yet":                           {in: ReplicasInput{Was: ongoing(3, ""), Wanted: 3, Seen: two, Progress: progress(rebalance.Running)}, want: ongoing(3, ""), wantAgain: Soon},
		"ongoing: another number waits":                                    {in: ReplicasInput{Was: ongoing(3, ""), Wanted: 4, Seen: two, Progress: progress(rebalance.Running)}, want: ongoing(3, ""), wantAgain: Soon},
		"ongoing: a reverted spec waits for the session":                   {in: ReplicasInput{Was: ongoing(3, ""), Wanted: 2, Seen: two, Progress: progress(rebalance.Running)}, want: ongoing(3, ""), wantAgain: Soon},
		"ongoing: the goal is met":                                         {in: ReplicasInput{Was: ongoing(3, "m"), Wanted: 3, Seen: three, Progress: progress(rebalance.Running)}},
		"ongoing: the goal is met though nobody can be asked":              {in: ReplicasInput{Was: ongoing(3, "m"), Wanted: 3, Seen: three, Fault: "gone"}},
		"ongoing: the engine fails to tell":                                {in: ReplicasInput{Was: ongoing(3, ""), Wanted: 3, Seen: two, Fault: "gone"}, want: ongoing(3, "gone"), wantAgain: AfterBackoff},
		"ongoing: it may not be over while what is in flight is not known": {in: ReplicasInput{Was: ongoing(2, ""), Wanted: 2, Seen: notAsked, Progress: progress(rebalance.Running)}, want: ongoing(2, ""), wantAgain: Soon},
		"ongoing: nor where nobody knows the session":                      {in: ReplicasInput{Was: ongoing(2, "m"), Wanted: 2, Seen: notAsked, Progress: progress(rebalance.Unknown)}, want: ongoing(2, "m"), wantAgain: AfterBackoff},
		"ongoing: the engine fails to tell for a moment":                   {in: ReplicasInput{Was: ongoing(3, "m"), Wanted: 3, Seen: two}, want: ongoing(3, "m"), wantAgain: AfterBackoff},
		"ongoing: an unknown session is begun anew":                        {in: ReplicasInput{Was: ongoing(3, "m"), Wanted: 3, Seen: two, Progress: progress(rebalance.Unknown)}, want: pending(3, ""), wantBegin: true, wantAgain: AfterBackoff},
		"ongoing: an unknown session and all is in flight":                 {in: ReplicasInput{Was: ongoing(3, "m"), Wanted: 3, Seen: seenReplicas(map[int32]int{1: 3}, 3, 3), Progress: progress(rebalance.Unknown)}, want: pending(3, ""), wantAgain: Soon},
		"ongoing: an unknown session and the spec is reverted":             {in: ReplicasInput{Was: ongoing(3, "m"), Wanted: 2, Seen: two, Progress: progress(rebalance.Unknown)}},
		"ongoing: it is over":                                              {in: ReplicasInput{Was: ongoing(3, "m"), Wanted: 3, Seen: three, Progress: progress(rebalance.Done)}},
		"ongoing: it is over and no number is wanted":                      {in: ReplicasInput{Was: ongoing(3, "m"), Wanted: BrokerDefault, Seen: seenReplicas(map[int32]int{0: 3}, 3, 3), Progress: progress(rebalance.Done)}},
		"ongoing: it is over and something differs":                        {in: ReplicasInput{Was: ongoing(3, "m"), Wanted: 3, Seen: two, Progress: progress(rebalance.Done)}, want: pending(3, ""), wantAgain: AfterBackoff},
		"ongoing: it is over and another number is wanted":                 {in: ReplicasInput{Was: ongoing(3, "m"), Wanted: 4, Seen: three, Progress: progress(rebalance.Done)}, want: pending(4, ""), wantAgain: AfterBackoff},
		"ongoing: it failed": {
			in:   ReplicasInput{Was: ongoing(3, ""), Wanted: 3, Seen: two, Progress: &rebalance.Progress{State: rebalance.Failed, Message: "no disk"}},
			want: pending(3, "no disk"), wantAgain: AfterBackoff,
		},
	} {
		t.Run(name, func(t *testing.T) {
			test.in.Engine = true
			was := test.in.Was.DeepCopy()
			got := DecideReplicas(test.in)
			if diff := cmp.Diff(test.want, got.Next); diff != "" {
				t.Errorf("status (-want +got): %s", diff)
			}
			if got.Begin != test.wantBegin || got.Again != test.wantAgain || got.Problem != nil {
				t.Errorf("plan: %+v, want begin %v and the next look at %d", got, test.wantBegin, test.wantAgain)
			}
			if was != nil && got.Reason == "" {
				t.Error("no reason is given")
			}
			if diff := cmp.Diff(was, test.in.Was); diff != "" {
				t.Errorf("the status that was given changed: %s", diff)
			}
		})
	}
}

func TestReplicasWithoutAnEngine(t *testing.T) {
	for name, test := range map[string]struct {
		in   ReplicasInput
		want []string
	}{
		"what differs is not supported": {
			in:   ReplicasInput{Wanted: 3, Seen: seenReplicas(nil, 2, 2, 3, 2, 1), NoEngine: "the moon is full"},
			want: []string{"is 2 and not 3 on partitions 0-1, 3-4", "the moon is full"},
		},
		"what another operator began is forgotten": {
			in: ReplicasInput{Was: ongoing(3, "m"), Wanted: 3, Seen: seenReplicas(nil, 2, 3)}, want: []string{"partitions 0,"},
		},
		"what somebody else moves is supported":           {in: ReplicasInput{Wanted: 3, Seen: seenReplicas(map[int32]int{0: 3}, 4)}},
		"what is in step is":                              {in: ReplicasInput{Was: pending(3, ""), Wanted: 3, Seen: &Seen{Replicas: []int16{3}}}},
		"what is in flight is not known: nothing is said": {in: ReplicasInput{Wanted: 3, Seen: &Seen{Replicas: []int16{2}}}},
	} {
		t.Run(name, func(t *testing.T) {
			got := DecideReplicas(test.in)
			if got.Begin || got.Next != nil || (got.Problem != nil) != (test.want != nil) {
				t.Fatalf("plan: %+v", got)
			}
			for _, part := range test.want {
				if got.Problem.Reason != kafkav1.ReasonNotSupported || !strings.Contains(got.Problem.Message, part) {
					t.Errorf("problem %+v lacks %q", got.Problem, part)
				}
			}
		})
	}
}

func TestAnswersOfAnEngine(t *testing.T) {
	plan := DecideReplicas(ReplicasInput{Was: pending(3, "old"), Wanted: 3, Seen: seenReplicas(nil, 2), Engine: true})
	if begun := plan.Begun("s", "most"); begun.Begin || begun.Again != Soon || !cmp.Equal(begun.Next, ongoing(3, "most")) {
		t.Errorf("begun: %+v", begun)
	}
	if not := plan.NotBegun("new"); not.Begin || not.Again != AfterBackoff || !cmp.Equal(not.Next, pending(3, "new")) {
		t.Errorf("not begun: %+v", not)
	}
	if not := plan.NotBegun(""); !cmp.Equal(not.Next, pending(3, "old")) {
		t.Errorf("not begun, for a moment: %+v", not)
	}
}

// TestAnyChangeComesToItsEnd drives the decisions with an engine and a Kafka that do
// as they like for a while, with operators that die, and then behave.
func TestAnyChangeComesToItsEnd(t *testing.T) {
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 1))
		m := model{r: r, replicas: []int16{2, 2, 2}, wanted: 3}
		for range 40 {
			m.look(false)
		}
		looks := 0
		for ; m.status != nil || !m.met(); looks++ {
			if looks > 20 {
				t.Fatalf("seed %d: after %d quiet looks the status is %+v, the topic %v, wanted %d", seed, looks, m.status, m.replicas, m.wanted)
			}
			m.look(true)
		}
		if begun := m.begun; m.look(true) || m.begun != begun {
			t.Fatalf("seed %d: a topic in step was not left alone", seed)
		}
	}
}

// model is a topic, its resource and an engine.
type model struct {
	r        *rand.Rand
	status   *kafkav1.ReplicasChange
	wanted   int16
	replicas []int16
	// target of the session that runs; 0 if none does.
	target  int16
	session string
	begun   int
}

func (m *model) met() bool {
	for _, n := range m.replicas {
		if n != m.wanted {
			return false
		}
	}
	return true
}

// look is one look of an operator, and what happens before it. It tells whether the
// status changed.
func (m *model) look(quiet bool) bool {
	if !quiet {
		switch m.r.IntN(8) {
		case 0:
			m.wanted = int16(1 + m.r.IntN(4))
		case 1:
			m.target, m.session = 0, "lost" // the engine was restarted
		case 2:
			m.replicas[m.r.IntN(3)] = int16(1 + m.r.IntN(4)) // somebody else
		}
	}
	if m.target != 0 {
		i := m.r.IntN(3)
		m.replicas[i] = m.target
		if quiet {
			m.replicas = []int16{m.target, m.target, m.target}
			m.target = 0
		}
	}
	in := ReplicasInput{Was: m.status, Wanted: m.wanted, Seen: seenReplicas(nil, m.replicas...), Engine: true}
	if s := Session(m.status); s != "" && (quiet || m.r.IntN(4) > 0) {
		p := rebalance.Progress{State: rebalance.Unknown}
		switch {
		case s == m.session && m.target != 0:
			p.State = rebalance.Running
		case s == m.session:
			p.State = rebalance.Done
		}
		in.Progress = &p
	}
	plan := DecideReplicas(in)
	if plan.Begin {
		m.begun++
		if quiet || m.r.IntN(3) > 0 {
			m.target, m.session = int16(plan.Next.TargetReplicas), fmt.Sprint("s", m.begun)
			plan = plan.Begun(m.session, "")
		} else {
			plan = plan.NotBegun("busy")
		}
	}
	if !quiet && m.r.IntN(6) == 0 {
		return false // the operator dies before it writes the status
	}
	changed := !sameChange(m.status, plan.Next)
	m.status = plan.Next
	return changed
}
