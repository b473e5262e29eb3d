package fake

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/sluice-kafka/sluice/internal/configdef"
	"github.com/sluice-kafka/sluice/internal/kafka"
	"github.com/sluice-kafka/sluice/internal/observed"
)

// Call is one call that was made.
type Call struct {
	// Name of the call, with the broker that it is about where it is about one:
	// "AlterBrokerConfig 3".
	Name string
	// Detail is what it changes; empty for a call that only reads.
	Detail string
	// Requests that it costs on the wire.
	Requests int
}

// String is the call as tests compare it.
func (c Call) String() string {
	if c.Detail == "" {
		return c.Name
	}
	return c.Name + " (" + c.Detail + ")"
}

// Calls since the last TakeCalls.
func (k *Kafka) Calls() []Call {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Clone(k.calls)
}

// TakeCalls returns the calls since the last time, and forgets them.
func (k *Kafka) TakeCalls() []Call {
	k.mu.Lock()
	defer k.mu.Unlock()
	calls := k.calls
	k.calls = nil
	return calls
}

// TakeWrites returns those of TakeCalls that change something.
func (k *Kafka) TakeWrites() []string {
	var writes []string
	for _, c := range k.TakeCalls() {
		if c.Detail != "" {
			writes = append(writes, c.String())
		}
	}
	return writes
}

// begin records a call and takes the lock.
func (k *Kafka) begin(ctx context.Context, c Call) error {
	if c.Requests == 0 {
		c.Requests = 1
	}
	var stopped error
	if k.BeforeWrite != nil && c.Detail != "" {
		stopped = k.BeforeWrite(c)
	}
	k.mu.Lock()
	if stopped != nil {
		return stopped
	}
	k.calls = append(k.calls, c)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case k.Unreachable != nil:
		return k.Unreachable
	}
	return k.CallErrs[c.Name]
}

// anyBroker fails where no broker can answer.
func (k *Kafka) anyBroker() error {
	for _, b := range k.brokers {
		if b.running {
			return nil
		}
	}
	return fmt.Errorf("%w: no broker is running", kafka.ErrUnreachable)
}

func (k *Kafka) oneBroker(id int32) (*broker, error) {
	if b := k.brokers[id]; b != nil && b.running {
		return b, nil
	}
	return nil, fmt.Errorf("%w: broker %d is not running", kafka.ErrUnreachable, id)
}

func refusal(code int16, name, message string) error {
	return &kafka.Error{Code: code, Name: name, Message: message}
}

// Codes of Kafka's protocol
// (org.apache.kafka.common.protocol.Errors).
func invalidConfig(message string) error  { return refusal(40, "INVALID_CONFIG", message) }
func invalidRequest(message string) error { return refusal(42, "INVALID_REQUEST", message) }
func notRegistered(id int32) error {
	return refusal(102, "BROKER_ID_NOT_REGISTERED", fmt.Sprintf("broker ID %d is not registered", id))
}

// Close implements Admin.
func (k *Kafka) Close() {}

// DescribeCluster implements Admin.
func (k *Kafka) DescribeCluster(ctx context.Context) (observed.Registration, error) {
	err := k.begin(ctx, Call{Name: "DescribeCluster"})
	defer k.mu.Unlock()
	if err == nil {
		err = k.anyBroker()
	}
	if err != nil {
		return observed.Registration{}, err
	}
	r := observed.Registration{ClusterID: k.clusterID}
	for _, id := range k.registered() {
		b := k.brokers[id]
		r.Brokers = append(r.Brokers, observed.Broker{ID: id, Rack: b.rack, Fenced: !b.running})
	}
	return r, nil
}

// Features implements Admin.
func (k *Kafka) Features(ctx context.Context) (observed.Features, error) {
	err := k.begin(ctx, Call{Name: "Features"})
	defer k.mu.Unlock()
	if err == nil {
		err = k.anyBroker()
	}
	return observed.Features{MetadataVersion: k.metadata, MetadataLevel: k.level(), EligibleLeaderReplicas: k.elr}, err
}

// Partitions implements Admin.
func (k *Kafka) Partitions(ctx context.Context) ([]observed.Partition, error) {
	err := k.begin(ctx, Call{Name: "Partitions", Requests: 2})
	defer k.mu.Unlock()
	if err == nil {
		err = k.anyBroker()
	}
	all := make([]observed.Partition, 0, len(k.partitions))
	for _, p := range k.partitions {
		p.Replicas, p.InSync = slices.Clone(p.Replicas), slices.Clone(p.InSync)
		p.Adding, p.Removing = slices.Clone(p.Adding), slices.Clone(p.Removing)
		all = append(all, p)
	}
	return all, err
}

// LogDirs implements Admin.
func (k *Kafka) LogDirs(ctx context.Context, id int32) ([]observed.LogDir, error) {
	err := k.begin(ctx, Call{Name: fmt.Sprintf("LogDirs %d", id)})
	defer k.mu.Unlock()
	if err != nil {
		return nil, err
	}
	b, err := k.oneBroker(id)
	if err != nil {
		return nil, err
	}
	cordonedDirs := k.cordonedDirs(id)
	dirs := make([]observed.LogDir, 0, len(b.logDirs))
	for i, path := range b.logDirs {
		d := observed.LogDir{Path: path, Cordoned: cordonedDirs[path]}
		if i == 0 {
			d.Replicas = int64(k.replicasOn(id))
			d.Bytes = d.Replicas * k.bytes
		}
		dirs = append(dirs, d)
	}
	return dirs, nil
}

// Quorum implements Admin.
func (k *Kafka) Quorum(ctx context.Context) (observed.Quorum, error) {
	err := k.begin(ctx, Call{Name: "Quorum"})
	defer k.mu.Unlock()
	q := observed.Quorum{Leader: k.quorum.Leader, Voters: slices.Clone(k.quorum.Voters)}
	for i := range q.Voters {
		q.Voters[i].LastCaughtUp, q.Voters[i].LastFetch = k.Now(), k.Now()
	}
	return q, err
}

// MinInSyncReplicas implements Admin.
func (k *Kafka) MinInSyncReplicas(ctx context.Context, topics []string) (map[string]int, error) {
	err := k.begin(ctx, Call{Name: "MinInSyncReplicas"})
	defer k.mu.Unlock()
	ofAll := k.defaults[minISR]
	for _, id := range k.registered() {
		ofAll = cmp.Or(ofAll, k.brokers[id].static[minISR])
	}
	all := map[string]int{}
	for _, t := range topics {
		all[t] = 1
		if n, err := strconv.Atoi(ofAll); err == nil {
			all[t] = n
		}
		if n := k.MinISR[t]; n > 0 {
			all[t] = n
		}
	}
	return all, err
}

// UnregisterBroker implements Admin.
func (k *Kafka) UnregisterBroker(ctx context.Context, id int32) error {
	err := k.begin(ctx, Call{Name: fmt.Sprintf("UnregisterBroker %d", id), Detail: "forget it"})
	defer k.mu.Unlock()
	if err != nil {
		return err
	}
	b := k.brokers[id]
	if b == nil || !b.registered {
		return nil // as the real client has it
	}
	if n := k.replicasOn(id); n > 0 {
		k.doWrong("broker %d was unregistered with %d replicas on it", id, n)
	}
	if b.running {
		k.doWrong("broker %d was unregistered while it ran", id)
	}
	if len(k.dynamic[id]) > 0 {
		k.doWrong("broker %d was unregistered with %v set on it", id, slices.Sorted(maps.Keys(k.dynamic[id])))
	}
	b.registered = false
	return nil
}

// UpdateMetadataVersion implements Admin.
func (k *Kafka) UpdateMetadataVersion(ctx context.Context, version string) error {
	err := k.begin(ctx, Call{Name: "UpdateMetadataVersion", Detail: version})
	defer k.mu.Unlock()
	if err != nil {
		return err
	}
	if configdef.CompareMetadataVersions(version, k.metadata) < 0 {
		return refusal(95, "INVALID_UPDATE_VERSION", "a metadata version cannot be lowered")
	}
	for _, id := range k.registered() {
		r, _, ok := configdef.ReleaseOf(k.brokers[id].version)
		if !ok || !r.RunsAt(version) {
			return refusal(95, "INVALID_UPDATE_VERSION", fmt.Sprintf("broker %d does not support %s", id, version))
		}
	}
	k.metadata = version
	return nil
}

// describe words changes as tests compare them.
func describe(ops []kafka.ConfigOp) string {
	texts := make([]string, 0, len(ops))
	for _, op := range ops {
		if op.Delete {
			texts = append(texts, "DELETE "+op.Name)
		} else {
			texts = append(texts, "SET "+op.Name+"="+op.Value)
		}
	}
	slices.Sort(texts)
	return strings.Join(texts, ", ")
}

// SetServers implements Admin.
func (k *Kafka) SetServers(_, _ []string) error { return nil }
