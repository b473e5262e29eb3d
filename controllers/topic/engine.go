package topic

import (
	"context"
	"errors"
	"fmt"

	"github.com/sluice-kafka/sluice/internal/kafka"
	"github.com/sluice-kafka/sluice/internal/observed"
	"github.com/sluice-kafka/sluice/internal/topicplan"
)

// Reasons of a cluster without an engine that changes replication factors, for
// Cluster.NoEngine: each goes on from "… on partitions 0-2, and".
const (
	// NoEngineExternal is for a cluster of the table of external ones.
	NoEngineExternal = "Sluice moves no replicas in a cluster that it does not run unless the table of external clusters says so (replicasEngine: builtin)"
	// noEngineCruiseControl is for a Kafka with Cruise Control.
	noEngineCruiseControl = "Sluice does not drive Cruise Control yet (to have it move replicas itself, annotate the Kafka sluice.dev/rebalance-engine: builtin)"
	// NoEngineTopicOnly is for the topic-only mode.
	NoEngineTopicOnly = "the topic operator on its own moves no replicas"
)

// pollReplicas asks the engine how the sessions stand that statuses tell of: one
// call for the whole batch.
func (p *pass) pollReplicas(ctx context.Context) {
	if p.engine == nil || p.aborted {
		return
	}
	works, sessions := []*work(nil), map[string]string{}
	for _, w := range p.in(topicplan.Reconcile) {
		if session := topicplan.Session(w.memory.Change(w.topic)); session != "" {
			works, sessions[w.name] = append(works, w), session
		}
	}
	if len(works) == 0 {
		return
	}
	answers, err := p.engine.PollReplicas(ctx, sessions)
	p.heart.Beat()
	for _, w := range works {
		switch progress, told := answers[w.name]; {
		case err != nil:
			w.sessionFault = engineFault(fmt.Errorf("asking how the change of the replication factor stands: %w", err))
		case told:
			w.progress = &progress
		}
	}
}

// engineFault is what a status says of an error of the engine: nothing of one that is
// nobody's fault and passes.
func engineFault(err error) string {
	if kafka.Passing(err) {
		return ""
	}
	return err.Error()
}

// listReassignments asks for the reassignments in flight, in one call, where what is
// seen may be mended already: nobody is asked while all topics are as they should be.
func (p *pass) listReassignments(ctx context.Context) {
	var works []*work
	for _, w := range p.in(topicplan.Reconcile) {
		if w.described && topicplan.AsksForReassignments(w.wanted, w.seen, w.memory.Change(w.topic), p.engine != nil) {
			works = append(works, w)
		}
	}
	if len(works) == 0 || p.aborted {
		return
	}
	moving, err := p.admin.Reassignments(ctx, names(works))
	p.heart.Beat()
	if errors.Is(err, kafka.ErrUnreachable) {
		p.describable(ctx, works, err)
		return
	}
	for _, w := range works {
		switch {
		case err == nil:
			w.seen.MovingKnown, w.seen.Moving = true, movingOf(moving[w.name])
		case kafka.Passing(err):
			w.postpone(err)
		default:
			w.faults.replicas = kafkaProblem(err)
		}
	}
}

// movingOf counts the replicas that partitions will have: those that are added are
// among the replicas from the start (KIP-455).
func movingOf(partitions []observed.Partition) map[int32]int {
	moving := make(map[int32]int, len(partitions))
	for _, p := range partitions {
		moving[p.ID] = len(p.Replicas) - len(p.Removing)
	}
	return moving
}

func (p *pass) decideReplicas(ctx context.Context, w *work) {
	if w.seen == nil {
		w.replicas = topicplan.ReplicasPlan{} // it is created as wanted
		return
	}
	was := w.memory.Change(w.topic)
	w.replicas = topicplan.DecideReplicas(topicplan.ReplicasInput{
		Was: was, Wanted: w.wanted.Replicas, Seen: w.seen,
		Engine: p.engine != nil, NoEngine: p.noEngine,
		Progress: w.progress, Fault: w.sessionFault,
	})
	if was != nil && w.replicas.Next == nil {
		p.say(ctx, w, "The change of the replication factor is over", "reason", w.replicas.Reason, "targetReplicas", was.TargetReplicas)
		w.memory.Begun = nil
	}
}

// changeReplicas has the engine begin what was decided: one call for the whole batch.
func (p *pass) changeReplicas(ctx context.Context) {
	works := p.planned(func(w *work) bool { return w.replicas.Begin })
	if len(works) == 0 {
		return
	}
	targets := make(map[string]int16, len(works))
	for _, w := range works {
		targets[w.name] = w.wanted.Replicas
	}
	answers, err := p.engine.ChangeReplicas(ctx, targets)
	p.heart.Beat()
	for _, w := range works {
		started, told := answers[w.name]
		switch {
		case err != nil:
			started.Err = fmt.Errorf("asking for the replication factor %d: %w", w.wanted.Replicas, err)
		case !told || started.Err == nil && started.Session == "":
			started.Err = fmt.Errorf("asking for the replication factor %d: %w", w.wanted.Replicas, kafka.ErrNotAnswered)
		}
		if started.Err != nil {
			w.replicas = w.replicas.NotBegun(engineFault(started.Err))
			continue
		}
		p.say(ctx, w, "Changing the replication factor", "reason", w.replicas.Reason, "to", w.wanted.Replicas, "session", started.Session)
		w.replicas = w.replicas.Begun(started.Session, started.Message)
		w.memory.Begun, w.memory.BegunAt = w.replicas.Next, p.c.opts.Clock.Now()
		p.remember(w)
	}
}

// lookAgainAtReplicas sees to it that a topic whose replication factor changes is
// looked at before the resync.
func (w *work) lookAgainAtReplicas() {
	switch w.replicas.Again {
	case topicplan.Soon:
		if w.next.after == 0 || w.next.after > topicplan.ChangeInterval {
			w.next.after = topicplan.ChangeInterval
		}
	case topicplan.AfterBackoff:
		w.next.later = true
	}
}
