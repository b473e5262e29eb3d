// Package rolling decides which node of a Kafka cluster is restarted next: one at
// a time, and only where neither a partition nor the metadata quorum suffers.
package rolling

import (
	"time"

	"github.com/sluice-kafka/sluice/internal/observed"
)

// DefaultFetchTimeout is Kafka's default of controller.quorum.fetch.timeout.ms
// (QuorumConfig.java).
const DefaultFetchTimeout = 2 * time.Second

// PodState is how a node's pod is found.
type PodState int

// States of a pod; each pod is in exactly one, the first that fits.
const (
	// Missing: there is none.
	Missing PodState = iota
	// Terminating: it is being deleted.
	Terminating
	// Unschedulable: no Kubernetes node takes it.
	Unschedulable
	// Unready: it is there and not ready.
	Unready
	// Ready as its condition says.
	Ready
)

// Node is one node of the cluster.
type Node struct {
	ID int32
	// Pod is its pod's name.
	Pod string
	// Broker and Controller are the roles that its running pod has, or without one
	// those that are wanted.
	Broker, Controller bool
	// State of its pod.
	State PodState
	// Live is the revision of its pod, Wanted the one that it should have. Where they
	// differ, the node needs a restart.
	Live, Wanted string
}

// Input is what a decision is made from.
type Input struct {
	// Nodes are all of the cluster, in any order.
	Nodes []Node
	// Registration and Partitions as they were seen.
	Registration observed.Of[observed.Registration]
	Partitions   observed.Of[[]observed.Partition]
	// MinInSync is min.insync.replicas by topic; it is needed for those of Topics.
	MinInSync observed.Of[map[string]int]
	// Quorum as it was seen.
	Quorum observed.Of[observed.Quorum]
	// FetchTimeout is controller.quorum.fetch.timeout.ms; DefaultFetchTimeout where it
	// is not above zero.
	FetchTimeout time.Duration
}

// Decision is which node is restarted now. Lists ascend by ID.
type Decision struct {
	// Need are the nodes that need a restart. While it is not empty look again soon:
	// nothing tells when a replica is back in sync.
	Need []int32
	// Restart is the one to be restarted now; nil if none may be.
	Restart *Restart
	// Waits are all others of Need, and what they wait for.
	Waits []Wait
}

// Restart is a node that is to be restarted now.
type Restart struct {
	Node int32
	// Reason says why it is its turn, and what suffers from it all the same.
	Reason string
}

// Wait is why a node is not restarted now.
type Wait struct {
	Node  int32
	Cause Cause
	// Message says what it waits for, and what a user can do.
	Message string
}

// Cause is what a node waits for.
type Cause string

// What there is to wait for.
const (
	// CauseTurn: others come first.
	CauseTurn Cause = "Turn"
	// CauseNode: the restart of another node is not complete.
	CauseNode Cause = "Node"
	// CausePartitions: partitions would fall below min.insync.replicas.
	CausePartitions Cause = "Partitions"
	// CauseQuorum: no majority of the controllers would be caught up.
	CauseQuorum Cause = "Quorum"
	// CauseUnobserved: what has to be known could not be seen.
	CauseUnobserved Cause = "Unobserved"
)
