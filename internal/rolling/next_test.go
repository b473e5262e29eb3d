package rolling_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sluice-kafka/sluice/internal/observed"
	"github.com/sluice-kafka/sluice/internal/rolling"
)

// none is the node restarted where none is.
const none int32 = -1

type causes map[int32]rolling.Cause

const (
	turn       = rolling.CauseTurn
	other      = rolling.CauseNode
	partitions = rolling.CausePartitions
	quorum     = rolling.CauseQuorum
	unobserved = rolling.CauseUnobserved
)

type cases map[string]struct {
	in    rolling.Input
	want  int32
	waits causes
}

func run(t *testing.T, all cases) {
	t.Helper()
	for name, tc := range all {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := rolling.Next(tc.in)
			got, waits := none, causes{}
			if d.Restart != nil {
				got = d.Restart.Node
			}
			for _, w := range d.Waits {
				waits[w.Node] = w.Cause
			}
			if tc.waits == nil {
				tc.waits = causes{}
			}
			if got != tc.want {
				t.Errorf("restarts %d, want %d; waits: %+v", got, tc.want, d.Waits)
			}
			if diff := cmp.Diff(tc.waits, waits); diff != "" {
				t.Errorf("waits (-want +got):\n%s", diff)
			}
		})
	}
}

func TestOrder(t *testing.T) {
	t.Parallel()
	run(t, cases{
		"nothing to do":                          {in: separate(), want: none},
		"nothing to do, and all is down":         {in: separate(down(0, 1, 2, 3, 4, 5), unseen), want: none},
		"no nodes":                               {in: rolling.Input{}, want: none},
		"one broker":                             {in: separate(old(4)), want: 4},
		"the lowest ID first":                    {in: separate(old(5, 4)), want: 4, waits: causes{5: turn}},
		"controllers before brokers":             {in: separate(old(2, 3, 4, 5)), want: 2, waits: causes{3: turn, 4: turn, 5: turn}},
		"the active controller last of them":     {in: separate(old(0, 1, 2)), want: 0, waits: causes{1: turn, 2: turn}},
		"the active controller before brokers":   {in: separate(old(1, 3)), want: 1, waits: causes{3: turn}},
		"combined nodes, the active one last":    {in: combined(old(1, 2)), want: 2, waits: causes{1: turn}},
		"combined nodes before brokers":          {in: combined(old(2, 7), plain(7)), want: 2, waits: causes{7: turn}},
		"the unready one first, whatever it is":  {in: separate(old(0, 5), down(5)), want: 5, waits: causes{0: turn}},
		"an unready active controller":           {in: separate(old(0, 1), state(rolling.Unready, 1)), want: 1, waits: causes{0: turn}},
		"of unready ones controllers first":      {in: separate(old(2, 3), down(2, 3)), want: 2, waits: causes{3: turn}},
		"of unready ones the active one last":    {in: separate(old(1, 2), state(rolling.Unready, 1, 2)), want: 2, waits: causes{1: turn}},
		"of unready ones the role counts":        {in: separate(controller(7), old(3, 7), down(3, 7)), want: 7, waits: causes{3: turn}},
		"a fenced broker before controllers":     {in: separate(old(0, 4), fenced(4), outOfSync(4)), want: 4, waits: causes{0: turn}},
		"the one that is out of sync first":      {in: separate(old(3, 4, 5), outOfSync(5)), want: 5, waits: causes{3: turn, 4: turn}},
		"a pod that nobody takes":                {in: separate(old(4), state(rolling.Unschedulable, 4)), want: 4},
		"a pod that is being deleted already":    {in: separate(old(4, 5), state(rolling.Terminating, 4)), want: none, waits: causes{5: other}},
		"a pod that is missing":                  {in: separate(old(4, 5), state(rolling.Missing, 4)), want: none, waits: causes{5: other}},
		"controllers wait in vain: brokers wait": {in: separate(old(0, 3), lagging(2, time.Minute)), want: none, waits: causes{0: other, 3: turn}},
	})
}

// controller adds a node that is a controller only, and no voter yet.
func controller(id int32) change {
	return func(in *rolling.Input) { in.Nodes = append(in.Nodes, node(id, false, true)) }
}

// plain adds a node that is a broker only.
func plain(id int32) change {
	return func(in *rolling.Input) {
		n := node(id, true, false)
		for _, o := range in.Nodes {
			if o.Live != o.Wanted {
				n.Live = o.Live
			}
		}
		in.Nodes = append(in.Nodes, n)
		seen, _ := in.Registration.Get()
		in.Registration = observed.Seen(observed.Registration{Brokers: append(slices.Clone(seen.Brokers), observed.Broker{ID: id})})
	}
}

func TestOneAtATime(t *testing.T) {
	t.Parallel()
	run(t, cases{
		"the last one is not ready":              {in: separate(old(4, 5), down(3)), want: none, waits: causes{4: other, 5: other}},
		"the last one is ready and not in sync":  {in: separate(old(4, 5), outOfSync(3)), want: none, waits: causes{4: other, 5: other}},
		"the last one is ready and still fenced": {in: separate(old(4), fenced(3), leaderless), want: none, waits: causes{4: other}},
		"the last one is not registered yet":     {in: separate(old(4), plain(6), late(6), unregistered(6)), want: none, waits: causes{4: other}},
		"the last one starts":                    {in: separate(old(4), state(rolling.Missing, 3)), want: none, waits: causes{4: other}},
		"the last controller lags":               {in: separate(old(3), lagging(2, time.Minute)), want: none, waits: causes{3: other}},
		"a replica that is added is no restart":  {in: separate(old(4), adding(3)), want: 4},
		"what is down already waits for nobody":  {in: separate(old(4), down(3, 4)), want: 4},
		"what is down already waits for no pod":  {in: separate(old(4), down(4), state(rolling.Terminating, 3)), want: 4},
		"all that is to be restarted lags behind": {
			in:   separate(old(3, 4, 5), topic("a", 1, ids(3, 4, 5), ids(3)), topic("b", 1, ids(3, 4, 5), ids(4, 5))),
			want: 4, waits: causes{3: partitions, 5: turn},
		},
		"what lags behind waits for what was restarted": {
			in: separate(old(4), topic("a", 1, ids(3, 4, 5), ids(5))), want: none, waits: causes{4: other},
		},
		"all unready though all serve: one goes": {
			in: combined(old(0, 1, 2), state(rolling.Unready, 0, 1, 2)), want: 0, waits: causes{1: turn, 2: turn},
		},
		"all unready though all serve: the others wait for it": {
			in: combined(old(1, 2), state(rolling.Unready, 0, 1, 2)), want: none, waits: causes{1: other, 2: other},
		},
	})
}

// adding has a reassignment add a replica on a broker.
func adding(id int32) change {
	return moving("grows", 1, ids(4, 5, id), ids(4, 5), id)
}

func TestPartitionsKeepTheirMinimum(t *testing.T) {
	t.Parallel()
	three := ids(3, 4, 5)
	run(t, cases{
		"all in sync, all but one needed":           {in: separate(old(3)), want: 3},
		"all are needed, and there are no more":     {in: separate(old(3), topic("a", 3, three, three)), want: 3},
		"too few already: those that lag go first":  {in: separate(old(3, 4, 5), topic("a", 2, three, ids(3))), want: 4, waits: causes{3: turn, 5: turn}},
		"as many as are needed":                     {in: separate(old(3, 4, 5), topic("a", 2, three, ids(3, 4))), want: 5, waits: causes{3: turn, 4: turn}},
		"a partition of others does not matter":     {in: separate(old(3), topic("a", 3, ids(4, 5), ids(4, 5))), want: 3},
		"fewer replicas than the minimum":           {in: separate(old(3), topic("a", 4, three, three)), want: 3},
		"fewer than the minimum, and just moved":    {in: separate(old(3), moving("a", 4, ids(3, 4), ids(3), 4)), want: none, waits: causes{3: partitions}},
		"one replica":                               {in: separate(old(3), topic("a", 1, ids(3), ids(3))), want: 3},
		"one replica that is just moved away":       {in: separate(old(3), moving("a", 1, ids(3, 4), ids(3), 4)), want: none, waits: causes{3: partitions}},
		"a third replica is just added":             {in: separate(old(3), moving("a", 2, three, ids(3, 4), 5)), want: none, waits: causes{3: partitions}},
		"one is not in the way of the next":         {in: separate(old(3, 4), moving("a", 1, ids(3, 5), ids(3), 5)), want: 4, waits: causes{3: partitions}},
		"combined nodes obey it too":                {in: combined(old(0), moving("a", 1, ids(0, 2), ids(0), 2)), want: none, waits: causes{0: partitions}},
		"unready, and it serves":                    {in: separate(old(3), state(rolling.Unready, 3), moving("a", 1, ids(3, 4), ids(3), 4)), want: none, waits: causes{3: partitions}},
		"unready, and it does not serve":            {in: separate(old(3), down(3), moving("a", 1, ids(3, 4), ids(4), 4)), want: 3},
		"unready, fenced, and the last in sync":     {in: separate(old(3), down(3), dead("a", 3)), want: 3},
		"unready, fenced, the last, and moved away": {in: separate(old(3), moving("a", 1, ids(3, 4), ids(3), 4), down(3), lastInSync(3)), want: 3},
		"unready and only partitions say it serves": {in: separate(old(3), unseenRegistration, state(rolling.Unready, 3), moving("a", 1, ids(3, 4), ids(3), 4)), want: none, waits: causes{3: partitions}},
		"a minimum that was not seen":               {in: separate(old(3), unseenMinimums), want: none, waits: causes{3: unobserved}},
		"a minimum of one topic that was not seen":  {in: separate(old(3), part(observed.Partition{Topic: "new", Replicas: three, InSync: three})), want: none, waits: causes{3: unobserved}},
		"a minimum that does not matter here":       {in: separate(old(3), part(observed.Partition{Topic: "new", Replicas: ids(4, 5), InSync: ids(4, 5)})), want: 3},
	})
}

func moving(name string, minimum int, replicas, inSync []int32, adding int32) change {
	return func(in *rolling.Input) {
		topic(name, minimum, ids(replicas...), inSync)(in)
		all, _ := in.Partitions.Get()
		all[len(all)-1].Adding = ids(adding)
	}
}

// lastInSync has a broker that is gone be the last in sync of a partition.
func lastInSync(id int32) change {
	return func(in *rolling.Input) {
		all, _ := in.Partitions.Get()
		all[len(all)-1].InSync = ids(id)
		all[len(all)-1].Leader = -1
	}
}

// leaderless takes the leaders of all partitions.
func leaderless(in *rolling.Input) {
	seen, _ := in.Partitions.Get()
	all := slices.Clone(seen)
	for i := range all {
		all[i].Leader = -1
	}
	in.Partitions = observed.Seen(all)
}

// dead is a partition without a leader whose ISR is one dead broker.
func dead(name string, id int32) change {
	return func(in *rolling.Input) {
		topic(name, 1, ids(id), ids(id))(in)
		all, _ := in.Partitions.Get()
		all[len(all)-1].Leader = -1
	}
}

func TestQuorumStaysCaughtUp(t *testing.T) {
	t.Parallel()
	const almost, over = 1999 * time.Millisecond, 2 * time.Second
	run(t, cases{
		"all are caught up":                       {in: separate(old(0)), want: 0},
		"another one almost lags":                 {in: separate(old(0), lagging(2, almost)), want: 0},
		"another one lags":                        {in: separate(old(0), lagging(2, over)), want: none, waits: causes{0: other}},
		"another one lags, and is to go too":      {in: separate(old(0, 2), lagging(2, over)), want: 2, waits: causes{0: turn}},
		"a time-out of its own":                   {in: separate(old(0), lagging(2, over), func(in *rolling.Input) { in.FetchTimeout = 3 * time.Second }), want: 0},
		"a voter that no node is lags":            {in: separate(old(0), voters(1, 0, 1, 9), lagging(9, over)), want: none, waits: causes{0: quorum}},
		"a voter that was never caught up":        {in: separate(old(0), func(in *rolling.Input) { voters(1, 0, 1, 9)(in); never(9)(in) }), want: none, waits: causes{0: quorum}},
		"what the leader does not know of itself": {in: separate(old(0), never(1)), want: none, waits: causes{0: other}},
		"four controllers need three":             {in: separate(old(0), voters(1, 0, 1, 2, 9)), want: 0},
		"four controllers, and one lags":          {in: separate(old(0), voters(1, 0, 1, 2, 9), lagging(9, over)), want: none, waits: causes{0: quorum}},
		"five controllers, and one lags":          {in: separate(old(0), voters(1, 0, 1, 2, 8, 9), lagging(9, over)), want: 0},
		"of two the other is caught up":           {in: separate(old(0), voters(1, 0, 1)), want: 0},
		"of two the other lags":                   {in: separate(old(1), voters(1, 1, 9), lagging(9, over)), want: none, waits: causes{1: quorum}},
		"the only one":                            {in: single(old(0)), want: 0},
		"the only one, and no quorum was seen":    {in: single(old(0), unseenQuorum), want: 0},
		"no leader":                               {in: separate(old(0), voters(-1, 0, 1, 2)), want: none, waits: causes{0: unobserved}},
		"a controller that is no voter":           {in: separate(old(2), voters(1, 0, 1)), want: 2},
		"brokers do not need to see the quorum":   {in: separate(old(3), unseenQuorum), want: 3},
		"not seen":                                {in: separate(old(0), unseenQuorum), want: none, waits: causes{0: unobserved}},
		"unready, and caught up":                  {in: separate(old(0), state(rolling.Unready, 0)), want: 0},
		"unready, caught up, and needed":          {in: separate(old(0), state(rolling.Unready, 0), voters(1, 0, 1, 9), lagging(9, over)), want: none, waits: causes{0: quorum}},
		"down, so the majority stays as it is":    {in: separate(old(0), down(0), voters(1, 0, 1, 9), lagging(0, over), lagging(9, over)), want: 0},
		"unready, not seen, others are ready":     {in: separate(old(0), state(rolling.Unready, 0), unseenQuorum), want: none, waits: causes{0: unobserved}},
	})
}

func never(id int32) change {
	return func(in *rolling.Input) {
		q, _ := in.Quorum.Get()
		for i := range q.Voters {
			if q.Voters[i].ID == id {
				q.Voters[i].LastCaughtUp = time.Time{}
			}
		}
	}
}

// single is a cluster of one node with both roles.
func single(changes ...change) rolling.Input {
	in := rolling.Input{Nodes: []rolling.Node{node(0, true, true)}, MinInSync: observed.Seen(map[string]int{"orders": 1})}
	return healthy(in, ids(0), append([]change{voters(0, 0)}, changes...))
}

// What cannot be seen stops restarts, unless it is because all is down.
func TestMending(t *testing.T) {
	t.Parallel()
	run(t, cases{
		"all are ready, and fenced for a bad setting": {in: separate(old(3, 4, 5), topic("a", 2, ids(3, 4, 5), ids(5)), fenced(3, 4, 5), leaderless), want: 3, waits: causes{4: turn, 5: turn}},
		"and so is the last one in sync":              {in: separate(old(5), topic("a", 2, ids(3, 4, 5), ids(5)), fenced(5), leaderless), want: 5},
		"ready and fenced is worth less than ready":   {in: separate(old(3, 4), topic("a", 2, ids(3, 4, 5), ids(3, 5)), fenced(4), outOfSync(4)), want: 4, waits: causes{3: turn}},
		"ready where no quorum is":                    {in: separate(old(3), state(rolling.Unready, 0, 1, 2), unseenQuorum, unseenPartitions, fenced(3)), want: none, waits: causes{3: other}},
		"partitions not seen":                         {in: separate(old(3), unseenPartitions), want: none, waits: causes{3: unobserved}},
		"partitions not seen, for a controller":       {in: separate(old(0), unseenPartitions), want: none, waits: causes{0: unobserved}},
		"no brokers, so no partitions":                {in: controllersOnly(old(0), unseenPartitions), want: 0},
		"all nodes with both roles are down":          {in: combined(old(0, 1, 2), down(0, 1, 2), unseen), want: 0, waits: causes{1: turn, 2: turn}},
		"the first of them has been mended":           {in: combined(old(1, 2), down(0, 1, 2), unseen), want: 1, waits: causes{2: turn}},
		"the last of them":                            {in: combined(old(2), down(1, 2), unseen), want: 2},
		"all controllers are down":                    {in: separate(old(0, 1, 2), down(0, 1, 2), unseenQuorum, unseenPartitions), want: 0, waits: causes{1: turn, 2: turn}},
		"all brokers are down":                        {in: separate(old(3, 4, 5), down(3, 4, 5), unseenRegistration, unseenPartitions), want: 3, waits: causes{4: turn, 5: turn}},
		"all brokers are down, known as fenced":       {in: separate(old(3, 4, 5), down(3, 4, 5), unseenPartitions), want: 3, waits: causes{4: turn, 5: turn}},
		"two of three are down, and memory stale":     {in: combined(old(0, 1), state(rolling.Unready, 0, 1), unseenPartitions, unseenQuorum), want: 0, waits: causes{1: turn}},
		"one of three is unready, all unseen":         {in: combined(old(0), state(rolling.Unready, 0), unseen), want: none, waits: causes{0: unobserved}},
		"a broker is unready, and all unseen":         {in: separate(old(3), state(rolling.Unready, 3), unseen), want: none, waits: causes{3: unobserved}},
		"a broker is unready and fenced":              {in: separate(old(3), down(3), unseenPartitions), want: 3},
		"a broker is unready and in no ISR":           {in: separate(old(3), down(3), unseenRegistration), want: 3},
		"too few are ready, but there is a quorum":    {in: separate(old(3), state(rolling.Unready, 0, 2, 3), unseenPartitions), want: none, waits: causes{3: other}},
		"a broker is unready and not registered":      {in: separate(old(3), state(rolling.Unready, 3), unseenPartitions, unregistered(3)), want: 3},
		"all is ready, and nothing was seen":          {in: combined(old(0, 1, 2), unseen), want: none, waits: causes{0: unobserved, 1: unobserved, 2: unobserved}},
		"the first with a bad setting stops it":       {in: combined(old(1, 2), down(0)), want: none, waits: causes{1: turn, 2: other}},
		"and is the first to get a good one":          {in: combined(old(0, 1, 2), down(0)), want: 0, waits: causes{1: turn, 2: turn}},
		"it waits for the quorum, brokers do not":     {in: separate(old(0, 3), state(rolling.Unready, 0, 3, 4, 5), unseen), want: 3, waits: causes{0: unobserved}},
		"a pod nobody takes serves nothing at all":    {in: combined(old(0), state(rolling.Unschedulable, 0), unseen), want: 0},
	})
}

func unregistered(id int32) change {
	return func(in *rolling.Input) {
		seen, _ := in.Registration.Get()
		left := slices.DeleteFunc(slices.Clone(seen.Brokers), func(b observed.Broker) bool { return b.ID == id })
		in.Registration = observed.Seen(observed.Registration{Brokers: left})
	}
}

func controllersOnly(changes ...change) rolling.Input {
	return separate(append([]change{func(in *rolling.Input) { in.Nodes = in.Nodes[:3] }}, changes...)...)
}
