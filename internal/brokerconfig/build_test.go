package brokerconfig_test

import (
	"encoding/json"
	"errors"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/brokerconfig"
	"github.com/sluice-kafka/sluice/internal/nodepool"
	"github.com/sluice-kafka/sluice/internal/observed"
)

const (
	newest = "4.3.1" // of those that can cordon
	older  = "4.2.1" // of those that cannot
	plain  = "listener.name.plain-9092."
)

var errAway = errors.New("the broker is away")

// config is spec.kafka.config of options whose values are JSON or, where they are
// not, texts.
func config(pairs ...string) apiv1.Config {
	c := apiv1.Config{}
	for i := 0; i < len(pairs); i += 2 {
		raw := []byte(pairs[i+1])
		if !json.Valid(raw) {
			raw, _ = json.Marshal(pairs[i+1])
		}
		c[pairs[i]] = apiextensionsv1.JSON{Raw: raw}
	}
	return c
}

func kafka(pairs ...string) *apiv1.Kafka {
	k := &apiv1.Kafka{ObjectMeta: metav1.ObjectMeta{Name: "orders", Namespace: "shop"}}
	k.Spec.Kafka.Config = config(pairs...)
	k.Spec.Kafka.Listeners = []apiv1.KafkaListener{{Name: "plain", Port: 9092, Type: apiv1.ListenerInternal}}
	return k
}

func pool(storage apiv1.Storage) *apiv1.KafkaNodePool {
	return &apiv1.KafkaNodePool{
		ObjectMeta: metav1.ObjectMeta{Name: "disks", Namespace: "shop"},
		Spec:       apiv1.KafkaNodePoolSpec{Storage: &storage},
	}
}

func single(kind string) apiv1.Storage {
	return apiv1.Storage{SingleVolume: apiv1.SingleVolume{Type: kind, Size: "10Gi"}}
}

func jbod(volumes ...apiv1.SingleVolume) apiv1.Storage {
	return apiv1.Storage{SingleVolume: apiv1.SingleVolume{Type: apiv1.StorageJBOD}, Volumes: volumes}
}

func disk(id int64) apiv1.SingleVolume {
	return apiv1.SingleVolume{ID: ptr.To(id), Type: apiv1.StoragePersistentClaim, Size: "1Ti"}
}

func node(id int32, pool, roles string) nodepool.Node {
	return nodepool.Node{
		ID: id, Pool: pool, Pod: nodepool.PodName("orders", pool, id),
		Broker: roles != "controller", Controller: roles != "broker",
	}
}

// input of broker 3 beside three controllers.
func input(pairs ...string) brokerconfig.Input {
	return brokerconfig.Input{
		Kafka: kafka(pairs...), Pool: pool(single(apiv1.StoragePersistentClaim)), Node: node(3, "disks", "broker"), Version: newest,
		Controllers: []nodepool.Node{node(2, "heads", "controller"), node(0, "heads", "controller"), node(1, "heads", "controller")},
	}
}

func file(pairs ...string) brokerconfig.File { return brokerconfig.Render(input(pairs...)) }

func cordoned(pairs ...string) brokerconfig.File {
	in := input(pairs...)
	in.Cordoned = true
	return brokerconfig.Render(in)
}

// entry is an option as a broker reports it: its synonyms, the one in effect
// first.
func entry(name string, synonyms ...observed.ConfigSynonym) observed.ConfigEntry {
	e := observed.ConfigEntry{Synonyms: synonyms}
	if len(synonyms) > 0 && synonyms[0].Name == name {
		e.Value = synonyms[0].Value
	}
	return e
}

func live(name string, synonyms ...observed.ConfigSynonym) observed.Config {
	return observed.Config{name: entry(name, synonyms...)}
}

func from(source observed.ConfigSource, name, value string) observed.ConfigSynonym {
	return observed.ConfigSynonym{Name: name, Value: value, Source: source}
}

func onBroker(name, value string) observed.ConfigSynonym {
	return from(observed.SourceBroker, name, value)
}
func onAll(name, value string) observed.ConfigSynonym {
	return from(observed.SourceDefault, name, value)
}
func inFile(name, value string) observed.ConfigSynonym {
	return from(observed.SourceStatic, name, value)
}
func inKafka(name, value string) observed.ConfigSynonym {
	return from(observed.SourceKafka, name, value)
}

func features(level int16, elr bool) observed.Of[observed.Features] {
	version := "4.2-IV1"
	if level >= 30 {
		version = "4.3-IV0"
	}
	return observed.Seen(observed.Features{MetadataVersion: version, MetadataLevel: level, EligibleLeaderReplicas: elr})
}

// seen is a cluster at 4.3-IV0 without eligible leader replicas, where broker 3
// reports a configuration.
func seen(config observed.Config) brokerconfig.Live {
	return brokerconfig.Live{
		Brokers:  map[int32]observed.Of[observed.Config]{3: observed.Seen(config)},
		Default:  observed.Seen(observed.Config{}),
		Features: features(30, false),
	}
}

func set(name, value string) brokerconfig.Op { return brokerconfig.Op{Name: name, Value: value} }
func del(name string) brokerconfig.Op        { return brokerconfig.Op{Name: name, Delete: true} }

// plainOps are operations without their reasons, each of which has to have one.
func plainOps(t *testing.T, ops []brokerconfig.Op) []brokerconfig.Op {
	t.Helper()
	var bare []brokerconfig.Op
	for _, op := range ops {
		if op.Reason == "" {
			t.Errorf("%+v has no reason", op)
		}
		op.Reason = ""
		bare = append(bare, op)
	}
	return bare
}
