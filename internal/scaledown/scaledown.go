// Package scaledown decides when brokers may go: it holds a removal back until
// every broker of it is known to be empty, says which brokers are to be cordoned
// and drained meanwhile, and looks again after a broker has stopped.
//
// It sees values alone. What was not seen never counts as empty.
package scaledown

import (
	"time"

	"github.com/sluice-kafka/sluice/internal/observed"
)

// Intervals between looks at Kafka where the Input names none.
const (
	// DefaultInterval lies at least between the two looks that show a cordoned
	// broker empty. A broker tells the controller of its cordon in a heartbeat
	// (broker.heartbeat.interval.ms, 2 s by default), so what was placed before that
	// shows in the second look.
	DefaultInterval = 5 * time.Second
	// DefaultUncordonedInterval lies at least between the two where the broker is
	// not known to be cordoned.
	DefaultUncordonedInterval = 30 * time.Second
)

// cordonLevel is the feature level of metadata version 4.3-IV0, the first at
// which cordoned.log.dirs can be set (KIP-1066; MetadataVersion.java of Kafka).
const cordonLevel = 30

// Pod is what matters of a node's pod.
type Pod struct {
	// Ready as its condition says.
	Ready bool
	// Broker tells that it runs with the role of a broker (label
	// strimzi.io/broker-role of the running pod, not what is wanted).
	Broker bool
}

// Input is what a decision is made from.
type Input struct {
	// Removing are the brokers to be removed whose removal is not committed: their
	// IDs still stand in status.nodeIds.
	Removing []int32
	// LosingRole are nodes that stay and are to lose the role of a broker, as long
	// as that is not committed.
	LosingRole []int32
	// Leaving are those, of either kind, whose removal is committed and that are not
	// gone yet: in no status.nodeIds (or there without the role), but with a pod that
	// terminates, or still registered. See Leftover.
	Leaving []int32
	// Pods by node ID; a node without a pod is not in it. Terminating pods are.
	Pods map[int32]Pod
	// Seen of the Kafka cluster in this look.
	Seen observed.Cluster
	// VersionCordons tells that the version of Kafka that runs is 4.3.0 or later.
	VersionCordons bool
	// Skip lifts the guard (annotation strimzi.io/skip-broker-scaledown-check).
	Skip bool
	// Interval and UncordonedInterval replace the defaults where they are above zero.
	Interval, UncordonedInterval time.Duration
	// Memory of the last decision; the zero value after a start.
	Memory Memory
}

// Decision is what becomes of a removal. All lists ascend.
type Decision struct {
	// Cordon are the brokers to be cordoned: all that are to go, until they are gone.
	Cordon []int32
	// Held are those of them that are not known to be empty. While there is one, none
	// of the removal goes.
	Held []Held
	// Drain is all of Cordon while one of it was seen to hold a replica or to be
	// the target of a reassignment in flight; else it is empty.
	Drain []int32
	// Observed tells that partitions were seen in this look. Without it Drain is
	// what the last look that saw them gave.
	Observed bool
	// Memory is for the next decision.
	Memory Memory
	// RequeueAfter is when to look again; zero when nothing is awaited here.
	RequeueAfter time.Duration
}

// Held is why a broker does not go yet.
type Held struct {
	// ID of the broker.
	ID int32
	// LosesRole tells that the node stays, and only its role is held.
	LosesRole bool
	// Awaits is what has to come.
	Awaits Awaits
	// Replicas that it was seen to hold, those that a reassignment adds left out.
	Replicas int
	// Targets are the partitions whose reassignment in flight adds it.
	Targets int
	// Bytes in its log directories, as it reports them.
	Bytes observed.Of[int64]
	// Until is the earliest time of the look that completes the evidence; only with
	// AwaitsSighting.
	Until time.Time
	// Message says all this, and what to do, to a user.
	Message string
}

// Awaits is what a held broker waits for.
type Awaits string

// What there is to wait for.
const (
	// AwaitsPartitions: the partitions could not be seen.
	AwaitsPartitions Awaits = "Partitions"
	// AwaitsDrain: it holds replicas, or is to get some.
	AwaitsDrain Awaits = "Drain"
	// AwaitsRegistration: whether it is fenced could not be seen.
	AwaitsRegistration Awaits = "Registration"
	// AwaitsFeatures: whether the cluster can cordon could not be seen.
	AwaitsFeatures Awaits = "Features"
	// AwaitsCordon: its log directories are not cordoned, as it reports them.
	AwaitsCordon Awaits = "Cordon"
	// AwaitsAnswer: it is not fenced, and did not say whether it is cordoned.
	AwaitsAnswer Awaits = "Answer"
	// AwaitsSighting: it was seen empty, and has to be so again.
	AwaitsSighting Awaits = "Sighting"
)

// Memory is what a decision keeps for the next one. It is soft: where it is lost,
// the evidence starts anew.
type Memory struct {
	brokers map[int32]record
}
