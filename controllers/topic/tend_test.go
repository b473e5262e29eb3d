package topic

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	fakeclient "sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	kafkav1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/controllers/topic/fake"
	"github.com/sluice-kafka/sluice/internal/batch"
	"github.com/sluice-kafka/sluice/internal/kafka"
)

// withCA has the table's clusters verified by what a Secret holds.
func withCA(o *Options) {
	for i := range o.Clusters {
		o.Clusters[i].CA = &SecretKey{NamespacedName: types.NamespacedName{Namespace: "sluice", Name: "ca"}, Key: "ca.crt"}
	}
}

// setSecret creates or replaces the Secret.
func (e *env) setSecret(value string) {
	e.t.Helper()
	s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "sluice", Name: "ca"}, Data: map[string][]byte{"ca.crt": []byte(value)}}
	err := e.kube.Update(e.ctx, s)
	if apierrors.IsNotFound(err) {
		err = e.kube.Create(e.ctx, s)
	}
	if err != nil {
		e.t.Fatal(err)
	}
}

// records dials, by the certificates that each is told of.
func (e *env) recordDials() (dials func() []string) {
	var mu sync.Mutex
	var cas []string
	e.dial = func(c Cluster) (Connection, error) {
		mu.Lock()
		defer mu.Unlock()
		cas = append(cas, string(c.Security.TLS.CA))
		return Connection{Admin: e.kafka}, nil
	}
	return func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(cas)
	}
}

func TestAChangedSecretIsConnectedWithAndTheOldConnectionEndsAfterItsBatch(t *testing.T) {
	e := newEnv(t, withCA)
	e.loop.link.cut(nil)
	dials := e.recordDials()
	e.setSecret("one")
	for range 3 {
		if err := e.loop.renew(e.ctx); err != nil {
			t.Fatal(err)
		}
	}
	if got := dials(); !slices.Equal(got, []string{"one"}) {
		t.Fatalf("dialled with %q: the same content again is none", got)
	}
	closed := e.kafka.Closed()
	e.create(aTopic("orders"))
	during := -1
	e.kafka.BeforeCall = func(call string, _ []string) {
		if call != "DescribeTopics" {
			if call == "CreateTopics" {
				during = e.kafka.Closed()
			}
			return
		}
		e.setSecret("two")
		if err := e.loop.renew(e.ctx); err != nil {
			t.Error(err)
		}
	}
	e.turn()
	e.wantReady("orders")
	if during != closed || e.kafka.Closed() != closed+1 {
		t.Errorf("%d connections were closed during the batch, %d after it; want none and one", during-closed, e.kafka.Closed()-closed)
	}
	if got := dials(); !slices.Equal(got, []string{"one", "two"}) {
		t.Errorf("dialled with %q", got)
	}
}

func TestWhatCannotBeReadIsNotTakenForChanged(t *testing.T) {
	for name, breaks := range map[string]func(e *env){
		"a Secret that went": func(e *env) {
			if err := e.kube.Delete(e.ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "sluice", Name: "ca"}}); err != nil {
				e.t.Fatal(err)
			}
		},
		"an API server that does not answer": func(e *env) {
			e.c.live = interceptor.NewClient(fakeclient.NewClientBuilder().Build(), interceptor.Funcs{
				Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
					return errOutage
				},
			})
		},
		"a Kafka that does not let the new ones in": func(e *env) {
			e.setSecret("two")
			e.kafka.NextClusterIDErr = &kafka.Error{Code: 58, Name: "SASL_AUTHENTICATION_FAILED"}
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t, withCA)
			e.loop.link.cut(nil)
			e.recordDials()
			e.setSecret("one")
			if err := e.loop.renew(e.ctx); err != nil {
				t.Fatal(err)
			}
			breaks(e)
			err := e.loop.renew(e.ctx)
			if err == nil {
				t.Fatal("nothing failed")
			}
			e.loop.report(e.ctx, err)
			e.create(aTopic("orders"))
			e.turn()
			e.wantReady("orders")
		})
	}
}

// running has the controller work as it would, with the time of a real clock.
func (e *env) running(run func()) {
	e.t.Helper()
	ctx, cancel := context.WithCancel(e.ctx)
	ended := make(chan struct{})
	go func() { defer close(ended); _ = e.c.run(ctx) }()
	run()
	cancel()
	select {
	case <-ended:
	case <-time.After(20 * time.Second):
		e.t.Fatal("the controller does not end")
	}
}

func fast(o *Options) {
	o.Clock, o.MaxBatchLinger, o.Workers = clock.RealClock{}, time.Millisecond, 4
}

func TestAnAuthenticationFailureHasTheSecretReadAtOnce(t *testing.T) {
	e := newEnv(t, withCA, fast)
	dials := e.recordDials()
	e.setSecret("one")
	e.running(func() {
		await(t, "it is connected", func() bool { return e.loop.link.connected() && len(dials()) > 0 })
		e.setSecret("two")
		e.kafka.NextDescribeTopicsErr = fmt.Errorf("%w: %w", kafka.ErrUnreachable, &kafka.Error{Code: 58, Name: "SASL_AUTHENTICATION_FAILED"})
		e.create(aTopic("orders"))
		await(t, "it connected with the new Secret", func() bool { return slices.Contains(dials(), "two") })
		await(t, "the topic is there", func() bool { return len(e.kafka.Topics()) == 1 })
	})
}

func TestALoopEndsAfterTheBatchUnderWay(t *testing.T) {
	e := newEnv(t, fast)
	began, goOn := make(chan struct{}), make(chan struct{})
	e.kafka.BeforeCall = func(call string, _ []string) {
		if call == "CreateTopics" {
			close(began)
			<-goOn
		}
	}
	e.running(func() {
		await(t, "it is connected", func() bool { return len(e.kafka.Calls()) > 0 })
		e.create(aTopic("orders"))
		<-began
		l := e.loop
		e.c.abandon("east", false)
		select {
		case <-l.ended:
			t.Error("the loop ended with a batch under way")
		default:
		}
		// Served anew, it waits for its turn: both would write to the same resource.
		second := e.c.serve(l.cluster, nil)
		closed := e.kafka.Closed()
		close(goOn)
		<-l.ended
		if e.kafka.Closed() == closed {
			t.Error("the connection was not closed")
		}
		await(t, "the new loop works", func() bool {
			e.sync()
			kt := e.get("orders")
			return topicReady(kt) && second.index.has(keyOf(kt))
		})
	})
	if got := len(e.kafka.Topics()); got != 1 {
		t.Errorf("%d topics", got)
	}
}

func topicReady(kt *kafkav1.KafkaTopic) bool {
	c := mainCondition(kt)
	return c.Type == kafkav1.ConditionReady && c.Status == "True" && kt.Status.ObservedGeneration == kt.Generation
}

// newTwoClusters is an env of which nothing is connected yet, and the Kafka that the
// name west leads to.
func newTwoClusters(t *testing.T) (*env, *fake.Admin) {
	e, west := newEnv(t), fake.NewAdmin()
	e.dial = func(c Cluster) (Connection, error) {
		if c.Name == "west" {
			return Connection{Admin: west}, nil
		}
		return Connection{Admin: e.kafka}, nil
	}
	e.loop.link.cut(nil)
	e.other.link.cut(nil)
	return e, west
}

func TestOneOfTwoNamesOfAKafkaClusterIsWorkedOn(t *testing.T) {
	e, west := newTwoClusters(t)
	west.ID = e.kafka.ID
	// The second in order is there first.
	if err := e.other.renew(e.ctx); err != nil {
		t.Fatal(err)
	}
	under := e.other.link.take()
	var o *obstacle
	if err := e.loop.renew(e.ctx); !errors.As(err, &o) || !o.awaited {
		t.Fatalf("error %v: the first must wait for the batch of the second", err)
	}
	if e.other.link.connected() {
		t.Error("the second begins more batches")
	}
	e.other.link.give(under)
	if err := e.loop.renew(e.ctx); err != nil {
		t.Fatal(err)
	}
	err := e.other.renew(e.ctx)
	if !errors.As(err, &o) || o.awaited || !strings.Contains(o.message, "east") || !strings.Contains(o.message, "west") || !strings.Contains(o.message, west.ID) {
		t.Fatalf("error %v, want one that names both", err)
	}
	e.events = nil
	e.other.report(e.ctx, err)
	e.other.report(e.ctx, err)
	if len(e.events) != 1 || !strings.HasPrefix(e.events[0], reasonSameKafka) {
		t.Errorf("events: %q", e.events)
	}
	// A topic of the second waits, without a mark at first.
	e.create(aTopic("orders", of("west")))
	e.other.reconcile(e.ctx, batch.Batch[key]{Keys: e.other.index.keys(), Priorities: []batch.Priority{batch.Change}, Locks: []string{"orders"}}, e.other.hearts[0])
	if len(west.Topics()) > 0 || mainCondition(e.get("orders")).Type != "" {
		t.Error("the second works all the same")
	}
	// When the first goes, the second is woken.
	drain(e.other.doubts)
	e.c.identities.forget(e.loop)
	if !drain(e.other.doubts) {
		t.Error("the second sleeps on")
	}
	if err := e.other.renew(e.ctx); err != nil {
		t.Error(err)
	}
}

func drain(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func TestADeadClusterIsConnectedToWhenItLives(t *testing.T) {
	e := newEnv(t, fast)
	dead := fake.NewAdmin()
	dead.Unreachable = fmt.Errorf("%w: no broker at west:9092 answers", kafka.ErrUnreachable)
	e.dial = func(c Cluster) (Connection, error) {
		if c.Name == "west" {
			return Connection{Admin: dead}, nil
		}
		return Connection{Admin: e.kafka}, nil
	}
	e.other.link.cut(nil)
	e.create(aTopic("waits", of("west")))
	e.running(func() {
		await(t, "the dead one was tried", func() bool { return len(dead.Calls()) > 0 })
		e.create(aTopic("orders"))
		await(t, "the living one keeps its pace", func() bool { return len(e.kafka.Topics()) == 1 })
		dead.Reset()
		await(t, "the topic of the dead one is made", func() bool { return len(dead.Topics()) == 1 })
	})
}

// Clusters come and go, and topics move between them, while batches are under way.
func TestTopicsFindTheirWayThroughClustersThatComeAndGo(t *testing.T) {
	e := newKafkasEnv(t, fast, func(o *Options) { o.MaxBatchSize = 3 })
	var mu sync.Mutex
	dial := e.dial
	e.dial = func(c Cluster) (Connection, error) {
		mu.Lock()
		defer mu.Unlock()
		return dial(c)
	}
	const topics = 20
	for i := range topics {
		e.create(aTopic(fmt.Sprintf("t%02d", i), of("a")))
	}
	e.c.kafkas = nil // shown by hand
	e.running(func() {
		for round := range 30 {
			name, other := "a", "b"
			if round%2 == 1 {
				name, other = other, name
			}
			e.put(aKafka(name))
			for i := range topics {
				if (i+round)%3 == 0 {
					e.tryChange(fmt.Sprintf("t%02d", i), of(name))
				}
			}
			e.sync()
			if round%4 < 2 {
				e.put(aKafka(other, func(k *kafkav1.Kafka) { k.Annotations = nil }))
			}
		}
		e.put(aKafka("a"))
		e.put(aKafka("b"))
		await(t, "all topics are ready", func() bool {
			e.sync()
			for i := range topics {
				if kt := e.get(fmt.Sprintf("t%02d", i)); !topicReady(kt) || !hasFinalizer(kt) {
					return false
				}
			}
			return len(e.c.all()) == 4 // with those of the table
		})
	})
	a, b := e.c.serving("ns/a"), e.c.serving("ns/b")
	for i := range topics {
		kt := e.get(fmt.Sprintf("t%02d", i))
		inA := kt.Labels[kafkav1.LabelCluster] == "a"
		if a.index.has(keyOf(kt)) != inA || b.index.has(keyOf(kt)) == inA {
			t.Errorf("%s is of %s, and known to a: %v, to b: %v", kt.Name, kt.Labels[kafkav1.LabelCluster], a.index.has(keyOf(kt)), b.index.has(keyOf(kt)))
		}
	}
	if len(e.c.strays) > 0 {
		t.Errorf("strays: %v", e.c.strays)
	}
}

// tryChange edits a resource that the controller writes to at the same time.
func (e *env) tryChange(name string, edit func(*kafkav1.KafkaTopic)) {
	e.t.Helper()
	await(e.t, "the resource is changed", func() bool {
		kt := e.get(name)
		edit(kt)
		kt.Generation++
		err := e.kube.Update(e.ctx, kt)
		if err != nil && !apierrors.IsConflict(err) {
			e.t.Fatal(err)
		}
		return err == nil
	})
}

func TestWhatWentMissingAgainIsSaidAgain(t *testing.T) {
	e := newEnv(t, withCA)
	e.loop.link.cut(nil)
	e.recordDials()
	for range 2 {
		e.setSecret("one")
		if err := e.loop.renew(e.ctx); err != nil {
			t.Fatal(err)
		}
		if err := e.kube.Delete(e.ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "sluice", Name: "ca"}}); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			e.loop.report(e.ctx, e.loop.renew(e.ctx))
		}
	}
	said := 0
	for _, event := range e.events {
		if strings.HasPrefix(event, reasonNoSecret) {
			said++
		}
	}
	if said != 2 {
		t.Errorf("events: %q, want the missing Secret once each time", e.events)
	}
}

// The address of one cluster may come to lead to another's Kafka, or a Kafka be built
// anew behind it.
func TestTwoNamesThatCameToBeOneKafkaClusterAreNoticed(t *testing.T) {
	e, west := newTwoClusters(t)
	for _, l := range []*loop{e.loop, e.other} {
		if err := l.renew(e.ctx); err != nil {
			t.Fatal(err)
		}
	}
	west.ID = e.kafka.ID
	var o *obstacle
	if err := e.other.renew(e.ctx); !errors.As(err, &o) || o.reason != reasonSameKafka {
		t.Errorf("error %v, want one that says that both are one", err)
	}
	if e.other.link.connected() || !e.loop.link.connected() {
		t.Error("both are worked on")
	}
	// A Kafka that cannot be asked is the batches' concern.
	e.kafka.NextClusterIDErr = errOutage
	if err := e.loop.renew(e.ctx); err != nil || !e.loop.link.connected() {
		t.Errorf("error %v: the connection of the first was given up", err)
	}
}
