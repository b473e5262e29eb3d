package topic

import (
	"context"
	"errors"
	"fmt"

	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/sluice-kafka/sluice/internal/configdef"
	"github.com/sluice-kafka/sluice/internal/kafka"
	"github.com/sluice-kafka/sluice/internal/topicplan"
)

// createTopics creates the topics that do not exist. What Kafka answers is as
// good as a describe.
func (p *pass) createTopics(ctx context.Context) {
	works, topics := p.planned(func(w *work) bool { return w.plan.Create }), []kafka.NewTopic(nil)
	for _, w := range works {
		topics = append(topics, kafka.NewTopic{
			Name: w.name, Partitions: w.wanted.Partitions, ReplicationFactor: w.wanted.Replicas, Config: w.wanted.Config,
		})
	}
	if len(works) == 0 {
		return
	}
	answers, err := p.admin.CreateTopics(ctx, topics)
	if !p.done(ctx, works, "creating", err) {
		return
	}
	for _, w := range works {
		p.takeCreation(ctx, w, answers[w.name])
	}
}

func (p *pass) takeCreation(ctx context.Context, w *work, created kafka.CreatedTopic) {
	switch err := created.Err; {
	case err == nil:
		p.say(ctx, w, "Created a topic", "partitions", created.Partitions, "replicas", created.ReplicationFactor)
		// Kafka leaves the numbers out for a principal that may not describe the
		// options of the topic (KIP-525).
		partitions := max(created.Partitions, w.wanted.Partitions, 0)
		replicas := max(created.ReplicationFactor, w.wanted.Replicas, 0)
		w.seen = &topicplan.Seen{ID: created.ID, Partitions: partitions, Replicas: []int16{replicas}, Options: createdOptions(created)}
		w.plan.Warnings = topicplan.Warnings(w.wanted, w.seen)
		w.memory = topicplan.Memory{At: p.c.opts.Clock.Now(), ID: created.ID, Partitions: partitions}
		p.remember(w)
	case errors.Is(err, kafka.ErrTopicExists):
		// Somebody was faster, or an earlier answer was lost: look at it.
		w.memory = topicplan.Memory{At: p.c.opts.Clock.Now()}
		p.remember(w)
		w.leave("the topic exists already")
		w.next.returned = true
	case kafka.Passing(err), p.mayFitSoon(ctx, w, err):
		w.postpone(err)
	default:
		w.faults.topic = p.refusal(ctx, w, err)
	}
}

// createdOptions are those of a new topic that a plan looks at and that were not
// asked for.
func createdOptions(created kafka.CreatedTopic) map[string]topicplan.Option {
	if created.MinInSync == "" {
		return nil
	}
	return map[string]topicplan.Option{topicplan.MinInSync: {Value: created.MinInSync, Type: configdef.Int}}
}

// growTopics adds partitions.
func (p *pass) growTopics(ctx context.Context) {
	works, growth := p.planned(func(w *work) bool { return w.plan.GrowTo > 0 }), []kafka.PartitionGrowth(nil)
	for _, w := range works {
		growth = append(growth, kafka.PartitionGrowth{Name: w.name, Total: w.plan.GrowTo})
	}
	if len(works) == 0 {
		return
	}
	answers, err := p.admin.CreatePartitions(ctx, growth)
	if !p.done(ctx, works, "growing", err) {
		return
	}
	for _, w := range works {
		p.takeGrowth(ctx, w, answers[w.name])
	}
}

func (p *pass) takeGrowth(ctx context.Context, w *work, err error) {
	switch {
	case err == nil:
		p.say(ctx, w, "Added partitions", "from", w.seen.Partitions, "to", w.plan.GrowTo)
		w.memory.At, w.memory.Deleted, w.memory.ID, w.memory.Partitions = p.c.opts.Clock.Now(), false, w.seen.ID, w.plan.GrowTo
		w.seen.Partitions = w.plan.GrowTo
		p.remember(w)
	case errors.Is(err, kafka.ErrInvalidPartitions):
		// The description may have been older than our own growth: only what
		// Kafka says after a fresh one counts.
		w.memory.GrowthRefused, w.memory.GrowthError = w.seen.Partitions, err.Error()
		p.remember(w)
		w.postpone(err)
	case kafka.Passing(err), errors.Is(err, kafka.ErrUnknownTopic), p.mayFitSoon(ctx, w, err):
		w.postpone(err)
	default:
		w.faults.partitions = p.refusal(ctx, w, err)
	}
}

// alterConfigs sets and deletes options.
func (p *pass) alterConfigs(ctx context.Context) {
	works, changes := p.planned(func(w *work) bool { return len(w.plan.Ops) > 0 }), []kafka.TopicConfigChange(nil)
	for _, w := range works {
		change := kafka.TopicConfigChange{Name: w.name}
		for _, op := range w.plan.Ops {
			change.Ops = append(change.Ops, kafka.ConfigOp{Name: op.Name, Value: op.Value, Delete: op.Delete})
		}
		changes = append(changes, change)
	}
	if len(works) == 0 {
		return
	}
	answers, err := p.admin.AlterTopicConfigs(ctx, changes)
	if !p.done(ctx, works, "configuring", err) {
		return
	}
	for _, w := range works {
		p.takeAlteration(ctx, w, answers[w.name])
	}
}

func (p *pass) takeAlteration(ctx context.Context, w *work, err error) {
	switch {
	case err == nil:
		p.say(ctx, w, "Changed options", "options", w.plan.Ops)
		if w.memory.Writes == nil {
			w.memory.Writes = topicplan.Writes{}
		}
		for _, op := range w.plan.Ops {
			w.memory.Writes[op.Name] = topicplan.Write{Value: op.Value, Delete: op.Delete, At: p.c.opts.Clock.Now()}
		}
		// Kafka may have made something else of the values: see once whether
		// they took.
		w.next.after = topicplan.SettleTime
	case kafka.Passing(err), errors.Is(err, kafka.ErrUnknownTopic):
		w.postpone(err)
	default:
		w.faults.config = kafkaProblem(err)
	}
}

// planned are the works still under way for which a call is to be made. Once
// Kafka does not answer they go back: what was planned for them is not done.
func (p *pass) planned(wants func(*work) bool) []*work {
	var list []*work
	for _, w := range p.in(topicplan.Reconcile) {
		if w.described && wants(w) {
			list = append(list, w)
		}
	}
	if p.aborted {
		returnAll(list, "kafka does not answer")
		return nil
	}
	return list
}

// done tells whether a call that changes something was answered. If not, it is
// unknown what it did, and its topics are looked at again.
func (p *pass) done(ctx context.Context, works []*work, doing string, err error) bool {
	p.heart.Beat()
	if err == nil {
		p.heard = true
		p.answered(ctx)
		return true
	}
	// The statuses quote it: how many others were asked for is none of theirs.
	err = fmt.Errorf("%s topics: %w", doing, err)
	if errors.Is(err, kafka.ErrUnreachable) {
		p.aborted = true
		p.unheard(ctx, works, err)
		return false
	}
	if ctx.Err() == nil { // else we are being stopped
		ctrl.LoggerFrom(ctx).Error(err, "Failed to change topics: trying again", "topics", len(works))
	}
	for _, w := range works {
		w.postpone(err)
	}
	return false
}

func (p *pass) say(ctx context.Context, w *work, what string, keysAndValues ...any) {
	ctrl.LoggerFrom(ctx).Info(what, append([]any{"kafkaTopic", w.key().String(), "topicName", w.name}, keysAndValues...)...)
}

// remember keeps an own write at once, so that it is not lost with the rest of
// the batch.
func (p *pass) remember(w *work) {
	p.memories.keep(w.name, w.topic, w.memory, p.now)
}
