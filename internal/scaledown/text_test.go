package scaledown_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluice-kafka/sluice/internal/observed"
	"github.com/sluice-kafka/sluice/internal/scaledown"
)

func TestMessageSaysWhatHoldsABroker(t *testing.T) {
	t.Parallel()
	later := func(changes ...change) scaledown.Input {
		in := input(changes...)
		in.Memory = scaledown.Decide(in).Memory
		in.Seen.At = start.Add(3e9)
		return in
	}
	full := logDirs(3, observed.LogDir{Path: "/a", Replicas: 1, Bytes: 1_440_000_000, Cordoned: true}, observed.LogDir{Path: "/b", Bytes: 10})
	for name, tc := range map[string]struct {
		in   scaledown.Input
		want string
	}{
		"replicas and bytes":        {input(full, holds(3)), "broker 3 holds 1 replica (1.4 GB), among them __consumer_offsets-7"},
		"replicas, bytes not known": {input(silent(3), holds(3)), "broker 3 holds 1 replica, among them __consumer_offsets-7"},
		"a reassignment":            {input(target(3)), "broker 3 is the target of 1 reassignment, among them moving-0"},
		"both, on a node that stays": {
			input(removing(), losingRole(3), full, holds(3), holds(3), target(3), target(3)),
			"broker 3 (which is to be a controller only) holds 2 replicas (1.4 GB) and is the target of 2 reassignments, among them __consumer_offsets-7",
		},
		"the cordon":           {input(), "broker 3 is empty, but does not report all its log directories as cordoned yet"},
		"another look":         {later(cordoned(3)), "broker 3 was seen empty, and has to be so still at 2026-03-01T12:00:08Z"},
		"another look, fenced": {later(dead(3)), "broker 3 was seen empty (it is fenced or not registered), and has to be so still at 2026-03-01T12:00:30Z"},
		"another look, older":  {later(level(29)), "broker 3 was seen empty (this Kafka, or its metadata version, cannot cordon it), and has to be so still at 2026-03-01T12:00:30Z"},
		"no partitions":        {input(unseenPartitions), "broker 3 may hold replicas, for the partitions could not be listed (" + errUnseen.Error() + ")"},
		"no registration":      {input(unseenRegistration), "broker 3 is empty, but whether it is fenced could not be seen (" + errUnseen.Error() + ")"},
		"no features":          {input(unseenFeatures), "broker 3 is empty, but whether it can be cordoned could not be seen (features: " + errUnseen.Error() + ")"},
		"no answer":            {input(silent(3)), "broker 3 is empty and not fenced, but does not say whether it is cordoned (" + errUnseen.Error() + "); its pod is ready"},
		"no answer, unready":   {input(silent(3), unready(3)), "broker 3 is empty and not fenced, but does not say whether it is cordoned (" + errUnseen.Error() + "); its pod is not ready"},
		"no answer, no pod":    {input(silent(3), noPod(3)), "broker 3 is empty and not fenced, but does not say whether it is cordoned (" + errUnseen.Error() + "); it has no pod"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := scaledown.Decide(tc.in)
			if len(d.Held) == 0 {
				t.Fatal("nothing is held")
			}
			if diff := cmp.Diff(tc.want, d.Held[0].Message); diff != "" {
				t.Errorf("message (-want +got):\n%s", diff)
			}
			if !strings.Contains(d.Message(), tc.want) {
				t.Errorf("the condition leaves it out: %s", d.Message())
			}
		})
	}
}

func TestMessageSaysWhatToDo(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		in       scaledown.Input
		want     []string
		wantNone []string
	}{
		"drain": {
			in:       input(holds(3), cordoned(3, 4)),
			want:     []string{"remove-brokers", "set the replicas or roles of the pool back", `strimzi.io/skip-broker-scaledown-check: "true"`},
			wantNone: []string{"look at its pod", "an event on the Kafka"},
		},
		"cordon": {in: input(), want: []string{"an event on the Kafka"}, wantNone: []string{"remove-brokers"}},
		"answer": {in: input(cordoned(3), silent(4)), want: []string{"a look at its pod"}, wantNone: []string{"remove-brokers", "an event"}},
		"wait":   {in: input(cordoned(3, 4)), want: []string{"broker 3 was", "broker 4 was"}, wantNone: []string{"remove-brokers", "an event"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			message := scaledown.Decide(tc.in).Message()
			for _, want := range tc.want {
				if !strings.Contains(message, want) {
					t.Errorf("%q is not in: %s", want, message)
				}
			}
			for _, none := range tc.wantNone {
				if strings.Contains(message, none) {
					t.Errorf("%q is in: %s", none, message)
				}
			}
		})
	}
}

func TestMessageIsBounded(t *testing.T) {
	t.Parallel()
	if message := scaledown.Decide(input(removing())).Message(); message != "" {
		t.Errorf("nothing is held, and yet: %s", message)
	}
	many := input(removing(100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111), unseenPartitions)
	message := scaledown.Decide(many).Message()
	if !strings.Contains(message, "broker 109 ") || strings.Contains(message, "broker 110 ") || !strings.Contains(message, "and 2 more brokers.") {
		t.Errorf("want ten brokers named and two counted: %s", message)
	}
}

func TestBytesHaveTwoDigits(t *testing.T) {
	t.Parallel()
	for bytes, want := range map[int64]string{
		0: "(0 bytes)", 7: "(7 bytes)", 994: "(990 bytes)", 995: "(1 kB)", 1049: "(1 kB)", 12_345: "(12 kB)",
		994_999: "(990 kB)", 995_000: "(1 MB)", 1 << 62: "(4.6 EB)",
	} {
		d := scaledown.Decide(input(holds(3), logDirs(3, observed.LogDir{Bytes: bytes})))
		if !strings.Contains(d.Held[0].Message, want) {
			t.Errorf("%d bytes: %s, want %s", bytes, d.Held[0].Message, want)
		}
	}
}
