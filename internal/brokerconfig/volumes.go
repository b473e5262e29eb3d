package brokerconfig

import (
	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/nodepool"
)

// Volume is one disk of a node.
type Volume struct {
	// ID of a JBOD volume; 0 for the single volume of a node.
	ID int64
	// Name of the volume in the pod: data, or data-<ID> for JBOD.
	Name string
	// ClaimName is that of the PersistentVolumeClaim, <Name>-<pod>; empty for an
	// ephemeral volume.
	ClaimName string
	// MountPath is where the volume is mounted in the node's container.
	MountPath string
	// LogDir is Kafka's log directory on it, below MountPath.
	LogDir string
	// Type is ephemeral or persistent-claim.
	Type string
	// Size of a persistent claim, as a Kubernetes quantity.
	Size string
	// Class is the storage class of a persistent claim; empty for the default.
	Class string
	// DeleteClaim tells that the claim goes with its node.
	DeleteClaim bool
	// Metadata tells that the node's metadata log is on this volume: it is on one.
	Metadata bool
}

// Volumes returns the disks of a node, those of JBOD by ascending ID.
func Volumes(pool *apiv1.KafkaNodePool, node nodepool.Node) []Volume { return nil }
