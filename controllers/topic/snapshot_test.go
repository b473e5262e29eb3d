package topic

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"

	kafkav1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/controllers/topic/fake"
	"github.com/sluice-kafka/sluice/internal/batch"
	"github.com/sluice-kafka/sluice/internal/kafka"
)

func withoutFinalizers(o *Options) { o.UseFinalizers = false }

func uid(u types.UID) func(*kafkav1.KafkaTopic) { return func(kt *kafkav1.KafkaTopic) { kt.UID = u } }

func TestWithoutFinalizersAResourceThatIsGoneTakesItsTopicAlong(t *testing.T) {
	e := newEnv(t, withoutFinalizers)
	e.create(aTopic("orders"))
	e.turn()
	e.wantReady("orders")
	if got := e.takeWrites(); !slices.Equal(got, []string{"status orders"}) {
		t.Errorf("writes: %v, want the status alone", got)
	}
	e.kafka.Reset()
	e.delete("orders")
	e.turn()
	e.wantCalls(e.kafka.Calls(), fake.DeleteTopics)
	if len(e.kafka.Topics()) > 0 || len(e.takeWrites()) > 0 {
		t.Error("want the topic gone, and nothing written")
	}
	e.wantNothingLeft()
}

// wantNothingLeft wants nothing to wait, or to be kept in memory.
func (e *env) wantNothingLeft() {
	e.t.Helper()
	if n := e.loop.queue.Len(); n > 0 || len(e.loop.index.gone) > 0 {
		e.t.Errorf("%d keys wait, and of %d resources that are gone something is kept", n, len(e.loop.index.gone))
	}
}

func TestWithoutFinalizersATopicStaysThatItsResourceDoesNotDelete(t *testing.T) {
	paused := annotation(kafkav1.AnnotationPauseReconciliation, "true")
	for name, test := range map[string]struct {
		edit func(*kafkav1.KafkaTopic)
		// later is done to the resource once it manages its topic.
		later func(*kafkav1.KafkaTopic)
		want  bool
	}{
		"retained":                      {later: annotation(kafkav1.AnnotationDeletionPolicy, "retain"), want: true},
		"unmanaged":                     {later: annotation(kafkav1.AnnotationManaged, "false"), want: true},
		"unmanaged from the start":      {edit: annotation(kafkav1.AnnotationManaged, "false"), want: true},
		"paused before it managed it":   {edit: paused, want: true},
		"never valid":                   {edit: partitions(0), want: true},
		"paused since":                  {later: paused},
		"managed":                       {},
		"no longer of a served cluster": {later: func(kt *kafkav1.KafkaTopic) { kt.Labels = nil }, want: true},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t, withoutFinalizers)
			e.kafka.SetTopic("orders", fake.Topic{Partitions: 1, Replicas: 1})
			edits := []func(*kafkav1.KafkaTopic){}
			if test.edit != nil {
				edits = append(edits, test.edit)
			}
			e.create(aTopic("orders", edits...))
			e.turn()
			if test.later != nil {
				e.change("orders", test.later)
				// The deletion comes before the change was worked on.
			}
			e.delete("orders")
			e.turn()
			if got := len(e.kafka.Topics()) == 1; got != test.want {
				t.Errorf("the topic is there: %v, want %v", got, test.want)
			}
			e.wantNothingLeft()
		})
	}
}

func TestWithoutFinalizersADeletionComesBeforeALaterCreation(t *testing.T) {
	for name, again := range map[string]*kafkav1.KafkaTopic{
		"of the same topic":  aTopic("orders", uid("second"), partitions(3)),
		"of another topic":   aTopic("orders", uid("second"), topicName("payments")),
		"that is unmanaged":  aTopic("orders", uid("second"), annotation(kafkav1.AnnotationManaged, "false")),
		"of a later managed": aTopic("orders", uid("second"), createdAfter(time.Hour)),
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t, withoutFinalizers)
			e.create(aTopic("orders"))
			e.turn()
			first := e.kafka.Topics()["orders"].ID
			e.kafka.Reset()
			e.delete("orders")
			e.create(again)
			// Kafka does not answer the first time: the order holds across batches.
			e.kafka.NextDeleteTopicsErr = errors.New("cut off")
			e.settleDeletion()
			if got := e.kafka.Calls(); got[0] != fake.DeleteTopics || got[1] != fake.DeleteTopics {
				t.Errorf("calls: %v, want the deletion first, and again", got)
			}
			topics := e.kafka.Topics()
			if there, ok := topics["orders"]; ok && there.ID == first {
				t.Error("the topic of the first resource is still there")
			}
			if again.Managed() {
				e.wantReady("orders")
				if _, ok := topics[again.ClaimedName()]; !ok {
					t.Errorf("topics: %v, want %s", topics, again.ClaimedName())
				}
			}
			e.wantNothingLeft()
		})
	}
}

func TestALaterResourceIsWorkedOnWhateverBecameOfTheTopicOfTheFirst(t *testing.T) {
	e := newEnv(t, withoutFinalizers)
	e.create(aTopic("orders"))
	e.turn()
	id := e.kafka.Topics()["orders"].ID
	e.change("orders", annotation(kafkav1.AnnotationDeletionPolicy, kafkav1.DeletionPolicyRetain))
	e.delete("orders")
	e.create(aTopic("orders", uid("second")))
	e.oneBatch() // the informer tells nothing new of the later one
	e.oneBatch()
	e.wantReady("orders")
	if got := e.kafka.Topics()["orders"].ID; got != id || !e.loop.index.has(key{Namespace: "ns", Name: "orders"}) {
		t.Errorf("the topic's ID is %q, was %q; the later resource must be known", got, id)
	}
}

// oneBatch works on what is ready and hears nothing of the informer.
func (e *env) oneBatch() {
	e.t.Helper()
	ctx, cancel := e.brief()
	defer cancel()
	b, err := e.loop.queue.Next(ctx, batch.Window{MaxSize: 10})
	if err != nil {
		e.t.Fatal(err)
	}
	e.loop.reconcile(e.ctx, b, e.loop.hearts[0])
	e.loop.queue.Done(b)
}

// The later resource of the same name does not stand in for one that has a claim of
// its own, though both came in one second.
func TestATopicThatAnotherClaimsIsKeptThoughItsResourceIsCreatedAgain(t *testing.T) {
	e := newEnv(t, withoutFinalizers)
	e.create(aTopic("a", topicName("orders")), aTopic("b", topicName("orders"), createdAfter(time.Minute)))
	e.turn()
	id := e.kafka.Topics()["orders"].ID
	e.delete("a")
	e.create(aTopic("a", uid("second"), topicName("orders"), createdAfter(time.Minute)))
	e.turn()
	if got := e.kafka.Topics()["orders"].ID; got != id {
		t.Errorf("the topic's ID is %q, was %q", got, id)
	}
	e.wantReady("b")
	e.wantReason("a", kafkav1.ReasonResourceConflict)
}

// settleDeletion waits out the backoff of a deletion that failed once.
func (e *env) settleDeletion() {
	e.t.Helper()
	e.turn()
	e.clock.Step(batch.MinBackoff)
	e.turn()
}

func TestWithoutFinalizersOursIsTakenOffWhatIsManaged(t *testing.T) {
	e := newEnv(t)
	e.create(aTopic("ready"), aTopic("conflicting", topicName("ready"), createdAfter(time.Minute), finalized), aTopic("paused"), aTopic("unmanaged"), aTopic("dying", finalized2))
	e.turn()
	e.change("paused", annotation(kafkav1.AnnotationPauseReconciliation, "true"))
	e.change("unmanaged", annotation(kafkav1.AnnotationManaged, "false"))
	e.turn()
	e.delete("dying")
	e.c.opts.UseFinalizers = false
	e.restart()
	e.kafka.Reset()
	e.turn()
	for name, want := range map[string]bool{"ready": false, "conflicting": false, "paused": false, "unmanaged": true, "dying": false} {
		if got := hasFinalizer(e.get(name)); got != want {
			t.Errorf("%s has the finalizer: %v, want %v", name, got, want)
		}
	}
	// It went the way of its finalizer, and that it is gone does nothing more.
	if _, there := e.kafka.Topics()["dying"]; there {
		t.Error("the topic of the one that was being deleted is there")
	}
	e.kafka.SetTopic("dying", fake.Topic{Partitions: 1, Replicas: 1})
	e.kafka.Reset()
	e.change("dying", func(kt *kafkav1.KafkaTopic) { kt.Finalizers = nil })
	e.turn()
	if e.exists("dying") || len(e.kafka.Calls()) > 0 {
		t.Errorf("calls: %v, want none when the resource goes", e.kafka.Calls())
	}
	e.takeWrites()
	e.resync()
	if got := e.takeWrites(); len(got) > 0 {
		t.Errorf("writes: %v, want none once all is done", got)
	}
	e.wantNothingLeft()
}

func finalized(kt *kafkav1.KafkaTopic) { kt.Finalizers = []string{kafkav1.FinalizerTopic} }

func finalized2(kt *kafkav1.KafkaTopic) { kt.Finalizers = []string{"example.com/another"} }

func TestADeletionThatWasNotSeenIsLookedUpFirst(t *testing.T) {
	for name, test := range map[string]struct {
		there  bool
		unsure error // of the first look
		want   bool
	}{
		"the resource is gone":                    {},
		"the resource is there":                   {there: true, want: true},
		"the API server does not answer at first": {unsure: errors.New("timed out")},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t, withoutFinalizers)
			e.create(aTopic("orders"))
			e.turn()
			last := e.get("orders")
			finalized(last) // it may be an old state, from when finalizers were in use
			if !test.there {
				if err := e.kube.Delete(e.ctx, e.get("orders")); err != nil {
					t.Fatal(err)
				}
			}
			e.failRead = test.unsure
			e.c.handler().OnDelete(toolscache.DeletedFinalStateUnknown{Key: "ns/orders", Obj: last})
			e.settleDeletion()
			if got := len(e.kafka.Topics()) == 1; got != test.want {
				t.Errorf("the topic is there: %v, want %v", got, test.want)
			}
			e.wantNothingLeft()
		})
	}
}

func TestADeletionSeenByTheWatchIsNotLookedUp(t *testing.T) {
	e := newEnv(t, withoutFinalizers)
	e.create(aTopic("orders"))
	e.turn()
	e.failRead = errors.New("nobody asked for this")
	e.delete("orders")
	e.turn()
	if len(e.kafka.Topics()) > 0 {
		t.Error("the topic is there")
	}
}

func TestWithoutFinalizersAFailedDeletionIsSaidAndTriedAgain(t *testing.T) {
	for name, test := range map[string]struct {
		err   error
		after time.Duration
		event bool
	}{
		"a refusal":                {fake.ErrNotAuthorized, 2 * time.Minute, true},
		"brokers that do not":      {fake.ErrDeletionDisabled, 10 * time.Minute, true},
		"a fault that passes":      {fake.ErrTimedOut, time.Second, false},
		"a quota for some seconds": {fake.Throttled(5 * time.Second), 5 * time.Second, false},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t, withoutFinalizers)
			e.create(aTopic("orders"))
			e.turn()
			e.kafka.TopicErrs[fake.DeleteTopics+" orders"] = test.err
			e.delete("orders")
			e.turn()
			said := strings.Join(e.events, "\n")
			if got := strings.Contains(said, "TopicNotDeleted: The topic orders could not be deleted from east"); got != test.event {
				t.Errorf("events: %s; on the failure: %v, want %v", said, got, test.event)
			}
			e.kafka.Reset()
			e.clock.Step(test.after - time.Second/2)
			e.turn()
			e.wantCalls(e.kafka.Calls())
			e.clock.Step(time.Second / 2)
			e.turn()
			if len(e.kafka.Topics()) > 0 {
				t.Error("the topic is there")
			}
			e.wantNothingLeft()
		})
	}
}

func TestWithoutFinalizersADeletionWaitsForKafka(t *testing.T) {
	e := newEnv(t, withoutFinalizers)
	e.create(aTopic("orders"))
	e.turn()
	e.kafka.Unreachable = fmt.Errorf("%w: %w", kafka.ErrUnreachable, errOutage)
	e.delete("orders")
	for range 5 {
		e.turn()
		e.clock.Step(batch.MaxBackoff)
	}
	said := 0
	for _, event := range e.events {
		if strings.HasPrefix(event, "TopicNotDeleted: The topic orders could not be deleted from east") {
			said++
		}
	}
	if said != 1 {
		t.Errorf("%d events on the topic, want one: %q", said, e.events)
	}
	e.kafka.Unreachable = nil
	e.turn()
	if len(e.kafka.Topics()) > 0 {
		t.Error("the topic is there")
	}
	e.wantNothingLeft()
}

func TestWhatMissedDeletionsMeanIsSaidAtTheStart(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*Options)
		want   int
	}{
		"without finalizers": {withoutFinalizers, 1},
		"with finalizers":    {func(*Options) {}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t, test.change)
			said := 0
			e.c.warnOfMissedDeletions(logr.NewContext(t.Context(), funcr.New(func(_, args string) {
				if strings.Contains(args, "while no operator leads") {
					said++
				}
			}, funcr.Options{})))
			if said != test.want {
				t.Errorf("said %d times, want %d", said, test.want)
			}
		})
	}
}

// A key is handed out for a name. If it came to stand for another one since, which
// another batch may hold, it waits for its next turn.
func TestAKeyThatStandsForAnotherNameSinceItsBatchClosedIsNotWorkedOn(t *testing.T) {
	e := newEnv(t, withoutFinalizers)
	e.create(aTopic("orders"))
	b, err := e.loop.queue.Next(e.ctx, batch.Window{MaxSize: 1})
	if err != nil {
		t.Fatal(err)
	}
	e.change("orders", topicName("payments"))
	e.loop.reconcile(e.ctx, b, e.loop.hearts[0])
	e.loop.queue.Done(b)
	if len(e.kafka.Topics()) > 0 {
		t.Errorf("topics: %v, want none before the next batch", e.kafka.Topics())
	}
	e.turn()
	if _, ok := e.kafka.Topics()["payments"]; !ok || len(e.kafka.Topics()) != 1 {
		t.Errorf("topics: %v, want payments", e.kafka.Topics())
	}
}

func TestWithoutFinalizersATopicGoesThoughItsResourceWentAsItsBatchBegan(t *testing.T) {
	e := newEnv(t)
	e.create(aTopic("marked"))
	e.turn()
	e.c.opts.UseFinalizers = false
	e.create(aTopic("orders"))
	e.loop.queue.Add(batch.Change, key{Namespace: "ns", Name: "marked"})
	e.afterWrite = func(string) { e.afterWrite = nil; e.delete("orders") }
	e.turn()
	e.clock.Step(time.Minute)
	e.turn()
	if e.afterWrite != nil {
		t.Fatal("no finalizer was taken off")
	}
	if _, there := e.kafka.Topics()["orders"]; there {
		t.Error("the topic outlived its resource")
	}
	e.wantNothingLeft()
	if got := len(e.loop.index.managers); got != 1 {
		t.Errorf("managers: %d", got)
	}
}
