package topic

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"

	kafkav1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/batch"
	"github.com/sluice-kafka/sluice/internal/topicplan"
)

// reconcile takes a batch through its steps.
func (l *loop) reconcile(ctx context.Context, b batch.Batch[key], heart *batch.Heartbeat) {
	p := l.newPass(l.index.batch(b), heart)
	connection := l.link.take()
	defer l.link.give(connection)
	p.admin, p.engine = connection.Admin, connection.Engine
	latest, _ := l.settings()
	p.noEngine = latest.NoEngine
	for _, step := range []func(context.Context){
		p.dropFinalizers,
		// What needs nothing of Kafka goes first: it must not wait for a Kafka
		// that does not answer.
		p.settle,
		// A name may be deleted and created in one batch's time; the describe
		// must not see what is about to go.
		p.confirmGone,
		p.withoutKafka,
		p.deleteTopics,
		p.giveUp,
		p.handOver,
		p.releaseFinalizers,
		// A topic without the finalizer could lose its resource unseen.
		p.addFinalizers,
		// Before the describe, which then shows what a session that is over did.
		p.pollReplicas,
		p.describe,
		p.listReassignments,
		p.decide,
		p.createTopics,
		p.growTopics,
		p.alterConfigs,
		p.changeReplicas,
		p.report,
		p.sayAwaited,
		p.writeStatuses,
		p.claimCreated,
	} {
		step(ctx)
	}
	p.requeue(b)
	p.measure(ctx, b)
}

// settle ends the steps for the resources that need nothing of Kafka.
func (p *pass) settle(ctx context.Context) {
	for _, w := range p.works {
		if w.next.out {
			continue
		}
		var s kafkav1.KafkaTopicStatus
		switch w.verdict.Action {
		case topicplan.Release:
			p.release(ctx, w)
			continue
		case topicplan.Nothing:
			w.leave(w.verdict.Reason)
			continue
		case topicplan.Unmanaged:
			p.index.resigns(w.name, w.topic.UID)
			s = topicplan.UnmanagedStatus(w.topic, p.now)
		case topicplan.Pause:
			s = topicplan.PausedStatus(w.topic, w.moved, p.now)
		case topicplan.Refuse:
			w.failed = true
			if w.verdict.Problem.Reason == kafkav1.ReasonResourceConflict {
				p.index.resigns(w.name, w.topic.UID)
			}
			s = topicplan.RefusedStatus(w.topic, w.verdict.Problem, p.now)
		case topicplan.Delete:
			continue
		case topicplan.Reconcile:
			var problems []topicplan.Problem
			if w.wanted, problems = topicplan.WantedOf(w.topic, p.c.opts.Alterable); len(problems) == 0 {
				p.index.manages(w.name, w.topic)
				continue
			}
			w.failed = true
			s = topicplan.ReadyStatus(w.topic, topicplan.Observed{}, problems, w.wanted.Warnings, p.now)
		}
		w.status = &s
		w.leave(w.verdict.Reason)
	}
}

func (p *pass) release(ctx context.Context, w *work) {
	w.released = true
	if !w.verdict.Keeps {
		return
	}
	p.say(ctx, w, "Keeping a topic", "reason", w.verdict.Reason)
	p.c.recorder.Eventf(w.topic, nil, corev1.EventTypeNormal, "TopicKept", "Reconcile",
		"The topic %s is Kafka's own and is not deleted with its resource", w.name)
}

// decide plans the topics that were described.
func (p *pass) decide(ctx context.Context) {
	for _, w := range p.in(topicplan.Reconcile) {
		if !w.described {
			continue
		}
		w.plan = topicplan.Decide(w.wanted, w.seen, w.memory, p.now)
		if w.plan.Stale != "" {
			ctrl.LoggerFrom(ctx).V(1).Info("Looking again later", "kafkaTopic", w.key(), "reason", w.plan.Stale)
			w.await(w.plan.Stale, 0)
			continue
		}
		w.memory.Writes = w.plan.Writes
		if w.seen != nil && w.memory.ID != "" && !w.memory.Deleted {
			w.memory.ID = w.seen.ID // somebody may have made the topic anew since
		}
		p.decideReplicas(ctx, w)
	}
}

// report decides what the status of each reconciled resource says.
func (p *pass) report(context.Context) {
	for _, w := range p.works {
		if w.verdict.Action != topicplan.Reconcile || w.next.out {
			continue
		}
		problems := w.problems()
		w.failed = len(problems) > 0
		w.lookAgainAtReplicas()
		if !w.next.retry {
			// A refusal that was reported is tried again at the next look.
			w.memory.GrowthRefused, w.memory.GrowthError = 0, ""
		}
		if w.described {
			p.remember(w)
		}
		if w.next.retry && (len(problems) == 0 || w.growthInDoubt() && saidWrong(w.topic)) {
			// Nothing final to say yet, or not all that is said already; but a session
			// that was begun has to be known to whoever looks next.
			if w.described {
				s := topicplan.ChangeStatus(w.topic, w.replicas.Next)
				w.status = &s
			}
			continue
		}
		s := topicplan.ReadyStatus(w.topic, w.observed(), problems, w.plan.Warnings, p.now)
		w.status = &s
	}
}

// growthInDoubt tells of a growth that was refused in this look, which the next one
// judges.
func (w *work) growthInDoubt() bool { return w.plan.GrowTo > 0 && w.memory.GrowthError != "" }

func (w *work) observed() topicplan.Observed {
	if w.seen == nil {
		return topicplan.Observed{Known: w.described}
	}
	o := topicplan.Observed{Name: w.name, Known: true, ID: w.seen.ID, Partitions: int64(w.seen.Partitions), Change: w.replicas.Next}
	for i, n := range w.seen.Replicas {
		if i == 0 || int64(n) < o.Replicas {
			o.Replicas = int64(n)
		}
	}
	return o
}
