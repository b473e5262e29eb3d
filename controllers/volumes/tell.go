package volumes

import (
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/sluice-kafka/sluice/internal/volumedrift"
)

// about is what a note is about: of these, only changes are told.
type about struct {
	owner           types.UID
	reason, subject string
}

// memory holds what was told last about each cluster, so that a state that
// lasts is told once. After a restart of the operator it is told again.
type memory struct {
	mu   sync.Mutex
	told map[key]map[about]string
}

func newMemory() *memory { return &memory{told: map[key]map[about]string{}} }

// news returns those of a cluster's notes that were not told before, and forgets
// what is no longer so.
func (m *memory) news(k key, seen *volumedrift.Cluster, notes []volumedrift.Note) []volumedrift.Note {
	m.mu.Lock()
	defer m.mu.Unlock()
	before, now := m.told[k], map[about]string{}
	var out []volumedrift.Note
	for _, n := range notes {
		owner := seen.Object(n.Owner)
		if owner == nil {
			continue
		}
		a := about{owner: owner.GetUID(), reason: n.Reason, subject: n.Subject}
		now[a] = n.Text
		if before[a] != n.Text {
			out = append(out, n)
		}
	}
	if len(now) == 0 {
		delete(m.told, k)
	} else {
		m.told[k] = now
	}
	return out
}

// tell records Events of what people should know.
func (r *reconciler) tell(k key, seen *volumedrift.Cluster, notes []volumedrift.Note) {
	for _, n := range r.said.news(k, seen, notes) {
		if owner, ok := seen.Object(n.Owner).(runtime.Object); ok {
			r.recorder.Eventf(owner, nil, corev1.EventTypeWarning, n.Reason, "Compare", "%s", n.Text)
		}
	}
}
