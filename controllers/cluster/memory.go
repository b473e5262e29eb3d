package cluster

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/sluice-kafka/sluice/internal/scaledown"
)

// memory is what is kept of a cluster between two looks. It is soft: where it is
// lost, evidence is gathered anew and what lasts is told again.
type memory struct {
	uid types.UID
	// guard is the evidence on brokers that are to go.
	guard scaledown.Memory
	// told is what Events said last, by what they are about.
	told map[string]string
	// unsure are cordons that were set or lifted, as the value tells, by a call whose
	// answer did not come, by broker.
	unsure map[int32]bool
	// sent are changes that brokers may not have heard of.
	sent sentChanges
}

// memories of all clusters. A cluster is worked on by one worker at a time, so
// that what is in a memory needs no lock.
type memories struct {
	mu  sync.Mutex
	all map[key]*memory
}

func newMemories() *memories { return &memories{all: map[key]*memory{}} }

// of returns the memory of a cluster; that of another Kafka of the same name is
// forgotten.
func (m *memories) of(k key, uid types.UID) *memory {
	m.mu.Lock()
	defer m.mu.Unlock()
	if kept := m.all[k]; kept != nil && kept.uid == uid {
		return kept
	}
	kept := &memory{uid: uid, told: map[string]string{}, unsure: map[int32]bool{}}
	m.all[k] = kept
	return kept
}

func (m *memories) forget(k key) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.all, k)
}
