package rolling

import (
	"cmp"
	"slices"

	"github.com/sluice-kafka/sluice/internal/observed"
)

// cluster is an input made ready to be asked.
type cluster struct {
	in         Input
	nodes      []Node // ascending by ID
	standings  map[int32]*standing
	registered map[int32]observed.Broker
	quorum     quorum

	readyBrokers, readyControllers, controllers int

	// Nodes that are not ready and in sync: those of the wanted revision, and those
	// whose turn to be restarted comes.
	unfinished, outdated []Node
}

func newCluster(in Input) *cluster {
	c := &cluster{
		in: in, standings: in.standings(), quorum: in.readQuorum(),
		nodes: slices.SortedFunc(slices.Values(in.Nodes), func(a, b Node) int { return cmp.Compare(a.ID, b.ID) }),
	}
	registration, _ := in.Registration.Get()
	c.registered = make(map[int32]observed.Broker, len(registration.Brokers))
	for _, b := range registration.Brokers {
		c.registered[b.ID] = b
	}
	for _, n := range c.nodes {
		if n.Controller {
			c.controllers++
		}
		if n.State == Ready && n.Broker {
			c.readyBrokers++
		}
		if n.State == Ready && n.Controller {
			c.readyControllers++
		}
		switch {
		case c.complete(n):
		case n.needsRestart():
			c.outdated = append(c.outdated, n)
		default:
			c.unfinished = append(c.unfinished, n)
		}
	}
	return c
}

// needsRestart tells that a node's pod is not as wanted, and that nothing is done
// about it yet.
func (n Node) needsRestart() bool {
	return n.Live != n.Wanted && n.State != Missing && n.State != Terminating
}

// complete tells that a node's last restart is over: its pod is ready, its broker
// is not seen fenced, all that it holds is in sync and, as a controller, it is not
// seen to lag.
func (c *cluster) complete(n Node) bool {
	return n.State == Ready && !c.fenced(n) && c.standings[n.ID].behind.count == 0 && !c.lags(n)
}

// fenced tells that the controllers are seen to count a broker out; one that has
// not registered (yet) as well. Its pod may be ready: it listens before that.
func (c *cluster) fenced(n Node) bool {
	broker, registered := c.registered[n.ID]
	return n.Broker && c.in.Registration.Seen() && (!registered || broker.Fenced)
}

func (c *cluster) lags(n Node) bool {
	caughtUp, voter := c.quorum.caughtUp[n.ID]
	return n.Controller && voter && !caughtUp
}

// waitsFor returns a node whose restart has to be over before that of n begins. A
// node that is not in order itself does not wait for others that need a restart
// too: were all waiting for one another, nobody could mend them.
func (c *cluster) waitsFor(n Node) (Node, bool) {
	lists := [][]Node{c.unfinished}
	if c.complete(n) {
		lists = append(lists, c.outdated)
	}
	for _, list := range lists {
		for _, other := range list {
			if other.ID != n.ID {
				return other, true
			}
		}
	}
	return Node{}, false
}

// serving is whether a node serves the cluster, as a broker or as a controller.
type serving int

const (
	// down: a restart takes nothing away.
	down serving = iota
	// up: it serves.
	up
	// unclear: it could not be seen.
	unclear
)

// lost tells that there is no quorum to all appearance. What brokers say of one
// another then is as old as its loss.
func (c *cluster) lost() bool {
	return !c.quorum.seen && !c.in.Partitions.Seen() && c.readyControllers < majority(c.controllers)
}

// asBroker tells whether a node serves as a broker. Kafka knows better than
// Kubernetes: a pod may be unready and its process well, or ready and fenced. Only
// where all is down is it believed that there is nothing to be seen.
func (c *cluster) asBroker(n Node) serving {
	switch {
	case !n.Broker, n.State == Unschedulable:
		return down
	case c.lost():
		return fromPod(n)
	case c.standings[n.ID].leads:
		return up
	case c.fenced(n):
		return down
	case c.in.Registration.Seen(), n.State == Ready:
		return up
	case c.in.Partitions.Seen(), c.readyBrokers == 0:
		return down
	}
	return unclear
}

// fromPod believes the pod.
func fromPod(n Node) serving {
	if n.State == Ready {
		return up
	}
	return down
}

// isDown tells that a node serves as nothing.
func (c *cluster) isDown(n Node) bool {
	return c.asBroker(n) == down && c.asController(n) == down
}

// asController tells whether a node serves as a controller. Where the quorum is not
// seen, and too few pods of controllers are ready for a majority, there is none to
// be lost.
func (c *cluster) asController(n Node) serving {
	switch {
	case !n.Controller, n.State == Unschedulable:
		return down
	case n.State == Ready, c.quorum.caughtUp[n.ID]:
		return up
	case c.quorum.seen, c.readyControllers < majority(c.controllers):
		return down
	}
	return unclear
}
