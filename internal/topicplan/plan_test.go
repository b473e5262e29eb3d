package topicplan

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	kafkav1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/configdef"
)

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func wants(config map[string]string) Wanted {
	return Wanted{Partitions: BrokerDefault, Replicas: BrokerDefault, Config: config}
}

func seenWith(options map[string]Option) *Seen {
	return &Seen{ID: "id", Partitions: 3, Replicas: []int16{2, 2, 2}, Options: options}
}

func TestDecide(t *testing.T) {
	long := func(value string, dynamic bool) Option {
		return Option{Value: value, Type: configdef.Long, Dynamic: dynamic}
	}
	for name, test := range map[string]struct {
		wanted Wanted
		seen   *Seen
		memory Memory
		want   Plan
		// problems and warnings by a word of each
		wantProblems, wantWarnings []string
	}{
		"a topic that is missing is created": {
			wanted: wants(nil), want: Plan{Create: true},
		},
		"a topic in step needs nothing": {
			wanted: Wanted{Partitions: 3, Replicas: 2, Config: map[string]string{"retention.ms": "0100"}},
			seen:   seenWith(map[string]Option{"retention.ms": long("100", true)}),
		},
		"what is not asked for is left to the cluster": {
			wanted: wants(nil), seen: seenWith(map[string]Option{"retention.ms": long("100", false)}),
		},
		"a value that equals the cluster's default is not written": {
			wanted: wants(map[string]string{"retention.ms": "100"}),
			seen:   seenWith(map[string]Option{"retention.ms": long("100", false)}),
		},
		"options that differ are set, those set by others deleted, in order": {
			wanted: wants(map[string]string{"z": "1", "a": "2", "new": "3"}),
			seen:   seenWith(map[string]Option{"z": {Value: "0", Dynamic: true}, "a": {Value: "0"}, "m": {Value: "5", Dynamic: true}}),
			want: Plan{Ops: []ConfigOp{
				{Name: "a", Value: "2"}, {Name: "m", Delete: true}, {Name: "new", Value: "3"}, {Name: "z", Value: "1"},
			}},
		},
		"what a mover sets is not deleted": {
			wanted: wants(nil),
			seen:   seenWith(map[string]Option{optionLeaderThrottled: {Value: "*", Dynamic: true}, optionFollowerThrottled: {Value: "*", Dynamic: true}}),
		},
		"what a mover sets is written if the user insists, with a warning": {
			wanted:       wants(map[string]string{optionLeaderThrottled: "*"}),
			seen:         seenWith(nil),
			want:         Plan{Ops: []ConfigOp{{Name: optionLeaderThrottled, Value: "*"}}},
			wantWarnings: []string{optionLeaderThrottled},
		},
		"partitions grow": {
			wanted: Wanted{Partitions: 5, Replicas: BrokerDefault}, seen: seenWith(nil), want: Plan{GrowTo: 5},
		},
		"as many partitions more as Kafka adds at a time": {
			wanted: Wanted{Partitions: 10_003, Replicas: BrokerDefault}, seen: seenWith(nil), want: Plan{GrowTo: 10_003},
		},
		"more partitions than Kafka adds at a time are not asked for": {
			wanted: Wanted{Partitions: 10_004, Replicas: BrokerDefault}, seen: seenWith(nil), wantProblems: []string{"10003"},
		},
		"billions of partitions are not asked for": {
			wanted: Wanted{Partitions: math.MaxInt32, Replicas: BrokerDefault}, seen: seenWith(nil), wantProblems: []string{"spec.partitions"},
		},
		"fewer partitions are refused, options set all the same": {
			wanted:       Wanted{Partitions: 2, Replicas: BrokerDefault, Config: map[string]string{"a": "1"}},
			seen:         seenWith(nil),
			want:         Plan{Ops: []ConfigOp{{Name: "a", Value: "1"}}},
			wantProblems: []string{"spec.partitions"},
		},
		"a growth that Kafka refused after a fresh look is a problem": {
			wanted: Wanted{Partitions: 5, Replicas: BrokerDefault}, seen: seenWith(nil),
			memory:       Memory{GrowthRefused: 3, GrowthError: "INVALID_PARTITIONS"},
			wantProblems: []string{"INVALID_PARTITIONS"},
		},
		"a growth that was refused at another count is planned anew": {
			wanted: Wanted{Partitions: 5, Replicas: BrokerDefault}, seen: seenWith(nil),
			memory: Memory{GrowthRefused: 2, GrowthError: "INVALID_PARTITIONS"}, want: Plan{GrowTo: 5},
		},
		"an option written a moment ago may not show yet": {
			wanted: wants(map[string]string{"retention.ms": "1"}), seen: seenWith(map[string]Option{"retention.ms": long("2", true)}),
			memory: Memory{Writes: Writes{"retention.ms": {Value: "1", At: now.Add(-time.Second)}}},
			want: Plan{
				Stale:  "option retention.ms was written a moment ago",
				Writes: Writes{"retention.ms": {Value: "1", At: now.Add(-time.Second)}},
			},
		},
		"nor may it where it is not wanted any longer": {
			wanted: wants(nil), seen: seenWith(nil),
			memory: Memory{Writes: Writes{"retention.ms": {Value: "1", At: now.Add(-BeliefTime + 1)}}},
			want: Plan{
				Stale:  "option retention.ms was written a moment ago",
				Writes: Writes{"retention.ms": {Value: "1", At: now.Add(-BeliefTime + 1)}},
			},
		},
		"nor a removal of what is wanted again": {
			wanted: wants(map[string]string{"retention.ms": "2"}), seen: seenWith(map[string]Option{"retention.ms": long("2", true)}),
			memory: Memory{Writes: Writes{"retention.ms": {Delete: true, At: now}}},
			want: Plan{
				Stale:  "option retention.ms was written a moment ago",
				Writes: Writes{"retention.ms": {Delete: true, At: now}},
			},
		},
		"a removal that shows is done": {
			wanted: wants(nil), seen: seenWith(map[string]Option{"retention.ms": long("2", false)}),
			memory: Memory{Writes: Writes{"retention.ms": {Delete: true, At: now}}},
		},
		"an option that Kafka made something else of is warned of": {
			wanted: wants(map[string]string{"retention.ms": "1"}), seen: seenWith(map[string]Option{"retention.ms": long("2", true)}),
			memory:       Memory{Writes: Writes{"retention.ms": {Value: "1", At: now.Add(-time.Minute)}}},
			want:         Plan{Writes: Writes{"retention.ms": {Value: "1", At: now.Add(-time.Minute), Checked: true, Left: "2"}}},
			wantWarnings: []string{"retention.ms"},
		},
		"an option that somebody changed since is set again": {
			wanted: wants(map[string]string{"retention.ms": "1"}), seen: seenWith(map[string]Option{"retention.ms": long("3", true)}),
			memory: Memory{Writes: Writes{"retention.ms": {Value: "1", At: now.Add(-time.Minute), Checked: true, Left: "2"}}},
			want:   Plan{Ops: []ConfigOp{{Name: "retention.ms", Value: "1"}}},
		},
		"a removal that does not show is warned of too": {
			wanted: wants(nil), seen: seenWith(map[string]Option{"retention.ms": long("2", true)}),
			memory:       Memory{Writes: Writes{"retention.ms": {Delete: true, At: now.Add(-time.Minute)}}},
			want:         Plan{Writes: Writes{"retention.ms": {Delete: true, At: now.Add(-time.Minute), Checked: true, Left: "2"}}},
			wantWarnings: []string{"retention.ms"},
		},
		"an old write that is not wanted any longer is forgotten": {
			wanted: wants(nil), seen: seenWith(nil), memory: Memory{Writes: Writes{"retention.ms": {Value: "1", At: now.Add(-BeliefTime)}}},
		},
		"a write that shows is forgotten": {
			wanted: wants(map[string]string{"retention.ms": "1"}), seen: seenWith(map[string]Option{"retention.ms": long("1", true)}),
			memory: Memory{Writes: Writes{"retention.ms": {Value: "1", At: now}}},
		},
		"a created topic that is not shown yet is not created again": {
			wanted: wants(nil), memory: Memory{At: now.Add(-time.Second), Partitions: 3},
			want: Plan{Stale: "the topic was created but is not shown yet"},
		},
		"a created topic that is not shown for long is created again": {
			wanted: wants(nil), memory: Memory{At: now.Add(-BeliefTime), Partitions: 3}, want: Plan{Create: true},
		},
		"fewer partitions than were made are not believed": {
			wanted: Wanted{Partitions: 5, Replicas: BrokerDefault}, seen: seenWith(nil), memory: Memory{At: now, Partitions: 5},
			want: Plan{Stale: "the topic has 5 partitions but 3 are shown"},
		},
		"a deleted topic that is still shown is not believed": {
			wanted: wants(nil), seen: seenWith(nil), memory: Memory{At: now, Deleted: true, ID: "id"},
			want: Plan{Stale: "the topic was deleted but is still shown"},
		},
		"a created topic is not mistaken for the one before it": {
			wanted: wants(nil), seen: seenWith(nil), memory: Memory{At: now, ID: "new", Partitions: 3},
			want: Plan{Stale: "the topic is shown as it was before it was created"},
		},
		"a topic of Kafka's own is not created": {
			wanted: Wanted{Partitions: 3, Replicas: BrokerDefault, Internal: true}, wantProblems: []string{"Kafka creates it"},
		},
		"a topic of Kafka's own is not grown, and keeps what Kafka set": {
			wanted:       Wanted{Partitions: 5, Replicas: BrokerDefault, Internal: true},
			seen:         seenWith(map[string]Option{"cleanup.policy": {Value: "compact", Type: configdef.List, Dynamic: true}}),
			wantProblems: []string{"Kafka's own"},
		},
		"another topic of a deleted one's name is believed": {
			wanted: wants(nil), seen: seenWith(nil), memory: Memory{At: now, Deleted: true, ID: "old"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := Decide(test.wanted, test.seen, test.memory, now)
			if diff := cmp.Diff(test.want, got, cmpopts.IgnoreFields(Plan{}, "Problems", "Warnings"), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("plan (-want +got): %s", diff)
			}
			wantWords(t, "problems", got.Problems, test.wantProblems)
			wantWords(t, "warnings", got.Warnings, test.wantWarnings)
		})
	}
}

func wantWords(t *testing.T, what string, got []Problem, words []string) {
	t.Helper()
	if len(got) != len(words) {
		t.Errorf("%s: %+v, want %d", what, got, len(words))
		return
	}
	for i, word := range words {
		if !strings.Contains(got[i].Message, word) || got[i].Reason == "" {
			t.Errorf("%s: %+v lacks %q", what, got[i], word)
		}
	}
}

func TestStatusesKeepTimesUntilSomethingChanges(t *testing.T) {
	kt := &kafkav1.KafkaTopic{}
	kt.Generation = 1
	warning := []Problem{{Reason: "InvalidConfig", Message: "w"}}
	o := Observed{Name: "t", Known: true, ID: "id", Partitions: 1, Replicas: 1}
	kt.Status = ReadyStatus(kt, o, nil, warning, now)
	again := ReadyStatus(kt, o, nil, warning, now.Add(time.Hour))
	if diff := cmp.Diff(kt.Status, again); diff != "" {
		t.Errorf("an unchanged status differs: %s", diff)
	}
	broken := ReadyStatus(kt, Observed{}, []Problem{{"KafkaError", "first"}, {"NotSupported", "second"}}, warning, now.Add(time.Hour))
	if SameStatus(kt.Status, broken, Kept{}) {
		t.Error("a new problem went unseen")
	}
	more := kt.Status
	more.Partitions, more.Replicas = 2, 2
	if !SameStatus(kt.Status, more, Kept{}) {
		t.Error("fields that are not kept were compared")
	}
	if SameStatus(kt.Status, more, Kept{Partitions: true}) || SameStatus(kt.Status, more, Kept{Replicas: true}) {
		t.Error("fields that are kept were not compared")
	}
	main := broken.Conditions[0]
	if main.Reason != "KafkaError" || main.Message != "first; second" || main.LastTransitionTime != "2026-03-01T13:00:00Z" {
		t.Errorf("main condition: %+v", main)
	}
	if broken.Conditions[1] != kt.Status.Conditions[1] {
		t.Error("the unchanged warning got a new time")
	}
	if broken.TopicID != "id" || broken.TopicName != "t" {
		t.Error("what was not observed was forgotten")
	}
}
