package rebalance

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/sluice-kafka/sluice/internal/observed"
)

// Broker is a registered broker as a planner sees it.
type Broker struct {
	ID   int32
	Rack string
	// Fenced brokers are stopped, starting or cut off.
	Fenced bool
	// Cordon that keeps new replicas off it.
	Cordon Cordon
	// Replicas that it holds, and their Bytes.
	Replicas, Bytes int64
	// Unread is why it could not be asked what it holds and whether it is cordoned.
	Unread error
}

// Cordon is who keeps new replicas off a broker.
type Cordon int

// Kinds of a Cordon, the less telling first.
const (
	// NotCordoned brokers take new replicas.
	NotCordoned Cordon = iota
	// Cordoned tells that all log directories that a broker can use are (KIP-1066);
	// nothing is known of why.
	Cordoned
	// CordonedByHand tells that an administrator asked for it.
	CordonedByHand
	// Draining tells that the broker's replicas are being moved away, as it is to be
	// removed.
	Draining
)

// Words of a Cordon, for reasons, and what lifts it.
func (c Cordon) words() (what, lifts string) {
	switch c {
	case Draining:
		return "being removed: a scale-down is in progress", "when its replicas are moved away, or the scale-down is taken back, this goes on by itself"
	case CordonedByHand:
		return "cordoned by annotation", "take it out of the annotation sluice.dev/cordon of the Kafka"
	case Cordoned:
		return "cordoned", "clear " + observed.CordonedLogDirs + " of the broker"
	default:
		return "not cordoned", ""
	}
}

// Brokers are those of a cluster as far as it was seen, by ID; cordons are what is
// known of them elsewhere. It needs the registration.
func Brokers(cluster observed.Cluster, cordons map[int32]Cordon) []Broker {
	registration, _ := cluster.Registration.Get()
	out := make([]Broker, len(registration.Brokers))
	for i, r := range registration.Brokers {
		b := Broker{ID: r.ID, Rack: r.Rack, Fenced: r.Fenced, Cordon: cordons[r.ID]}
		dirs := cluster.LogDirs[r.ID]
		b.Unread = dirs.Err()
		known, _ := dirs.Get()
		for _, d := range known {
			b.Replicas += d.Replicas
			b.Bytes += d.Bytes
		}
		yes, usable := cluster.Cordoned(r.ID)
		if b.Unread == nil && !usable {
			b.Unread = fmt.Errorf("none of its %d log directories is online", len(known))
		}
		if yes {
			b.Cordon = max(b.Cordon, Cordoned)
		}
		out[i] = b
	}
	slices.SortFunc(out, func(a, b Broker) int { return cmp.Compare(a.ID, b.ID) })
	return out
}

// closed tells why a broker takes no new replicas; empty where it does.
func (b *Broker) closed() string {
	switch {
	case b.Cordon != NotCordoned:
		what, _ := b.Cordon.words()
		return what
	case b.Fenced:
		return "fenced: it is stopped, starting or cut off"
	case b.Unread != nil:
		return b.Unread.Error()
	}
	return ""
}

// maxNamed bounds how many brokers a reason names.
const maxNamed = 8

// leftOut names those that take no new replicas, with the reason of each, but for
// those that hold one already.
func leftOut(brokers []Broker, holders []int32) string {
	var named []string
	more := 0
	for i := range brokers {
		why := brokers[i].closed()
		switch {
		case why == "" || slices.Contains(holders, brokers[i].ID):
		case len(named) == maxNamed:
			more++
		default:
			named = append(named, fmt.Sprintf("broker %d (%s)", brokers[i].ID, why))
		}
	}
	if more > 0 {
		named = append(named, fmt.Sprintf("%d more", more))
	}
	return strings.Join(named, ", ")
}
