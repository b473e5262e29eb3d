package cluster

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	kafkav1 "github.com/sluice-kafka/sluice/api/v1"
)

func TestClusterComesUpFromAKafkaAndTwoPools(t *testing.T) {
	e := newEnv(t, newKafka(), newPool("brokers", 3, kafkav1.RoleBroker), newPool("controllers", 1, kafkav1.RoleController))
	e.turns(4)
	want := map[string][]string{
		"pods":       {"c-brokers-0", "c-brokers-1", "c-brokers-2", "c-controllers-3"},
		"configMaps": {"c-brokers-0", "c-brokers-1", "c-brokers-2", "c-controllers-3", "c-sluice-facts"},
		"claims":     {"data-c-brokers-0", "data-c-brokers-1", "data-c-brokers-2", "data-c-controllers-3"},
		"services":   {"c-kafka-bootstrap", "c-kafka-brokers"},
		"budgets":    {"c-kafka"},
	}
	if diff := cmp.Diff(want, e.objectNames()); diff != "" {
		t.Fatalf("-want +got:\n%s\n%s", diff, e.describe())
	}
	if !e.isReady() {
		t.Fatalf("not ready:\n%s", e.describe())
	}
}
