package topic

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"

	kafkav1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/controllers/topic/fake"
	"github.com/sluice-kafka/sluice/internal/batch"
)

// orders in which two resources of one topic come and go: + creates, - deletes.
var ordersOfTwo = []string{"+a +b -a -b", "+a +b -b -a", "+a -a +b -b", "+b +a -a -b", "+b +a -b -a", "+b -b +a -a"}

// pair plays an order of events on two resources of the topic "orders".
type pair struct {
	e *env
	// at is the age of the next resource, which is older than the one after it
	// unless both came in one second.
	at         time.Duration
	sameSecond bool
}

func (p *pair) play(event string) {
	p.e.t.Helper()
	name := event[1:]
	if event[0] == '-' {
		p.e.delete(name)
		return
	}
	if !p.sameSecond {
		p.at += time.Minute
	}
	p.e.create(aTopic(name, topicName("orders"), createdAfter(p.at)))
}

// left are the resources that an order leaves.
func left(events []string) []string {
	var names []string
	for _, event := range events {
		if name := event[1:]; event[0] == '+' {
			names = append(names, name)
		} else {
			names = slices.DeleteFunc(names, func(n string) bool { return n == name })
		}
	}
	return names
}

// check wants what an order leaves: a topic that a resource manages, or nothing.
func (p *pair) check(events []string, id string) {
	e := p.e
	e.t.Helper()
	topic, there := e.kafka.Topics()["orders"]
	names := left(events)
	if len(names) == 0 && there {
		e.t.Error("the topic outlived both of its resources")
	}
	if len(names) > 0 && !there {
		e.t.Errorf("the topic is gone though %v is there", names)
	}
	if id != "" && topic.ID != id {
		e.t.Errorf("the topic's ID is %q, was %q", topic.ID, id)
	}
	for _, name := range []string{"a", "b"} {
		if e.exists(name) != slices.Contains(names, name) {
			e.t.Errorf("%s is there: %v", name, e.exists(name))
		}
	}
	if len(names) == 1 {
		e.wantReady(names[0])
	}
	e.wantNothingLeft()
}

func eachPair(t *testing.T, test func(t *testing.T, p *pair, events []string)) {
	for _, order := range ordersOfTwo {
		for _, sameSecond := range []bool{false, true} {
			for mode, change := range map[string]func(*Options){"finalizers": func(*Options) {}, "none": withoutFinalizers} {
				for n := 3; n <= 4; n++ { // with one left, and with none
					events := strings.Fields(order)[:n]
					t.Run(fmt.Sprintf("%s/same second %v/%s", strings.Join(events, " "), sameSecond, mode), func(t *testing.T) {
						t.Parallel()
						test(t, &pair{e: newEnv(t, change), sameSecond: sameSecond}, events)
					})
				}
			}
		}
	}
}

func TestTwoResourcesOfOneTopicInEveryOrder(t *testing.T) {
	eachPair(t, func(_ *testing.T, p *pair, events []string) {
		id := ""
		for i, event := range events {
			p.play(event)
			p.e.turn()
			if len(left(events[:i+1])) == 0 {
				id = ""
			}
			p.check(events[:i+1], id)
			id = p.e.kafka.Topics()["orders"].ID
		}
	})
}

func TestTwoResourcesOfOneTopicInOneBatch(t *testing.T) {
	eachPair(t, func(_ *testing.T, p *pair, events []string) {
		for _, event := range events {
			p.play(event)
		}
		p.e.turn()
		p.check(events, "")
	})
}

// Each call to Kafka in turn, of each batch, finds the next event happen in its
// midst.
func TestTwoResourcesOfOneTopicWhileABatchIsInFlight(t *testing.T) {
	for _, call := range []string{fake.DescribeTopics, fake.CreateTopics, fake.DescribeConfigs, fake.DeleteTopics} {
		t.Run(call, func(t *testing.T) {
			t.Parallel()
			eachPair(t, func(_ *testing.T, p *pair, events []string) {
				e, rest, within := p.e, events, false
				e.kafka.BeforeCall = func(c string, _ []string) {
					if c != call || within || len(rest) == 0 {
						return
					}
					within = true
					defer func() { within = false }()
					p.play(rest[0])
					rest = rest[1:]
					e.wantNothingHandedOut()
				}
				for len(rest) > 0 {
					event := rest[0]
					rest = rest[1:]
					p.play(event)
					e.turn()
				}
				e.turn()
				e.clock.Step(batch.MinBackoff) // of a write that met a change
				e.turn()
				p.check(events, "")
			})
		})
	}
}

// wantNothingHandedOut wants the keys of a topic to wait for the batch that works
// on it.
func (e *env) wantNothingHandedOut() {
	e.t.Helper()
	ctx, cancel := context.WithTimeout(e.ctx, time.Millisecond)
	defer cancel()
	if b, err := e.loop.queue.Next(ctx, batch.Window{MaxSize: 10}); err == nil {
		e.t.Errorf("%v is handed out while another batch works on its topic", b.Keys)
		e.loop.queue.Done(b)
	}
}

// Four workers of a running controller, one of which Kafka keeps waiting until all
// has happened.
func TestTwoResourcesOfOneTopicWithFourWorkers(t *testing.T) {
	for _, order := range ordersOfTwo {
		for mode, change := range map[string]func(*Options){"finalizers": func(*Options) {}, "none": withoutFinalizers} {
			t.Run(order+"/"+mode, func(t *testing.T) {
				t.Parallel()
				e := newEnv(t, change, func(o *Options) { o.Workers, o.Clock, o.MaxBatchLinger = 4, nil, time.Millisecond })
				held, release := make(chan struct{}), make(chan struct{})
				var begun atomic.Bool
				e.kafka.BeforeCall = func(_ string, names []string) {
					if slices.Contains(names, "orders") && begun.CompareAndSwap(false, true) {
						close(held)
						<-release
					}
				}
				ctx, cancel := context.WithCancel(logr.NewContext(e.ctx, logr.Discard()))
				ended := make(chan struct{})
				go func() { defer close(ended); _ = e.c.run(ctx) }()
				defer func() { cancel(); <-ended }()

				p := &pair{e: e}
				events := strings.Fields(order)
				p.play(events[0])
				<-held
				for _, event := range events[1:] {
					p.play(event)
				}
				// The others are free for what has nothing to do with it.
				e.create(aTopic("free"))
				await(t, "another topic is made", func() bool { return e.kafka.Topics()["free"].ID != "" })
				close(release)
				await(t, "all is done", func() bool {
					e.sync()
					_, there := e.kafka.Topics()["orders"]
					return !there && !e.exists("a") && !e.exists("b") && e.loop.queue.Len() == 0
				})
			})
		}
	}
}

func TestTheHeirHasTheFinalizerBeforeTheManagerIsLetGo(t *testing.T) {
	for name, meanwhile := range map[string]func(e *env){
		"nothing happens":      func(*env) {},
		"the heir is deleted":  func(e *env) { e.delete("heir") },
		"the heir is paused":   func(e *env) { e.change("heir", annotation(kafkav1.AnnotationPauseReconciliation, "true")) },
		"the write fails once": func(e *env) { e.failWrite = func(string) error { e.failWrite = nil; return errOutage } },
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			e.create(aTopic("manager", topicName("orders")), aTopic("heir", topicName("orders"), createdAfter(time.Minute)))
			e.turn()
			id := e.kafka.Topics()["orders"].ID
			e.takeWrites()
			e.delete("manager")
			b, err := e.loop.queue.Next(e.ctx, batch.Window{MaxSize: 1})
			if err != nil {
				t.Fatal(err)
			}
			meanwhile(e)
			e.loop.reconcile(e.ctx, b, e.loop.hearts[0])
			e.loop.queue.Done(b)
			e.sync()
			if e.exists("heir") && !e.exists("manager") && !hasFinalizer(e.get("heir")) {
				t.Error("the manager went before the heir had the finalizer")
			}
			e.settleDeletion()
			if got := e.kafka.Topics()["orders"].ID; e.exists("heir") && got != id {
				t.Errorf("the topic's ID is %q, was %q", got, id)
			}
			if e.exists("heir") {
				e.delete("heir")
				e.settleDeletion()
			}
			if len(e.kafka.Topics()) > 0 || e.exists("manager") || e.exists("heir") {
				t.Errorf("topics: %v, want nothing once both are deleted", e.kafka.Topics())
			}
		})
	}
}

func TestAfterARefusedRenameTheOldNameIsDeletedWhileABatchIsInFlight(t *testing.T) {
	for mode, change := range map[string]func(*Options){"finalizers": func(*Options) {}, "none": withoutFinalizers} {
		t.Run(mode, func(t *testing.T) {
			e := newEnv(t, change)
			e.create(aTopic("orders"), aTopic("payments"))
			e.turn()
			e.kafka.BeforeCall = func(string, []string) {
				e.kafka.BeforeCall = func(string, []string) {}
				e.change("orders", topicName("payments"))
				e.delete("orders")
			}
			e.loop.queue.Add(batch.Resync, e.loop.index.keys()...)
			e.settleDeletion()
			topics := e.kafka.Topics()
			if _, there := topics["orders"]; there || e.exists("orders") {
				t.Error("the old name was not deleted")
			}
			if _, there := topics["payments"]; !there {
				t.Error("another's topic was deleted")
			}
			e.wantReady("payments")
		})
	}
}

func TestARelabelledResourceKeepsItsTopicThoughItIsDeletedAtOnce(t *testing.T) {
	for mode, change := range map[string]func(*Options){"finalizers": func(*Options) {}, "none": withoutFinalizers} {
		for name, inFlight := range map[string]bool{"at rest": false, "in flight": true} {
			t.Run(mode+"/"+name, func(t *testing.T) {
				e := newEnv(t, change)
				e.create(aTopic("orders"))
				e.turn()
				relabel := func(string, []string) {
					e.kafka.BeforeCall = func(string, []string) {}
					e.change("orders", func(kt *kafkav1.KafkaTopic) { kt.Labels = nil })
					e.delete("orders")
				}
				if inFlight {
					e.kafka.BeforeCall = relabel
					e.loop.queue.Add(batch.Resync, e.loop.index.keys()...)
				} else {
					relabel("", nil)
				}
				e.turn()
				e.settleDeletion()
				if len(e.kafka.Topics()) != 1 || e.exists("orders") {
					t.Error("want the topic kept and the resource gone")
				}
				e.wantNothingLeft()
			})
		}
	}
}
