package rebalance_test

import (
	"context"
	"slices"
	"sync"

	"github.com/sluice-kafka/sluice/internal/kafka"
	"github.com/sluice-kafka/sluice/internal/observed"
)

// fakeKafka is a cluster that moves replicas when a test says so. Its fields may be
// set between calls.
type fakeKafka struct {
	mu      sync.Mutex
	brokers []observed.Broker
	level   int16
	dirs    map[int32][]observed.LogDir
	configs map[int32]observed.Config
	// topics by name, as the controller knows them.
	topics map[string]observed.Topic
	// shown overrides what a broker shows of a topic that is not in flight.
	shown map[string]observed.Topic
	// unread topics, and brokers whose directories or configuration are not told.
	unread                     map[string]error
	unreadDirs, unreadConfigs  map[int32]error
	nextReassign, nextDescribe error
	refused                    map[string]error // by topic
	// refusesCordoned is what Kafka does from 4.3.2 on.
	refusesCordoned bool
	calls           map[string]int
	lists           []map[string]map[int32][]int32
}

// newFake has brokers 0 to n-1, one on each of three racks in turn, empty.
func newFake(n int32) *fakeKafka {
	f := &fakeKafka{
		level: 30, dirs: map[int32][]observed.LogDir{}, configs: map[int32]observed.Config{}, topics: map[string]observed.Topic{},
		shown: map[string]observed.Topic{}, unread: map[string]error{}, unreadDirs: map[int32]error{}, unreadConfigs: map[int32]error{},
		refused: map[string]error{}, calls: map[string]int{},
	}
	for id := range n {
		f.brokers = append(f.brokers, observed.Broker{ID: id, Rack: string('a' + id%3)})
		f.dirs[id] = []observed.LogDir{{Path: "/data"}}
	}
	return f
}

// topic makes one whose replicas are all in sync.
func (f *fakeKafka) topic(name string, partitions ...[]int32) {
	t := observed.Topic{ID: "id-of-" + name}
	for id, replicas := range partitions {
		t.Partitions = append(t.Partitions, observed.Partition{Topic: name, ID: int32(id), Leader: replicas[0], Replicas: replicas, InSync: replicas})
	}
	f.topics[name] = t
}

// replicas of each partition, with those that are in flight.
func (f *fakeKafka) replicas(name string) [][]int32 {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out [][]int32
	for _, p := range f.topics[name].Partitions {
		out = append(out, p.Replicas)
	}
	return out
}

// finish ends the reassignments in flight of some partitions of a topic, or of all.
func (f *fakeKafka) finish(name string, ids ...int32) {
	f.each(name, ids, func(p *observed.Partition) {
		if len(p.Adding)+len(p.Removing) == 0 {
			return
		}
		p.Replicas = without(p.Replicas, p.Removing)
		p.InSync, p.Adding, p.Removing = p.Replicas, nil, nil
		if !slices.Contains(p.Replicas, p.Leader) {
			p.Leader = p.Replicas[0]
		}
	})
}

// cancel takes them back, as somebody else would.
func (f *fakeKafka) cancel(name string, ids ...int32) {
	f.each(name, ids, func(p *observed.Partition) {
		p.Replicas, p.Adding, p.Removing = without(p.Replicas, p.Adding), nil, nil
	})
}

func (f *fakeKafka) each(name string, ids []int32, do func(*observed.Partition)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	t := f.topics[name]
	t.Partitions = slices.Clone(t.Partitions)
	for i := range t.Partitions {
		if len(ids) == 0 || slices.Contains(ids, t.Partitions[i].ID) {
			do(&t.Partitions[i])
		}
	}
	f.topics[name] = t
}

func without(ids, gone []int32) []int32 {
	return slices.DeleteFunc(slices.Clone(ids), func(id int32) bool { return slices.Contains(gone, id) })
}

func (f *fakeKafka) call(name string) func() {
	f.mu.Lock()
	f.calls[name]++
	return f.mu.Unlock
}

// take returns the calls since the last take.
func (f *fakeKafka) take() map[string]int {
	f.mu.Lock()
	defer f.mu.Unlock()
	calls := f.calls
	f.calls = map[string]int{}
	return calls
}

func (f *fakeKafka) DescribeCluster(context.Context) (observed.Registration, error) {
	defer f.call("DescribeCluster")()
	return observed.Registration{Brokers: slices.Clone(f.brokers)}, nil
}

func (f *fakeKafka) Features(context.Context) (observed.Features, error) {
	defer f.call("Features")()
	return observed.Features{MetadataLevel: f.level}, nil
}

func (f *fakeKafka) LogDirs(_ context.Context, id int32) ([]observed.LogDir, error) {
	defer f.call("LogDirs")()
	return f.dirs[id], f.unreadDirs[id]
}

func (f *fakeKafka) BrokerConfig(_ context.Context, id int32) (observed.Config, error) {
	defer f.call("BrokerConfig")()
	return f.configs[id], f.unreadConfigs[id]
}

func (f *fakeKafka) TopicPartitions(_ context.Context, names []string) (map[string]observed.Of[observed.Topic], error) {
	defer f.call("TopicPartitions")()
	if err := f.nextDescribe; err != nil {
		f.nextDescribe = nil
		return nil, err
	}
	out := map[string]observed.Of[observed.Topic]{}
	for _, name := range names {
		t, there := f.topics[name]
		moving := slices.ContainsFunc(t.Partitions, func(p observed.Partition) bool { return len(p.Adding)+len(p.Removing) > 0 })
		if shown, ok := f.shown[name]; ok && !moving {
			t = shown
		}
		switch {
		case f.unread[name] != nil:
			out[name] = observed.Unseen[observed.Topic](f.unread[name])
		case there:
			out[name] = observed.Seen(t)
		}
	}
	return out, nil
}

func (f *fakeKafka) Reassign(_ context.Context, lists map[string]map[int32][]int32) (map[string]map[int32]error, error) {
	defer f.call("Reassign")()
	if err := f.nextReassign; err != nil {
		f.nextReassign = nil
		return nil, err
	}
	f.lists = append(f.lists, lists)
	out := map[string]map[int32]error{}
	for name, partitions := range lists {
		out[name] = map[int32]error{}
		for id, list := range partitions {
			out[name][id] = f.reassign(name, id, list)
		}
	}
	return out, nil
}

func (f *fakeKafka) reassign(name string, id int32, list []int32) error {
	if err := f.refused[name]; err != nil {
		return err
	}
	t, there := f.topics[name]
	if !there || int(id) >= len(t.Partitions) {
		return &kafka.Error{Code: 3, Name: "UNKNOWN_TOPIC_OR_PARTITION", Message: "as a test wants it"}
	}
	invalid := &kafka.Error{Code: 39, Name: "INVALID_REPLICA_ASSIGNMENT", Message: "as a test wants it"}
	sorted := slices.Sorted(slices.Values(list))
	if len(list) == 0 || len(slices.Compact(sorted)) != len(list) {
		return invalid
	}
	for _, b := range list {
		if !slices.ContainsFunc(f.brokers, func(r observed.Broker) bool { return r.ID == b }) || f.refusesCordoned && f.dirs[b][0].Cordoned {
			return invalid
		}
	}
	t.Partitions = slices.Clone(t.Partitions)
	p := &t.Partitions[id]
	had := without(p.Replicas, p.Adding)
	p.Adding, p.Removing = without(list, had), without(had, list)
	p.Replicas = slices.Concat(list, p.Removing)
	// What only takes away ends at once, as soon as one that stays is in sync.
	if len(p.Adding) == 0 {
		p.Replicas, p.InSync, p.Adding, p.Removing = list, without(p.InSync, p.Removing), nil, nil
		if !slices.Contains(list, p.Leader) {
			p.Leader = list[0]
		}
	}
	f.topics[name] = t
	return nil
}
