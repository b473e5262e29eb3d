package rebalance_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluice-kafka/sluice/internal/facts"
	"github.com/sluice-kafka/sluice/internal/nodepool"
	"github.com/sluice-kafka/sluice/internal/observed"
	"github.com/sluice-kafka/sluice/internal/rebalance"
)

// on is a broker that takes replicas.
func on(id int32, rack string, replicas int64) rebalance.Broker {
	return rebalance.Broker{ID: id, Rack: rack, Replicas: replicas}
}

// three brokers, one a rack.
func three() []rebalance.Broker {
	return []rebalance.Broker{on(0, "a", 0), on(1, "b", 0), on(2, "c", 0)}
}

// but returns brokers with one of them changed.
func but(brokers []rebalance.Broker, id int32, change func(*rebalance.Broker)) []rebalance.Broker {
	for i := range brokers {
		if brokers[i].ID == id {
			change(&brokers[i])
		}
	}
	return brokers
}

func cordoned(by rebalance.Cordon) func(*rebalance.Broker) {
	return func(b *rebalance.Broker) { b.Cordon = by }
}

func fenced(b *rebalance.Broker) { b.Fenced = true }

// held is a partition of which all replicas are in sync, the first leading.
func held(replicas ...int32) observed.Partition {
	return observed.Partition{Topic: "t", Leader: replicas[0], Replicas: replicas, InSync: replicas}
}

// inSync is a partition of which only some are, the first of them leading.
func inSync(p observed.Partition, ids ...int32) observed.Partition {
	p.InSync, p.Leader = ids, -1
	if len(ids) > 0 {
		p.Leader = ids[0]
	}
	return p
}

func TestPlanReplicas(t *testing.T) {
	for name, tc := range map[string]struct {
		brokers   []rebalance.Broker
		partition observed.Partition
		factor    int16
		want      []int32
		// wantWhy are parts of the reason why the partition is left out.
		wantWhy []string
	}{
		"what is at its factor is left alone":                      {brokers: three(), partition: held(2, 0), factor: 2},
		"a raise keeps the replicas in their order":                {brokers: three(), partition: held(2, 0), factor: 3, want: []int32{2, 0, 1}},
		"the broker that holds the fewest comes first":             {brokers: []rebalance.Broker{on(0, "", 9), on(1, "", 5), on(2, "", 3)}, partition: held(0), factor: 2, want: []int32{0, 2}},
		"of equals the one with fewer bytes":                       {brokers: []rebalance.Broker{on(0, "", 1), {ID: 1, Replicas: 5, Bytes: 20}, {ID: 2, Replicas: 5, Bytes: 10}}, partition: held(0), factor: 2, want: []int32{0, 2}},
		"of equals the lower ID":                                   {brokers: three(), partition: held(1), factor: 2, want: []int32{1, 0}},
		"a rack without a replica comes before a lower load":       {brokers: []rebalance.Broker{on(0, "a", 0), on(1, "a", 0), on(2, "b", 99)}, partition: held(0), factor: 2, want: []int32{0, 2}},
		"then the rack with the fewest":                            {brokers: []rebalance.Broker{on(0, "a", 0), on(1, "a", 0), on(2, "a", 0), on(3, "b", 99), on(4, "b", 98)}, partition: held(0, 1, 3), factor: 4, want: []int32{0, 1, 3, 4}},
		"a raise from one to three":                                {brokers: append(three(), on(3, "a", 0)), partition: held(0), factor: 3, want: []int32{0, 1, 2}},
		"nothing is put on a cordoned broker":                      {brokers: but(append(three(), on(3, "b", 50)), 1, cordoned(rebalance.Cordoned)), partition: held(0), factor: 3, want: []int32{0, 2, 3}},
		"nor on one that is being removed":                         {brokers: but(append(three(), on(3, "b", 50)), 1, cordoned(rebalance.Draining)), partition: held(0), factor: 3, want: []int32{0, 2, 3}},
		"nor on one that is fenced":                                {brokers: but(append(three(), on(3, "b", 50)), 1, fenced), partition: held(0), factor: 3, want: []int32{0, 2, 3}},
		"nor on one that does not answer":                          {brokers: but(append(three(), on(3, "b", 50)), 1, func(b *rebalance.Broker) { b.Unread = errors.New("unreachable") }), partition: held(0), factor: 3, want: []int32{0, 2, 3}},
		"a replica on a fenced broker stays in a raise":            {brokers: but(three(), 1, fenced), partition: inSync(held(0, 1), 0), factor: 3, want: []int32{0, 1, 2}},
		"one on a broker that is no more is replaced":              {brokers: three(), partition: inSync(held(9, 0), 0), factor: 3, want: []int32{0, 1, 2}},
		"a fall keeps the order and the racks":                     {brokers: []rebalance.Broker{on(0, "a", 0), on(1, "a", 0), on(2, "b", 99)}, partition: held(1, 2, 0), factor: 2, want: []int32{1, 2}},
		"a fall takes from who holds the most":                     {brokers: []rebalance.Broker{on(0, "a", 5), on(1, "b", 9), on(2, "c", 7)}, partition: held(0, 1, 2), factor: 2, want: []int32{0, 2}},
		"a fall keeps the leader":                                  {brokers: []rebalance.Broker{on(0, "a", 5), on(1, "b", 9), on(2, "c", 7)}, partition: inSync(held(0, 1, 2), 1, 0, 2), factor: 1, want: []int32{1}},
		"a fall takes what is out of sync first":                   {brokers: []rebalance.Broker{on(0, "a", 5), on(1, "b", 9), on(2, "c", 7)}, partition: inSync(held(0, 1, 2), 1, 2), factor: 2, want: []int32{1, 2}},
		"a fall takes from a fenced broker first":                  {brokers: but(three(), 0, fenced), partition: inSync(held(0, 1, 2), 1, 2), factor: 2, want: []int32{1, 2}},
		"and before that from a cordoned one":                      {brokers: but(but(three(), 0, fenced), 1, cordoned(rebalance.Cordoned)), partition: inSync(held(0, 1, 2), 2, 1), factor: 2, want: []int32{0, 2}},
		"also where the racks suffer":                              {brokers: but([]rebalance.Broker{on(0, "a", 0), on(1, "b", 0), on(2, "b", 0)}, 0, cordoned(rebalance.Draining)), partition: held(0, 1, 2), factor: 2, want: []int32{1, 2}},
		"and first of all from one that is no more":                {brokers: but(three(), 1, cordoned(rebalance.CordonedByHand)), partition: inSync(held(0, 1, 9), 0, 1), factor: 1, want: []int32{0}},
		"the last that is in sync stays, wherever it is":           {brokers: but([]rebalance.Broker{on(0, "a", 0), on(1, "a", 0), on(2, "b", 0)}, 0, fenced), partition: inSync(held(0, 1, 2), 0), factor: 1, want: []int32{0}},
		"what is left on a broker that is no more is replaced":     {brokers: three(), partition: inSync(held(8, 9, 0), 0), factor: 2, want: []int32{0, 1}},
		"without one in sync nothing is raised":                    {brokers: three(), partition: inSync(held(0)), factor: 2, wantWhy: []string{"none of its replicas [0] is in sync", "bring a broker back"}},
		"nor lowered":                                              {brokers: three(), partition: inSync(held(0, 1)), factor: 1, wantWhy: []string{"none of its replicas [0 1] is in sync"}},
		"nor where the one in sync is on a broker that is no more": {brokers: three(), partition: inSync(held(9, 0), 9), factor: 3, wantWhy: []string{"none of its replicas [9 0] is in sync on a broker that could keep it"}},
		"nor kept there":                                           {brokers: three(), partition: inSync(held(9, 0), 9), factor: 1, wantWhy: []string{"broker 9 is not registered", "start the broker"}},
		"what is in flight is not replaced":                        {brokers: three(), partition: observed.Partition{Topic: "t", Replicas: []int32{0, 1}, InSync: []int32{0}, Adding: []int32{1}}, factor: 3, wantWhy: []string{"a reassignment to [0 1] is in flight"}},
		"nor what is taken away meanwhile":                         {brokers: three(), partition: observed.Partition{Topic: "t", Replicas: []int32{0, 1, 2}, InSync: []int32{0}, Removing: []int32{2}}, factor: 3, wantWhy: []string{"a reassignment to [0 1] is in flight"}},
		"what is in flight to its factor is no matter":             {brokers: three(), partition: observed.Partition{Topic: "t", Replicas: []int32{0, 1, 2}, InSync: []int32{0}, Adding: []int32{1, 2}}, factor: 3},
		"a raise beside a cordoned replica waits":                  {brokers: but(three(), 1, cordoned(rebalance.CordonedByHand)), partition: held(0, 1), factor: 3, wantWhy: []string{"broker 1", "cordoned by annotation", "sluice.dev/cordon"}},
		"also where nobody knows who cordoned it":                  {brokers: but(three(), 1, cordoned(rebalance.Cordoned)), partition: held(0, 1), factor: 3, wantWhy: []string{"broker 1", "is cordoned", "cordoned.log.dirs"}},
		"a raise beside one that is removed waits":                 {brokers: but(three(), 1, cordoned(rebalance.Draining)), partition: held(0, 1), factor: 3, wantWhy: []string{"broker 1", "a scale-down is in progress", "goes on by itself"}},
		"a fall that leaves a cordoned one waits":                  {brokers: but(but(three(), 1, cordoned(rebalance.Cordoned)), 2, cordoned(rebalance.Cordoned)), partition: held(0, 1, 2), factor: 2, wantWhy: []string{"broker 1", "is cordoned"}},
		"too few brokers": {
			brokers:   but(but(append(three(), on(3, "", 0)), 1, fenced), 3, cordoned(rebalance.CordonedByHand)),
			partition: held(0), factor: 3,
			wantWhy: []string{"a replication factor of 3", "only 2", "[0 2]", "broker 1 (fenced", "broker 3 (cordoned by annotation)"},
		},
		"too few brokers, with none left out":    {brokers: three(), partition: held(0), factor: 4, wantWhy: []string{"a replication factor of 4", "only 3", "[0 1 2]"}},
		"a factor that is none":                  {brokers: three(), partition: held(0), factor: 0, wantWhy: []string{"a replication factor of 0 is none"}},
		"brokers without a rack are on one rack": {brokers: []rebalance.Broker{on(0, "", 3), on(1, "", 2), on(2, "", 1)}, partition: held(0), factor: 3, want: []int32{0, 2, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			plan := rebalance.PlanReplicas(tc.brokers, []observed.Partition{tc.partition}, map[string]int16{"t": tc.factor})
			var got []int32
			for _, a := range plan.Assignments {
				got = append(got, a.Replicas...)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("replicas (-want +got):\n%s", diff)
			}
			why := ""
			for _, l := range plan.LeftOut {
				why += l.Why
			}
			if (why == "") != (len(tc.wantWhy) == 0) {
				t.Errorf("left out since %q, want %q", why, tc.wantWhy)
			}
			for _, part := range tc.wantWhy {
				if !strings.Contains(why, part) {
					t.Errorf("left out since %q, which does not say %q", why, part)
				}
			}
		})
	}
}

func TestAPlanSpreadsItsOwnReplicas(t *testing.T) {
	brokers := []rebalance.Broker{on(0, "", 0), on(1, "", 0), on(2, "", 0), on(3, "", 2)}
	var partitions []observed.Partition
	for _, topic := range []string{"b", "a", "left-alone"} {
		for id := range int32(2) {
			p := held(0)
			p.Topic, p.ID = topic, 1-id
			partitions = append(partitions, p)
		}
	}
	plan := rebalance.PlanReplicas(brokers, partitions, map[string]int16{"a": 2, "b": 2})
	want := []rebalance.Assignment{
		{Topic: "a", Partition: 0, Replicas: []int32{0, 1}}, {Topic: "a", Partition: 1, Replicas: []int32{0, 2}},
		{Topic: "b", Partition: 0, Replicas: []int32{0, 1}}, {Topic: "b", Partition: 1, Replicas: []int32{0, 2}},
	}
	if diff := cmp.Diff(rebalance.ReplicasPlan{Assignments: want}, plan); diff != "" {
		t.Errorf("plan (-want +got):\n%s", diff)
	}
}

func TestBrokers(t *testing.T) {
	online := func(cordoned bool) observed.LogDir {
		return observed.LogDir{Path: "/x", Replicas: 2, Bytes: 10, Cordoned: cordoned}
	}
	unreachable := errors.New("unreachable")
	cluster := observed.Cluster{
		Registration: observed.Seen(observed.Registration{Brokers: []observed.Broker{
			{ID: 5}, {ID: 0, Rack: "a"}, {ID: 1, Rack: "b"}, {ID: 2, Fenced: true}, {ID: 3}, {ID: 4}, {ID: 6},
		}}),
		Features: observed.Seen(observed.Features{MetadataLevel: 30}),
		LogDirs: map[int32]observed.Of[[]observed.LogDir]{
			0: observed.Seen([]observed.LogDir{online(true), online(false)}),
			1: observed.Seen([]observed.LogDir{online(true), {Path: "/y", Offline: true}}),
			3: observed.Unseen[[]observed.LogDir](unreachable),
			4: observed.Seen([]observed.LogDir{{Path: "/y", Offline: true}}),
			5: observed.Seen([]observed.LogDir{online(false)}),
			6: observed.Seen([]observed.LogDir{online(false)}),
		},
		Configs: map[int32]observed.Of[observed.Config]{
			5: observed.Seen(observed.Config{observed.CordonedLogDirs: {
				Value: "*", Synonyms: []observed.ConfigSynonym{{Name: observed.CordonedLogDirs, Value: "*", Source: observed.SourceStatic}},
			}}),
		},
	}
	got := map[int32]string{}
	for _, b := range rebalance.Brokers(cluster, map[int32]rebalance.Cordon{1: rebalance.Draining, 6: rebalance.CordonedByHand}) {
		why := ""
		if b.Unread != nil {
			why = b.Unread.Error()
		}
		got[b.ID] = strings.TrimSpace(strings.Join([]string{b.Rack, map[bool]string{true: "fenced"}[b.Fenced], map[rebalance.Cordon]string{
			rebalance.Cordoned: "cordoned", rebalance.CordonedByHand: "by hand", rebalance.Draining: "draining",
		}[b.Cordon], why}, " "))
	}
	want := map[int32]string{
		0: "a",           // one directory of two takes replicas
		1: "b  draining", // says more than the cordon that shows
		2: "fenced  it was not asked for",
		3: "unreachable",
		4: "none of its 1 log directories is online",
		5: "cordoned", // by its file, whatever its directories show
		6: "by hand",  // before it shows
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("brokers (-want +got):\n%s", diff)
	}
	for _, b := range rebalance.Brokers(cluster, nil) {
		if b.ID == 0 && (b.Replicas != 4 || b.Bytes != 20) {
			t.Errorf("broker 0 holds %d replicas of %d bytes, want 4 of 20", b.Replicas, b.Bytes)
		}
	}
}

func TestCordonsOf(t *testing.T) {
	yes, no := true, false
	byHand, err := nodepool.ParseCordon("1,2,7")
	if err != nil {
		t.Fatal(err)
	}
	seen := facts.Facts{Brokers: []facts.Broker{
		{ID: 0, Cordoned: &no},
		{ID: 1, Cordoned: &yes},
		{ID: 2, Draining: true}, // also by hand, but that it goes says more
		{ID: 3, Cordoned: &yes}, // empty already, or cordoned by nobody that is known
		{ID: 4, Draining: true, Cordoned: &no},
		{ID: 5},
		{ID: 7}, // not in effect yet
	}}
	want := map[int32]rebalance.Cordon{
		1: rebalance.CordonedByHand, 2: rebalance.Draining, 3: rebalance.Cordoned, 4: rebalance.Draining, 7: rebalance.CordonedByHand,
	}
	if diff := cmp.Diff(want, rebalance.CordonsOf(seen, byHand)); diff != "" {
		t.Errorf("cordons (-want +got):\n%s", diff)
	}
}
