package topic

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/sluice-kafka/sluice/internal/batch"
)

// drainLimit is how long the batches under way may take to end once their cluster is
// not served any more: about the bound of two calls to Kafka.
const drainLimit = time.Minute

var errStopped = errors.New("the Kafka cluster is not served any more")

// loop works on the topics of one Kafka cluster. Clusters share nothing, so a
// dead one holds up no other.
type loop struct {
	id       string
	c        *Controller
	dial     func(Cluster) (Connection, error)
	link     link
	queue    *batch.Queue[key]
	index    *index
	memories *memories
	outage   outage
	factors  factorRefusals
	hearts   []*batch.Heartbeat
	told     told

	// cluster as it was found: its names and its Kafka stay.
	cluster Cluster
	mu      sync.Mutex
	// latest is what is known of the cluster now.
	latest Cluster
	// waits tells why the cluster cannot be dialled as it stands; nil if it can.
	waits *obstacle

	// linked is what the connection was made from; for the one who tends the link.
	linked Cluster
	// doubts is how the one who tends the link is woken.
	doubts chan struct{}
	// tried tells, by being closed, that the first try to connect is over.
	tried chan struct{}
	// before is the loop that worked on the same topics, until it has ended.
	before *loop
	// closing tells that no resource has its home here any more. It is changed under
	// the controller's lock.
	closing  bool
	closed   chan struct{}
	stopping chan struct{}
	stopOnce sync.Once
	ended    chan struct{}
}

func newLoop(c *Controller, cluster Cluster, waits *obstacle) *loop {
	l := &loop{
		id:       cluster.ID(),
		cluster:  cluster,
		latest:   cluster,
		waits:    waits,
		c:        c,
		dial:     c.dial,
		index:    newIndex(),
		memories: newMemories(),
		doubts:   make(chan struct{}, 1),
		tried:    make(chan struct{}),
		closed:   make(chan struct{}),
		stopping: make(chan struct{}),
		ended:    make(chan struct{}),
	}
	l.queue = batch.NewQueue(c.opts.Clock, l.index.nameOf)
	for range c.opts.Workers {
		l.hearts = append(l.hearts, batch.NewHeartbeat(c.opts.Clock))
	}
	c.opts.Metrics.WatchQueue(l.id, l.queue)
	c.opts.Metrics.WatchTopics(l.id, l.index.count)
	return l
}

// settings are what is known of the cluster now.
func (l *loop) settings() (Cluster, *obstacle) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.latest, l.waits
}

// run works until ctx ends, at once, or until the loop is stopped: then batches
// under way have drainLimit to end.
func (l *loop) run(ctx context.Context) {
	defer l.end(ctx)
	log := ctrl.LoggerFrom(ctx).WithValues("controller", "topic", "kafkaCluster", l.id)
	ctx = logr.NewContext(ctx, log)
	if l.before != nil {
		select {
		case <-l.before.ended:
			l.before = nil
		case <-ctx.Done():
			return
		}
	}
	work, cutOff := context.WithCancel(ctx)
	defer cutOff()
	begin, stop := context.WithCancel(work)
	defer stop()
	go l.awaitStop(work, stop, cutOff)

	var workers sync.WaitGroup
	for _, heart := range l.hearts {
		workers.Go(func() { l.work(begin, work, heart) })
	}
	workers.Go(func() { l.resync(begin) })
	workers.Go(func() { l.review(begin) })
	workers.Go(func() { l.tend(begin) })
	workers.Wait()
}

// awaitStop ends what was begun once the loop is stopped.
func (l *loop) awaitStop(work context.Context, stop, cutOff func()) {
	select {
	case <-work.Done():
		return
	case <-l.stopping:
	}
	stop()
	if l.sleep(work, drainLimit) == nil {
		cutOff()
	}
}

// close has the loop take no more resources, and need its cluster no more. The caller
// holds the controller's lock.
func (l *loop) close() {
	l.closing = true
	close(l.closed)
}

// stop has the loop end after the batches under way.
func (l *loop) stop() { l.stopOnce.Do(func() { close(l.stopping) }) }

func (l *loop) end(ctx context.Context) {
	l.link.cut(errStopped)
	l.c.ended(l)
	close(l.ended)
	ctrl.LoggerFrom(ctx).V(1).Info("Stopped working on the topics of a Kafka cluster", "kafkaCluster", l.id)
}

func (l *loop) work(begin, work context.Context, heart *batch.Heartbeat) {
	select {
	case <-l.tried:
	case <-begin.Done():
		return
	}
	window := batch.Window{MaxSize: l.c.opts.MaxBatchSize, Linger: l.c.opts.MaxBatchLinger}
	for {
		heart.Wait()
		b, err := l.queue.Next(begin, window)
		if err != nil {
			return // stopped
		}
		heart.Beat()
		l.reconcile(work, b, heart)
		l.queue.Done(b)
		l.c.stopIfLeft(l)
	}
}

// resync lets every topic be looked at once an interval, in slices of a batch at
// even distances. What is known at the start was queued when it was first seen.
func (l *loop) resync(ctx context.Context) {
	interval, size := l.c.opts.ResyncInterval, l.c.opts.MaxBatchSize
	if l.sleep(ctx, interval) != nil {
		return
	}
	for {
		all := slices.Collect(slices.Chunk(l.index.keys(), size))
		if len(all) == 0 {
			all = [][]key{nil} // nothing to look at: wait as long
		}
		for _, slice := range all {
			l.queue.Add(batch.Resync, slice...)
			if l.sleep(ctx, interval/time.Duration(len(all))) != nil {
				return
			}
		}
	}
}

func (l *loop) sleep(ctx context.Context, d time.Duration) error {
	t := l.c.opts.Clock.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C():
		return nil
	}
}

func (l *loop) healthy() error {
	var errs []error
	for _, heart := range l.hearts {
		errs = append(errs, heart.Check(turnLimit))
	}
	return errors.Join(errs...)
}
