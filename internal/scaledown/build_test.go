package scaledown_test

import (
	"errors"
	"time"

	"github.com/sluice-kafka/sluice/internal/observed"
	"github.com/sluice-kafka/sluice/internal/scaledown"
)

var (
	start     = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	errUnseen = errors.New("dial tcp 10.0.0.1:9091: i/o timeout")
)

// change makes one thing of an input other than it is by default.
type change func(*scaledown.Input)

// input is of five brokers that run Kafka 4.3 at its own metadata version. Brokers
// 3 and 4 are to go: empty and not cordoned yet.
func input(changes ...change) scaledown.Input {
	in := scaledown.Input{
		Removing:       []int32{3, 4},
		Pods:           map[int32]scaledown.Pod{},
		VersionCordons: true,
		Seen: observed.Cluster{
			At:       start,
			Features: observed.Seen(observed.Features{MetadataVersion: "4.3-IV0", MetadataLevel: 30}),
			LogDirs:  map[int32]observed.Of[[]observed.LogDir]{},
			Partitions: observed.Seen([]observed.Partition{
				{Topic: "orders", ID: 0, Leader: 0, Replicas: []int32{0, 1, 2}, InSync: []int32{0, 1, 2}},
			}),
		},
	}
	var brokers []observed.Broker
	for id := range int32(5) {
		brokers = append(brokers, observed.Broker{ID: id})
		in.Pods[id] = scaledown.Pod{Ready: true, Broker: true}
		in.Seen.LogDirs[id] = observed.Seen([]observed.LogDir{{Path: "/a"}, {Path: "/b"}})
	}
	in.Seen.Registration = observed.Seen(observed.Registration{Brokers: brokers})
	for _, c := range changes {
		c(&in)
	}
	return in
}

// both are several changes as one.
func both(changes ...change) change {
	return func(in *scaledown.Input) {
		for _, c := range changes {
			c(in)
		}
	}
}

func removing(ids ...int32) change   { return func(in *scaledown.Input) { in.Removing = ids } }
func leaving(ids ...int32) change    { return func(in *scaledown.Input) { in.Leaving = ids } }
func losingRole(ids ...int32) change { return func(in *scaledown.Input) { in.LosingRole = ids } }
func skip(in *scaledown.Input)       { in.Skip = true }
func oldVersion(in *scaledown.Input) { in.VersionCordons = false }

func level(n int16) change {
	return func(in *scaledown.Input) {
		in.Seen.Features = observed.Seen(observed.Features{MetadataLevel: n})
	}
}

func logDirs(id int32, dirs ...observed.LogDir) change {
	return func(in *scaledown.Input) { in.Seen.LogDirs[id] = observed.Seen(dirs) }
}

func cordoned(ids ...int32) change {
	return func(in *scaledown.Input) {
		for _, id := range ids {
			logDirs(id, observed.LogDir{Path: "/a", Cordoned: true}, observed.LogDir{Path: "/b", Cordoned: true})(in)
		}
	}
}

func silent(ids ...int32) change {
	return func(in *scaledown.Input) {
		for _, id := range ids {
			in.Seen.LogDirs[id] = observed.Unseen[[]observed.LogDir](errUnseen)
		}
	}
}

func brokers(edit func(observed.Broker) (observed.Broker, bool)) change {
	return func(in *scaledown.Input) {
		seen, _ := in.Seen.Registration.Get()
		var kept []observed.Broker
		for _, b := range seen.Brokers {
			if b, keep := edit(b); keep {
				kept = append(kept, b)
			}
		}
		in.Seen.Registration = observed.Seen(observed.Registration{Brokers: kept})
	}
}

func fenced(id int32) change {
	return brokers(func(b observed.Broker) (observed.Broker, bool) {
		b.Fenced = b.Fenced || b.ID == id
		return b, true
	})
}

func unregistered(id int32) change {
	return brokers(func(b observed.Broker) (observed.Broker, bool) { return b, b.ID != id })
}

func noPod(ids ...int32) change {
	return func(in *scaledown.Input) {
		for _, id := range ids {
			delete(in.Pods, id)
		}
	}
}

func pod(id int32, p scaledown.Pod) change {
	return func(in *scaledown.Input) { in.Pods[id] = p }
}

func unready(id int32) change { return pod(id, scaledown.Pod{Broker: true}) }

// dead is a broker that is gone with its pod: fenced, and asked for nothing.
func dead(id int32) change {
	return func(in *scaledown.Input) {
		fenced(id)(in)
		silent(id)(in)
		noPod(id)(in)
	}
}

func partition(p observed.Partition) change {
	return func(in *scaledown.Input) {
		seen, _ := in.Seen.Partitions.Get()
		in.Seen.Partitions = observed.Seen(append(seen, p))
	}
}

func holds(id int32) change {
	return partition(observed.Partition{Topic: "__consumer_offsets", ID: 7, Leader: id, Replicas: []int32{id}, InSync: []int32{id}})
}

func target(id int32) change {
	return partition(observed.Partition{Topic: "moving", Leader: 0, Replicas: []int32{0, 1, id}, InSync: []int32{0, 1}, Adding: []int32{id}, Removing: []int32{1}})
}

func unseenPartitions(in *scaledown.Input) {
	in.Seen.Partitions = observed.Unseen[[]observed.Partition](errUnseen)
}

func unseenRegistration(in *scaledown.Input) {
	in.Seen.Registration = observed.Unseen[observed.Registration](errUnseen)
}

func unseenFeatures(in *scaledown.Input) {
	in.Seen.Features = observed.Unseen[observed.Features](errUnseen)
}
