package topic

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"

	kafkav1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/batch"
	"github.com/sluice-kafka/sluice/internal/kafka"
	"github.com/sluice-kafka/sluice/internal/topicplan"
)

// outage follows whether a Kafka cluster answers.
type outage struct {
	mu        sync.Mutex
	since     time.Time // zero while the cluster answers
	last      time.Time // when it was last tried in vain
	announced bool
}

// outageGap is how long after a call in vain the next one may come for the outage
// to be one: longer than a backoff and a call. What waits for Kafka keeps being
// tried; where nothing waits, nobody knows how Kafka was meanwhile.
const outageGap = 5 * time.Minute

// begin notes a call in vain and tells whether an outage begins with it.
func (o *outage) begin(now time.Time) bool {
	first := o.since.IsZero() || now.Sub(o.last) > outageGap
	if first {
		o.since = now
	}
	o.last = now
	return first
}

// lasts is how long the cluster has been unreachable without a break.
func (o *outage) lasts(now time.Time) time.Duration {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.since.IsZero() {
		return 0
	}
	return now.Sub(o.since)
}

// answered tells that the cluster answered a call.
func (l *loop) answered(ctx context.Context) {
	l.outage.mu.Lock()
	defer l.outage.mu.Unlock()
	l.c.opts.Metrics.Reachable(l.id, true)
	l.queue.Resume()
	if l.outage.since.IsZero() {
		return
	}
	ctrl.LoggerFrom(ctx).Info("Kafka answers again", "after", l.c.opts.Clock.Since(l.outage.since).Round(time.Second).String())
	if l.outage.announced {
		l.c.recorder.Eventf(l.reference(), nil, corev1.EventTypeNormal, "KafkaReachable", "Reconcile",
			"The Kafka cluster %s answers again", l.id)
	}
	l.outage.since, l.outage.announced = time.Time{}, false
}

// unanswered tells that the cluster did not answer a batch. A fault that passes is no
// topic's fault: only when it lasts do resources say so that are not ready.
func (l *loop) unanswered(ctx context.Context, heart *batch.Heartbeat, err error) {
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return // we are being stopped
	}
	if errors.Is(err, kafka.ErrAuthentication) {
		l.doubt()
	}
	lasting := l.silent(ctx, err)
	l.queue.Pause()
	if lasting {
		l.markUnready(ctx, heart)
	}
}

// silent tells that the cluster did not answer, and returns whether that lasts.
func (l *loop) silent(ctx context.Context, err error) (lasting bool) {
	l.outage.mu.Lock()
	now := l.c.opts.Clock.Now()
	first := l.outage.begin(now)
	lasting = now.Sub(l.outage.since) >= l.c.opts.UnreachableAfter
	// What somebody has to do something about was said already.
	_, said := errors.AsType[*obstacle](l.link.reason())
	announce := lasting && !l.outage.announced && !said
	l.outage.announced = l.outage.announced || announce
	l.outage.mu.Unlock()

	l.c.opts.Metrics.Reachable(l.id, false)
	if said {
		return lasting
	}
	cluster, _ := l.settings()
	log := ctrl.LoggerFrom(ctx)
	if first || announce {
		log.Error(err, "Kafka does not answer: trying again until it does", "lasting", lasting, "bootstrapServers", cluster.BootstrapServers)
	} else {
		log.V(1).Info("Kafka does not answer", "error", err.Error())
	}
	if announce {
		l.c.recorder.Eventf(l.reference(), nil, corev1.EventTypeWarning, "KafkaUnreachable", "Reconcile",
			"%s: %v", l.unreachableMessage(), err)
		for _, t := range l.index.goneTopics() {
			l.sayUndeleted(ctx, t, l.unreachableMessage())
		}
	}
	return lasting
}

// markUnready says of all resources that wait for Kafka that they do. Those that
// are ready at their generation stay as they are.
func (l *loop) markUnready(ctx context.Context, heart *batch.Heartbeat) {
	p := l.newPass(l.index.all(), heart)
	for _, w := range p.works {
		if (w.verdict.Action == topicplan.Reconcile || w.verdict.Action == topicplan.Delete) && !topicplan.ReadyNow(w.topic) {
			s := topicplan.RefusedStatus(w.topic, topicplan.Problem{Reason: kafkav1.ReasonKafkaError, Message: l.unreachableMessage()}, p.now)
			w.status = &s
		}
	}
	p.writeStatuses(ctx)
}

// sayAwaited says of the resources that have waited for Kafka as long as an outage
// takes to be told what they wait for, though Kafka answers. Those that are ready at
// their generation stay as they are.
func (p *pass) sayAwaited(context.Context) {
	for _, w := range p.works {
		if !w.next.kafkas || w.gone || len(w.problems()) > 0 || topicplan.ReadyNow(w.topic) ||
			p.queue.Failing(w.key()) < p.c.opts.UnreachableAfter {
			continue
		}
		var seen topicplan.Observed
		if w.described && w.plan.Stale == "" {
			seen = w.observed()
		}
		s := topicplan.ReadyStatus(w.topic, seen, []topicplan.Problem{{Reason: kafkav1.ReasonKafkaError, Message: fmt.Sprintf(
			"the Kafka cluster %s has not carried this out for more than %s, and is asked again until it does: %s",
			p.id, p.c.opts.UnreachableAfter, w.next.why)}}, w.plan.Warnings, p.now)
		w.status = &s
	}
}

// unreachableMessage does not change while the outage lasts.
func (l *loop) unreachableMessage() string {
	if o, ok := errors.AsType[*obstacle](l.link.reason()); ok {
		return fmt.Sprintf("the topics of the Kafka cluster %s are not worked on: %s", l.id, o.message)
	}
	cluster, _ := l.settings()
	return fmt.Sprintf("the Kafka cluster %s (%s) has not answered for more than %s. It is tried again until it does: "+
		"check that the brokers run and can be reached from the operator",
		l.id, strings.Join(cluster.BootstrapServers, ","), l.c.opts.UnreachableAfter)
}

// reference is what Events on the cluster itself are about. The cluster need not
// be a resource: its name and first namespace stand for it.
func (l *loop) reference() *corev1.ObjectReference {
	return &corev1.ObjectReference{
		APIVersion: kafkav1.GroupVersion.String(), Kind: kafkav1.KindKafka,
		Namespace: l.cluster.Namespaces[0], Name: l.cluster.Name, UID: l.cluster.UID,
	}
}
