package configdef

import (
	"slices"
	"strings"
	"testing"
)

// TestCountsByVersion holds the table to what each version of Kafka has; a
// version that loses a part of its options would otherwise go unnoticed.
func TestCountsByVersion(t *testing.T) {
	t.Parallel()
	type counts struct{ topic, broker, perBroker, clusterWide, dynamicOnly, metadata int }
	want := map[string]counts{
		"4.0.2": {33, 309, 36, 54, 3, 19},
		"4.1.2": {34, 339, 36, 54, 3, 21},
		"4.2.2": {35, 345, 36, 57, 3, 23},
		"4.3.1": {34, 363, 37, 62, 3, 24},
		"4.4.0": {38, 382, 37, 70, 3, 27},
	}
	if got := Versions(); len(got) != len(want) {
		t.Errorf("versions %v", got)
	}
	for version, w := range want {
		release, exact, ok := ReleaseOf(version)
		if !ok || !exact {
			t.Errorf("%s is no release", version)
		}
		got := counts{metadata: len(release.MetadataVersions)}
		for _, name := range TopicNames() {
			if _, ok := Topic(version, name); ok {
				got.topic++
			}
		}
		for _, name := range BrokerNames() {
			o, ok := Broker(version, name)
			if !ok {
				continue
			}
			got.broker++
			switch o.Update {
			case PerBroker:
				got.perBroker++
			case ClusterWide:
				got.clusterWide++
			case DynamicOnly:
				got.dynamicOnly++
			}
		}
		if got != w {
			t.Errorf("Kafka %s has %+v, want %+v", version, got, w)
		}
	}
}

func TestOptionsDifferBetweenVersions(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		version, option string
		broker, want    bool
	}{
		"cordoning came with 4.3":                    {version: "4.3.1", option: "cordoned.log.dirs", broker: true, want: true},
		"and was not in 4.2":                         {version: "4.2.2", option: "cordoned.log.dirs", broker: true},
		"any patch of a minor version will do":       {version: "4.3.0", option: "cordoned.log.dirs", broker: true, want: true},
		"a minor version alone is none":              {version: "4.3", option: "retention.ms"},
		"a version before the first":                 {version: "3.9.1", option: "retention.ms"},
		"a version after the last":                   {version: "4.5.0", option: "retention.ms"},
		"no version":                                 {option: "retention.ms"},
		"4.30 is not 4.3":                            {version: "4.30.0", option: "retention.ms"},
		"names are case-sensitive":                   {version: "4.3.1", option: "Retention.ms"},
		"a topic's option is none of a broker":       {version: "4.3.1", option: "retention.ms", broker: true},
		"a broker's option is none of a topic":       {version: "4.3.1", option: "log.retention.ms"},
		"quotas of replication are a broker's":       {version: "4.0.2", option: "leader.replication.throttled.rate", broker: true, want: true},
		"what an earlier version had may be no more": {version: "4.1.2", option: "group.share.max.groups", broker: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			find := Topic
			if tc.broker {
				find = Broker
			}
			if o, got := find(tc.version, tc.option); got != tc.want || got && o.Name != tc.option {
				t.Errorf("found %v, %+v", got, o)
			}
		})
	}
	if o, _ := Broker("4.3.1", "cordoned.log.dirs"); o.Update != PerBroker || o.Type != List {
		t.Errorf("got %+v", o)
	}
	if o, _ := Broker("4.4.0", "broker.id"); !o.Deprecated || o.Update != ReadOnly || o.Default == nil || *o.Default != "-1" {
		t.Errorf("got %+v", o)
	}
}

// TestDefaultsAreValid checks the table against itself: Kafka accepts its own
// defaults.
func TestDefaultsAreValid(t *testing.T) {
	t.Parallel()
	for _, version := range Versions() {
		for _, name := range TopicNames() {
			checkDefault(t, version, name, Topic)
		}
		for _, name := range BrokerNames() {
			checkDefault(t, version, name, Broker)
		}
	}
}

func checkDefault(t *testing.T, version, name string, find func(version, name string) (Option, bool)) {
	t.Helper()
	o, ok := find(version, name)
	if !ok || o.Default == nil {
		return
	}
	if err := o.Check(*o.Default); err != nil {
		t.Errorf("Kafka %s, %s: its default %q is refused: %v", version, name, *o.Default, err)
	}
}

func TestATableThatContradictsItselfIsRefused(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"no JSON":            `{`,
		"an unknown level":   `{"releases":[{"kafka":"4.0.2","metadataVersions":["4.0-IV3"]}]}`,
		"a nameless release": `{"releases":[{"oldestLevel":25,"metadataVersions":["4.0-IV3"]}]}`,
		"no metadata":        `{"releases":[{"kafka":"4.0.2"}]}`,
		"an unknown release": `{"releases":[{"kafka":"4.0.2","oldestLevel":25,"metadataVersions":["4.0-IV3"]}],"topic":[{"in":["4.9.9"],"name":"a","type":"INT"}]}`,
		"one of a broker's":  `{"releases":[{"kafka":"4.0.2","oldestLevel":25,"metadataVersions":["4.0-IV3"]}],"broker":[{"in":["4.9.9"],"name":"a","type":"INT"}]}`,
	} {
		if _, err := parseTable([]byte(text)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := parseTable([]byte(`{"releases":[{"kafka":"4.0.2","oldestLevel":25,"metadataVersions":["4.0-IV3"]}],"topic":[{"in":["4.0.2"],"name":"a"}]}`)); err != nil {
		t.Error(err)
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	names := BrokerNames()
	if !slices.IsSorted(names) || len(slices.Compact(slices.Clone(names))) != len(names) {
		t.Error("the names are not in order, or stand twice")
	}
	names[0] = "changed"
	if BrokerNames()[0] == "changed" {
		t.Error("a caller can change the table")
	}
	if strings.Join(Versions(), " ") != "4.0.2 4.1.2 4.2.2 4.3.1 4.4.0" || Latest() != "4.4.0" {
		t.Errorf("versions %v, latest %s", Versions(), Latest())
	}
}

func TestOfListener(t *testing.T) {
	t.Parallel()
	listener, option, ok := OfListener("listener.name.plain-9092.max.connections")
	if listener != "plain-9092" || option != "max.connections" || !ok {
		t.Errorf("got %q, %q, %v", listener, option, ok)
	}
	for _, name := range []string{"listener.name.plain", "listener.names", "max.connections", ""} {
		if _, _, ok := OfListener(name); ok {
			t.Errorf("%q is an option of a listener", name)
		}
	}
}

func BenchmarkTopic(b *testing.B) {
	Topic("4.3.1", "retention.ms")
	b.ReportAllocs()
	for b.Loop() {
		if o, ok := Topic("4.3.1", "retention.ms"); !ok || o.Check("604800000") != nil {
			b.Fatal("not found")
		}
	}
}
