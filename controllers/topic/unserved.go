package topic

import (
	"context"
	"maps"
	"slices"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	ctrl "sigs.k8s.io/controller-runtime"

	kafkav1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/batch"
	"github.com/sluice-kafka/sluice/internal/metrics"
	"github.com/sluice-kafka/sluice/internal/topicplan"
)

// unserved looks after resources that are being deleted, wait for a finalizer of
// Sluice's, and belong to no cluster that is served: their Kafka was deleted. They
// are let go once the API server says so. Where the Kafka is there, somebody else
// may see to its topics.
type unserved struct {
	c     *Controller
	queue *batch.Queue[key]

	mu     sync.Mutex
	topics map[key]*kafkav1.KafkaTopic
}

func newUnserved(c *Controller) *unserved {
	return &unserved{
		c:      c,
		queue:  batch.NewQueue(c.opts.Clock, func(key) string { return "" }),
		topics: map[key]*kafkav1.KafkaTopic{},
	}
}

// observed takes a new state of a resource; homeless tells that no loop looks
// after it. Where Kafka resources are not followed none had its cluster from one.
func (u *unserved) observed(t *kafkav1.KafkaTopic, homeless bool) {
	if !homeless || !u.c.opts.Kafkas || t.DeletionTimestamp == nil || t.Labels[kafkav1.LabelCluster] == "" ||
		!hasFinalizer(t) || !topicplan.OwnsFinalizer(t) || !u.c.opts.Selector.Matches(labelsOf(t)) {
		u.forget(keyOf(t))
		return
	}
	u.mu.Lock()
	u.topics[keyOf(t)] = t
	u.mu.Unlock()
	u.queue.Add(batch.Change, keyOf(t))
}

func (u *unserved) forget(k key) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.topics, k)
}

func (u *unserved) run(ctx context.Context) {
	window := batch.Window{MaxSize: u.c.opts.MaxBatchSize, Linger: u.c.opts.MaxBatchLinger}
	for {
		b, err := u.queue.Next(ctx, window)
		if err != nil {
			return // stopped
		}
		u.sweep(ctx, b.Keys)
		u.queue.Done(b)
	}
}

// sweep asks once for each Kafka.
func (u *unserved) sweep(ctx context.Context, keys []key) {
	byKafka := map[key][]*kafkav1.KafkaTopic{}
	u.mu.Lock()
	for _, k := range keys {
		t, known := u.topics[k]
		if !known {
			u.queue.Forget(k)
			continue
		}
		kafka := key{Namespace: t.Namespace, Name: t.Labels[kafkav1.LabelCluster]}
		byKafka[kafka] = append(byKafka[kafka], t)
	}
	u.mu.Unlock()
	orphans := u.c.newOrphans()
	for _, kafka := range slices.SortedFunc(maps.Keys(byKafka), compareKeys) {
		gone, err := u.c.kafkaGone(ctx, kafka)
		if err != nil && ctx.Err() == nil {
			ctrl.LoggerFrom(ctx).Error(err, "Failed to learn whether the Kafka of topics that are being deleted is there: trying again")
		}
		for _, t := range byKafka[kafka] {
			if gone == "" || !u.release(ctx, t, orphaning{metrics.OrphanKafkaGone, gone}, orphans) {
				u.queue.Retry(keyOf(t), batch.Change, 0)
			}
		}
	}
}

// release takes our finalizer off a resource and tells whether that is done.
func (u *unserved) release(ctx context.Context, t *kafkav1.KafkaTopic, why orphaning, orphans *orphans) bool {
	_, err := u.c.patch(ctx, keyOf(t), finalizerPatch(t, withoutOurs(t)), false)
	if err != nil && !apierrors.IsNotFound(err) {
		if !apierrors.IsConflict(err) && ctx.Err() == nil {
			ctrl.LoggerFrom(ctx).Error(err, "Failed to let go of a topic whose Kafka is gone: trying again", "kafkaTopic", keyOf(t).String())
		}
		return false
	}
	u.mu.Lock()
	if now, known := u.topics[keyOf(t)]; known && now.UID == t.UID {
		delete(u.topics, keyOf(t)) // not the next one of its name
	}
	u.mu.Unlock()
	u.queue.Forget(keyOf(t))
	if err == nil {
		orphans.say(ctx, t, key{Namespace: t.Namespace, Name: t.Labels[kafkav1.LabelCluster]}.String(), why)
	}
	return true
}
