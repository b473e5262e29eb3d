// Package fake holds a Kafka cluster for tests of the cluster controller. It has
// brokers that are started and stopped, replicas that a test moves, and answers
// like the real client does. It records every call and fails on demand.
package fake

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sluice-kafka/sluice/internal/configdef"
	"github.com/sluice-kafka/sluice/internal/observed"
)

// cordonLevel is the feature level of 4.3-IV0, from which on brokers take and
// report cordoned log directories (KIP-1066).
const cordonLevel = 30

// cordoned is the option of KIP-1066.
const cordoned = "cordoned.log.dirs"

// Kafka is a cluster. It can be used concurrently.
type Kafka struct {
	mu         sync.Mutex
	brokers    map[int32]*broker
	dynamic    map[int32]map[string]string // by broker; it outlives a registration
	defaults   map[string]string
	partitions []observed.Partition
	clusterID  string
	metadata   string
	elr        bool
	quorum     observed.Quorum
	calls      []Call
	wrong      []string

	// Now is the time of the controllers' clock.
	Now func() time.Time
	// Unreachable fails every call until it is nil.
	Unreachable error
	// CallErrs fails calls until removed, by their text up to the first
	// parenthesis: "AlterBrokerConfig 3".
	CallErrs map[string]error
	// Refused options fail the whole call that sets or deletes them.
	Refused map[string]bool
	// MinISR of topics that have their own; others have what the brokers have.
	MinISR map[string]int
	// BeforeWrite, if set, is asked before each call that changes something: its
	// error fails the call.
	BeforeWrite func(Call) error
	// ApplyLate keeps dynamic options from taking effect until ApplyNow: an answer
	// says that the controller wrote a change, not that the broker has heard of it.
	ApplyLate bool
	applied   map[int32]map[string]string
	bytes     int64
}

// GrowTo says how large a replica is from now on, in bytes.
func (k *Kafka) GrowTo(bytes int64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.bytes = bytes
}

// broker is a process, or what is left of one.
type broker struct {
	version    string
	static     map[string]string
	logDirs    []string
	rack       string
	running    bool
	registered bool
	starts     int
}

// New makes an empty cluster, whose disks Format has yet to format.
func New() *Kafka {
	return &Kafka{
		brokers: map[int32]*broker{}, dynamic: map[int32]map[string]string{}, defaults: map[string]string{},
		applied: map[int32]map[string]string{},
		Now:     time.Now, CallErrs: map[string]error{}, Refused: map[string]bool{}, MinISR: map[string]int{},
	}
}

// Format gives the cluster its ID and its metadata version, if it has none.
func (k *Kafka) Format(clusterID, metadataVersion string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.clusterID == "" {
		k.clusterID, k.metadata = clusterID, metadataVersion
	}
}

// Start starts a broker with the file of its options, and registers it.
func (k *Kafka) Start(id int32, version, file string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	b := k.brokers[id]
	if b == nil {
		b = &broker{}
		k.brokers[id] = b
	}
	b.static = options(file)
	b.logDirs = strings.Split(b.static["log.dirs"], ",")
	b.version, b.rack = version, b.static["broker.rack"]
	b.running, b.registered = true, true
	b.starts++
	k.apply(id)
	for i := range k.partitions {
		if p := &k.partitions[i]; slices.Contains(p.Replicas, id) && !slices.Contains(p.InSync, id) {
			p.InSync = append(p.InSync, id)
			if p.Leader < 0 {
				p.Leader = id
			}
		}
	}
}

// options reads a properties file, as far as the operator writes one.
func options(file string) map[string]string {
	read := map[string]string{}
	for line := range strings.Lines(file) {
		name, value, ok := strings.Cut(strings.TrimSpace(line), "=")
		if ok && !strings.HasPrefix(name, "#") {
			read[strings.TrimSpace(name)] = strings.TrimSpace(value)
		}
	}
	return read
}

// Stop stops a broker, which is fenced from then on.
func (k *Kafka) Stop(id int32) {
	k.mu.Lock()
	defer k.mu.Unlock()
	b := k.brokers[id]
	if b == nil {
		return
	}
	b.running = false
	for i := range k.partitions {
		p := &k.partitions[i]
		if len(p.InSync) > 1 {
			p.InSync = slices.DeleteFunc(slices.Clone(p.InSync), func(r int32) bool { return r == id })
		}
		if p.Leader == id {
			p.Leader = -1
			if i := slices.IndexFunc(p.InSync, func(r int32) bool { return r != id }); i >= 0 {
				p.Leader = p.InSync[i]
			}
		}
	}
}

// Starts is how often a broker was started.
func (k *Kafka) Starts(id int32) int {
	k.mu.Lock()
	defer k.mu.Unlock()
	if b := k.brokers[id]; b != nil {
		return b.starts
	}
	return 0
}

// Registered are the brokers that the cluster knows.
func (k *Kafka) Registered() []int32 {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.registered()
}

func (k *Kafka) registered() []int32 {
	var ids []int32
	for _, id := range slices.Sorted(maps.Keys(k.brokers)) {
		if k.brokers[id].registered {
			ids = append(ids, id)
		}
	}
	return ids
}

// SetQuorum says who the controllers are, the active one first. All are caught
// up.
func (k *Kafka) SetQuorum(ids ...int32) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.quorum = observed.Quorum{Leader: ids[0]}
	for _, id := range slices.Sorted(slices.Values(ids)) {
		k.quorum.Voters = append(k.quorum.Voters, observed.Voter{ID: id, LogEndOffset: 1})
	}
}

// SetMetadataVersion finalizes another one.
func (k *Kafka) SetMetadataVersion(version string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.metadata = version
}

// SetELR switches KIP-966's feature on or off.
func (k *Kafka) SetELR(on bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.elr = on
}

// Dynamic is a copy of what is set on a broker, registered or not.
func (k *Kafka) Dynamic(id int32) map[string]string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return maps.Clone(k.dynamic[id])
}

// Defaults is a copy of what is set for all brokers.
func (k *Kafka) Defaults() map[string]string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return maps.Clone(k.defaults)
}

// SetDynamic sets an option on a broker, as somebody else would.
func (k *Kafka) SetDynamic(id int32, name, value string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.set(id, name, value)
	k.apply(id)
}

func (k *Kafka) set(id int32, name, value string) {
	if k.dynamic[id] == nil {
		k.dynamic[id] = map[string]string{}
	}
	k.dynamic[id][name] = value
}

// ApplyNow has all brokers hear of their dynamic options.
func (k *Kafka) ApplyNow() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for id := range k.brokers {
		k.apply(id)
	}
}

func (k *Kafka) apply(id int32) { k.applied[id] = maps.Clone(k.dynamic[id]) }

// level is the feature level of the finalized metadata version.
func (k *Kafka) level() int16 {
	if configdef.CompareMetadataVersions(k.metadata, "4.3-IV0") >= 0 {
		return cordonLevel
	}
	return cordonLevel - 1
}

// cordonedDirs are those log directories that take no new replicas.
func (k *Kafka) cordonedDirs(id int32) map[string]bool {
	dirs, b := map[string]bool{}, k.brokers[id]
	if k.level() < cordonLevel || configdef.CompareMetadataVersions(minor(b.version), "4.3") < 0 {
		return dirs
	}
	value, ok := k.applied[id][cordoned]
	if !ok {
		value = b.static[cordoned]
	}
	for _, d := range b.logDirs {
		dirs[d] = value == "*" || slices.Contains(strings.Split(value, ","), d)
	}
	return dirs
}

func minor(version string) string {
	parts := strings.SplitN(version, ".", 3)
	return strings.Join(parts[:min(len(parts), 2)], ".")
}

// Cordoned tells whether a running broker takes no new replicas.
func (k *Kafka) Cordoned(id int32) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.isCordoned(id)
}

func (k *Kafka) isCordoned(id int32) bool {
	dirs := k.cordonedDirs(id)
	for _, yes := range dirs {
		if !yes {
			return false
		}
	}
	return len(dirs) > 0
}

// Wrong is what was asked that must never be: a broker unregistered that still
// holds replicas, or that would keep its dynamic options.
func (k *Kafka) Wrong() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Clone(k.wrong)
}

func (k *Kafka) doWrong(format string, args ...any) {
	k.wrong = append(k.wrong, fmt.Sprintf(format, args...))
}
