package topic

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"

	kafkav1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/batch"
	"github.com/sluice-kafka/sluice/internal/configdef"
	"github.com/sluice-kafka/sluice/internal/kafka"
	"github.com/sluice-kafka/sluice/internal/observed"
	"github.com/sluice-kafka/sluice/internal/rebalance"
	"github.com/sluice-kafka/sluice/internal/topicplan"
)

// pass is one batch on its way through the steps.
type pass struct {
	*loop
	// admin and engine are those of the connection that the batch began with.
	admin  Admin
	engine Engine
	// noEngine is the cluster's reason for having none.
	noEngine string
	now      time.Time
	works    []*work
	heart    *batch.Heartbeat
	// kept are the optional status fields that may be written.
	kept topicplan.Kept
	// heard tells that Kafka answered a call, and aborted that it does not answer: no
	// further call is made.
	heard, aborted bool
	// registration of the cluster's brokers, where a refusal made it be asked for.
	registration *observed.Registration
	// shortage is why there may be too few brokers for a replication factor; looked
	// up once a batch.
	shortage *string
	orphans  *orphans
}

// work is one resource of a batch.
type work struct {
	topic    *kafkav1.KafkaTopic
	priority batch.Priority
	name     string
	verdict  topicplan.Verdict
	// gone tells that the resource exists no longer, and unsure that this was not
	// seen.
	gone, unsure bool
	// moved tells that the resource managed nothing in this cluster since it came
	// from another.
	moved bool

	wanted topicplan.Wanted
	memory topicplan.Memory
	// described tells that Kafka answered; seen is nil where the topic does not
	// exist.
	described bool
	seen      *topicplan.Seen
	plan      topicplan.Plan
	// progress of the session that changes the number of replicas; nil if it was not
	// told, and then sessionFault says why.
	progress     *rebalance.Progress
	sessionFault string
	replicas     topicplan.ReplicasPlan

	// faults of the steps, in the order in which a status names them.
	faults faults
	failed bool
	// changed tells that somebody changed the resource, so that it was not written to.
	changed bool
	// released tells that our finalizer is to be taken off.
	released bool
	// orphaned says why the topic is left behind; empty if it is not.
	orphaned orphaning
	status   *kafkav1.KafkaTopicStatus
	next     next
}

// faults are final: Kafka will say the same until something is changed.
type faults struct {
	topic, config, partitions, replicas *topicplan.Problem
}

// problems of the resource, in the order in which a status names them: those of the
// topic itself, of its options, its partitions and its replicas.
func (w *work) problems() []topicplan.Problem {
	var list []topicplan.Problem
	add := func(p *topicplan.Problem) {
		if p != nil {
			list = append(list, *p)
		}
	}
	add(w.faults.topic)
	add(w.faults.config)
	add(w.faults.partitions)
	list = append(list, w.plan.Problems...)
	add(w.faults.replicas)
	add(w.replicas.Problem)
	return list
}

// next is what becomes of a key after its batch.
type next struct {
	// out tells that the steps are over for this key.
	out bool
	// retry queues it after its backoff, but not before wait.
	retry bool
	wait  time.Duration
	// later queues it after its backoff too; what is known is said all the same.
	later bool
	// returned queues it as it was, since Kafka did not answer at all.
	returned bool
	// kafkas tells that the key is queued again because Kafka has not done, or does
	// not show, what it was asked for.
	kafkas bool
	// after queues it once more when that has passed; 0 does not.
	after time.Duration
	why   string
}

func (w *work) key() key { return keyOf(w.topic) }

// managedID is the ID of the topic that the resource manages, empty if that is
// not known. An own creation may not have found its way into the status yet.
func (w *work) managedID() string {
	if w.memory.ID != "" && !w.memory.Deleted {
		return w.memory.ID
	}
	return w.topic.Status.TopicID
}

// leave ends the steps for a key; nothing is wrong.
func (w *work) leave(why string) { w.next.out, w.next.why = true, why }

// again ends the steps for a key that is to be tried again soon.
func (w *work) again(why string, wait time.Duration) {
	w.leave(why)
	w.next.retry, w.next.wait = true, max(w.next.wait, wait)
}

// await is again for what Kafka is to do or to show.
func (w *work) await(why string, wait time.Duration) {
	w.again(why, wait)
	w.next.kafkas = true
}

// postpone lets the other steps go on and tries again later.
func (w *work) postpone(err error) {
	w.next.retry, w.next.kafkas = true, true
	w.next.wait, w.next.why = max(w.next.wait, kafka.Wait(err)), err.Error()
}

// newPass begins with what everything in it is decided from.
func (l *loop) newPass(subjects []subject, heart *batch.Heartbeat) *pass {
	p := &pass{loop: l, now: l.c.opts.Clock.Now(), heart: heart, kept: l.c.schema.kept(), orphans: l.c.newOrphans()}
	for _, s := range subjects {
		w := &work{
			topic: s.Topic, priority: s.priority, name: s.Topic.ClaimedName(), verdict: topicplan.Judge(s.Subject),
			gone: s.Gone, unsure: s.unsure, moved: s.Moved,
		}
		w.memory = l.memories.recall(w.name, s.Topic, p.now)
		w.replicas.Next = w.memory.Change(s.Topic) // as it was, until it is decided
		p.works = append(p.works, w)
	}
	return p
}

// in are the works that want an action and are still under way.
func (p *pass) in(action topicplan.Action) []*work {
	var list []*work
	for _, w := range p.works {
		if w.verdict.Action == action && !w.next.out {
			list = append(list, w)
		}
	}
	return list
}

// describe asks Kafka for the topics and then for the options of those that
// exist: two calls for the whole batch.
func (p *pass) describe(ctx context.Context) {
	works := p.in(topicplan.Reconcile)
	if p.aborted {
		returnAll(works, "kafka does not answer")
		return
	}
	if len(works) == 0 {
		return
	}
	topics, err := p.admin.DescribeTopics(ctx, names(works))
	if !p.describable(ctx, works, err) {
		return
	}
	var existing []*work
	for _, w := range works {
		if w.takeDescription(topics[w.name]) {
			existing = append(existing, w)
		}
	}
	if len(existing) == 0 {
		return
	}
	configs, err := p.admin.DescribeTopicConfigs(ctx, names(existing), optionsToSee(existing)...)
	if !p.describable(ctx, works, err) {
		return
	}
	for _, w := range existing {
		w.takeConfig(configs[w.name])
	}
}

// optionsToSee are the options that a plan looks at though they may not be set on
// the topic.
func optionsToSee(works []*work) []string {
	options := map[string]struct{}{topicplan.MinInSync: {}}
	for _, w := range works {
		for name := range w.wanted.Config {
			options[name] = struct{}{}
		}
	}
	return slices.Sorted(maps.Keys(options))
}

// describable ends the batch if a describe was not answered: without one nothing
// is known of any topic.
func (p *pass) describable(ctx context.Context, works []*work, err error) bool {
	p.heart.Beat()
	if err == nil {
		p.heard = true
		p.answered(ctx)
		return true
	}
	err = fmt.Errorf("describing topics: %w", err)
	p.aborted = true
	p.unheard(ctx, works, err)
	return false
}

// unheard ends the steps for works whose call was not answered. Where Kafka answered
// an earlier one it can be reached, and would seem to come back with each batch: it
// is the works that are tried ever more slowly then.
func (p *pass) unheard(ctx context.Context, works []*work, err error) {
	if !p.heard {
		returnAll(works, err.Error())
		p.unanswered(ctx, p.heart, err)
		return
	}
	if ctx.Err() == nil { // else we are being stopped
		ctrl.LoggerFrom(ctx).Error(err, "Kafka answers, but not to all calls: trying again", "topics", len(works))
	}
	for _, w := range works {
		w.await(err.Error(), kafka.Wait(err))
	}
}

// returnAll ends the steps for works that Kafka gave no answer for.
func returnAll(works []*work, why string) {
	for _, w := range works {
		w.leave(why)
		w.next.returned = true
	}
}

// takeDescription tells whether the topic exists.
func (w *work) takeDescription(d kafka.TopicDescription) bool {
	switch {
	case d.Err == nil:
		w.described, w.seen = true, seenOf(d)
		return true
	case errors.Is(d.Err, kafka.ErrUnknownTopic):
		w.described = true
	case kafka.Passing(d.Err):
		w.await(d.Err.Error(), kafka.Wait(d.Err))
	default:
		w.faults.topic = kafkaProblem(d.Err)
	}
	return false
}

func (w *work) takeConfig(c kafka.TopicConfig) {
	switch {
	case c.Err == nil:
		w.seen.Options = optionsOf(c, w.wanted.Config)
	case errors.Is(c.Err, kafka.ErrUnknownTopic):
		w.await("the topic is described but its options are not known yet", 0)
	case kafka.Passing(c.Err):
		w.await(c.Err.Error(), kafka.Wait(c.Err))
	default:
		// Partitions can be grown all the same.
		w.faults.config = kafkaProblem(c.Err)
		w.wanted.Config = nil
	}
}

func seenOf(d kafka.TopicDescription) *topicplan.Seen {
	seen := &topicplan.Seen{ID: d.ID, Partitions: int32(len(d.Partitions)), Replicas: make([]int16, len(d.Partitions))}
	for i, partition := range d.Partitions {
		seen.Replicas[i] = int16(len(partition.Replicas))
	}
	return seen
}

// optionsOf keeps what a plan looks at: what is set on the topic, and what is
// wanted.
func optionsOf(c kafka.TopicConfig, wanted map[string]string) map[string]topicplan.Option {
	options := map[string]topicplan.Option{}
	for name, e := range c.Entries {
		if _, ok := wanted[name]; ok || e.Dynamic || name == topicplan.MinInSync {
			options[name] = topicplan.Option{Value: e.Value, Type: typeOf(e.Type), Dynamic: e.Dynamic}
		}
	}
	return options
}

// typeOf names the type that Kafka reports; what is not known is compared as text.
func typeOf(t kafka.ConfigType) configdef.Type {
	switch t {
	case kafka.ConfigTypeBoolean:
		return configdef.Boolean
	case kafka.ConfigTypeShort:
		return configdef.Short
	case kafka.ConfigTypeInt:
		return configdef.Int
	case kafka.ConfigTypeLong:
		return configdef.Long
	case kafka.ConfigTypeDouble:
		return configdef.Double
	case kafka.ConfigTypeList:
		return configdef.List
	default:
		return configdef.String
	}
}

func names(works []*work) []string {
	list := make([]string, len(works))
	for i, w := range works {
		list[i] = w.name
	}
	return list
}

func kafkaProblem(err error) *topicplan.Problem {
	return &topicplan.Problem{Reason: kafkav1.ReasonKafkaError, Message: err.Error()}
}
