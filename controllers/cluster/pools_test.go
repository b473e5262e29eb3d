package cluster

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	kafkav1 "github.com/sluice-kafka/sluice/api/v1"
)

func TestDeletedPoolStaysUntilItsBrokersAreEmpty(t *testing.T) {
	e := running(t, 3)
	e.addPool(newPool("others", 2, kafkav1.RoleBroker))
	e.until("all five brokers run", func() bool { return len(e.kafka.Registered()) == 5 })
	e.kafka.Place("data", 0, 0, 3)
	e.kafka.Place("data", 1, 4, 1)
	e.turns(2)
	e.must(e.store.Delete(e.byKubelet(), get[kafkav1.KafkaNodePool](e, "others")))
	e.turns(5)
	if pool := get[kafkav1.KafkaNodePool](e, "others"); pool == nil || !slices.Equal(pool.Status.NodeIDs, []int64{3, 4}) {
		t.Fatalf("the pool is %v", pool)
	}
	if !e.kafka.Cordoned(3) || !e.kafka.Cordoned(4) || e.kafka.Cordoned(0) {
		t.Error("not those that go are cordoned")
	}
	e.kafka.Drain(3, 4)
	e.until("the pool is gone", func() bool { return get[kafkav1.KafkaNodePool](e, "others") == nil })
	e.gone(3, 4)
}

func TestLastBrokersGoWithoutAWordOfKafkas(t *testing.T) {
	e := running(t, 2)
	e.must(e.store.Delete(e.byKubelet(), get[kafkav1.KafkaNodePool](e, "brokers")))
	e.until("the pool is gone", func() bool { return get[kafkav1.KafkaNodePool](e, "brokers") == nil })
	if got := e.objectNames()["claims"]; len(got) != 3 {
		t.Errorf("claims %v", got)
	}
}

func (e *env) addPool(p *kafkav1.KafkaNodePool) {
	e.t.Helper()
	e.must(e.store.Create(e.byKubelet(), p))
}

func TestPoolsGoAtOnceWithTheirKafka(t *testing.T) {
	tests := map[string]func(e *env){
		"the Kafka is gone": func(e *env) {
			e.must(e.store.Delete(e.byKubelet(), e.kafkaResource()))
		},
		"the Kafka is being deleted": func(e *env) {
			edit(e, "c", func(k *kafkav1.Kafka) { k.Finalizers = []string{"foregroundDeletion"} })
			e.must(e.store.Delete(e.byKubelet(), e.kafkaResource()))
		},
		"the Kafka is not handed to the operator any more": func(e *env) {
			e.annotate("c", kafkav1.AnnotationSluiceManaged, "")
		},
	}
	for name, let := range tests {
		t.Run(name, func(t *testing.T) {
			e := running(t, 3)
			e.spread(3)
			let(e)
			e.turns(2)
			for _, p := range e.poolResources() {
				if len(p.Finalizers) > 0 {
					t.Errorf("pool %s is held by %v", p.Name, p.Finalizers)
				}
			}
			e.takeWrites()
			e.kafka.TakeCalls()
			e.turns(1)
			if w := e.takeWrites(); len(w) > 0 || len(e.kafka.Calls()) > 0 {
				t.Errorf("goes on with %v and %v", w, e.kafka.Calls())
			}
			if len(e.podNames()) != 6 {
				t.Errorf("pods were touched: %v", e.podNames())
			}
		})
	}
}

func TestNobodyElsesKafkaIsTouched(t *testing.T) {
	kafka := newKafka()
	delete(kafka.Annotations, kafkav1.AnnotationSluiceManaged)
	e := newEnv(t, kafka, newPool("brokers", 3, kafkav1.RoleBroker), newPool("controllers", 3, kafkav1.RoleController))
	e.turns(3)
	if w := e.takeWrites(); len(w) > 0 {
		t.Errorf("wrote %v", w)
	}
}

func TestStandsBackWhereStrimziRunsTheCluster(t *testing.T) {
	e := running(t, 3)
	set := &unstructured.Unstructured{}
	set.SetGroupVersionKind(podSetKind)
	set.SetNamespace("kafka")
	set.SetName("c-brokers")
	set.SetLabels(map[string]string{kafkav1.LabelCluster: "c", kafkav1.LabelKind: kafkav1.KindKafka})
	e.must(e.store.Create(e.byKubelet(), set))
	served := meta.NewDefaultRESTMapper([]schema.GroupVersion{podSetKind.GroupVersion()})
	served.Add(podSetKind, meta.RESTScopeNamespace)
	e.served = served
	e.restartOperator()
	e.scale("brokers", 1)
	e.turns(3)
	if got := e.takeWrites(); !slices.Equal(got, []string{"patch Kafka c/status"}) {
		t.Errorf("wrote %v", got)
	}
	if len(e.kafka.Calls()) > 0 {
		t.Errorf("called %v", e.kafka.Calls())
	}
	if message, ok := e.condition(kafkav1.ConditionWarning, reasonStrimziRuns); !ok || !strings.Contains(message, "c-brokers") {
		t.Errorf("condition %q", message)
	}
	if n := count(e.eventReasons(), "StandingBack"); n != 1 {
		t.Errorf("told %d times", n)
	}
	e.must(e.store.Delete(e.byKubelet(), set))
	e.turns(2)
	if _, ok := e.condition(kafkav1.ConditionWarning, reasonStrimziRuns); ok || !e.isReady() {
		t.Errorf("stood back for ever:\n%s", e.describe())
	}
}

func TestPausedKafkaIsLeftAsItIs(t *testing.T) {
	e := running(t, 3)
	e.annotate("c", kafkav1.AnnotationPauseReconciliation, "true")
	e.scale("brokers", 5)
	e.turns(3)
	if got := e.takeWrites(); !slices.Equal(got, []string{"patch Kafka c/status"}) {
		t.Errorf("wrote %v", got)
	}
	if _, ok := e.condition(kafkav1.ConditionReconciliationPaused, ""); !ok {
		t.Errorf("not said:\n%s", e.describe())
	}
	e.annotate("c", kafkav1.AnnotationPauseReconciliation, "")
	e.until("five brokers run", func() bool { return len(e.kafka.Registered()) == 5 })
}

func TestFaultyResourcesTouchNoPodAndStopNoCordon(t *testing.T) {
	e := running(t, 5)
	e.spread(5)
	e.turns(1)
	e.takeWrites()
	edit(e, "c", func(k *kafkav1.Kafka) {
		k.Spec.Kafka.Listeners = append(k.Spec.Kafka.Listeners, kafkav1.KafkaListener{Name: "plain", Port: 9092, Type: kafkav1.ListenerInternal})
	})
	e.scale("brokers", 3)
	e.turns(3)
	for _, w := range e.takeWrites() {
		if !strings.HasSuffix(w, "/status") && w != "apply ConfigMap c-sluice-facts" {
			t.Errorf("touched: %s", w)
		}
	}
	if message, ok := e.condition(kafkav1.ConditionNotReady, kafkav1.ReasonInvalidResource); !ok || !strings.Contains(message, "spec.kafka.listeners") {
		t.Errorf("condition %q\n%s", message, e.describe())
	}
	if !e.kafka.Cordoned(3) || !e.kafka.Cordoned(4) {
		t.Error("cordoning stopped")
	}
	e.kafka.Drain(3, 4)
	e.turns(5)
	if len(e.brokerPods()) != 5 {
		t.Errorf("pods went: %v", e.brokerPods())
	}
	edit(e, "c", func(k *kafkav1.Kafka) { k.Spec.Kafka.Listeners = k.Spec.Kafka.Listeners[:1] })
	e.until("brokers 3 and 4 are forgotten", func() bool { return len(e.kafka.Registered()) == 3 })
	e.turns(2)
	e.gone(3, 4)
}

func TestSkippedCheckLetsBrokersGoAtOnceAndCleansUp(t *testing.T) {
	e := running(t, 5)
	e.spread(5)
	e.kafka.SetDynamic(4, "log.cleaner.threads", "2")
	e.turns(2)
	e.kafka.TakeCalls()
	e.annotate("c", kafkav1.AnnotationSkipScaleDownCheck, "true")
	e.scale("brokers", 3)
	e.turns(1)
	if got := e.brokerPods(); !slices.Equal(got, podsOf(0, 1, 2)) {
		t.Errorf("pods %v", got)
	}
	e.until("brokers 3 and 4 are forgotten", func() bool { return len(e.kafka.Registered()) == 3 })
	for _, w := range e.kafka.TakeWrites() {
		if strings.Contains(w, "cordoned") {
			t.Errorf("called %s", w)
		}
	}
	for _, id := range []int32{3, 4} {
		if d := e.kafka.Dynamic(id); len(d) > 0 {
			t.Errorf("broker %d would come back with %v", id, d)
		}
	}
}

func TestRemovalWaitsForARebalanceOfTheClustersOwn(t *testing.T) {
	e := held(t)
	rebalance := &kafkav1.KafkaRebalance{ObjectMeta: metav1.ObjectMeta{
		Namespace: "kafka", Name: "c-auto-rebalancing-remove-brokers", Labels: map[string]string{kafkav1.LabelCluster: "c"},
	}}
	rebalance.Status.Conditions = []kafkav1.Condition{{Type: "Rebalancing", Status: "True"}}
	e.must(e.store.Create(e.byKubelet(), rebalance))
	e.must(e.store.Status().Update(e.byKubelet(), rebalance))
	e.kafka.Drain(3, 4)
	e.turns(8)
	if len(e.brokerPods()) != 5 {
		t.Fatalf("pods went: %v", e.brokerPods())
	}
	if _, ok := e.condition(kafkav1.ConditionWarning, reasonRemovalWaits); !ok {
		t.Errorf("not said:\n%s", e.describe())
	}
	rebalance.Status.Conditions[0].Type = "Ready"
	e.must(e.store.Status().Update(e.byKubelet(), rebalance))
	e.until("brokers 3 and 4 are forgotten", func() bool { return len(e.kafka.Registered()) == 3 })
	e.turns(2)
	e.gone(3, 4)
}

func TestRestoredPoolTakesTheNodesOfItsClaims(t *testing.T) {
	kafka := newKafka()
	kafka.Status.ClusterID = "AAAAAAAAAAAAAAAAAAAAAA"
	controllers := newPool("controllers", 1, kafkav1.RoleController)
	controllers.Annotations = map[string]string{kafkav1.AnnotationNextNodeIDs: "[100]"}
	e := newEnv(t, kafka, newPool("brokers", 2, kafkav1.RoleBroker), controllers, claimOf("c-brokers-4"), claimOf("c-brokers-7"))
	e.turns(4)
	if got := e.brokerPods(); !slices.Equal(got, podsOf(4, 7)) {
		t.Errorf("pods %v", got)
	}
	if got := e.kafkaResource().Status.ClusterID; got != kafka.Status.ClusterID {
		t.Errorf("cluster ID %s", got)
	}
}

func claimOf(pod string) *corev1.PersistentVolumeClaim {
	return &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{
		Namespace: "kafka", Name: "data-" + pod,
		Labels: map[string]string{kafkav1.LabelCluster: "c", kafkav1.LabelPoolName: "brokers", labelManagedBy: kafkav1.FieldManager},
	}}
}

func TestClaimsThatAreKeptDoNotComeBackAsNodes(t *testing.T) {
	e := running(t, 3)
	edit(e, "brokers", func(p *kafkav1.KafkaNodePool) { p.Spec.Storage.DeleteClaim = false })
	e.addPool(newPool("others", 1, kafkav1.RoleBroker))
	e.turns(4)
	e.scale("brokers", 0)
	e.until("only broker 3 is registered", func() bool { return slices.Equal(e.kafka.Registered(), []int32{3}) })
	e.turns(3)
	if got := e.objectNames()["claims"]; !slices.Contains(got, "data-c-brokers-0") {
		t.Errorf("claims %v", got)
	}
	if ids := e.nodeIDs("brokers"); len(ids) > 0 {
		t.Errorf("nodes came back: %v", ids)
	}
	e.settled()
}
