package brokerpod_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/brokerpod"
	"github.com/sluice-kafka/sluice/internal/nodepool"
)

// given is what an input file of testdata holds.
type given struct {
	Kafka *apiv1.Kafka         `json:"kafka"`
	Pool  *apiv1.KafkaNodePool `json:"pool"`
	Rack  *string              `json:"rack"`
}

// read returns the input that a file of testdata describes.
func read(t testing.TB, name string) (brokerpod.Input, *string) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", name+".in.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var g given
	if err := yaml.UnmarshalStrict(raw, &g); err != nil {
		t.Fatal(err)
	}
	return inputOf(g.Kafka, g.Pool, 4), g.Rack
}

func inputOf(kafka *apiv1.Kafka, pool *apiv1.KafkaNodePool, id int32) brokerpod.Input {
	return brokerpod.Input{
		Kafka: kafka,
		Pool:  pool,
		Node: nodepool.Node{
			ID: id, Pool: pool.Name, Pod: nodepool.PodName(kafka.Name, pool.Name, id),
			Broker:     slices.Contains(pool.Spec.Roles, apiv1.RoleBroker),
			Controller: slices.Contains(pool.Spec.Roles, apiv1.RoleController),
		},
		Version:           "4.3.1",
		ClusterID:         "MkU3OEVBNTcwNTJENDM2Qg",
		ConfigurationHash: "0123456789abcdef",
	}
}

// changed returns an input with parts of its Kafka and its pool replaced, which
// are given as YAML.
func changed(t testing.TB, in brokerpod.Input, kafka, pool string) brokerpod.Input {
	t.Helper()
	in.Kafka, in.Pool = in.Kafka.DeepCopy(), in.Pool.DeepCopy()
	if err := yaml.Unmarshal([]byte(kafka), in.Kafka); err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal([]byte(pool), in.Pool); err != nil {
		t.Fatal(err)
	}
	return in
}

func pod(t testing.TB, in brokerpod.Input) *corev1.Pod {
	t.Helper()
	p, err := brokerpod.Pod(in)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
