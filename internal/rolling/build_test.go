package rolling_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/sluice-kafka/sluice/internal/observed"
	"github.com/sluice-kafka/sluice/internal/rolling"
)

var (
	start     = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	errUnseen = errors.New("dial tcp 10.0.0.1:9091: i/o timeout")
)

// change makes one thing of an input other than it is by default.
type change func(*rolling.Input)

// separate is a healthy cluster of controllers 0 to 2, of which 1 is active, and
// brokers 3 to 5, all of the wanted revision. Its topics have three replicas and
// need two.
func separate(changes ...change) rolling.Input {
	in := rolling.Input{MinInSync: observed.Seen(map[string]int{"orders": 2})}
	for id := range int32(6) {
		in.Nodes = append(in.Nodes, node(id, id >= 3, id < 3))
	}
	return healthy(in, []int32{3, 4, 5}, changes)
}

// combined is a healthy cluster of nodes 0 to 2 with both roles; 1 is active.
func combined(changes ...change) rolling.Input {
	in := rolling.Input{MinInSync: observed.Seen(map[string]int{"orders": 2})}
	for id := range int32(3) {
		in.Nodes = append(in.Nodes, node(id, true, true))
	}
	return healthy(in, []int32{0, 1, 2}, changes)
}

func node(id int32, broker, controller bool) rolling.Node {
	return rolling.Node{
		ID: id, Pod: fmt.Sprintf("c-pool-%d", id), Broker: broker, Controller: controller,
		State: rolling.Ready, Live: "r1", Wanted: "r1",
	}
}

func healthy(in rolling.Input, brokers []int32, changes []change) rolling.Input {
	var registered []observed.Broker
	for _, id := range brokers {
		registered = append(registered, observed.Broker{ID: id})
	}
	in.Registration = observed.Seen(observed.Registration{Brokers: registered})
	in.Partitions = observed.Seen([]observed.Partition{
		{Topic: "orders", ID: 0, Leader: brokers[0], Replicas: brokers, InSync: brokers},
	})
	in.Quorum = observed.Seen(observed.Quorum{Leader: 1, Voters: []observed.Voter{
		{ID: 0, LastCaughtUp: start.Add(-300 * time.Millisecond)},
		{ID: 1, LastCaughtUp: start},
		{ID: 2, LastCaughtUp: start.Add(-400 * time.Millisecond)},
	}})
	for _, c := range changes {
		c(&in)
	}
	return in
}

func edit(ids []int32, f func(*rolling.Node)) change {
	return func(in *rolling.Input) {
		for i := range in.Nodes {
			for _, id := range ids {
				if in.Nodes[i].ID == id {
					f(&in.Nodes[i])
				}
			}
		}
	}
}

func old(ids ...int32) change { return edit(ids, func(n *rolling.Node) { n.Live = "r0" }) }

func state(s rolling.PodState, ids ...int32) change {
	return edit(ids, func(n *rolling.Node) { n.State = s })
}

// down is a node whose pod is there and whose process is not: out of each ISR that
// has another member, fenced, and behind as a controller.
func down(ids ...int32) change {
	return func(in *rolling.Input) {
		state(rolling.Unready, ids...)(in)
		fenced(ids...)(in)
		for _, id := range ids {
			outOfSync(id)(in)
			deposed(id)(in)
			lagging(id, time.Minute)(in)
		}
	}
}

func fenced(ids ...int32) change {
	return func(in *rolling.Input) {
		seen, _ := in.Registration.Get()
		brokers := append([]observed.Broker(nil), seen.Brokers...)
		for i := range brokers {
			for _, id := range ids {
				brokers[i].Fenced = brokers[i].Fenced || brokers[i].ID == id
			}
		}
		in.Registration = observed.Seen(observed.Registration{Brokers: brokers})
	}
}

// outOfSync takes a broker out of the ISR of all partitions.
func outOfSync(id int32) change {
	return func(in *rolling.Input) {
		seen, _ := in.Partitions.Get()
		var all []observed.Partition
		for _, p := range seen {
			var left []int32
			for _, member := range p.InSync {
				if member != id {
					left = append(left, member)
				}
			}
			p.InSync = left
			p.Leader = -1
			if len(left) > 0 {
				p.Leader = left[0]
			}
			all = append(all, p)
		}
		in.Partitions = observed.Seen(all)
	}
}

// lagging has a controller be caught up last some time ago.
func lagging(id int32, ago time.Duration) change {
	return func(in *rolling.Input) {
		seen, _ := in.Quorum.Get()
		voters := append([]observed.Voter(nil), seen.Voters...)
		for i := range voters {
			if voters[i].ID == id && id != seen.Leader {
				voters[i].LastCaughtUp = start.Add(-ago)
			}
		}
		in.Quorum = observed.Seen(observed.Quorum{Leader: seen.Leader, Voters: voters})
	}
}

// deposed has another controller elected, if there is one, where this one is active.
func deposed(id int32) change {
	return func(in *rolling.Input) {
		q, _ := in.Quorum.Get()
		for _, v := range q.Voters {
			if q.Leader == id && v.ID != id {
				var all []int32
				for _, v := range q.Voters {
					all = append(all, v.ID)
				}
				voters(v.ID, all...)(in)
				return
			}
		}
	}
}

func voters(leader int32, ids ...int32) change {
	return func(in *rolling.Input) {
		q := observed.Quorum{Leader: leader}
		for _, id := range ids {
			q.Voters = append(q.Voters, observed.Voter{ID: id, LastCaughtUp: start})
		}
		in.Quorum = observed.Seen(q)
	}
}

// topic adds one of a partition with a minimum.
func topic(name string, minimum int, replicas, inSync []int32) change {
	return func(in *rolling.Input) {
		part(observed.Partition{Topic: name, Leader: inSync[0], Replicas: replicas, InSync: inSync})(in)
		minimums := map[string]int{name: minimum}
		seen, _ := in.MinInSync.Get()
		for k, v := range seen {
			minimums[k] = v
		}
		in.MinInSync = observed.Seen(minimums)
	}
}

func part(p observed.Partition) change {
	return func(in *rolling.Input) {
		seen, _ := in.Partitions.Get()
		in.Partitions = observed.Seen(append(append([]observed.Partition(nil), seen...), p))
	}
}

func ids(list ...int32) []int32 { return list }

func unseenPartitions(in *rolling.Input) {
	in.Partitions = observed.Unseen[[]observed.Partition](errUnseen)
}

func unseenRegistration(in *rolling.Input) {
	in.Registration = observed.Unseen[observed.Registration](errUnseen)
}

func unseenQuorum(in *rolling.Input) { in.Quorum = observed.Unseen[observed.Quorum](errUnseen) }

func unseenMinimums(in *rolling.Input) { in.MinInSync = observed.Unseen[map[string]int](errUnseen) }

func unseen(in *rolling.Input) {
	unseenPartitions(in)
	unseenRegistration(in)
	unseenQuorum(in)
	unseenMinimums(in)
}
