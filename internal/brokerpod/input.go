package brokerpod

import (
	"errors"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/nodepool"
)

// ErrInvalid says that a resource asks for a pod that cannot be made. The text
// names the kind, the object, the field's path and the mend.
var ErrInvalid = errors.New("no pod can be made from it")

// Input is what the objects of one node are made from.
type Input struct {
	// Kafka that the node belongs to. Its UID is that of the owner of what is made.
	Kafka *apiv1.Kafka
	// Pool that the node belongs to.
	Pool *apiv1.KafkaNodePool
	// Node with the roles that it is to have.
	Node nodepool.Node
	// Version of Kafka to run, such as 4.3.1.
	Version string
	// ClusterID that new log directories are formatted with, Kafka's own.
	ClusterID string
	// ConfigurationHash covers what of the node's configuration takes a restart to
	// come into effect, and nothing else.
	ConfigurationHash string
}
