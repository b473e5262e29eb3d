package brokerconfig

import (
	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/nodepool"
)

// Input is what the file of a node follows from.
type Input struct {
	// Kafka and Pool that the node belongs to.
	Kafka *apiv1.Kafka
	Pool  *apiv1.KafkaNodePool
	// Node with the roles that it is to have, which are its pool's except where a
	// change of roles is held back.
	Node nodepool.Node
	// Controllers of the cluster, in any order: the static quorum.
	Controllers []nodepool.Node
	// Version of Kafka that the node runs, such as 4.3.1.
	Version string
	// Cordoned tells that the node takes no new replicas. It is only written where
	// the version can do that and the node is a broker.
	Cordoned bool
}

// File is the configuration of one node.
type File struct {
	// Node that it is for, with its roles.
	Node nodepool.Node
	// Version of Kafka that reads it.
	Version string
	// Options by name, with their values as Kafka takes them.
	Options map[string]string
	// Refused are the keys of spec.kafka.config that are not in Options, sorted.
	Refused []Refused
}

// Refused is an option of the user's that is not rendered.
type Refused struct {
	// Key in spec.kafka.config, as it is written there.
	Key string
	// Reason for people: whose the option is, or what is wrong with its value.
	Reason string
}

// Render returns the file of a node.
func Render(in Input) File { return File{} }

// Text is the file as java.util.Properties reads it, sorted by option.
func (f File) Text() string { return "" }

// Hash is over all that a running process does not take up without a restart.
// It never depends on cordoned.log.dirs.
func (f File) Hash() string { return "" }
