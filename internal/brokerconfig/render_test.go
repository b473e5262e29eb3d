package brokerconfig_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/brokerconfig"
	"github.com/sluice-kafka/sluice/internal/nodepool"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestRenderedText(t *testing.T) {
	t.Parallel()
	users := []string{
		"num.partitions", "3", "min.insync.replicas", "2", "log.cleaner.min.cleanable.ratio", "0.30",
		"log.cleanup.policy", `["compact", "delete"]`, "auto.create.topics.enable", "false",
		plain + "max.connections", "500", "my.plugin.text", `" \t#two words: \\ \nand = ümläut 🌊 "`,
	}
	for name, change := range map[string]func(*brokerconfig.Input){
		"broker": func(*brokerconfig.Input) {},
		"broker-cordoned": func(in *brokerconfig.Input) {
			in.Cordoned = true
		},
		"broker-cordoned-on-4.2": func(in *brokerconfig.Input) {
			in.Cordoned, in.Version = true, older
		},
		"controller": func(in *brokerconfig.Input) {
			in.Node, in.Cordoned = node(1, "heads", "controller"), true
		},
		"combined-jbod": func(in *brokerconfig.Input) {
			in.Node = node(4, "mixed", "both")
			in.Controllers = []nodepool.Node{in.Node}
			in.Pool = pool(jbod(disk(2), disk(0), disk(7)))
			in.Kafka.Spec.Kafka.Listeners = append(in.Kafka.Spec.Kafka.Listeners,
				apiv1.KafkaListener{Name: "second", Port: 9093, Type: apiv1.ListenerInternal})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := input(users...)
			change(&in)
			got := brokerconfig.Render(in).Text()
			golden := filepath.Join("testdata", name+".properties")
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("-want +got (write anew with -update):\n%s", diff)
			}
		})
	}
}

func TestWhatIsRefused(t *testing.T) {
	t.Parallel()
	f := file("cordoned.log.dirs", `"*"`, " Cordoned.Log.Dirs ", `"*"`, "node.id", "9", "log.dirs", "/tmp", "Listeners", "x", "ssl.keystore.location", "/k",
		"listener.name.plain-9092.max.connections", "5", "listener.name.other-9092.max.connections", "5",
		"broker.session.timeout.ms", "9000", "num.partitions", "null", "log.cleanup.policy", "[null]", "", "5", "\t", "5", "min.insync.replicas", "2")
	want := []brokerconfig.Refused{
		{Key: ""}, {Key: "\t"}, {Key: " Cordoned.Log.Dirs "}, {Key: "Listeners"}, {Key: "cordoned.log.dirs"}, {Key: "listener.name.other-9092.max.connections"},
		{Key: "log.cleanup.policy"}, {Key: "log.dirs"}, {Key: "node.id"}, {Key: "num.partitions"}, {Key: "ssl.keystore.location"},
	}
	if diff := cmp.Diff(want, f.Refused, cmpopts.IgnoreFields(brokerconfig.Refused{}, "Reason")); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	for _, r := range f.Refused {
		if r.Reason == "" {
			t.Errorf("%q is refused for no reason", r.Key)
		}
	}
	for name, want := range map[string]string{
		"min.insync.replicas": "2", "broker.session.timeout.ms": "9000", plain + "max.connections": "5", "node.id": "3",
		"log.dirs": "/var/lib/kafka/data/kafka-log3",
	} {
		if f.Options[name] != want {
			t.Errorf("%s is %q, want %q", name, f.Options[name], want)
		}
	}
	for _, name := range []string{"cordoned.log.dirs", "Listeners", "num.partitions", ""} {
		if v, there := f.Options[name]; there {
			t.Errorf("%q is rendered, as %q", name, v)
		}
	}
}

// What Render sets itself, a user must not be able to set too.
func TestWhatIsRenderedIsOwned(t *testing.T) {
	t.Parallel()
	in := input()
	in.Node, in.Cordoned = node(3, "mixed", "both"), true
	options := brokerconfig.Render(in).Options
	if len(options) < 11 {
		t.Fatalf("only %d options: %v", len(options), options)
	}
	for name := range options {
		if brokerconfig.OwnedWith(in.Kafka.Spec.Kafka.Listeners).Prefix(name) == "" {
			t.Errorf("%s is rendered, and yet the user's", name)
		}
	}
}

func TestBlanksAroundKeys(t *testing.T) {
	t.Parallel()
	f := file(" num.partitions", "1", "num.partitions", "2", "num.partitions ", "3", "\tmin.insync.replicas\n", "2")
	if f.Options["num.partitions"] != "2" || f.Options["min.insync.replicas"] != "2" {
		t.Errorf("got %v", f.Options)
	}
}

// Opened as a plain one, a listener that is encrypted or that asks who its
// clients are would let everybody in.
func TestListenersThatStayClosed(t *testing.T) {
	t.Parallel()
	in := input()
	in.Kafka.Spec.Kafka.Listeners = []apiv1.KafkaListener{
		{Name: "tls", Port: 9093, Type: apiv1.ListenerInternal, TLS: true},
		{Name: "open", Port: 9094, Type: apiv1.ListenerInternal},
		{Name: "auth", Port: 9095, Type: apiv1.ListenerInternal, Authentication: &apiextensionsv1.JSON{Raw: []byte(`{"type":"scram-sha-512"}`)}},
		{Name: "world", Port: 9096, Type: "nodeport"},
	}
	options := brokerconfig.Render(in).Options
	for _, name := range []string{"listeners", "advertised.listeners", "listener.security.protocol.map"} {
		if v := options[name]; !strings.Contains(v, "OPEN-9094") || strings.Contains(v, "TLS") || strings.Contains(v, "AUTH") || strings.Contains(v, "WORLD") {
			t.Errorf("%s is %s", name, v)
		}
	}
}

func TestVolumes(t *testing.T) {
	t.Parallel()
	shared := disk(3)
	shared.KraftMetadata, shared.DeleteClaim, shared.Class = "shared", true, "fast"
	ephemeral := apiv1.SingleVolume{ID: disk(5).ID, Type: apiv1.StorageEphemeral}
	type volume = brokerconfig.Volume
	for name, tc := range map[string]struct {
		storage *apiv1.KafkaNodePool
		want    []volume
	}{
		"no storage": {storage: &apiv1.KafkaNodePool{}},
		"a single claim": {storage: pool(single(apiv1.StoragePersistentClaim)), want: []volume{{
			Name: "data", ClaimName: "data-orders-disks-3", MountPath: "/var/lib/kafka/data", LogDir: "/var/lib/kafka/data/kafka-log3",
			Type: "persistent-claim", Size: "10Gi", Metadata: true,
		}}},
		"a single ephemeral volume has no claim": {storage: pool(single(apiv1.StorageEphemeral)), want: []volume{{
			Name: "data", MountPath: "/var/lib/kafka/data", LogDir: "/var/lib/kafka/data/kafka-log3", Type: "ephemeral", Metadata: true,
		}}},
		"jbod ascends, and the metadata is on the shared volume": {storage: pool(jbod(ephemeral, shared, disk(0))), want: []volume{
			{
				ID: 0, Name: "data-0", ClaimName: "data-0-orders-disks-3", MountPath: "/var/lib/kafka/data-0", LogDir: "/var/lib/kafka/data-0/kafka-log3",
				Type: "persistent-claim", Size: "1Ti",
			},
			{
				ID: 3, Name: "data-3", ClaimName: "data-3-orders-disks-3", MountPath: "/var/lib/kafka/data-3", LogDir: "/var/lib/kafka/data-3/kafka-log3",
				Type: "persistent-claim", Size: "1Ti", Class: "fast", DeleteClaim: true, Metadata: true,
			},
			{ID: 5, Name: "data-5", MountPath: "/var/lib/kafka/data-5", LogDir: "/var/lib/kafka/data-5/kafka-log3", Type: "ephemeral"},
		}},
		"without a shared one it is on the lowest": {storage: pool(jbod(ephemeral, apiv1.SingleVolume{Type: apiv1.StorageEphemeral})), want: []volume{
			{ID: 5, Name: "data-5", MountPath: "/var/lib/kafka/data-5", LogDir: "/var/lib/kafka/data-5/kafka-log3", Type: "ephemeral", Metadata: true},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, brokerconfig.Volumes(tc.storage, node(3, "disks", "broker"))); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestHash(t *testing.T) {
	t.Parallel()
	controller := func(pairs ...string) brokerconfig.File {
		in := input(pairs...)
		in.Node = node(1, "heads", "controller")
		return brokerconfig.Render(in)
	}
	both := func(pairs ...string) brokerconfig.File {
		in := input(pairs...)
		in.Node = node(3, "disks", "both")
		return brokerconfig.Render(in)
	}
	second := input()
	second.Kafka.Spec.Kafka.Listeners = append(second.Kafka.Spec.Kafka.Listeners, apiv1.KafkaListener{Name: "second", Port: 9093, Type: "internal"})
	upgraded := input("num.partitions", "3")
	upgraded.Version = "4.4.0"
	for name, tc := range map[string]struct {
		a, b    brokerconfig.File
		restart bool
	}{
		"nothing changes":                               {a: file("num.partitions", "3"), b: file("num.partitions", "3")},
		"a number or its text":                          {a: file("num.partitions", "3"), b: file("num.partitions", `"3"`)},
		"a static option":                               {a: file("num.partitions", "3"), b: file("num.partitions", "4"), restart: true},
		"a static option comes":                         {a: file(), b: file("num.partitions", "3"), restart: true},
		"an option that Kafka does not know":            {a: file(), b: file("my.plugin", "x"), restart: true},
		"a cluster-wide option":                         {a: file("log.retention.ms", "1"), b: file("log.retention.ms", "2")},
		"a per-broker option":                           {a: file(), b: file("ssl.cipher.suites", "a")},
		"a listener's dynamic option":                   {a: file(), b: file(plain+"max.connections", "2")},
		"a listener's static option":                    {a: file(), b: file(plain+"connections.max.reauth.ms", "2"), restart: true},
		"a throttle":                                    {a: file(), b: file("leader.replication.throttled.rate", "2")},
		"a placeholder is resolved at the start":        {a: file("log.retention.ms", "${env:A}"), b: file("log.retention.ms", "${env:B}"), restart: true},
		"the cordon":                                    {a: file(), b: cordoned()},
		"a listener comes":                              {a: file(), b: brokerconfig.Render(second), restart: true},
		"Kafka is upgraded, which its image tells":      {a: file("num.partitions", "3"), b: brokerconfig.Render(upgraded)},
		"a cluster-wide option of a controller":         {a: controller("log.retention.ms", "1"), b: controller("log.retention.ms", "2"), restart: true},
		"a throttle of a controller":                    {a: controller(), b: controller("leader.replication.throttled.rate", "2"), restart: true},
		"a cluster-wide option of both":                 {a: both("min.insync.replicas", "1"), b: both("min.insync.replicas", "2")},
		"a static option of both":                       {a: both("num.partitions", "1"), b: both("num.partitions", "2"), restart: true},
		"a role goes":                                   {a: both(), b: controller(), restart: true},
		"values do not run into names":                  {a: file("my.a", "bmy.c"), b: file("my.ab", "my.c"), restart: true},
		"an option that only a later version has":       {a: file(), b: file("errors.deadletterqueue.topic.name.prefix", "x"), restart: true},
		"what belongs to the operator is not looked at": {a: file(), b: file("cordoned.log.dirs", `"*"`)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if a, b := tc.a.Hash(), tc.b.Hash(); (a != b) != tc.restart {
				t.Errorf("%s and %s, want a restart: %v", a, b, tc.restart)
			}
		})
	}
}
