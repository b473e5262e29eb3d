package topic

import (
	"fmt"
	"sync"
)

// identities tells loops that have one Kafka cluster under two names. Each loop has
// an index of its own of who manages which topic, so two resources could manage one
// topic unseen, and deleting either would delete the other's: only the loop whose
// ID is first in order works.
type identities struct {
	mu sync.Mutex
	// of the loops that know their cluster, by its own ID.
	of map[*loop]string
}

// use has a loop work on a connection to the Kafka cluster with this ID, unless
// another has that right.
func (x *identities) use(l *loop, id string, connection Connection) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.of == nil {
		x.of = map[*loop]string{}
	}
	if x.of[l] != id {
		x.wake(x.of[l], l)
	}
	x.of[l] = id
	var busy *loop
	for other, theirs := range x.of {
		if other == l || theirs != id || other.id == l.id {
			continue
		}
		if other.id < l.id {
			l.link.cut(sameKafka(l, other, id))
			return sameKafka(l, other, id)
		}
		if other.link.connected() {
			other.link.cut(sameKafka(other, l, id))
			other.doubt()
		}
		if other.link.busy() {
			busy = other
		}
	}
	if busy != nil {
		return &obstacle{reason: reasonSameKafka, awaited: true, message: fmt.Sprintf(
			"%s has worked on the same Kafka cluster (its ID is %s) until now: waiting until its last batch ends", busy.id, id)}
	}
	l.link.use(connection)
	return nil
}

// known is the ID of the cluster that a loop was last connected to; empty if none.
func (x *identities) known(l *loop) string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.of[l]
}

// forget gives the others a chance that had to stand back.
func (x *identities) forget(l *loop) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.wake(x.of[l], l)
	delete(x.of, l)
}

func (x *identities) wake(id string, except *loop) {
	for other, theirs := range x.of {
		if theirs == id && other != except {
			other.doubt()
		}
	}
}

func sameKafka(l, first *loop, id string) *obstacle {
	return &obstacle{reason: reasonSameKafka, message: fmt.Sprintf(
		"%s and %s are one Kafka cluster (its ID is %s), and topics of one name would be managed, and deleted, by resources of both: "+
			"only those of %s are worked on. Give the cluster one name, with all of its namespaces in one entry of externalClusters, or have only one of the two served",
		first.id, l.id, id, first.id)}
}
