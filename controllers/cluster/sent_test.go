package cluster

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sluice-kafka/sluice/internal/kafka"
	"github.com/sluice-kafka/sluice/internal/observed"
)

func TestWhatWasSentCompletesALook(t *testing.T) {
	t.Parallel()
	const option = "log.retention.ms"
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	of := func(source observed.ConfigSource, value string) observed.ConfigSynonym {
		return observed.ConfigSynonym{Name: option, Value: value, Source: source}
	}
	onBroker, forBrokers, inKafka := of(observed.SourceBroker, "1"), of(observed.SourceDefault, "2"), of(observed.SourceKafka, "3")
	set, unset := kafka.ConfigOp{Name: option, Value: "1"}, kafka.ConfigOp{Name: option, Delete: true}
	for name, tc := range map[string]struct {
		sent     kafka.ConfigOp
		resource int32
		after    time.Duration
		shown    []observed.ConfigSynonym
		want     []observed.ConfigSynonym
		wantLate bool
	}{
		"set and not shown": {
			sent: set, resource: 1, shown: []observed.ConfigSynonym{forBrokers, inKafka},
			want: []observed.ConfigSynonym{onBroker, forBrokers, inKafka}, wantLate: true,
		},
		"set and shown": {
			sent: set, resource: 1, shown: []observed.ConfigSynonym{onBroker, inKafka}, want: []observed.ConfigSynonym{onBroker, inKafka},
		},
		"set, and another value is shown": {
			sent: set, resource: 1, shown: []observed.ConfigSynonym{of(observed.SourceBroker, "9"), inKafka},
			want: []observed.ConfigSynonym{onBroker, inKafka}, wantLate: true,
		},
		"set, and not shown for so long that it is gone": {
			sent: set, resource: 1, after: time.Minute, shown: []observed.ConfigSynonym{inKafka}, want: []observed.ConfigSynonym{inKafka},
		},
		"unset and still shown": {
			sent: unset, resource: 1, shown: []observed.ConfigSynonym{onBroker, inKafka}, want: []observed.ConfigSynonym{inKafka}, wantLate: true,
		},
		"set for all brokers and not shown": {
			sent: kafka.ConfigOp{Name: option, Value: "2"}, resource: forAll, shown: []observed.ConfigSynonym{inKafka},
			want: []observed.ConfigSynonym{forBrokers, inKafka}, wantLate: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := observed.Config{option: {Value: tc.shown[0].Value, Synonyms: tc.shown}}
			seen := observed.Cluster{
				At: at.Add(tc.after), Default: observed.Seen(config),
				Configs: map[int32]observed.Of[observed.Config]{1: observed.Seen(config)},
			}
			var sent sentChanges
			sent.keep(tc.resource, at, []kafka.ConfigOp{tc.sent})
			late := sent.complete(&seen)
			got, _ := seen.Default.Get()
			if tc.resource != forAll {
				got, _ = seen.Configs[1].Get()
			}
			if diff := cmp.Diff(tc.want, got[option].Synonyms); diff != "" || late != tc.wantLate || got[option].Value != tc.want[0].Value {
				t.Errorf("late %v, in effect %q (-want +got):\n%s", late, got[option].Value, diff)
			}
			if again := sent.complete(&seen); again {
				t.Error("what shows is awaited still")
			}
		})
	}
}

func TestUnregisteredBrokerIsTakenOutOfALook(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for name, tc := range map[string]struct {
		after    time.Duration
		shown    []observed.Broker
		want     []observed.Broker
		wantLate bool
	}{
		"shown still":     {shown: []observed.Broker{{ID: 0}, {ID: 3, Fenced: true}}, want: []observed.Broker{{ID: 0}}, wantLate: true},
		"not shown":       {shown: []observed.Broker{{ID: 0}}, want: []observed.Broker{{ID: 0}}},
		"registered anew": {shown: []observed.Broker{{ID: 0}, {ID: 3}}, want: []observed.Broker{{ID: 0}, {ID: 3}}},
		"shown for so long that it is there": {
			after: time.Minute, shown: []observed.Broker{{ID: 0}, {ID: 3, Fenced: true}}, want: []observed.Broker{{ID: 0}, {ID: 3, Fenced: true}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			seen := observed.Cluster{At: at.Add(tc.after), Registration: observed.Seen(observed.Registration{Brokers: tc.shown})}
			var sent sentChanges
			sent.leave(3, at)
			late := sent.complete(&seen)
			got, _ := seen.Registration.Get()
			if diff := cmp.Diff(tc.want, got.Brokers); diff != "" || late != tc.wantLate {
				t.Errorf("late %v (-want +got):\n%s", late, diff)
			}
		})
	}
}
