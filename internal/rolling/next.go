package rolling

import (
	"cmp"
	"maps"
	"slices"
)

// rank orders restarts; see candidates.
type rank int

const (
	// rankUnready: what is not ready, or serves nothing, can only win. Nodes of this rank are all tried,
	// for those of others wait for them.
	rankUnready rank = iota
	// rankController: brokers of a new version talk to controllers that know it.
	rankController
	// rankActive: each restart of the active controller has another elected, so it is
	// restarted when no other remains.
	rankActive
	rankBroker
)

func (c *cluster) rank(n Node) rank {
	switch {
	case n.State != Ready, c.isDown(n):
		return rankUnready
	case n.Controller && c.quorum.leader == n.ID:
		return rankActive
	case n.Controller:
		return rankController
	}
	return rankBroker
}

// candidates are the nodes that need a restart, in the order in which they are
// tried: by rank; controllers first, the active one last of them; those that are
// out of sync first; by ID.
func (c *cluster) candidates() []Node {
	var list []Node
	for _, n := range c.nodes {
		if n.needsRestart() {
			list = append(list, n)
		}
	}
	slices.SortStableFunc(list, func(a, b Node) int {
		return cmp.Or(
			cmp.Compare(c.rank(a), c.rank(b)),
			first(b.Controller, a.Controller),
			first(a.ID == c.quorum.leader, b.ID == c.quorum.leader),
			first(c.complete(a), c.complete(b)),
		)
	})
	return list
}

// first orders false before true.
func first(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// Next picks the node to restart now. At most one node is restarted at a time: the
// next one waits until the last is ready and in sync again. Only nodes that are
// down in any case do not wait, so that a cluster which a bad configuration has
// taken down can be mended.
//
// Of the others, in turn, it picks the first without which no partition falls below
// min.insync.replicas and a majority of the controllers stays caught up.
func Next(in Input) Decision {
	c := newCluster(in)
	var d Decision
	var turn *Node
	for _, n := range c.candidates() {
		d.Need = append(d.Need, n.ID)
		switch {
		case d.Restart != nil:
			d.Waits = append(d.Waits, turnWait(n, d.Restart.Node))
			continue
		case turn != nil && c.rank(*turn) != c.rank(n):
			d.Waits = append(d.Waits, turnWait(n, turn.ID))
			continue
		case turn == nil && c.rank(n) != rankUnready:
			turn = &n
		}
		if wait := c.judge(n); wait != nil {
			d.Waits = append(d.Waits, *wait)
			continue
		}
		d.Restart = &Restart{Node: n.ID, Reason: c.reason(n)}
	}
	slices.Sort(d.Need)
	slices.SortFunc(d.Waits, func(a, b Wait) int { return cmp.Compare(a.Node, b.Node) })
	return d
}

// judge returns why a node may not be restarted now; nil if it may.
func (c *cluster) judge(n Node) *Wait {
	if wait := c.judgeOrder(n); wait != nil {
		return wait
	}
	if c.asBroker(n) == up {
		if wait := c.judgeBroker(n); wait != nil {
			return wait
		}
	}
	if c.asController(n) == up {
		return c.judgeController(n)
	}
	return nil
}

// judgeOrder looks at the other nodes.
func (c *cluster) judgeOrder(n Node) *Wait {
	asBroker, asController := c.asBroker(n), c.asController(n)
	if asBroker == unclear || asController == unclear {
		return c.unclearWait(n)
	}
	if c.isDown(n) {
		return nil
	}
	if other, waits := c.waitsFor(n); waits {
		return c.nodeWait(n, other)
	}
	if !c.in.Partitions.Seen() && c.readyBrokers > 0 {
		// Whether the brokers are in sync again is not known.
		return unseenWait(n, "the partitions", c.in.Partitions.Err())
	}
	return nil
}

// judgeBroker looks at the partitions that a broker serves.
func (c *cluster) judgeBroker(n Node) *Wait {
	s := c.standings[n.ID]
	switch {
	case !c.in.Partitions.Seen():
		return unseenWait(n, "the partitions", c.in.Partitions.Err())
	case s.needed.count > 0:
		return partitionsWait(n, s.needed)
	case s.unknown.count > 0:
		return c.minimumWait(n, s.unknown)
	}
	return nil
}

// judgeController looks at the quorum. The only controller is restarted all the
// same: no waiting would make it safer.
func (c *cluster) judgeController(n Node) *Wait {
	if !c.quorum.seen {
		if c.controllers == 1 {
			return nil
		}
		return unseenWait(n, "the quorum of the controllers", c.in.Quorum.Err())
	}
	if have, need := c.quorum.without(n.ID); have < need {
		return quorumWait(n, have, need)
	}
	return nil
}

// Topics are those whose min.insync.replicas Next needs, sorted: the topics that
// nodes serve which wait for nothing else. None, where there is no such node.
func Topics(in Input) []string {
	c := newCluster(in)
	wanted := map[int32]bool{}
	var turn *Node
	for _, n := range c.candidates() {
		if turn != nil && c.rank(*turn) != c.rank(n) {
			break
		}
		if turn == nil && c.rank(n) != rankUnready {
			turn = &n
		}
		if c.asBroker(n) == up && c.judgeOrder(n) == nil {
			wanted[n.ID] = true
		}
	}
	partitions, _ := in.Partitions.Get()
	topics := map[string]bool{}
	for _, p := range partitions {
		if slices.ContainsFunc(p.InSync, func(id int32) bool { return wanted[id] }) {
			topics[p.Topic] = true
		}
	}
	return slices.Sorted(maps.Keys(topics))
}
