package topic

import (
	"maps"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	kafkav1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/topicplan"
)

// memories holds, by name, what this process wrote to topics and may not see at
// once. A topic that nothing is remembered of takes no space.
type memories struct {
	mu     sync.Mutex
	byName map[string]remembered
}

// remembered is the memory of a topic. What was refused or written of its spec
// counts only for that spec.
type remembered struct {
	topicplan.Memory
	uid        types.UID
	generation int64
}

func newMemories() *memories {
	return &memories{byName: map[string]remembered{}}
}

// recall is what is remembered of a topic for the present generation of its
// resource. What was written for another one, or for another resource, and may not
// show yet still counts.
func (m *memories) recall(name string, t *kafkav1.KafkaTopic, now time.Time) topicplan.Memory {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.byName[name]
	r.Writes = maps.Clone(r.Writes)
	if r.Begun != nil && r.Begun.SessionID == topicplan.Session(t.Status.ReplicasChange) {
		r.Begun = nil
	}
	if r.uid != t.UID || r.generation != t.Generation {
		r.GrowthRefused, r.GrowthError = 0, ""
		maps.DeleteFunc(r.Writes, func(_ string, w topicplan.Write) bool { return !w.Unsettled(now) })
	}
	return r.Memory
}

// keep remembers, or forgets where there is nothing left to be remembered.
func (m *memories) keep(name string, t *kafkav1.KafkaTopic, memory topicplan.Memory, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if memory.Worthless(now) {
		delete(m.byName, name)
		return
	}
	m.byName[name] = remembered{Memory: memory, uid: t.UID, generation: t.Generation}
}

// forgetOld drops what no description can contradict any more.
func (m *memories) forgetOld(now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	maps.DeleteFunc(m.byName, func(_ string, r remembered) bool { return r.Worthless(now) })
}
