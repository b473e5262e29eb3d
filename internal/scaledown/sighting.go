package scaledown

import (
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/sluice-kafka/sluice/internal/observed"
)

// holding is what a broker has of the partitions.
type holding struct {
	replicas int    // that it holds, without targets
	targets  int    // partitions whose reassignment in flight adds it
	example  string // the first of all these partitions
}

func (h holding) empty() bool { return h.replicas == 0 && h.targets == 0 }

// holdings goes once through all partitions, however many brokers are asked for.
// It judges from the cluster's metadata: what a broker still has on its disks but
// no partition assigns to it is rubbish that the broker deletes.
func holdings(partitions iter.Seq[observed.Partition], ids []int32) map[int32]holding {
	of := make(map[int32]holding, len(ids))
	for _, id := range ids {
		of[id] = holding{}
	}
	for p := range partitions {
		for _, id := range p.Adding {
			if h, asked := of[id]; asked {
				h.targets++
				of[id] = h.named(p)
			}
		}
		for _, id := range p.Replicas {
			if h, asked := of[id]; asked && !slices.Contains(p.Adding, id) {
				h.replicas++
				of[id] = h.named(p)
			}
		}
	}
	return of
}

func (h holding) named(p observed.Partition) holding {
	if h.example == "" {
		h.example = fmt.Sprintf("%s-%d", p.Topic, p.ID)
	}
	return h
}

// mode is the way in which a look at an empty broker counts as evidence. Both
// looks that prove it empty, and all between them, have to be of the same mode.
type mode int

const (
	// worthless looks count for nothing.
	worthless mode = iota
	// cordoned: it is registered and not fenced, and all its log directories that
	// work are cordoned, as it reports them.
	cordoned
	// open: it is registered and not fenced, and cannot be cordoned: Kafka is older
	// than 4.3, or its metadata version is.
	open
	// fenced: it is registered and fenced, or not registered at all. It cannot be
	// asked or told anything that could be trusted. The controller places a replica on
	// a fenced broker only where there are too few others.
	fenced
)

// view is what one look shows of how brokers stand.
type view struct {
	registered map[int32]observed.Broker
	seen       bool // registered was
	logDirs    map[int32]observed.Of[[]observed.LogDir]
	cordoned   func(int32) (yes, known bool)
	cordons    bool // the cluster can cordon
	level      bool // whether it can is known
}

func (in Input) view() view {
	v := view{logDirs: in.Seen.LogDirs, cordoned: in.Seen.Cordoned, level: true}
	registration, seen := in.Seen.Registration.Get()
	v.seen = seen
	v.registered = make(map[int32]observed.Broker, len(registration.Brokers))
	for _, b := range registration.Brokers {
		v.registered[b.ID] = b
	}
	if in.VersionCordons {
		features, known := in.Seen.Features.Get()
		v.level = known
		v.cordons = known && features.MetadataLevel >= cordonLevel
	}
	return v
}

// of classifies what is seen of a broker; where it is worthless, with what is
// awaited.
func (v view) of(id int32) (mode, Awaits) {
	if !v.seen {
		return worthless, AwaitsRegistration
	}
	if b, ok := v.registered[id]; !ok || b.Fenced {
		return fenced, ""
	}
	_, answered := v.logDirs[id].Get()
	yes, _ := v.cordoned(id)
	switch {
	case yes:
		// The broker says so only from the level on, so this outweighs features that
		// could not be seen.
		return cordoned, ""
	case !v.level:
		return worthless, AwaitsFeatures
	case !v.cordons:
		return open, ""
	case answered:
		return worthless, AwaitsCordon
	}
	return worthless, AwaitsAnswer
}

// bytes in all directories of a broker, as it reports them.
func (v view) bytes(id int32) observed.Of[int64] {
	dirs, answered := v.logDirs[id].Get()
	if !answered {
		return observed.Unseen[int64](v.logDirs[id].Err())
	}
	var sum int64
	for _, d := range dirs {
		sum += d.Bytes
	}
	return observed.Seen(sum)
}

// record is what is remembered of a broker.
type record struct {
	at      time.Time // of the last look
	mode    mode      // of the last look
	since   time.Time // of the first look from which on the mode was the same
	empty   time.Time // of the first look of the evidence that counts; zero without
	holding bool      // the last look that saw partitions saw it hold something
}

// next is the record after a look at a time, without evidence. A look that is not
// newer than the last one, or of another mode, begins everything anew: the clock
// may have jumped, and then no interval is known.
func (r record) next(at time.Time, m mode) (n record, unbroken bool) {
	unbroken = r.mode == m && m != worthless && !at.Before(r.at)
	n = record{at: at, mode: m, since: at, holding: r.holding}
	if unbroken {
		n.since = r.since
	}
	return n, unbroken
}

// proves tells whether a look counts in which the broker is empty. One that is the
// first to show the cordon does not: its partitions may have been read before.
func (r record) proves() bool {
	return r.mode != worthless && (r.mode != cordoned || r.at.After(r.since))
}
