// Package gate stands between an operator and what it writes to, the API server and
// the brokers of Kafka, and lets a test decide what becomes of each write: nothing in
// the operator knows of it.
//
// The operator finds the API server at APIServer.Config. To have it find the brokers
// through the gate too, the addresses of pods in what the API server answers are
// replaced, byte by byte, with ones of the same length on loopback, where Brokers
// listens for all of them and forwards to the pods themselves.
package gate

import (
	"fmt"
	"sync"
)

// Write is a request that changes something.
type Write struct {
	// To is "Kubernetes" or "Kafka".
	To string
	// What is done: method and path, or the name of Kafka's API and the broker.
	What string
	// Body of a request to Kubernetes.
	Body string
}

// String names it in a log.
func (w Write) String() string { return w.To + ": " + w.What }

// Fate is what becomes of a write.
type Fate int

// What there is.
const (
	// Pass it on, and its answer.
	Pass Fate = iota
	// Lose it before it gets to where it was sent.
	Lose
	// Mute it: it gets there and is answered, but the answer does not come back.
	Mute
)

// Judge decides on a write, which waits for it. It is called concurrently. What it
// returns beside the fate, if anything, is called when the write was lost or its
// answer was withheld, before the connection is closed.
type Judge func(Write) (Fate, func())

// Gate is where writes pass.
type Gate struct {
	mu    sync.RWMutex
	judge Judge
}

// SetJudge has one decide on the writes that come from now on; nil lets all pass.
func (g *Gate) SetJudge(j Judge) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.judge = j
}

func (g *Gate) ask(w Write) (Fate, func()) {
	g.mu.RLock()
	judge := g.judge
	g.mu.RUnlock()
	if judge == nil {
		return Pass, nothing
	}
	fate, then := judge(w)
	if then == nil {
		then = nothing
	}
	return fate, then
}

func nothing() {}

// String names a fate in a log.
func (f Fate) String() string {
	switch f {
	case Pass:
		return "passed"
	case Lose:
		return "lost"
	case Mute:
		return "done, but not answered"
	}
	return fmt.Sprintf("Fate(%d)", int(f))
}
