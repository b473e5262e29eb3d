package topic

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/sluice-kafka/sluice/controllers/topic/fake"
	"github.com/sluice-kafka/sluice/internal/batch"
	"github.com/sluice-kafka/sluice/internal/kafka"
)

// reviewing runs the review until the test ends, and returns a function that lets
// it look again.
func (e *env) reviewing() (again func()) {
	e.t.Helper()
	ctx, cancel := context.WithCancel(e.ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		e.loop.review(ctx)
	}()
	e.t.Cleanup(func() { cancel(); <-done })
	await(e.t, "the first review", e.clock.HasWaiters)
	return func() {
		e.clock.Step(reviewInterval)
		await(e.t, "another review", e.clock.HasWaiters)
	}
}

func (e *env) takeEvents() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	events := e.events
	e.events = nil
	return events
}

func TestTopicsThatClientsCreateAreWarnedOfOnce(t *testing.T) {
	for name, test := range map[string]struct {
		value string
		want  int
	}{
		"clients may not create topics": {"false", 0},
		"clients may create topics":     {"true", 1},
		"written as Kafka allows":       {"TRUE", 1},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			e.kafka.SetBrokerOption(optionAutoCreate, test.value)
			again := e.reviewing()
			again()
			events := e.takeEvents()
			if len(events) != test.want {
				t.Fatalf("events after two reviews: %v, want %d", events, test.want)
			}
			for _, event := range events {
				if !strings.HasPrefix(event, "TopicsCreatedByClients") || !strings.Contains(event, "auto.create.topics.enable=false") || !strings.Contains(event, "east") {
					t.Errorf("the Event does not say where and what to do: %s", event)
				}
			}
			if n := count(e.kafka.Calls(), fake.BrokerOptions); n != 2 {
				t.Errorf("%d calls for two reviews", n)
			}
		})
	}
}

func TestAWarningComesBackWithItsCause(t *testing.T) {
	e := newEnv(t)
	again := e.reviewing()
	for _, value := range []string{"true", "false", "true"} {
		e.kafka.SetBrokerOption(optionAutoCreate, value)
		again()
	}
	if events := e.takeEvents(); len(events) != 2 {
		t.Errorf("events: %v, want two", events)
	}
}

func TestAReviewThatIsNotAllowedNamesTheRightAndHoldsUpNothing(t *testing.T) {
	e := newEnv(t)
	e.kafka.BrokerOptionsErr = fmt.Errorf("describe the configuration of broker 0: %w (the operator's principal needs DESCRIBE_CONFIGS on the cluster)", fake.ErrClusterNotAuthorized)
	e.create(aTopic("orders"))
	again := e.reviewing()
	e.turn()
	e.wantReady("orders")
	again()
	events := e.takeEvents()
	if len(events) != 1 || !strings.HasPrefix(events[0], "PermissionMissing") || !strings.Contains(events[0], "DESCRIBE_CONFIGS on the cluster") ||
		!strings.Contains(events[0], "--skip-cluster-config-review") {
		t.Errorf("events: %v, want one that names the right and the way out", events)
	}
	e.kafka.BrokerOptionsErr = nil
	e.kafka.SetBrokerOption(optionAutoCreate, "true")
	again()
	if events := e.takeEvents(); len(events) != 1 || !strings.HasPrefix(events[0], "TopicsCreatedByClients") {
		t.Errorf("events after the right was granted: %v", events)
	}
}

func TestAReviewOfAKafkaThatIsAwayIsTriedAgainSoon(t *testing.T) {
	e := newEnv(t)
	e.kafka.SetBrokerOption(optionAutoCreate, "true")
	e.kafka.Unreachable = fmt.Errorf("%w: %w", kafka.ErrUnreachable, errOutage)
	e.reviewing()
	if events := e.takeEvents(); len(events) > 0 {
		t.Errorf("events: %v", events)
	}
	e.kafka.Unreachable = nil
	e.clock.Step(batch.MinBackoff)
	await(t, "the second try", e.clock.HasWaiters)
	if events := e.takeEvents(); len(events) != 1 {
		t.Errorf("events: %v, want the warning", events)
	}
}

func TestAReviewThatIsSwitchedOffMakesNoCall(t *testing.T) {
	e := newEnv(t, func(o *Options) { o.SkipClusterConfigReview = true })
	e.loop.review(e.ctx) // returns
	e.wantCalls(e.kafka.Calls())
}
