package topic

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	kafkav1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/controllers/topic/fake"
	"github.com/sluice-kafka/sluice/internal/batch"
	"github.com/sluice-kafka/sluice/internal/topicplan"
)

// askResync sends a request to the debug handler.
func (e *env) askResync(method string) (int, []clusterStanding) {
	e.t.Helper()
	answer := httptest.NewRecorder()
	e.c.debugResync().ServeHTTP(answer, httptest.NewRequestWithContext(e.ctx, method, pathResync, nil))
	var standings []clusterStanding
	if answer.Code == http.StatusOK {
		if err := json.Unmarshal(answer.Body.Bytes(), &standings); err != nil {
			e.t.Fatal(err)
		}
	}
	return answer.Code, standings
}

// settled makes n topics that are in step with Kafka.
func (e *env) settled(n int) {
	e.t.Helper()
	for i := range n {
		e.create(aTopic(fmt.Sprintf("t%d", i)))
	}
	e.settle()
	e.takeWrites()
	e.kafka.Reset()
}

func TestAForcedResyncTakesAllTopicsAtOnceInWholeBatches(t *testing.T) {
	e := newEnv(t, func(o *Options) { o.MaxBatchSize = 2 })
	e.settled(5)
	code, got := e.askResync(http.MethodPost)
	want := []clusterStanding{{Cluster: "east", Topics: 5, Waiting: 5}, {Cluster: "west"}}
	if code != http.StatusOK || !slices.Equal(got, want) {
		t.Errorf("answer %d: %+v, want %+v", code, got, want)
	}
	if turns := e.turn(); turns != 3 {
		t.Errorf("%d batches, want three of at most two", turns)
	}
	describe := []string{"DescribeTopics", "DescribeTopicConfigs"}
	e.wantCalls(e.kafka.Calls(), slices.Concat(describe, describe, describe)...)
	if w := e.takeWrites(); len(w) > 0 {
		t.Errorf("writes: %v", w)
	}
	if _, got := e.askResync(http.MethodGet); got[0] != (clusterStanding{Cluster: "east", Topics: 5}) {
		t.Errorf("at the end: %+v", got[0])
	}
}

func TestAForcedResyncTellsWhatIsInFlightAndWhatIsDelayed(t *testing.T) {
	e := newEnv(t, func(o *Options) { o.MaxBatchSize = 2 })
	e.settled(3)
	e.loop.queue.AddAfter(key{Namespace: "ns", Name: "t2"}, batch.Resync, topicplan.SettleTime)
	e.loop.queue.Add(batch.Resync, key{Namespace: "ns", Name: "t0"})
	b, err := e.loop.queue.Next(e.ctx, batch.Window{MaxSize: 2})
	if err != nil {
		t.Fatal(err)
	}
	if _, got := e.askResync(http.MethodGet); got[0] != (clusterStanding{Cluster: "east", Topics: 3, Delayed: 1, InFlight: 1}) {
		t.Errorf("%+v", got[0])
	}
	e.loop.queue.Done(b)
	if code, _ := e.askResync(http.MethodDelete); code != http.StatusMethodNotAllowed {
		t.Errorf("a DELETE is answered with %d", code)
	}
}

func TestAForcedResyncBeginsWithWhatIsBehind(t *testing.T) {
	e := newEnv(t)
	e.settled(2)
	deleting := aTopic("z-deleting", func(kt *kafkav1.KafkaTopic) { kt.DeletionTimestamp = &metav1.Time{Time: start} })
	behind := aTopic("y-behind", func(kt *kafkav1.KafkaTopic) { kt.Generation = 2 })
	e.loop.index.put(behind, false)
	e.loop.index.put(deleting, false)
	e.askResync(http.MethodPost)
	b, err := e.loop.queue.Next(e.ctx, batch.Window{MaxSize: 4})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, k := range b.Keys {
		got = append(got, k.Name)
	}
	if want := []string{"z-deleting", "y-behind", "t0", "t1"}; !slices.Equal(got, want) {
		t.Errorf("order %v, want %v", got, want)
	}
}

func TestAUsersChangeIsInTheFirstBatchAfterTheOneInFlight(t *testing.T) {
	e := newEnv(t, func(o *Options) { o.MaxBatchSize = 2 })
	e.settled(9)
	e.askResync(http.MethodPost)
	changed := false
	e.kafka.BeforeCall = func(string, []string) {
		if !changed { // while the first batch of the resync is described
			changed = true
			e.change("t8", config("retention.ms", "1000"))
		}
	}
	e.turn()
	calls := e.kafka.Calls()
	// Two calls of the batch in flight, two to describe, then the change.
	if at := slices.IndexFunc(calls, func(c string) bool { return strings.HasPrefix(c, "AlterTopicConfigs") }); at != 4 {
		t.Errorf("the change is the call number %d of %v, want it to be the fifth", at+1, calls)
	}
	// Five batches carry the nine and the change: it cost no further describe.
	if n := len(calls); n != 2*5+1 {
		t.Errorf("%d calls to Kafka: %v", n, calls)
	}
}

func TestALookThatFindsNothingSaysNothing(t *testing.T) {
	e := newEnv(t)
	e.create(aTopic("plain"), aTopic("grown", partitions(3), config("retention.ms", "1000")),
		aTopic("unmanaged", annotation(kafkav1.AnnotationManaged, "false")),
		aTopic("paused", annotation(kafkav1.AnnotationPauseReconciliation, "true")),
		aTopic("twin", topicName("plain"), createdAfter(1)), aTopic("bad", config("retention.ms", "null")))
	e.settle()
	e.takeWrites()
	var said []string
	e.ctx = logr.NewContext(t.Context(), funcr.New(func(_, args string) { said = append(said, args) }, funcr.Options{}))
	e.askResync(http.MethodPost)
	if turns := e.turn(); turns != 2 {
		t.Fatalf("%d batches, want one and another for the second claim to a name", turns)
	}
	if len(said) > 0 {
		t.Errorf("said: %q", said)
	}
	if w := e.takeWrites(); len(w) > 0 {
		t.Errorf("wrote: %v", w)
	}
}

func TestTopicsAreCountedByState(t *testing.T) {
	e := newEnv(t)
	e.create(aTopic("plain"), aTopic("unmanaged", annotation(kafkav1.AnnotationManaged, "false")),
		aTopic("paused", annotation(kafkav1.AnnotationPauseReconciliation, "true")),
		aTopic("twin", topicName("plain"), createdAfter(1)))
	check := func(when string, want map[topicplan.State]int) {
		t.Helper()
		got := e.loop.index.count()
		for _, s := range topicplan.States {
			if got[string(s)] != want[s] {
				t.Errorf("%s: %d are %s, want %d", when, got[string(s)], s, want[s])
			}
		}
	}
	check("before the first look", map[topicplan.State]int{topicplan.StatePending: 2, topicplan.StatePaused: 1, topicplan.StateUnmanaged: 1})
	e.settle()
	check("after it", map[topicplan.State]int{
		topicplan.StateReady: 1, topicplan.StateNotReady: 1, topicplan.StatePaused: 1, topicplan.StateUnmanaged: 1,
	})
	e.delete("plain")
	check("while it is deleted", map[topicplan.State]int{
		topicplan.StateDeleting: 1, topicplan.StateNotReady: 1, topicplan.StatePaused: 1, topicplan.StateUnmanaged: 1,
	})
	e.settle()
	check("when the next has taken over", map[topicplan.State]int{topicplan.StateReady: 1, topicplan.StatePaused: 1, topicplan.StateUnmanaged: 1})
}

func TestATopicsStartUpBeginsWithWhatIsBehind(t *testing.T) {
	e := newEnv(t)
	e.settled(3)
	behind := e.get("t2")
	behind.Generation++
	e.c, e.loop = nil, nil
	c, err := newController(e.kube, e, e.served, Options{
		Clusters: []Cluster{{Name: "east", Namespaces: []string{"ns"}, BootstrapServers: []string{"east:9092"}}}, UseFinalizers: true, Clock: e.clock,
	}, func(Cluster) (Connection, error) { return Connection{Admin: fake.NewAdmin()}, nil })
	if err != nil {
		t.Fatal(err)
	}
	for _, kt := range []*kafkav1.KafkaTopic{e.get("t0"), e.get("t1"), behind} {
		c.handler().OnAdd(kt, true)
	}
	b, err := c.loops[0].queue.Next(context.WithoutCancel(t.Context()), batch.Window{MaxSize: 3})
	if err != nil || len(b.Keys) != 2 || b.Keys[0].Name != "t2" {
		t.Errorf("order %v, error %v; want t2 first, and one other beside it", b.Keys, err)
	}
}
