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

// loop works on the topics of one Kafka cluster. Clusters share nothing, so a
// dead one holds up no other.
type loop struct {
	cluster  Cluster
	c        *Controller
	dial     func(Cluster) (Connection, error)
	admin    Admin
	engine   Engine
	queue    *batch.Queue[key]
	index    *index
	memories *memories
	outage   outage
	hearts   []*batch.Heartbeat
}

func newLoop(c *Controller, cluster Cluster, dial func(Cluster) (Connection, error)) *loop {
	l := &loop{
		cluster:  cluster,
		c:        c,
		dial:     dial,
		index:    newIndex(),
		memories: newMemories(),
	}
	l.queue = batch.NewQueue(c.opts.Clock, l.index.nameOf)
	for range c.opts.Workers {
		l.hearts = append(l.hearts, batch.NewHeartbeat(c.opts.Clock))
	}
	c.opts.Metrics.WatchQueue(cluster.Name, l.queue)
	c.opts.Metrics.WatchTopics(cluster.Name, l.index.count)
	return l
}

func (l *loop) run(ctx context.Context) {
	log := ctrl.LoggerFrom(ctx).WithValues("controller", "topic", "kafkaCluster", l.cluster.Name)
	ctx = logr.NewContext(ctx, log)
	connection, err := l.connect(ctx)
	if err != nil {
		return // stopped
	}
	defer connection.Admin.Close()
	l.admin, l.engine = connection.Admin, connection.Engine
	var workers sync.WaitGroup
	for _, heart := range l.hearts {
		workers.Go(func() { l.work(ctx, heart) })
	}
	workers.Go(func() { l.resync(ctx) })
	workers.Wait()
}

// connect makes the client. What is wrong with the settings of one cluster must
// not stop the others, so it is tried until the controller stops.
func (l *loop) connect(ctx context.Context) (Connection, error) {
	for {
		connection, err := l.dial(l.cluster)
		if err == nil {
			return connection, nil
		}
		ctrl.LoggerFrom(ctx).Error(err, "Failed to set up the Kafka client: check the cluster's settings",
			"bootstrapServers", l.cluster.BootstrapServers)
		if err := l.sleep(ctx, batch.MaxBackoff); err != nil {
			return Connection{}, err
		}
	}
}

func (l *loop) work(ctx context.Context, heart *batch.Heartbeat) {
	window := batch.Window{MaxSize: l.c.opts.MaxBatchSize, Linger: l.c.opts.MaxBatchLinger}
	for {
		heart.Wait()
		b, err := l.queue.Next(ctx, window)
		if err != nil {
			return // stopped
		}
		heart.Beat()
		l.reconcile(ctx, b, heart)
		l.queue.Done(b)
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
