// Package facts is the form in which the operator publishes what it saw of a
// Kafka cluster, for admission and for other controllers, which do not ask Kafka
// themselves: a ConfigMap beside the Kafka resource.
//
// What is not known is left out, and is never a zero.
package facts

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
)

// Key in the ConfigMap's data under which the facts stand as JSON.
const Key = "facts.json"

// ErrUnreadable says that a ConfigMap holds no facts that can be relied on:
// nothing is known then.
var ErrUnreadable = errors.New("the facts cannot be read")

// Facts are what was seen of one Kafka cluster.
type Facts struct {
	// ObservedAt is when this was seen to be so for the first time: equal facts
	// are not written again.
	ObservedAt time.Time `json:"observedAt"`
	// Brokers that are registered, fenced ones included.
	Brokers []Broker `json:"brokers"`
	// HighestFactor is the highest replication factor of any topic; nil where it
	// is not known, or where there is no topic.
	HighestFactor *TopicFactor `json:"highestReplicationFactor,omitempty"`
}

// Broker is what was seen of one broker.
type Broker struct {
	// ID of the node.
	ID int32 `json:"id"`
	// Replicas that it holds or is to receive, from the cluster's metadata; nil
	// where that is not known.
	Replicas *int64 `json:"replicas,omitempty"`
	// Volumes are its log directories, as the broker itself reports them; nil
	// where it did not.
	Volumes []Volume `json:"volumes,omitempty"`
	// Cordoned tells that the broker takes no new replicas (KIP-1066); nil where
	// it was not asked.
	Cordoned *bool `json:"cordoned,omitempty"`
	// Draining tells that its replicas are being moved away.
	Draining bool `json:"draining,omitempty"`
}

// Volume is what was seen of one volume of a broker.
type Volume struct {
	// ID of a JBOD volume, 0 for a single one.
	ID int64 `json:"id"`
	// Replicas on it.
	Replicas int64 `json:"replicas"`
	// Bytes of these replicas, to two significant digits.
	Bytes int64 `json:"bytes"`
}

// TopicFactor is a topic with its replication factor.
type TopicFactor struct {
	// Topic in Kafka.
	Topic string `json:"topic"`
	// Factor is the largest number of replicas of any of its partitions.
	Factor int64 `json:"replicationFactor"`
}

// Name is that of the ConfigMap of a cluster, in the namespace of its Kafka.
func Name(cluster string) string { return cluster + "-sluice-facts" }

// Labels are those of the ConfigMap of a cluster; readers select by the first.
func Labels(cluster string) map[string]string {
	return map[string]string{apiv1.LabelFacts: "true", apiv1.LabelCluster: cluster}
}

// Encode returns the ConfigMap of a cluster. Equal facts give equal text: what
// is a list is sorted, and bytes are rounded.
func Encode(namespace, cluster string, f Facts) (*corev1.ConfigMap, error) {
	f = normalized(f)
	if err := f.check(); err != nil {
		return nil, fmt.Errorf("encoding the facts of Kafka %s/%s: %w", namespace, cluster, err)
	}
	text, err := json.Marshal(f)
	if err != nil {
		return nil, fmt.Errorf("encoding the facts of Kafka %s/%s: %w", namespace, cluster, err)
	}
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: Name(cluster), Labels: Labels(cluster)},
		Data:       map[string]string{Key: string(text)},
	}, nil
}

// Decode reads a ConfigMap that Encode made, of this or another version of the
// operator. An error is ErrUnreadable.
func Decode(cm *corev1.ConfigMap) (Facts, error) {
	text, ok := cm.Data[Key]
	if !ok {
		return Facts{}, fmt.Errorf("%w: ConfigMap %s/%s has no key %s", ErrUnreadable, cm.Namespace, cm.Name, Key)
	}
	var f Facts
	err := json.Unmarshal([]byte(text), &f)
	if err == nil {
		err = f.check()
	}
	if err != nil {
		return Facts{}, fmt.Errorf("%w: %s in ConfigMap %s/%s: %w", ErrUnreadable, Key, cm.Namespace, cm.Name, err)
	}
	return f, nil
}

// check refuses what nobody can have seen.
func (f Facts) check() error {
	if f.Brokers == nil {
		return errors.New("brokers are not given")
	}
	if f.ObservedAt.IsZero() {
		return errors.New("observedAt is not given")
	}
	if h := f.HighestFactor; h != nil && (h.Factor < 1 || h.Factor > math.MaxInt16 || h.Topic == "") {
		return fmt.Errorf("the highest replication factor is %d of topic %q", h.Factor, h.Topic)
	}
	seen := map[int32]bool{}
	for _, b := range f.Brokers {
		if b.ID < 0 || seen[b.ID] {
			return fmt.Errorf("broker %d is negative or given twice", b.ID)
		}
		seen[b.ID] = true
		if err := b.check(); err != nil {
			return fmt.Errorf("broker %d: %w", b.ID, err)
		}
	}
	return nil
}

func (b Broker) check() error {
	if b.Replicas != nil && *b.Replicas < 0 {
		return fmt.Errorf("%d replicas", *b.Replicas)
	}
	seen := map[int64]bool{}
	for _, v := range b.Volumes {
		if v.ID < 0 || v.Replicas < 0 || v.Bytes < 0 || seen[v.ID] {
			return fmt.Errorf("volume %d is given twice, or something of it is negative", v.ID)
		}
		seen[v.ID] = true
	}
	return nil
}

func normalized(f Facts) Facts {
	f.ObservedAt = f.ObservedAt.UTC().Truncate(time.Second)
	if f.Brokers != nil {
		f.Brokers = append([]Broker{}, f.Brokers...)
	}
	slices.SortFunc(f.Brokers, func(a, b Broker) int { return cmp.Compare(a.ID, b.ID) })
	for i := range f.Brokers {
		volumes := slices.Clone(f.Brokers[i].Volumes)
		slices.SortFunc(volumes, func(a, b Volume) int { return cmp.Compare(a.ID, b.ID) })
		for j := range volumes {
			volumes[j].Bytes = rounded(volumes[j].Bytes)
		}
		f.Brokers[i].Volumes = volumes
	}
	return f
}

// rounded leaves two significant digits: bytes change all the time, and who
// reads them wants to know how long a move takes.
func rounded(bytes int64) int64 {
	unit := int64(1)
	for bytes/unit >= 100 {
		unit *= 10
	}
	digits := bytes / unit
	if bytes%unit*2 >= unit && unit > 1 {
		digits++
	}
	return digits * unit
}

// Broker returns what is known of a broker.
func (f Facts) Broker(id int32) (Broker, bool) {
	i := slices.IndexFunc(f.Brokers, func(b Broker) bool { return b.ID == id })
	if i < 0 {
		return Broker{}, false
	}
	return f.Brokers[i], true
}

// IDs are those of the brokers.
func (f Facts) IDs() map[int32]bool {
	ids := make(map[int32]bool, len(f.Brokers))
	for _, b := range f.Brokers {
		ids[b.ID] = true
	}
	return ids
}

// Bytes on all volumes of the broker; not known where it did not report them.
func (b Broker) Bytes() (int64, bool) {
	if b.Volumes == nil {
		return 0, false
	}
	var sum int64
	for _, v := range b.Volumes {
		sum = added(sum, v.Bytes)
	}
	return sum, true
}

// Held is how many replicas the broker is known to hold, by the metadata or by
// its own report, whichever tells of more; not known where neither does.
func (b Broker) Held() (int64, bool) {
	if b.Replicas == nil && b.Volumes == nil {
		return 0, false
	}
	var onVolumes int64
	for _, v := range b.Volumes {
		onVolumes = added(onVolumes, v.Replicas)
	}
	if b.Replicas == nil {
		return onVolumes, true
	}
	return max(onVolumes, *b.Replicas), true
}

// added does not overflow: the numbers come from outside.
func added(a, b int64) int64 {
	if b > math.MaxInt64-a {
		return math.MaxInt64
	}
	return a + b
}
