package brokerconfig_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	"github.com/sluice-kafka/sluice/internal/brokerconfig"
	"github.com/sluice-kafka/sluice/internal/configdef"
	"github.com/sluice-kafka/sluice/internal/observed"
)

type ops = []brokerconfig.Op

func TestOptionsOfOneBroker(t *testing.T) {
	t.Parallel()
	const suites = "ssl.cipher.suites"
	for name, tc := range map[string]struct {
		file     brokerconfig.File
		live     observed.Config
		features *observed.Of[observed.Features]
		want     ops
	}{
		"converged": {
			file: file(suites, "a, b"), live: live(suites, inFile(suites, "a,b"), inKafka(suites, "")),
		},
		"a wanted option that the process has not read": {
			file: file(suites, "a"), live: live(suites, inKafka(suites, "")), want: ops{set(suites, "a")},
		},
		"a wanted option that is set otherwise": {
			file: file(suites, "a"), live: live(suites, onBroker(suites, "b"), inKafka(suites, "")), want: ops{set(suites, "a")},
		},
		"an option that is not wanted any more": {
			file: file(), live: live(suites, onBroker(suites, "b"), inKafka(suites, "")), want: ops{del(suites)},
		},
		"an option that is not wanted, and in the file": {
			file: file(), live: live(suites, inFile(suites, "b"), inKafka(suites, "")), want: ops{set(suites, "")},
		},
		"Kafka's default over the file is what there can be": {
			file: file(), live: live(suites, onBroker(suites, ""), inFile(suites, "b"), inKafka(suites, "")),
		},
		"another value over the file": {
			file: file(), live: live(suites, onBroker(suites, "c"), inFile(suites, "b"), inKafka(suites, "")), want: ops{set(suites, "")},
		},
		"an option without a default leaves the file alone": {
			file: file(), live: live("ssl.secure.random.implementation", inFile("ssl.secure.random.implementation", "b")),
		},
		"an override of an option without a default": {
			file: file(), live: live("ssl.secure.random.implementation", onBroker("ssl.secure.random.implementation", "a"), inFile("ssl.secure.random.implementation", "b")),
			want: ops{del("ssl.secure.random.implementation")},
		},
		"a stray value of an option for all": {
			file: file("log.retention.ms", "5"), live: live("log.retention.ms", onBroker("log.retention.ms", "5"), inFile("log.retention.ms", "5")),
			want: ops{del("log.retention.ms")},
		},
		"a stray value of a listener's option for all": {
			file: file(), live: live(plain+"max.connections", onBroker(plain+"max.connections", "5"), inKafka("max.connections", "9")),
			want: ops{del(plain + "max.connections")},
		},
		"a value for all is not this broker's": {
			file: file(), live: live("log.retention.ms", onAll("log.retention.ms", "5")),
		},
		"a synonym's value is not this option's": {
			file: file(), live: live("log.retention.ms", onBroker("log.retention.hours", "5")),
		},
		"min.insync.replicas of a broker": {
			file: file(), live: live("min.insync.replicas", onBroker("min.insync.replicas", "5")), want: ops{del("min.insync.replicas")},
		},
		"min.insync.replicas of a broker with ELR": {
			file: file(), live: live("min.insync.replicas", onBroker("min.insync.replicas", "5")), features: ptr.To(features(30, true)),
		},
		"a throttle": {
			file: file("leader.replication.throttled.rate", "1"),
			live: live("leader.replication.throttled.rate", onBroker("leader.replication.throttled.rate", "5")),
		},
		"the throttle of a move between directories": {
			file: file(), live: live("replica.alter.log.dirs.io.max.bytes.per.second", onBroker("replica.alter.log.dirs.io.max.bytes.per.second", "5")),
		},
		"a secret": {
			file: file(), live: observed.Config{plain + "sasl.jaas.config": {Sensitive: true, Synonyms: []observed.ConfigSynonym{onBroker(plain+"sasl.jaas.config", "")}}},
		},
		"an option that Kafka does not know is a secret to it": {
			file: file("my.own", "a"), live: observed.Config{"my.own": {Sensitive: true, Synonyms: []observed.ConfigSynonym{onBroker("my.own", "")}}},
		},
		"a static option in another value waits for the restart": {
			file: file("num.partitions", "5"), live: live("num.partitions", inFile("num.partitions", "1")),
		},
		"a placeholder cannot be compared": {
			file: file(suites, "${env:SUITES}"), live: live(suites, inFile(suites, "a")),
		},
		"a value over a placeholder": {
			file: file(suites, "${env:SUITES}"), live: live(suites, onBroker(suites, "a")), want: ops{del(suites)},
		},
		"the operator's own option set by somebody": {
			file: file(), live: live("listeners", onBroker("listeners", "X://:1"), inFile("listeners", file().Options["listeners"])),
			want: ops{del("listeners")},
		},
		"the operator's own option waits for the restart": {
			file: file(), live: live("listeners", onBroker("listeners", "X://:1"), inFile("listeners", "X://:2")),
		},
		"the operator's own option set as it is": {
			file: file(), live: live("listeners", onBroker("listeners", file().Options["listeners"]), inFile("listeners", "X://:2")),
		},
		"an option of a listener that is nobody's": {
			file: file(), live: live("listener.name.x.ssl.protocol", onBroker("listener.name.x.ssl.protocol", "TLSv1.2")),
			want: ops{del("listener.name.x.ssl.protocol")},
		},
		"a stray pool of threads comes back in steps": {
			file: file(), live: live("num.io.threads", onBroker("num.io.threads", "40"), inKafka("num.io.threads", "8")),
			want: ops{set("num.io.threads", "20")},
		},
		"the last of them": {
			file: file(), live: live("num.io.threads", onBroker("num.io.threads", "16"), inKafka("num.io.threads", "8")),
			want: ops{del("num.io.threads")},
		},
		"several in order": {
			file: file("ssl.protocol", "TLSv1.2", suites, "a"), live: live("compression.type", onBroker("compression.type", "zstd")),
			want: ops{del("compression.type"), set(suites, "a"), set("ssl.protocol", "TLSv1.2")},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			look := seen(tc.live)
			if tc.features != nil {
				look.Features = *tc.features
			}
			got := brokerconfig.DiffBroker(tc.file, look)
			if diff := cmp.Diff(tc.want, plainOps(t, got.Options)); diff != "" || got.Cordon != nil || got.Unobserved != nil {
				t.Errorf("%+v\n-want +got:\n%s", got, diff)
			}
		})
	}
}

func TestOptionsOfAllBrokers(t *testing.T) {
	t.Parallel()
	const (
		retention = "log.retention.ms"
		ratio     = "log.cleaner.min.cleanable.ratio"
		isr       = "min.insync.replicas"
		limit     = plain + "max.connections"
		threads   = "num.io.threads"
	)
	hours := inKafka("log.retention.hours", "168")
	for name, tc := range map[string]struct {
		file     brokerconfig.File
		all      map[string]string
		live     observed.Config
		features *observed.Of[observed.Features]
		want     ops
	}{
		"the file is enough": {
			file: file(retention, "5"), live: live(retention, inFile(retention, "5"), hours),
		},
		"Kafka's default is enough": {
			file: file(ratio, "0.50"), live: live(ratio, inKafka(ratio, "0.5")),
		},
		"an option comes": {
			file: file(retention, "5"), live: live(retention, hours), want: ops{set(retention, "5")},
		},
		"an option comes that the broker reports nothing of": {
			file: file(limit, "5"), live: observed.Config{}, want: ops{set(limit, "5")},
		},
		"a broker's own value does not count": {
			file: file(ratio, "0.3"), live: live(ratio, onBroker(ratio, "0.3"), inKafka(ratio, "0.5")), want: ops{set(ratio, "0.3")},
		},
		"it is set": {
			file: file(ratio, "0.30"), all: map[string]string{ratio: "0.3"}, live: live(ratio, onAll(ratio, "0.3")),
		},
		"it is set and not yet in effect": {
			file: file(ratio, "0.30"), all: map[string]string{ratio: "0.3"}, live: live(ratio, inKafka(ratio, "0.5")),
		},
		"it is set otherwise": {
			file: file(ratio, "0.30"), all: map[string]string{ratio: "0.4"}, live: live(ratio, onAll(ratio, "0.4")), want: ops{set(ratio, "0.30")},
		},
		"it is not wanted": {
			file: file(), all: map[string]string{ratio: "0.4"}, live: live(ratio, onAll(ratio, "0.4")), want: ops{del(ratio)},
		},
		"it is not wanted, and a process read it": {
			file: file(), all: map[string]string{ratio: "0.4"}, live: live(ratio, onAll(ratio, "0.4"), inFile(ratio, "0.3")), want: ops{set(ratio, "0.5")},
		},
		"it is not wanted, never set, and a process read it": {
			file: file(), live: live(ratio, inFile(ratio, "0.3")), want: ops{set(ratio, "0.5")},
		},
		"it is not wanted, and the process read the default": {
			file: file(), live: live(ratio, inFile(ratio, "0.50")),
		},
		"Kafka's default over the file is what there can be": {
			file: file(), all: map[string]string{ratio: "0.5"}, live: live(ratio, onAll(ratio, "0.5"), inFile(ratio, "0.3")),
		},
		"the override goes after the restart": {
			file: file(), all: map[string]string{ratio: "0.5"}, live: live(ratio, onAll(ratio, "0.5")), want: ops{del(ratio)},
		},
		"a list in another form": {
			file: file("log.cleanup.policy", `["compact","delete"]`), all: map[string]string{"log.cleanup.policy": "compact, delete"}, live: observed.Config{},
		},
		"a truth value in another form": {
			file: file("unclean.leader.election.enable", "TRUE"), live: live("unclean.leader.election.enable", inFile("unclean.leader.election.enable", "true")),
		},
		"retention falls back to hours": {
			file: file("log.retention.hours", "2"), live: live(retention, inFile(retention, "5"), hours), want: ops{set(retention, "7200000")},
		},
		"retention falls back to minutes first": {
			file: file("log.retention.hours", "2", "log.retention.minutes", "1"), live: live(retention, inFile(retention, "5"), hours), want: ops{set(retention, "60000")},
		},
		"retention for ever": {
			file: file("log.retention.hours", "-1"), live: live(retention, inFile(retention, "5"), hours), want: ops{set(retention, "-1")},
		},
		"retention falls back to Kafka's": {
			file: file(), live: live(retention, inFile(retention, "5"), hours), want: ops{set(retention, "604800000")},
		},
		"retention in hours alone needs nothing": {
			file: file("log.retention.hours", "2"), live: observed.Config{
				retention: {Synonyms: nil}, "log.retention.hours": entry("log.retention.hours", inFile("log.retention.hours", "2"), hours),
			},
		},
		"a listener's option falls back to that of all": {
			file: file("max.connections", "77"), all: map[string]string{"max.connections": "77"},
			live: live(limit, inFile(limit, "5"), inKafka("max.connections", "9")), want: ops{set(limit, "77")},
		},
		"a listener's option goes": {
			file: file(), all: map[string]string{limit: "5"}, live: live(limit, onAll(limit, "5"), inKafka("max.connections", "9")), want: ops{del(limit)},
		},
		"an option that no listener has is not what it is for all": {
			file: file(), live: live(plain+"num.io.threads", inFile(plain+"num.io.threads", "5")),
		},
		"min.insync.replicas goes": {
			file: file(), all: map[string]string{isr: "2"}, live: live(isr, onAll(isr, "2")), want: ops{del(isr)},
		},
		"min.insync.replicas goes with ELR": {
			file: file(), all: map[string]string{isr: "2"}, live: live(isr, onAll(isr, "2")), features: ptr.To(features(30, true)), want: ops{set(isr, "1")},
		},
		"min.insync.replicas that ELR needs": {
			file: file(), all: map[string]string{isr: "1"}, live: live(isr, onAll(isr, "1")), features: ptr.To(features(30, true)),
		},
		"min.insync.replicas while it is not known whether there is ELR": {
			file: file(), all: map[string]string{isr: "2"}, live: live(isr, onAll(isr, "2")), features: ptr.To(observed.Unseen[observed.Features](errAway)),
		},
		"min.insync.replicas comes with ELR": {
			file: file(isr, "2"), all: map[string]string{isr: "1"}, live: live(isr, onAll(isr, "1")), features: ptr.To(features(30, true)), want: ops{set(isr, "2")},
		},
		"a throttle": {
			file: file(), all: map[string]string{"follower.replication.throttled.rate": "5"}, live: observed.Config{},
		},
		"a placeholder is left to the file": {
			file: file(ratio, "${env:RATIO}"), live: live(ratio, inFile(ratio, "0.3")),
		},
		"a value over a placeholder": {
			file: file(ratio, "${env:RATIO}"), all: map[string]string{ratio: "0.1"}, live: live(ratio, onAll(ratio, "0.1")), want: ops{del(ratio)},
		},
		"an option that the version does not know": {
			file: file(), all: map[string]string{"my.own": "5"}, live: observed.Config{},
		},
		"a pool of threads grows in steps": {
			file: file(threads, "40"), live: live(threads, inFile(threads, "8")), want: ops{set(threads, "16")},
		},
		"the next step": {
			file: file(threads, "40"), all: map[string]string{threads: "16"}, live: live(threads, onAll(threads, "16")), want: ops{set(threads, "32")},
		},
		"a step that is not in effect yet": {
			file: file(threads, "40"), all: map[string]string{threads: "16"}, live: live(threads, inFile(threads, "8")),
		},
		"the last step": {
			file: file(threads, "40"), all: map[string]string{threads: "32"}, live: live(threads, onAll(threads, "32")), want: ops{set(threads, "40")},
		},
		"a pool of threads shrinks in steps": {
			file: file(), all: map[string]string{threads: "40"}, live: live(threads, onAll(threads, "40")), want: ops{set(threads, "20")},
		},
		"and is back": {
			file: file(), all: map[string]string{threads: "10"}, live: live(threads, onAll(threads, "10")), want: ops{del(threads)},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			look := seen(tc.live)
			all := observed.Config{}
			for option, value := range tc.all {
				all[option] = entry(option, onAll(option, value))
			}
			look.Default = observed.Seen(all)
			if tc.features != nil {
				look.Features = *tc.features
			}
			got := brokerconfig.DiffDefault([]brokerconfig.File{tc.file}, look)
			if diff := cmp.Diff(tc.want, plainOps(t, got.Options)); diff != "" || got.Unobserved != nil {
				t.Errorf("%v\n-want +got:\n%s", got.Unobserved, diff)
			}
		})
	}
}

// What an unseen process read from its file is not known.
func TestUnseenBrokersCount(t *testing.T) {
	t.Parallel()
	const ratio = "log.cleaner.min.cleanable.ratio"
	other := func(pairs ...string) brokerconfig.File {
		in := input(pairs...)
		in.Node = node(4, "disks", "broker")
		return brokerconfig.Render(in)
	}
	for name, tc := range map[string]struct {
		wanted []string
		all    string
		want   ops
	}{
		"an override is made the default":      {all: "0.4", want: ops{set(ratio, "0.5")}},
		"and kept":                             {all: "0.5"},
		"what is wanted is judged by the seen": {wanted: []string{ratio, "0.5"}},
	} {
		look := seen(live(ratio, inKafka(ratio, "0.5")))
		if tc.all != "" {
			look.Default = observed.Seen(live(ratio, onAll(ratio, tc.all)))
		}
		got := brokerconfig.DiffDefault([]brokerconfig.File{other(tc.wanted...), file(tc.wanted...)}, look)
		if diff := cmp.Diff(tc.want, plainOps(t, got.Options)); diff != "" {
			t.Errorf("%s: -want +got:\n%s", name, diff)
		}
	}
}

// In the middle of an upgrade the oldest version says what is dynamic.
func TestTheOldestVersionDecides(t *testing.T) {
	t.Parallel()
	const option = "group.coordinator.cached.buffer.max.bytes" // dynamic from 4.3 on
	old := input(option, "5000000")
	old.Version = older
	look := seen(observed.Config{})
	oldFile, newFile := brokerconfig.Render(old), file(option, "5000000")
	for _, files := range [][]brokerconfig.File{{oldFile, newFile}, {newFile, oldFile}} {
		if got := brokerconfig.DiffDefault(files, look); got.Options != nil {
			t.Errorf("%+v", got)
		}
	}
	if got := brokerconfig.DiffDefault([]brokerconfig.File{newFile}, look); len(got.Options) != 1 {
		t.Errorf("%+v", got)
	}
}

func TestLeftovers(t *testing.T) {
	t.Parallel()
	in := input()
	carried := observed.Config{
		"cordoned.log.dirs":                 entry("cordoned.log.dirs", onBroker("cordoned.log.dirs", "*")),
		"leader.replication.throttled.rate": entry("leader.replication.throttled.rate", onBroker("leader.replication.throttled.rate", "5")),
		"my.own":                            {Sensitive: true, Synonyms: []observed.ConfigSynonym{onBroker("my.own", "")}},
		"log.retention.ms":                  entry("log.retention.ms", onAll("log.retention.ms", "5")),
		"num.io.threads":                    entry("num.io.threads", inFile("num.io.threads", "5")),
		"min.insync.replicas":               entry("min.insync.replicas", onBroker("min.insync.replicas", "2")),
	}
	look := seen(carried)
	want := []string{"cordoned.log.dirs", "leader.replication.throttled.rate", "min.insync.replicas", "my.own"}
	if diff := cmp.Diff(want, brokerconfig.Leftovers(in.Kafka, newest, 3, look)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	look.Features = features(29, true)
	if diff := cmp.Diff([]string{"leader.replication.throttled.rate", "my.own"}, brokerconfig.Leftovers(in.Kafka, newest, 3, look)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if got := brokerconfig.Leftovers(in.Kafka, newest, 3, seen(observed.Config{})); len(got) > 0 {
		t.Errorf("of a broker that carries nothing: %v", got)
	}
}

func TestLeftoversOfAnUnseenBroker(t *testing.T) {
	t.Parallel()
	in := input()
	got := map[string]bool{}
	for _, name := range brokerconfig.Leftovers(in.Kafka, newest, 7, seen(observed.Config{})) {
		if got[name] {
			t.Errorf("%s twice", name)
		}
		got[name] = true
	}
	for name, want := range map[string]bool{
		"cordoned.log.dirs": true, "leader.replication.throttled.rate": true, "follower.replication.throttled.rate": true,
		"replica.alter.log.dirs.io.max.bytes.per.second": true, "num.io.threads": true, "ssl.cipher.suites": true,
		plain + "max.connections": true, plain + "ssl.keystore.location": true, "listener.name.replication-9091.ssl.keystore.location": true,
		"min.insync.replicas": true, "num.partitions": false, "node.id": false, plain + "cordoned.log.dirs": false, plain + "num.io.threads": false,
	} {
		if got[name] != want {
			t.Errorf("%s is cleared: %v", name, got[name])
		}
	}
	if names := brokerconfig.Leftovers(in.Kafka, older, 7, brokerconfig.Live{}); len(names) < 100 {
		t.Errorf("only %d: %v", len(names), names)
	} else {
		for _, name := range names {
			if name == "cordoned.log.dirs" || name == "min.insync.replicas" {
				t.Errorf("%s is cleared", name)
			}
		}
	}
}

// A broker that cannot follow would log an error, and take no other change
// either.
func TestNoStepSuitsAllBrokers(t *testing.T) {
	t.Parallel()
	const threads = "num.io.threads"
	in := input(threads, "8")
	in.Node = node(4, "disks", "broker")
	look := seen(live(threads, inFile(threads, "8")))
	look.Brokers[4] = observed.Seen(live(threads, inFile(threads, "50")))
	got := brokerconfig.DiffDefault([]brokerconfig.File{file(threads, "8"), brokerconfig.Render(in)}, look)
	if diff := cmp.Diff(brokerconfig.DefaultChange{Held: []string{threads}}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// A secret cannot be read back to compare it, so that no dynamic one may be the
// user's.
func TestSecretsAreTheOperators(t *testing.T) {
	t.Parallel()
	secrets := 0
	for _, version := range configdef.Versions() {
		for _, name := range configdef.BrokerNames() {
			o, ok := configdef.Broker(version, name)
			if !ok || o.Type != configdef.Password || o.Update == configdef.ReadOnly {
				continue
			}
			secrets++
			if brokerconfig.OwnedWith(nil).Prefix(name) == "" {
				t.Errorf("%s of Kafka %s is a user's", name, version)
			}
		}
	}
	if secrets == 0 {
		t.Error("there are none")
	}
}
