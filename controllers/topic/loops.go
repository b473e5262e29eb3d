package topic

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"

	kafkav1 "github.com/sluice-kafka/sluice/api/v1"
)

// running is what loops are started in, from when the controller leads.
type running struct {
	ctx   context.Context
	loops *sync.WaitGroup
}

// begin starts all loops there are, and those that come later, until ctx ends.
func (c *Controller) begin(ctx context.Context, loops *sync.WaitGroup) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.running = &running{ctx: ctx, loops: loops}
	for _, l := range c.loops {
		c.launch(l)
	}
}

func (c *Controller) launch(l *loop) {
	if c.running != nil {
		c.running.loops.Go(func() { l.run(c.running.ctx) })
	}
}

// serving returns the loop of a cluster; nil where it is not served.
func (c *Controller) serving(id string) *loop {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.servingLocked(id)
}

func (c *Controller) servingLocked(id string) *loop {
	for _, l := range c.loops {
		if l.id == id && !l.closing {
			return l
		}
	}
	return nil
}

// serve begins to work on the topics of a cluster, all of which are seen anew, or
// tells the loop that does what is known of the cluster now. waits tells why it
// cannot be dialled yet.
func (c *Controller) serve(cluster Cluster, waits *obstacle) *loop {
	c.mu.Lock()
	defer c.mu.Unlock()
	if l := c.servingLocked(cluster.ID()); l != nil {
		l.change(cluster, waits)
		return l
	}
	l := newLoop(c, cluster, waits)
	for _, other := range c.loops {
		if other.id == l.id {
			// It would write to the same resources.
			l.before = other
			other.stop()
		}
	}
	c.loops = append(c.loops, l)
	slices.SortStableFunc(c.loops, func(a, b *loop) int { return cmp.Compare(a.id, b.id) })
	for _, k := range slices.SortedFunc(maps.Keys(c.strays), compareKeys) {
		switch t := c.strays[k]; {
		case c.home(t) == l:
			delete(c.strays, k)
			c.unserved.forget(k)
			c.forgetElsewhere(l, k)
			l.observed(t, true)
		case l.before != nil && l.before.index.has(k):
			l.leave(t) // the loop before may end without having let go of it
		}
	}
	c.launch(l)
	return l
}

// forgetElsewhere takes a resource from the loops that were about to let go of it.
func (c *Controller) forgetElsewhere(home *loop, k key) {
	for _, l := range c.loops {
		if l != home {
			l.gone(k)
		}
	}
}

// abandon ends the work on the topics of a cluster, which are forgotten and stay as
// they are in Kafka. With release our finalizers are taken off first, as somebody
// else is to look after the topics, or nobody.
func (c *Controller) abandon(id string, release bool) (found bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	l := c.servingLocked(id)
	if l == nil {
		return false
	}
	l.close()
	for _, t := range l.index.topics() {
		c.strays[keyOf(t)] = t
		if release {
			l.leave(t)
		} else {
			l.gone(keyOf(t))
			c.unserved.observed(t, true)
		}
	}
	// What was about to be let go before still is.
	if l.index.empty() || c.running == nil {
		l.stop()
	}
	if c.running == nil {
		c.drop(l)
	}
	return true
}

// stopIfLeft stops a loop that let go of its last topic after its cluster was
// abandoned.
func (c *Controller) stopIfLeft(l *loop) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if l.closing && l.index.empty() {
		l.stop()
	}
}

// ended forgets a loop that works no more, and what was measured of its cluster.
func (c *Controller) ended(l *loop) {
	c.identities.forget(l)
	c.mu.Lock()
	defer c.mu.Unlock()
	if l.closing {
		c.drop(l)
	}
}

func (c *Controller) drop(l *loop) {
	c.loops = slices.DeleteFunc(c.loops, func(other *loop) bool { return other == l })
	if !slices.ContainsFunc(c.loops, func(other *loop) bool { return other.id == l.id }) {
		c.opts.Metrics.Forget(l.id)
	}
}

// all is a copy of the loops, those that are closing among them.
func (c *Controller) all() []*loop {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.loops)
}

// topics are those that an index holds and that do not leave it, in order.
func (x *index) topics() []*kafkav1.KafkaTopic {
	x.mu.Lock()
	defer x.mu.Unlock()
	var topics []*kafkav1.KafkaTopic
	for _, k := range slices.SortedFunc(maps.Keys(x.entries), compareKeys) {
		if e := x.entries[k]; !e.leaving {
			topics = append(topics, e.topic)
		}
	}
	return topics
}

func (x *index) empty() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return len(x.entries) == 0
}
