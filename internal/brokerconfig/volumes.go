package brokerconfig

import (
	"cmp"
	"fmt"
	"slices"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/nodepool"
)

// dataPath is where a node's disks are mounted, as in Strimzi's pods.
const dataPath = "/var/lib/kafka/"

// metadataShared is the value of kraftMetadata that puts the metadata log on a
// volume of a broker, beside its data.
const metadataShared = "shared"

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
	// LogDir is Kafka's log directory on it, below MountPath. It is absolute: in a
	// relative one Kafka takes a cordon and does not heed it (KAFKA-20901).
	LogDir string
	// Type is ephemeral or persistent-claim.
	Type string
	// Size of a persistent claim, as a Kubernetes quantity.
	Size string
	// Class is the storage class of a persistent claim; empty for the default.
	Class string
	// DeleteClaim tells that the claim goes with its node.
	DeleteClaim bool
	// Metadata tells that the node's metadata log is on this volume: it is on
	// exactly one.
	Metadata bool
}

// Volumes returns the disks of a node, those of JBOD by ascending ID; none where
// the pool says nothing of its storage. A JBOD volume without an ID is left out,
// which admission refuses: nothing would tell its data from another's.
//
// The metadata log is on the lowest volume with kraftMetadata: shared, else on
// the lowest of all.
func Volumes(pool *apiv1.KafkaNodePool, node nodepool.Node) []Volume {
	s := pool.Spec.Storage
	switch {
	case s == nil:
		return nil
	case s.Type != apiv1.StorageJBOD:
		v := volumeOf("data", s.SingleVolume, node)
		v.Metadata = true
		return []Volume{v}
	}
	declared := slices.DeleteFunc(slices.Clone(s.Volumes), func(v apiv1.SingleVolume) bool { return v.ID == nil })
	slices.SortStableFunc(declared, func(a, b apiv1.SingleVolume) int { return cmp.Compare(*a.ID, *b.ID) })
	declared = slices.CompactFunc(declared, func(a, b apiv1.SingleVolume) bool { return *a.ID == *b.ID })
	metadata := slices.IndexFunc(declared, func(v apiv1.SingleVolume) bool { return v.KraftMetadata == metadataShared })
	metadata = max(metadata, 0)
	volumes := make([]Volume, len(declared))
	for i, d := range declared {
		volumes[i] = volumeOf(fmt.Sprintf("data-%d", *d.ID), d, node)
		volumes[i].ID, volumes[i].Metadata = *d.ID, i == metadata
	}
	return volumes
}

func volumeOf(name string, declared apiv1.SingleVolume, node nodepool.Node) Volume {
	v := Volume{
		Name: name, MountPath: dataPath + name, LogDir: fmt.Sprintf("%s%s/kafka-log%d", dataPath, name, node.ID), Type: declared.Type,
	}
	if declared.Type == apiv1.StoragePersistentClaim {
		v.ClaimName = name + "-" + node.Pod
		v.Size, v.Class, v.DeleteClaim = declared.Size, declared.Class, declared.DeleteClaim
	}
	return v
}
