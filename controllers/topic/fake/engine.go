package fake

import (
	"context"
	"fmt"
	"maps"
	"sync"

	"github.com/sluice-kafka/sluice/internal/rebalance"
)

// Engine changes replication factors as a test tells it to. Its fields may be set
// between calls.
type Engine struct {
	mu       sync.Mutex
	sessions int
	changes  []map[string]int16
	polls    []map[string]string

	// The next call of a kind fails as a whole with these, once.
	NextChangeErr, NextPollErr error
	// Errs are why changes of single topics are not begun, until removed.
	Errs map[string]error
	// Progress of sessions; one that is missing here is unknown.
	Progress map[string]rebalance.Progress
}

// NewEngine makes an engine that begins what it is asked for.
func NewEngine() *Engine {
	return &Engine{Errs: map[string]error{}, Progress: map[string]rebalance.Progress{}}
}

// ChangeReplicas implements the controller's Engine. Sessions are called session-1
// and so on, and run until a test says otherwise.
func (e *Engine) ChangeReplicas(_ context.Context, targets map[string]int16) (map[string]rebalance.Started, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.changes = append(e.changes, maps.Clone(targets))
	if err := e.NextChangeErr; err != nil {
		e.NextChangeErr = nil
		return nil, err
	}
	e.sessions++
	session := fmt.Sprintf("session-%d", e.sessions)
	answer := map[string]rebalance.Started{}
	for topic := range targets {
		if err := e.Errs[topic]; err != nil {
			answer[topic] = rebalance.Started{Err: err}
			continue
		}
		answer[topic] = rebalance.Started{Session: session}
		e.Progress[session] = rebalance.Progress{State: rebalance.Running, Message: "moving"}
	}
	return answer, nil
}

// PollReplicas implements the controller's Engine.
func (e *Engine) PollReplicas(_ context.Context, sessions map[string]string) (map[string]rebalance.Progress, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.polls = append(e.polls, maps.Clone(sessions))
	if err := e.NextPollErr; err != nil {
		e.NextPollErr = nil
		return nil, err
	}
	answer := map[string]rebalance.Progress{}
	for topic, session := range sessions {
		answer[topic] = e.Progress[session]
	}
	return answer, nil
}

// TakeChanges are the calls of ChangeReplicas since it was last called.
func (e *Engine) TakeChanges() []map[string]int16 {
	e.mu.Lock()
	defer e.mu.Unlock()
	taken := e.changes
	e.changes = nil
	return taken
}

// TakePolls are the calls of PollReplicas since it was last called.
func (e *Engine) TakePolls() []map[string]string {
	e.mu.Lock()
	defer e.mu.Unlock()
	taken := e.polls
	e.polls = nil
	return taken
}
