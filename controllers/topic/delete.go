package topic

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"

	kafkav1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/batch"
	"github.com/sluice-kafka/sluice/internal/kafka"
	"github.com/sluice-kafka/sluice/internal/topicplan"
)

// disabledWait is how long a deletion waits that the brokers do not allow.
const disabledWait = 10 * time.Minute

// deletions are the works whose topics are still to be deleted.
func (p *pass) deletions() []*work {
	var list []*work
	for _, w := range p.in(topicplan.Delete) {
		if !w.released {
			list = append(list, w)
		}
	}
	return list
}

// confirmGone asks the API server for resources whose deletion was not seen,
// since the watch was broken at the time: only one that does not exist takes its
// topic along. Where there is another of the name by now, that takes the topic
// over.
func (p *pass) confirmGone(ctx context.Context) {
	var unsure []*work
	for _, w := range p.deletions() {
		if w.unsure {
			unsure = append(unsure, w)
		}
	}
	workqueue.ParallelizeUntil(ctx, p.c.opts.WriteConcurrency, len(unsure), func(i int) {
		w := unsure[i]
		_, err := p.c.metadata(ctx, kafkav1.GroupVersion.WithKind(kafkav1.KindKafkaTopic), w.key())
		p.heart.Beat()
		switch {
		case apierrors.IsNotFound(err):
			w.unsure = false
			p.index.confirmGone(w.key(), w.topic.UID)
		case err != nil:
			ctrl.LoggerFrom(ctx).Error(err, "Failed to learn whether a resource is gone: trying again", "kafkaTopic", w.key().String())
			w.again(fmt.Sprintf("looking whether it is gone: %v", err), 0)
		default:
			p.say(ctx, w, "Keeping a topic: its resource was reported gone and is there")
			w.leave("it is there")
		}
	})
	for _, w := range unsure {
		if w.unsure && !w.next.out {
			w.again("stopped before it was looked up", 0)
		}
	}
}

// deleteTopics deletes the topics of the resources that are being deleted: those
// that they managed, by ID. A name may stand for another topic by now, created
// by somebody else or in another Kafka cluster, whose data nobody gave up.
func (p *pass) deleteTopics(ctx context.Context) {
	works := p.deletions()
	if len(works) == 0 {
		return
	}
	topics := make([]kafka.TopicDeletion, len(works))
	for i, w := range works {
		topics[i] = kafka.TopicDeletion{Name: w.name, ID: w.managedID()}
	}
	answers, err := p.admin.DeleteTopics(ctx, topics)
	if !p.done(ctx, works, "deleting", err) {
		return
	}
	for _, w := range works {
		p.takeDeletion(ctx, w, answers[w.name])
	}
}

func (p *pass) takeDeletion(ctx context.Context, w *work, err error) {
	switch {
	case err == nil:
		p.say(ctx, w, "Deleted a topic")
		w.memory = topicplan.Memory{At: p.c.opts.Clock.Now(), Deleted: true, ID: w.managedID()}
		p.remember(w)
		w.released = true
	case errors.Is(err, kafka.ErrUnknownTopic):
		w.released = true
	case errors.Is(err, kafka.ErrUnknownTopicID):
		p.say(ctx, w, "The topic was gone before its resource", "topicID", w.managedID())
		p.c.recorder.Eventf(w.topic, nil, corev1.EventTypeNormal, "TopicGone", "Reconcile",
			"The topic %s with the ID %s was gone already. If there is another topic of that name in %s, it is kept",
			w.name, w.managedID(), p.id)
		w.released = true
	case kafka.Passing(err):
		if w.gone {
			logUndeleted(ctx, w.topic, err.Error())
		}
		w.await(err.Error(), kafka.Wait(err))
	default:
		p.refuseDeletion(ctx, w, err)
	}
}

// refuseDeletion says that Kafka does not delete a topic: in the status or, where
// there is none any more, in an Event. It is tried again at the next look, or
// later if the brokers' settings have to change first.
func (p *pass) refuseDeletion(ctx context.Context, w *work, err error) {
	w.failed = true
	problem, wait := kafkaProblem(err), p.c.opts.ResyncInterval
	if disabled := errors.Is(err, kafka.ErrTopicDeletionDisabled); disabled {
		wait = disabledWait
		problem.Message += ". Set delete.topic.enable=true on the brokers"
		if !w.gone {
			problem.Message += ", or keep the topic: annotate this resource " +
				kafkav1.AnnotationDeletionPolicy + "=" + kafkav1.DeletionPolicyRetain
		}
		w.next.after = wait
	}
	w.leave(err.Error())
	if !w.gone {
		s := topicplan.RefusedStatus(w.topic, *problem, p.now)
		w.status = &s
		return
	}
	w.next.after = wait
	p.sayUndeleted(ctx, w.topic, problem.Message)
}

// sayUndeleted tells of a topic whose resource is gone and that could not be
// deleted yet.
func (l *loop) sayUndeleted(ctx context.Context, t *kafkav1.KafkaTopic, why string) {
	logUndeleted(ctx, t, why)
	l.c.recorder.Eventf(t, nil, corev1.EventTypeWarning, "TopicNotDeleted", "Reconcile",
		"The topic %s could not be deleted from %s and is tried again: %s", t.ClaimedName(), l.id, why)
}

func logUndeleted(ctx context.Context, t *kafkav1.KafkaTopic, why string) {
	ctrl.LoggerFrom(ctx).Info("Failed to delete a topic whose resource is gone: trying again",
		"kafkaTopic", keyOf(t).String(), "topicName", t.ClaimedName(), "reason", why)
}

// handOver gives a topic to the next resource that claims it before the one that
// managed it is let go. The finalizer comes first: if both were deleted in one
// moment, the next could go unseen and leave the topic to nobody.
func (p *pass) handOver(ctx context.Context) {
	var heirs []*work
	given := map[*work]*work{}
	for _, w := range p.works {
		if !w.released || w.next.out || w.verdict.Heir == (key{}) {
			continue
		}
		t, known := p.index.get(w.verdict.Heir)
		if !known {
			w.again("the resource that claims its topic is gone", 0)
			continue
		}
		heir := &work{topic: t, name: w.name}
		given[w] = heir
		if p.c.opts.UseFinalizers && t.DeletionTimestamp == nil && !hasFinalizer(t) {
			heirs = append(heirs, heir)
		}
	}
	p.putFinalizers(ctx, heirs)
	for w, heir := range given {
		if heir.next.out || !p.index.inherit(w.name, heir.key()) {
			w.again("the resource that claims its topic changed", 0)
		}
	}
}

// rest ends what there was to do for a resource that is gone. A later one of the
// same name had to wait for it.
func (p *pass) rest(k key, uid types.UID) {
	p.index.forgetGone(k, uid)
	if p.index.nameOf(k) != "" {
		p.queue.Add(batch.Change, k)
	}
}
