package topic

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	kafkav1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/controllers/topic/fake"
	"github.com/sluice-kafka/sluice/internal/batch"
	"github.com/sluice-kafka/sluice/internal/kafka"
)

// ofAKafka has the cluster east come from a resource.
func ofAKafka(o *Options) { o.Clusters[0].Kafka = &key{Namespace: "ns", Name: "east"} }

func (e *env) createKafka(finalizers ...string) *kafkav1.Kafka {
	e.t.Helper()
	k := &kafkav1.Kafka{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "east", Finalizers: finalizers}}
	if err := e.kube.Create(e.ctx, k); err != nil {
		e.t.Fatal(err)
	}
	return k
}

func (e *env) deleteKafka() {
	e.t.Helper()
	if err := e.kube.Delete(e.ctx, &kafkav1.Kafka{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "east"}}); err != nil {
		e.t.Fatal(err)
	}
}

func (e *env) createNamespace(onUnreachable string, finalizers ...string) {
	e.t.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: "ns", Annotations: map[string]string{kafkav1.AnnotationOnUnreachable: onUnreachable}, Finalizers: finalizers,
	}}
	if err := e.kube.Create(e.ctx, ns); err != nil {
		e.t.Fatal(err)
	}
}

func (e *env) said(reason string) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	n := 0
	for _, event := range e.events {
		if strings.HasPrefix(event, reason+": ") {
			n++
		}
	}
	return n
}

// strimzis has the finalizer of a resource put on by Strimzi's topic operator.
func strimzis(kt *kafkav1.KafkaTopic) {
	finalized(kt)
	kt.ManagedFields = []metav1.ManagedFieldsEntry{{
		Manager: "strimzi-topic-operator", Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: kafkav1.GroupVersion.String(), FieldsType: "FieldsV1",
		FieldsV1: metav1.NewFieldsV1(`{"f:metadata":{"f:finalizers":{".":{},"v:\"strimzi.io/topic-operator\"":{}}}}`),
	}}
}

func TestAResourceDoesNotWaitForAKafkaThatIsGone(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*Options)
		setUp  func(e *env)
		edit   func(*kafkav1.KafkaTopic)
		// wantCalls to Kafka for the deletion.
		wantCalls    []string
		wantOrphaned int
		wantThere    bool
	}{
		"the Kafka is there": {
			setUp:     func(e *env) { e.createKafka() },
			wantCalls: []string{fake.DeleteTopics},
		},
		"the Kafka does not exist": {
			setUp:        func(*env) {},
			wantOrphaned: 1,
		},
		"the Kafka is being deleted": {
			setUp:        func(e *env) { e.createKafka("foregroundDeletion"); e.deleteKafka() },
			wantOrphaned: 1,
		},
		"it is not known whether the Kafka is there": {
			setUp:     func(e *env) { e.failRead = errors.New("timed out") },
			wantCalls: []string{fake.DeleteTopics},
		},
		"the finalizer is of Strimzi's operator": {
			setUp: func(*env) {}, edit: strimzis,
			wantCalls: []string{fake.DeleteTopics},
		},
		"without finalizers": {
			change: withoutFinalizers, setUp: func(*env) {},
			wantOrphaned: 1,
		},
		"a cluster that has no Kafka resource": {
			change: func(o *Options) { o.Clusters[0].Kafka = nil }, setUp: func(*env) {},
			wantCalls: []string{fake.DeleteTopics},
		},
	} {
		t.Run(name, func(t *testing.T) {
			changes := []func(*Options){ofAKafka}
			if test.change != nil {
				changes = append(changes, test.change)
			}
			e := newEnv(t, changes...)
			e.createNamespace("")
			edits := []func(*kafkav1.KafkaTopic){}
			if test.edit != nil {
				edits = append(edits, test.edit)
			}
			e.create(aTopic("orders", edits...))
			e.turn()
			e.wantReady("orders")
			e.kafka.Reset()
			test.setUp(e)
			e.delete("orders")
			e.turn()
			e.wantCalls(e.kafka.Calls(), test.wantCalls...)
			if e.exists("orders") != test.wantThere {
				t.Errorf("the resource is there: %v, want %v", e.exists("orders"), test.wantThere)
			}
			if got := e.said("TopicOrphaned"); got != test.wantOrphaned {
				t.Errorf("%d events on topics left behind, want %d: %q", got, test.wantOrphaned, e.events)
			}
			e.wantNothingLeft()
		})
	}
}

func TestNoEventIsTriedInANamespaceThatIsBeingDeleted(t *testing.T) {
	e := newEnv(t, ofAKafka)
	e.createNamespace("", "kubernetes")
	e.create(aTopic("orders"))
	e.turn()
	if err := e.kube.Delete(e.ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "ns"}}); err != nil {
		t.Fatal(err)
	}
	e.delete("orders")
	e.turn()
	if e.exists("orders") || len(e.events) > 0 {
		t.Errorf("the resource is there: %v; events: %q", e.exists("orders"), e.events)
	}
}

func TestOneLookAtTheKafkaServesABatch(t *testing.T) {
	e := newEnv(t, ofAKafka)
	for i := range 5 {
		e.create(aTopic(fmt.Sprintf("t%d", i)))
	}
	e.turn()
	reads := e.reads
	e.delete("t0", "t1", "t2", "t3", "t4")
	e.turn()
	if got := e.reads - reads; got != 2 {
		t.Errorf("%d reads past the cache, want one of the Kafka and one of the namespace", got)
	}
	reads = e.reads
	e.resync()
	if got := e.reads - reads; got != 0 {
		t.Errorf("%d reads past the cache without a deletion, want none", got)
	}
}

func TestAResourceWaitsForAnUnreachableKafkaUnlessItsTopicIsToBeOrphaned(t *testing.T) {
	orphan := func(o *Options) { o.OrphanUnreachable = true }
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "namespaces"}, "ns", errors.New("no right"))
	for name, test := range map[string]struct {
		change     func(*Options)
		annotation string
		read       error // of each read of the namespace
		want       bool  // the resource goes
	}{
		"by default it waits":                            {change: func(*Options) {}},
		"with orphan it goes":                            {change: orphan, want: true},
		"its namespace says orphan":                      {change: func(*Options) {}, annotation: "orphan", want: true},
		"its namespace says wait":                        {change: orphan, annotation: "wait"},
		"its namespace says what nobody understands":     {change: orphan, annotation: "Orphan it"},
		"there is no right to read the namespace":        {change: orphan, read: forbidden, want: true},
		"without finalizers its topic is given up alike": {change: func(o *Options) { orphan(o); withoutFinalizers(o) }, want: true},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t, test.change)
			e.createNamespace(test.annotation)
			e.create(aTopic("orders"))
			e.turn()
			e.kafka.Unreachable = fmt.Errorf("%w: %w", kafka.ErrUnreachable, errOutage)
			e.delete("orders")
			e.unreachableFor(9*time.Minute, test.read)
			if e.said("TopicOrphaned") > 0 || e.c.opts.UseFinalizers && !e.exists("orders") {
				t.Error("it went before ten minutes were over")
			}
			e.unreachableFor(3*time.Minute, test.read)
			if got := e.said("TopicOrphaned") == 1; got != test.want || e.exists("orders") == test.want && e.c.opts.UseFinalizers {
				t.Errorf("it went: %v, want %v; events: %q", got, test.want, e.events)
			}
			if e.kafka.Unreachable = nil; test.want {
				e.wantNothingLeft()
				return
			}
			e.clock.Step(batch.MaxBackoff)
			e.turn()
			if e.exists("orders") || len(e.kafka.Topics()) > 0 {
				t.Error("it is not deleted once Kafka answers")
			}
		})
	}
}

func TestOneLookAtANamespaceServesABatchThatIsGivenUp(t *testing.T) {
	e := newEnv(t)
	e.createNamespace(kafkav1.OnUnreachableOrphan)
	e.create(aTopic("t0"), aTopic("t1"))
	e.turn()
	e.kafka.Unreachable = fmt.Errorf("%w: %w", kafka.ErrUnreachable, errOutage)
	e.delete("t0", "t1")
	reads := e.reads
	e.unreachableFor(12*time.Minute, nil)
	if got := e.said("TopicOrphaned"); got != 2 {
		t.Errorf("%d topics were left behind, want both; events: %q", got, e.events)
	}
	if got := e.reads - reads; got != 1 {
		t.Errorf("%d reads past the cache, want one of the namespace", got)
	}
}

// unreachableFor lets an outage last.
func (e *env) unreachableFor(d time.Duration, read error) {
	e.t.Helper()
	for ; d > 0; d -= time.Minute {
		e.clock.Step(time.Minute)
		e.failRead = read
		e.turn()
		e.failRead = nil
	}
}

// An outage has to last without a break: a Kafka that answers in between, or that
// nobody asked for long, may have been there.
func TestAnOutageThatWasBrokenDoesNotOrphan(t *testing.T) {
	unreachable := fmt.Errorf("%w: %w", kafka.ErrUnreachable, errOutage)
	for name, breakIt := range map[string]func(e *env){
		"it answered": func(e *env) {
			e.kafka.Unreachable = nil
			e.create(aTopic("probe"))
			e.clock.Step(batch.MaxBackoff)
			e.turn()
			e.kafka.Unreachable = unreachable
		},
		"nobody asked": func(e *env) { e.clock.Step(time.Hour) },
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t, func(o *Options) { o.OrphanUnreachable = true })
			e.create(aTopic("orders"))
			e.turn()
			e.kafka.Unreachable = unreachable
			e.loop.queue.Add(batch.Resync, e.loop.index.keys()...)
			e.unreachableFor(9*time.Minute, nil)
			breakIt(e)
			e.delete("orders")
			e.unreachableFor(9*time.Minute, nil)
			if !e.exists("orders") {
				t.Error("it went though the outage did not last for ten minutes")
			}
			e.unreachableFor(3*time.Minute, nil)
			if e.exists("orders") {
				t.Error("it waits for ever")
			}
		})
	}
}

func TestAResourceOfAClusterThatIsServedNoMoreIsLetGo(t *testing.T) {
	ours := func(kt *kafkav1.KafkaTopic) {
		strimzis(kt)
		kt.ManagedFields[0].Manager = kafkav1.FieldManager
	}
	nobodys := func(kt *kafkav1.KafkaTopic) { kt.Labels[kafkav1.LabelCluster] = "nobodys" }
	for name, test := range map[string]struct {
		edits []func(*kafkav1.KafkaTopic)
		kafka bool
		keep  bool // not deleted
		read  error
		want  bool // it goes
	}{
		"its Kafka is gone":                       {edits: []func(*kafkav1.KafkaTopic){ours, nobodys}, want: true},
		"its Kafka is there":                      {edits: []func(*kafkav1.KafkaTopic){ours, nobodys}, kafka: true},
		"the finalizer is of Strimzi's":           {edits: []func(*kafkav1.KafkaTopic){strimzis, nobodys}},
		"it is not deleted":                       {edits: []func(*kafkav1.KafkaTopic){ours, nobodys}, keep: true},
		"it names no cluster":                     {edits: []func(*kafkav1.KafkaTopic){ours, func(kt *kafkav1.KafkaTopic) { kt.Labels = nil }}},
		"the API server does not answer at first": {edits: []func(*kafkav1.KafkaTopic){ours, nobodys}, read: errors.New("timed out"), want: true},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t, func(o *Options) { o.Kafkas = true })
			e.createNamespace("")
			if test.kafka {
				k := &kafkav1.Kafka{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "nobodys"}}
				if err := e.kube.Create(e.ctx, k); err != nil {
					t.Fatal(err)
				}
			}
			e.create(aTopic("orders", test.edits...))
			if !test.keep {
				e.delete("orders")
			}
			e.failRead = test.read
			e.sweep()
			e.clock.Step(batch.MinBackoff)
			e.sweep()
			if got := !e.exists("orders") || test.keep && !hasFinalizer(e.get("orders")); got != test.want {
				t.Errorf("it is let go: %v, want %v", got, test.want)
			}
			if got := e.said("TopicOrphaned") == 1; got != test.want {
				t.Errorf("events: %q", e.events)
			}
			if test.want && (e.c.unserved.queue.Len() > 0 || len(e.c.unserved.topics) > 0) {
				t.Error("it is still looked after")
			}
			if test.kafka && !test.want {
				// Once that is gone too there is nobody to wait for.
				if err := e.kube.Delete(e.ctx, &kafkav1.Kafka{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "nobodys"}}); err != nil {
					t.Fatal(err)
				}
				e.clock.Step(batch.MaxBackoff)
				e.sweep()
				if e.exists("orders") {
					t.Error("it waits though its Kafka went")
				}
			}
			if slices.Contains(e.kafka.Calls(), fake.DeleteTopics) {
				t.Error("a topic was deleted")
			}
		})
	}
}

func TestAResourceThatIsBeingDeletedOutlivesItsLoopAndNotItsKafka(t *testing.T) {
	e := newEnv(t, ofAKafka, func(o *Options) { o.Kafkas = true })
	e.createKafka()
	e.create(aTopic("orders"), aTopic("later"))
	e.turn()
	e.kafka.Unreachable = fmt.Errorf("%w: %w", kafka.ErrUnreachable, errOutage)
	e.delete("orders")
	e.turn()
	e.deleteKafka()
	if !e.c.abandon("ns/east", false) {
		t.Fatal("the cluster was not served")
	}
	e.sweep()
	if e.exists("orders") || !e.exists("later") {
		t.Error("want the one that is being deleted gone, and the other there")
	}
	e.delete("later")
	e.sweep()
	if e.exists("later") {
		t.Error("one that was deleted later waits for ever")
	}
}

// sweep looks at what belongs to no cluster, if anything is due.
func (e *env) sweep() {
	e.t.Helper()
	ctx, cancel := e.brief()
	defer cancel()
	b, err := e.c.unserved.queue.Next(ctx, batch.Window{MaxSize: 10})
	if err != nil {
		return
	}
	e.c.unserved.sweep(e.ctx, b.Keys)
	e.c.unserved.queue.Done(b)
	e.sync()
}
