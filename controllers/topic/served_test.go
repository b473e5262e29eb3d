package topic

import (
	"slices"
	"strings"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	kafkav1 "github.com/sluice-kafka/sluice/api/v1"
)

// aKafka is annotated, and tells where its only listener is reached.
func aKafka(name string, edits ...func(*kafkav1.Kafka)) *kafkav1.Kafka {
	k := &kafkav1.Kafka{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "ns", Name: name, UID: types.UID("uid-" + name), Annotations: map[string]string{kafkav1.AnnotationSluiceTopics: "true"},
		},
		Spec: kafkav1.KafkaSpec{Kafka: kafkav1.KafkaClusterSpec{
			Listeners: []kafkav1.KafkaListener{{Name: "plain", Port: 9092, Type: kafkav1.ListenerInternal}},
		}},
		Status: kafkav1.KafkaStatus{Listeners: []kafkav1.ListenerStatus{{Name: "plain", BootstrapServers: name + "-kafka-bootstrap.ns.svc:9092"}}},
	}
	for _, edit := range edits {
		edit(k)
	}
	return k
}

func annotated(name, value string) func(*kafkav1.Kafka) {
	return func(k *kafkav1.Kafka) { k.Annotations[name] = value }
}

func withStrimzisOperator(k *kafkav1.Kafka) {
	k.Spec.EntityOperator = &kafkav1.EntityOperatorSpec{TopicOperator: &apiextensionsv1.JSON{Raw: []byte("{}")}}
}

func TestWhoLooksAfterTheTopicsOfAKafka(t *testing.T) {
	now := metav1.NewTime(time.Unix(1, 0))
	for name, test := range map[string]struct {
		kafka   *kafkav1.Kafka
		byTable bool
		podSets []string
		want    standing
		reason  string
	}{
		"one that is gone":                                 {nil, false, nil, forget, ""},
		"one that is being deleted":                        {aKafka("k", func(k *kafkav1.Kafka) { k.DeletionTimestamp = &now }), false, nil, forget, ""},
		"one without annotations":                          {aKafka("k", func(k *kafkav1.Kafka) { k.Annotations = nil }), false, nil, letGo, ""},
		"one that says no":                                 {aKafka("k", annotated(kafkav1.AnnotationSluiceTopics, "false")), false, nil, letGo, ""},
		"one whose topics are handed over":                 {aKafka("k"), false, nil, serve, ""},
		"one that Sluice runs":                             {aKafka("k", func(k *kafkav1.Kafka) { k.Annotations = map[string]string{kafkav1.AnnotationSluiceManaged: "true"} }), false, nil, serve, ""},
		"one of an entry's name and namespace":             {aKafka("k"), true, nil, leave, reasonServedByTable},
		"one that Strimzi runs without its topic operator": {aKafka("k"), false, []string{"k-brokers"}, serve, ""},
		"one that Strimzi does not run yet":                {aKafka("k", withStrimzisOperator), false, nil, serve, ""},
		"one that Strimzi runs with its topic operator":    {aKafka("k", withStrimzisOperator), false, []string{"k-brokers"}, leave, reasonStandingBack},
	} {
		t.Run(name, func(t *testing.T) {
			got, others := standingOf(test.kafka, test.byTable, test.podSets)
			if got != test.want || (others != nil) != (test.reason != "") || others != nil && others.reason != test.reason {
				t.Errorf("standing %v (%v), want %v (%s)", got, others, test.want, test.reason)
			}
		})
	}
}

func TestHowAKafkaIsReached(t *testing.T) {
	second := kafkav1.KafkaListener{Name: "tls", Port: 9093, Type: kafkav1.ListenerInternal, TLS: true}
	secondStatus := kafkav1.ListenerStatus{Name: "tls", BootstrapServers: "a:9093,b:9093", Certificates: []string{"one", "two"}}
	addSecond := func(k *kafkav1.Kafka) {
		k.Spec.Kafka.Listeners = append(k.Spec.Kafka.Listeners, second)
		k.Status.Listeners = append(k.Status.Listeners, secondStatus)
	}
	external := func(k *kafkav1.Kafka) { k.Spec.Kafka.Listeners[0].Type = "nodeport" }
	for name, test := range map[string]struct {
		edits []func(*kafkav1.Kafka)
		want  []string
		ca    string
		// waits is the reason, and says parts of the message.
		waits string
		says  []string
	}{
		"by its first internal listener": {
			edits: []func(*kafkav1.Kafka){addSecond}, want: []string{"k-kafka-bootstrap.ns.svc:9092"},
		},
		"by the first that is internal": {
			edits: []func(*kafkav1.Kafka){external, addSecond}, want: []string{"a:9093", "b:9093"}, ca: "one\ntwo",
		},
		"by the one that is named, whatever its type": {
			edits: []func(*kafkav1.Kafka){external, addSecond, annotated(kafkav1.AnnotationTopicsListener, "plain")}, want: []string{"k-kafka-bootstrap.ns.svc:9092"},
		},
		"not by one that there is not": {
			edits: []func(*kafkav1.Kafka){addSecond, annotated(kafkav1.AnnotationTopicsListener, "scram")},
			waits: reasonNoListener, says: []string{kafkav1.AnnotationTopicsListener, "scram", "plain, tls"},
		},
		"not where none is internal": {
			edits: []func(*kafkav1.Kafka){external}, waits: reasonNoListener, says: []string{"type internal", kafkav1.AnnotationTopicsListener},
		},
		"not before its status tells": {
			edits: []func(*kafkav1.Kafka){func(k *kafkav1.Kafka) { k.Status.Listeners = nil }}, waits: reasonAwaitsStatus, says: []string{"plain", "status.listeners"},
		},
		"not where the status has no address": {
			edits: []func(*kafkav1.Kafka){func(k *kafkav1.Kafka) { k.Status.Listeners[0].BootstrapServers = "" }}, waits: reasonAwaitsStatus,
		},
	} {
		t.Run(name, func(t *testing.T) {
			cluster, waits := clusterOf(aKafka("k", test.edits...))
			if test.waits != "" {
				if waits == nil || waits.reason != test.waits {
					t.Fatalf("waits for %+v, want %s", waits, test.waits)
				}
				for _, part := range test.says {
					if !strings.Contains(waits.message, part) {
						t.Errorf("%q does not say %q", waits.message, part)
					}
				}
				return
			}
			var ca string
			if cluster.Security.TLS != nil {
				ca = string(cluster.Security.TLS.CA)
			}
			if waits != nil || !slices.Equal(cluster.BootstrapServers, test.want) || ca != test.ca {
				t.Errorf("cluster %+v with CA %q, waits for %v", cluster, ca, waits)
			}
		})
	}
}

func TestWhoChangesReplicationFactors(t *testing.T) {
	cruiseControl := func(k *kafkav1.Kafka) { k.Spec.CruiseControl = &kafkav1.CruiseControlSpec{} }
	for name, test := range map[string]struct {
		kafka *kafkav1.Kafka
		want  bool
	}{
		"Sluice":                          {aKafka("k"), true},
		"nobody yet with Cruise Control":  {aKafka("k", cruiseControl), false},
		"Sluice where it is told to":      {aKafka("k", cruiseControl, annotated(kafkav1.AnnotationRebalanceEngine, "builtin")), true},
		"nobody yet where that is wanted": {aKafka("k", annotated(kafkav1.AnnotationRebalanceEngine, "cruise-control")), false},
	} {
		if cluster, _ := clusterOf(test.kafka); (cluster.NoEngine == "") != test.want {
			t.Errorf("%s: without an engine since %q, want one: %v", name, cluster.NoEngine, test.want)
		}
	}
}
