package cluster

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	kafkav1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/brokerconfig"
	"github.com/sluice-kafka/sluice/internal/facts"
	"github.com/sluice-kafka/sluice/internal/observed"
)

// bytesInterval is how often facts are written of which only bytes changed: they
// change all the time, and every write goes to all who watch.
const bytesInterval = 10 * time.Minute

// publishFacts writes what admission and the other controllers need to know. What
// was not seen is left out; where nobody was seen at all the last facts stay.
func (t *turn) publishFacts(ctx context.Context) error {
	registration, seen := t.seen.Registration.Get()
	if !seen {
		return nil
	}
	wanted, err := facts.Encode(t.key.Namespace, t.key.Name, t.facts(registration))
	if err != nil {
		return err
	}
	// Without blockOwnerDeletion, which would take the right to change the
	// finalizers of Kafkas where OwnerReferencesPermissionEnforcement is on.
	wanted.OwnerReferences = []metav1.OwnerReference{{
		APIVersion: kafkav1.GroupVersion.String(), Kind: kafkav1.KindKafka, Name: t.kafka.Name, UID: t.kafka.UID, Controller: ptr.To(true),
	}}
	if t.state.facts != nil && !t.newFacts(wanted) {
		return nil
	}
	return t.applyObject(ctx, wanted)
}

// newFacts tells whether facts are worth a write.
func (t *turn) newFacts(wanted *corev1.ConfigMap) bool {
	was, err := facts.Decode(t.state.facts)
	if err != nil {
		return true
	}
	is, err := facts.Decode(wanted)
	if err != nil {
		return true
	}
	old := is.ObservedAt.Sub(was.ObservedAt) >= bytesInterval
	is.ObservedAt = was.ObservedAt
	if same(is, was) {
		return false
	}
	return old || !same(withoutBytes(is), withoutBytes(was))
}

func same(a, b facts.Facts) bool {
	x, errX := facts.Encode("", "", a)
	y, errY := facts.Encode("", "", b)
	return errX == nil && errY == nil && x.Data[facts.Key] == y.Data[facts.Key]
}

// withoutBytes leaves out what changes with every record, the number of replicas
// on a volume among it, which the metadata tells more reliably.
func withoutBytes(f facts.Facts) facts.Facts {
	f.Brokers = slices.Clone(f.Brokers)
	for i := range f.Brokers {
		f.Brokers[i].Volumes = slices.Clone(f.Brokers[i].Volumes)
		for j := range f.Brokers[i].Volumes {
			f.Brokers[i].Volumes[j].Bytes = 0
		}
	}
	return f
}

func (t *turn) facts(registration observed.Registration) facts.Facts {
	f := facts.Facts{ObservedAt: t.seen.At, Brokers: []facts.Broker{}}
	partitions, seen := t.seen.Partitions.Get()
	replicas := map[int32]int64{}
	for _, p := range partitions {
		for _, id := range p.Replicas {
			replicas[id]++
		}
		// The topic of the first name, of those with the highest factor.
		if n := int64(len(p.Replicas) - len(p.Removing)); n > 0 && (f.HighestFactor == nil || n > f.HighestFactor.Factor) {
			f.HighestFactor = &facts.TopicFactor{Topic: p.Topic, Factor: n}
		}
	}
	for _, b := range registration.Brokers {
		known := facts.Broker{ID: b.ID, Draining: slices.Contains(t.plan.guard.Drain, b.ID)}
		if seen {
			n := replicas[b.ID]
			known.Replicas = &n
		}
		if dirs, ok := t.seen.LogDirs[b.ID].Get(); ok {
			known.Volumes = t.volumes(b.ID, dirs)
		}
		// Without a directory that it can use nothing is known.
		if yes, ok := t.seen.Cordoned(b.ID); ok {
			known.Cordoned = &yes
		}
		f.Brokers = append(f.Brokers, known)
	}
	return f
}

// volumes are a broker's log directories by the IDs of its pool's volumes. One
// that belongs to none of these is left out.
func (t *turn) volumes(id int32, dirs []observed.LogDir) []facts.Volume {
	i, found := slices.BinarySearchFunc(t.plan.members, id, func(m member, id int32) int { return cmp.Compare(m.ID, id) })
	if !found {
		return nil
	}
	var out []facts.Volume
	for _, v := range brokerconfig.Volumes(t.plan.members[i].pool, t.plan.members[i].Node) {
		for _, d := range dirs {
			if strings.TrimSuffix(d.Path, "/") == v.LogDir && !d.Offline {
				out = append(out, facts.Volume{ID: v.ID, Replicas: d.Replicas, Bytes: d.Bytes})
			}
		}
	}
	return out
}
