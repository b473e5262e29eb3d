package rebalance_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	testingclock "k8s.io/utils/clock/testing"

	"github.com/sluice-kafka/sluice/internal/kafka"
	"github.com/sluice-kafka/sluice/internal/observed"
	"github.com/sluice-kafka/sluice/internal/rebalance"
)

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// engine is a builtin engine on a fake cluster.
type engine struct {
	*rebalance.Builtin
	kafka *fakeKafka
	clock *testingclock.FakeClock
	// cordons that are known beside Kafka.
	cordons    map[int32]rebalance.Cordon
	cordonsErr error
}

func newEngine(brokers int32) *engine {
	e := &engine{kafka: newFake(brokers), clock: testingclock.NewFakeClock(start)}
	e.restart()
	return e
}

// restart leaves nothing of what the engine remembers.
func (e *engine) restart() {
	e.Builtin = rebalance.NewBuiltin(e.kafka, rebalance.Options{
		Cordons: func(context.Context) (map[int32]rebalance.Cordon, error) { return e.cordons, e.cordonsErr },
		Clock:   e.clock,
	})
}

// change begins to change one topic.
func (e *engine) change(t *testing.T, topic string, factor int16) rebalance.Started {
	t.Helper()
	all, err := e.ChangeReplicas(t.Context(), map[string]int16{topic: factor})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != 1 || (all[topic].Err == nil) == (all[topic].Session == "") {
		t.Fatalf("answered %+v", all)
	}
	return all[topic]
}

// wantProgress fails the test unless a session stands so.
func (e *engine) wantProgress(t *testing.T, topic, session string, state rebalance.State, parts ...string) {
	t.Helper()
	all, err := e.PollReplicas(t.Context(), map[string]string{topic: session})
	if err != nil {
		t.Fatal(err)
	}
	got := all[topic]
	if len(all) != 1 || got.State != state {
		t.Errorf("session %s: %+v, want state %d", session, all, state)
	}
	for _, part := range parts {
		if !strings.Contains(got.Message, part) {
			t.Errorf("session %s: %q does not say %q", session, got.Message, part)
		}
	}
}

func (e *engine) wantReplicas(t *testing.T, topic string, want ...[]int32) {
	t.Helper()
	if diff := cmp.Diff(want, e.kafka.replicas(topic)); diff != "" {
		t.Errorf("replicas of %s (-want +got):\n%s", topic, diff)
	}
}

// wantWrites fails the test unless so many calls were made that write, of all since
// the last look.
func (e *engine) wantWrites(t *testing.T, want int) {
	t.Helper()
	if calls := e.kafka.take(); calls["Reassign"] != want {
		t.Errorf("calls %v, want %d that write", calls, want)
	}
}

func TestAChangeRunsFromItsBeginningToItsEnd(t *testing.T) {
	e := newEngine(3)
	e.kafka.topic("t", []int32{0}, []int32{1}, []int32{2, 0, 1})
	started := e.change(t, "t", 3)
	if started.Session != "builtin:id-of-t:3" || started.Message != "" {
		t.Errorf("started %+v", started)
	}
	want := map[string]int{"TopicPartitions": 1, "DescribeCluster": 1, "Features": 1, "LogDirs": 3, "BrokerConfig": 3, "Reassign": 1}
	if diff := cmp.Diff(want, e.kafka.take()); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	e.wantProgress(t, "t", started.Session, rebalance.Running, "1 of 3 partitions have 3 replicas (33 %), 2 in flight until the replicas on brokers 0, 1, 2 are in sync")
	e.kafka.finish("t", 0)
	e.wantProgress(t, "t", started.Session, rebalance.Running, "2 of 3 partitions", "1 in flight until the replicas on brokers 0, 2 are in sync")
	e.kafka.finish("t")
	e.wantProgress(t, "t", started.Session, rebalance.Done, "3 of 3 partitions have 3 replicas (100 %)")
	e.wantReplicas(t, "t", []int32{0, 1, 2}, []int32{1, 0, 2}, []int32{2, 0, 1})
}

func TestAChangeThatIsBegunTwiceIsBegunOnce(t *testing.T) {
	e := newEngine(3)
	e.kafka.topic("t", []int32{0}, []int32{1})
	first := e.change(t, "t", 2)
	e.wantWrites(t, 1)
	again := e.change(t, "t", 2)
	if diff := cmp.Diff(first, again); diff != "" {
		t.Errorf("begun again (-first +again):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]int{"TopicPartitions": 1}, e.kafka.take()); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	e.kafka.finish("t")
	e.change(t, "t", 2)
	e.wantWrites(t, 0)
}

func TestAnotherProcessFindsTheSessionAgain(t *testing.T) {
	e := newEngine(3)
	e.kafka.topic("t", []int32{0})
	session := e.change(t, "t", 3).Session
	e.restart()
	e.wantWrites(t, 1)
	e.wantProgress(t, "t", session, rebalance.Running)
	if again := e.change(t, "t", 3); again.Session != session {
		t.Errorf("begun again as %+v, want %s", again, session)
	}
	e.kafka.finish("t")
	e.wantProgress(t, "t", session, rebalance.Done)
	e.wantWrites(t, 0)
}

func TestSessionsThatHaveToBeBegunAnew(t *testing.T) {
	for name, tc := range map[string]struct {
		session string
		// then is what somebody does after the change was begun.
		then func(*engine)
		want string
	}{
		"somebody cancelled it":                   {then: func(e *engine) { e.kafka.cancel("t"); e.clock.Step(time.Minute) }, want: "no reassignment is in flight"},
		"somebody took a replica away afterwards": {then: func(e *engine) { e.kafka.topic("t", []int32{2}) }, want: "0 of 1 partitions"},
		"the topic is gone":                       {then: func(e *engine) { delete(e.kafka.topics, "t") }, want: "the topic does not exist"},
		"the topic is another one": {then: func(e *engine) {
			e.kafka.topics["t"] = observed.Topic{ID: "another", Partitions: e.kafka.topics["t"].Partitions}
		}, want: "created anew"},
		"a broker shows none of its partitions": {then: func(e *engine) { e.kafka.topics["t"] = observed.Topic{ID: "id-of-t"} }, want: "0 of 0 partitions"},
		"another engine began it":               {session: "f8dbcd52-9d5a-4b8e-9f58-2dd4c06c1d1b", want: "none of the builtin engine"},
		"it makes no sense":                     {session: "builtin:id-of-t:many", want: "none of the builtin engine"},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEngine(3)
			e.kafka.topic("t", []int32{0})
			session := e.change(t, "t", 3).Session
			if tc.session != "" {
				session = tc.session
			}
			if tc.then != nil {
				tc.then(e)
			}
			e.wantProgress(t, "t", session, rebalance.Unknown, tc.want)
		})
	}
}

func TestATopicThatCannotBeReadIsNotOver(t *testing.T) {
	e := newEngine(3)
	e.kafka.topic("t", []int32{0})
	session := e.change(t, "t", 3).Session
	e.kafka.unread["t"] = errors.New("not authorized")
	e.wantProgress(t, "t", session, rebalance.Running, "could not be read: not authorized")
}

// What takes no time is never seen in flight, and a broker may not show it yet.
func TestABrokerThatIsBehindCausesNoSecondChange(t *testing.T) {
	e := newEngine(3)
	e.kafka.topic("t", []int32{0, 1, 2})
	e.kafka.shown["t"] = e.kafka.topics["t"]
	session := e.change(t, "t", 2).Session
	e.wantWrites(t, 1)
	e.wantProgress(t, "t", session, rebalance.Running, "do not show yet")
	e.change(t, "t", 2)
	e.wantWrites(t, 0)
	// It never shows: then somebody else gave the replica back.
	e.clock.Step(time.Minute)
	e.wantProgress(t, "t", session, rebalance.Unknown)
	delete(e.kafka.shown, "t")
	e.wantProgress(t, "t", session, rebalance.Done)
	e.wantReplicas(t, "t", []int32{0, 1})
}

func TestTopicsOfABatchFareEachOnTheirOwn(t *testing.T) {
	e := newEngine(4)
	e.kafka.topic("well", []int32{1, 2})
	e.kafka.topic("up", []int32{0})
	e.kafka.topic("down", []int32{0, 1, 2})
	e.kafka.topic("refused", []int32{0})
	e.kafka.refused["refused"] = &kafka.Error{Code: 39, Name: "INVALID_REPLICA_ASSIGNMENT", Message: "no"}
	e.kafka.topic("unread", []int32{0})
	e.kafka.unread["unread"] = &kafka.Error{Code: 29, Name: "TOPIC_AUTHORIZATION_FAILED"}
	e.kafka.topic("offline", []int32{3})
	e.kafka.each("offline", nil, func(p *observed.Partition) { p.InSync, p.Leader = nil, -1 })
	got, err := e.ChangeReplicas(t.Context(), map[string]int16{"well": 2, "up": 2, "down": 2, "refused": 2, "unread": 2, "offline": 2, "gone": 2, "none": 0})
	if err != nil {
		t.Fatal(err)
	}
	for topic, want := range map[string]error{
		"well": nil, "up": nil, "down": nil, "refused": kafka.ErrInvalidReplicaAssignment, "unread": kafka.ErrAuthorization,
		"offline": rebalance.ErrLeftOut, "gone": rebalance.ErrNoTopic, "none": rebalance.ErrNoTopic,
	} {
		if s, answered := got[topic]; !answered || !errors.Is(s.Err, want) || (s.Err != nil && !strings.Contains(s.Err.Error(), fmt.Sprintf("topic %q", topic))) {
			t.Errorf("%s: %+v, want error %v", topic, s, want)
		}
	}
	if e.wantWrites(t, 1); len(e.kafka.lists[0]) != 3 {
		t.Errorf("submitted %v", e.kafka.lists)
	}
}

func TestWhatIsLeftOutIsSaid(t *testing.T) {
	e := newEngine(4)
	e.kafka.topic("t", []int32{0}, []int32{3}, []int32{3})
	e.cordons = map[int32]rebalance.Cordon{3: rebalance.CordonedByHand}
	started := e.change(t, "t", 2)
	for _, part := range []string{"partitions 1, 2: broker 3", "cordoned by annotation", "take it out of the annotation sluice.dev/cordon"} {
		if started.Session == "" || !strings.Contains(started.Message, part) {
			t.Errorf("started %+v, want that it says %q", started, part)
		}
	}
	e.kafka.finish("t")
	e.wantProgress(t, "t", started.Session, rebalance.Unknown, "1 of 3 partitions have 2 replicas (33 %)")
	if started = e.change(t, "t", 2); !errors.Is(started.Err, rebalance.ErrLeftOut) || !strings.Contains(started.Err.Error(), "partitions 1, 2: broker 3") {
		t.Errorf("begun anew: %+v", started)
	}
	e.cordons = nil
	e.change(t, "t", 2)
	e.kafka.finish("t")
	e.wantProgress(t, "t", "builtin:id-of-t:2", rebalance.Done)
	e.wantReplicas(t, "t", []int32{0, 1}, []int32{3, 1}, []int32{3, 2})
}

func TestNothingInFlightIsReplacedOrCancelled(t *testing.T) {
	e := newEngine(4)
	e.kafka.topic("t", []int32{0}, []int32{1})
	session := e.change(t, "t", 2).Session
	e.kafka.finish("t", 1)
	e.wantWrites(t, 1)
	// Another factor is wanted while one partition still moves.
	before := e.kafka.replicas("t")
	started := e.change(t, "t", 3)
	if started.Session == "" || !strings.Contains(started.Message, "partition 0: a reassignment to [0 1] is in flight") {
		t.Errorf("started %+v", started)
	}
	if diff := cmp.Diff([]map[string]map[int32][]int32{{"t": {0: {0, 1}, 1: {1, 0}}}, {"t": {1: {1, 0, 2}}}}, e.kafka.lists); diff != "" {
		t.Errorf("submitted (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(before[0], e.kafka.replicas("t")[0]); diff != "" {
		t.Errorf("partition 0 (-before +after):\n%s", diff)
	}
	e.wantProgress(t, "t", session, rebalance.Running)
	e.kafka.finish("t")
	e.wantProgress(t, "t", started.Session, rebalance.Unknown, "1 of 2 partitions")
	e.change(t, "t", 3)
	e.kafka.finish("t")
	e.wantProgress(t, "t", started.Session, rebalance.Done)
}

func TestBrokersThatTakeNoReplicas(t *testing.T) {
	for name, tc := range map[string]struct {
		set  func(*engine)
		want string
	}{
		"all of its directories are cordoned": {set: func(e *engine) { e.kafka.dirs[1] = []observed.LogDir{{Cordoned: true}, {Offline: true}} }, want: "broker 1 (cordoned)"},
		"its file cordons it": {set: func(e *engine) {
			e.kafka.configs[1] = observed.Config{observed.CordonedLogDirs: {Value: "*", Synonyms: []observed.ConfigSynonym{{Name: observed.CordonedLogDirs, Value: "*", Source: observed.SourceStatic}}}}
		}, want: "broker 1 (cordoned)"},
		"it is being removed":  {set: func(e *engine) { e.cordons = map[int32]rebalance.Cordon{1: rebalance.Draining} }, want: "broker 1 (being removed: a scale-down is in progress)"},
		"it is fenced":         {set: func(e *engine) { e.kafka.brokers[1].Fenced = true }, want: "broker 1 (fenced"},
		"it does not answer":   {set: func(e *engine) { e.kafka.unreadDirs[1] = errors.New("not authorized, needs DESCRIBE") }, want: "broker 1 (not authorized, needs DESCRIBE)"},
		"it is not registered": {set: func(e *engine) { e.kafka.brokers = e.kafka.brokers[:1] }, want: "only 1 hold a replica or can take one [0]"},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEngine(2)
			e.kafka.topic("t", []int32{0})
			tc.set(e)
			started := e.change(t, "t", 2)
			if !errors.Is(started.Err, rebalance.ErrLeftOut) || !strings.Contains(started.Err.Error(), tc.want) {
				t.Errorf("started %+v, want %q", started, tc.want)
			}
			e.wantWrites(t, 0)
		})
	}
	t.Run("its configuration may not be read", func(t *testing.T) {
		e := newEngine(2)
		e.kafka.topic("t", []int32{0})
		e.kafka.unreadConfigs[1] = errors.New("not authorized")
		e.change(t, "t", 2)
		e.wantWrites(t, 1)
	})
}

func TestAFencedBrokerIsNotEvenAsked(t *testing.T) {
	e := newEngine(3)
	e.kafka.topic("t", []int32{0})
	e.kafka.brokers[1].Fenced = true
	e.change(t, "t", 2)
	if calls := e.kafka.take(); calls["LogDirs"] != 2 || calls["BrokerConfig"] != 2 {
		t.Errorf("calls %v, want that two brokers are asked", calls)
	}
}

func TestWholeCallsThatFailAnswerNothing(t *testing.T) {
	passing := fmt.Errorf("no answer: %w", kafka.ErrTimeout)
	e := newEngine(2)
	e.kafka.topic("t", []int32{0})
	for name, set := range map[string]func(){
		"describe": func() { e.kafka.nextDescribe = passing },
		"reassign": func() { e.kafka.nextReassign = passing },
		"cordons":  func() { e.cordonsErr = passing },
	} {
		set()
		if got, err := e.ChangeReplicas(t.Context(), map[string]int16{"t": 2}); !errors.Is(err, kafka.ErrTimeout) || got != nil {
			t.Errorf("%s: %v, %v", name, got, err)
		}
		e.cordonsErr = nil
	}
	e.kafka.nextDescribe = passing
	if got, err := e.PollReplicas(t.Context(), map[string]string{"t": "builtin:id-of-t:2"}); !errors.Is(err, kafka.ErrTimeout) || got != nil {
		t.Errorf("poll: %v, %v", got, err)
	}
	e.change(t, "t", 2)
}

func TestALongListOfPartitionsIsCut(t *testing.T) {
	e := newEngine(2)
	var partitions [][]int32
	for range 13 {
		partitions = append(partitions, []int32{0})
	}
	e.kafka.topic("t", partitions...)
	started := e.change(t, "t", 3)
	if want := "partitions 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 3 more: a replication factor of 3"; started.Err == nil || !strings.Contains(started.Err.Error(), want) {
		t.Errorf("started %+v, want %q", started, want)
	}
}
