package rolling_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sluice-kafka/sluice/internal/observed"
	"github.com/sluice-kafka/sluice/internal/rolling"
)

// dice makes cluster states from random bytes; where they end it throws zeros.
type dice struct{ data []byte }

func (d *dice) throw(n int) int {
	if len(d.data) == 0 {
		return 0
	}
	b := int(d.data[0])
	d.data = d.data[1:]
	return b % n
}

func (d *dice) often(n int) bool { return d.throw(n) != 1 }

func randomInput(d *dice) rolling.Input {
	var in rolling.Input
	var registered []observed.Broker
	q := observed.Quorum{Leader: -1}
	count := int32(1 + d.throw(6))
	for id := range count {
		role := d.throw(3)
		n := node(id, role != 0, role != 1)
		if !d.often(3) {
			n.Live = "r0"
		}
		if !d.often(5) {
			n.State = rolling.PodState(d.throw(5))
		}
		in.Nodes = append(in.Nodes, n)
		if n.Broker && d.often(6) {
			registered = append(registered, observed.Broker{ID: id, Fenced: n.State != rolling.Ready && d.often(3)})
		}
		if n.Controller {
			behind := 0
			if !d.often(5) {
				behind = d.throw(3)
			}
			q.Voters = append(q.Voters, observed.Voter{ID: id, LastCaughtUp: start.Add(-time.Duration(behind) * 2 * time.Second)})
			if q.Leader < 0 || !d.often(3) {
				q.Leader = id
			}
		}
	}
	minimums := map[string]int{}
	var all []observed.Partition
	for t := range d.throw(5) {
		p := observed.Partition{Topic: fmt.Sprintf("t%d", t), Leader: -1}
		for id := range count {
			if !in.Nodes[id].Broker || !d.often(4) {
				continue
			}
			p.Replicas = append(p.Replicas, id)
			switch d.throw(8) {
			case 1:
			case 2:
				p.Adding = append(p.Adding, id)
			default:
				p.InSync = append(p.InSync, id)
				p.Leader = id
			}
		}
		all = append(all, p)
		if d.often(8) {
			minimums[p.Topic] = 1 + d.throw(4)
		}
	}
	in.Partitions, in.Registration = observed.Seen(all), observed.Seen(observed.Registration{Brokers: registered})
	in.Quorum, in.MinInSync = observed.Seen(q), observed.Seen(minimums)
	for _, lose := range []change{unseenPartitions, unseenRegistration, unseenQuorum, unseenMinimums} {
		if !d.often(10) {
			lose(&in)
		}
	}
	return in
}

// upheld returns what a decision breaks of the promises; nothing is the rule.
func upheld(in rolling.Input, d rolling.Decision) string {
	var need []int32
	for _, n := range in.Nodes {
		if n.Live != n.Wanted && n.State != rolling.Missing && n.State != rolling.Terminating {
			need = append(need, n.ID)
		}
	}
	if !slices.Equal(need, d.Need) {
		return fmt.Sprintf("needs %v, want %v", d.Need, need)
	}
	told := 0
	for _, w := range d.Waits {
		if w.Message == "" || !slices.Contains(need, w.Node) {
			return fmt.Sprintf("a wait for nothing: %+v", w)
		}
		told++
	}
	if d.Restart == nil {
		if told != len(need) || (len(need) > 0) != (d.Message() != "") {
			return "not all that wait are told of"
		}
		return ""
	}
	if told != len(need)-1 || !slices.Contains(need, d.Restart.Node) {
		return "the restarted node is none of those that need it, or waits are missing"
	}
	return harmless(in, in.Nodes[d.Restart.Node])
}

// harmless says what suffers from a restart of a node.
func harmless(in rolling.Input, n rolling.Node) string {
	seen, _ := in.Partitions.Get()
	serves := servesAsBroker(in, n, seen)
	if serves && n.State == rolling.Ready && !in.Partitions.Seen() {
		return "partitions were not seen"
	}
	if n.State == rolling.Ready && (serves || n.Controller) {
		for _, o := range in.Nodes {
			if o.ID != n.ID && o.State != rolling.Ready && o.Live == o.Wanted {
				return fmt.Sprintf("node %d is not back yet", o.ID)
			}
		}
	}
	minimums, _ := in.MinInSync.Get()
	for _, p := range seen {
		if !serves || !slices.Contains(p.InSync, n.ID) {
			continue
		}
		minimum, known := minimums[p.Topic]
		minimum = min(minimum, len(p.Replicas)) // Kafka asks for no more than there are
		left := len(p.InSync) - 1
		switch {
		case !known:
			return "a minimum was not seen"
		case len(p.Replicas) > minimum && left < minimum:
			return fmt.Sprintf("%s falls below its minimum %d", p.Topic, minimum)
		case len(p.Replicas) == minimum && left < len(p.Replicas)-1:
			return fmt.Sprintf("%s loses another one of its last replicas", p.Topic)
		}
	}
	return quorate(in, n)
}

func servesAsBroker(in rolling.Input, n rolling.Node, seen []observed.Partition) bool {
	registration, known := in.Registration.Get()
	b, registered := registration.Broker(n.ID)
	leads := slices.ContainsFunc(seen, func(p observed.Partition) bool { return p.Leader >= 0 && slices.Contains(p.InSync, n.ID) })
	switch {
	case !n.Broker || n.State == rolling.Unschedulable:
		return false
	case known:
		return leads || registered && !b.Fenced && (n.State == rolling.Ready || in.Quorum.Seen() || in.Partitions.Seen())
	}
	return leads || n.State == rolling.Ready
}

func quorate(in rolling.Input, n rolling.Node) string {
	q, seen := in.Quorum.Get()
	controllers := 0
	for _, o := range in.Nodes {
		if o.Controller {
			controllers++
		}
	}
	if !n.Controller || n.State != rolling.Ready || controllers == 1 {
		return ""
	}
	if !seen || q.Leader < 0 {
		return "the quorum was not seen"
	}
	left, now := 0, start
	for _, v := range q.Voters {
		if v.ID == q.Leader {
			now = v.LastCaughtUp
		}
	}
	for _, v := range q.Voters {
		if v.ID != n.ID && (v.ID == q.Leader || now.Sub(v.LastCaughtUp) < 2*time.Second) {
			left++
		}
	}
	if left < min(len(q.Voters)/2+1, len(q.Voters)-1) {
		return fmt.Sprintf("only %d of %d voters remain", left, len(q.Voters))
	}
	return ""
}

func checkPromises(t *testing.T, in rolling.Input) bool {
	t.Helper()
	d := rolling.Next(in)
	if broken := upheld(in, d); broken != "" {
		t.Fatalf("%s\ninput: %+v\ndecision: %+v", broken, in, d)
	}
	shuffled := in
	shuffled.Nodes = slices.Clone(in.Nodes)
	slices.Reverse(shuffled.Nodes)
	if diff := cmp.Diff(d, rolling.Next(shuffled)); diff != "" {
		t.Fatalf("the order of nodes matters (-want +got):\n%s", diff)
	}
	topics := rolling.Topics(in)
	if !slices.IsSorted(topics) {
		t.Fatalf("topics are not sorted: %v", topics)
	}
	// With the minimums of those topics alone the decision is the same.
	if minimums, seen := in.MinInSync.Get(); seen {
		asked := map[string]int{}
		for _, topic := range topics {
			if minimum, known := minimums[topic]; known {
				asked[topic] = minimum
			}
		}
		in.MinInSync = observed.Seen(asked)
		if less := rolling.Next(in); (less.Restart == nil) != (d.Restart == nil) || d.Restart != nil && d.Restart.Node != less.Restart.Node {
			t.Fatalf("with the minimums of %v alone: %+v, want %+v", topics, less, d)
		}
	}
	return d.Restart != nil
}

func TestPromisesOfAnyState(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	restarts := 0
	for range 30000 {
		data := make([]byte, 120)
		for i := range data {
			data[i] = byte(random.IntN(256))
		}
		if checkPromises(t, randomInput(&dice{data})) {
			restarts++
		}
	}
	if restarts < 3000 {
		t.Errorf("only %d restarts: too few to say anything", restarts)
	}
}

func FuzzNext(f *testing.F) {
	f.Add([]byte{2, 2, 1, 0, 2, 1, 0, 2, 1, 0})
	f.Add([]byte("a cluster of letters, where each means something"))
	f.Fuzz(func(t *testing.T, data []byte) { checkPromises(t, randomInput(&dice{data})) })
}
