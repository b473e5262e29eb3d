package validation

import (
	"fmt"
	"strconv"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
)

// volume is one disk of every node of a pool: a JBOD volume, or the whole
// storage.
type volume struct {
	path *field.Path
	// key tells the volumes of a pool apart; id is 0 for the whole storage.
	key string
	id  int64
	apiv1.SingleVolume
}

func storagePath() *field.Path { return field.NewPath("spec", "storage") }

// volumesOf returns the disks of a pool's nodes. A JBOD volume without an ID can
// be told from no other one.
func volumesOf(p *apiv1.KafkaNodePool) []volume {
	s := p.Spec.Storage
	switch {
	case s == nil:
		return nil
	case s.Type != apiv1.StorageJBOD:
		return []volume{{path: storagePath(), key: "single", SingleVolume: s.SingleVolume}}
	}
	var all []volume
	for i, v := range s.Volumes {
		d := volume{path: storagePath().Child("volumes").Index(i), SingleVolume: v}
		if v.ID != nil {
			d.id, d.key = *v.ID, "id "+strconv.FormatInt(*v.ID, 10)
		}
		all = append(all, d)
	}
	return all
}

// byKey returns the first volume of each key.
func byKey(all []volume) map[string]volume {
	m := make(map[string]volume, len(all))
	for _, v := range all {
		if _, dup := m[v.key]; !dup && v.key != "" {
			m[v.key] = v
		}
	}
	return m
}

func storageType(p *apiv1.KafkaNodePool) string {
	if p.Spec.Storage == nil {
		return ""
	}
	return p.Spec.Storage.Type
}

func poolStorageType(in poolInput) []Finding {
	found := unknownWord(storagePath().Child("type"), "", storageType(in.pool),
		apiv1.StorageEphemeral, apiv1.StoragePersistentClaim, apiv1.StorageJBOD)
	if storageType(in.pool) != apiv1.StorageJBOD {
		return found
	}
	for _, v := range volumesOf(in.pool) {
		found = append(found, unknownWord(v.path.Child("type"), v.key, v.Type, apiv1.StorageEphemeral, apiv1.StoragePersistentClaim)...)
	}
	return found
}

func poolVolumeIDs(in poolInput) []Finding {
	if storageType(in.pool) != apiv1.StorageJBOD {
		return nil
	}
	var found []Finding
	seen := map[string]bool{}
	for _, v := range volumesOf(in.pool) {
		if seen[v.key] {
			f := Finding{
				Severity: Refuse, Path: v.path.Child("id"), Element: v.key, Value: strconv.FormatInt(v.id, 10),
				Message: "two volumes have this ID, by which a node tells its disks apart: give each its own",
			}
			if v.ID == nil {
				f.Value = ""
				f.Message = "a node tells its disks apart by their IDs, and a volume before has none either: give each its own"
			}
			found = append(found, f)
		}
		seen[v.key] = true
	}
	return found
}

// poolStorageTypeChanged: the data stays on the disks of the old type.
func poolStorageTypeChanged(in poolInput) []Finding {
	if in.old == nil {
		return nil
	}
	const message = "the storage of a pool's nodes cannot change from %s to %s, for their data would stay behind: " +
		"set it back, and create another pool with the new storage to move the data to"
	was, now := storageType(in.old), storageType(in.pool)
	if was != now && was != "" && now != "" {
		return []Finding{{Severity: Refuse, Path: storagePath().Child("type"), Value: now, Message: fmt.Sprintf(message, was, now)}}
	}
	var found []Finding
	before := byKey(volumesOf(in.old))
	for _, v := range volumesOf(in.pool) {
		if old, ok := before[v.key]; ok && old.Type != v.Type && old.Type != "" && v.Type != "" {
			found = append(found, Finding{
				Severity: Refuse, Path: v.path.Child("type"), Element: v.key, Value: v.Type, Message: fmt.Sprintf(message, old.Type, v.Type),
			})
		}
	}
	return found
}

// poolStorageShrinks: Kubernetes lets a claim grow, and never shrink
// (ValidatePersistentVolumeClaimUpdate in its pkg/apis/core/validation).
func poolStorageShrinks(in poolInput) []Finding {
	if in.old == nil || storageType(in.old) != storageType(in.pool) {
		return nil
	}
	var found []Finding
	before := byKey(volumesOf(in.old))
	for _, v := range volumesOf(in.pool) {
		old, ok := before[v.key]
		if !ok || v.Type != apiv1.StoragePersistentClaim || old.Type != v.Type {
			continue
		}
		was, err1 := resource.ParseQuantity(old.Size)
		now, err2 := resource.ParseQuantity(v.Size)
		if err1 != nil || err2 != nil || now.Cmp(was) >= 0 {
			continue
		}
		found = append(found, Finding{
			Severity: Refuse, Path: v.path.Child("size"), Element: v.key, Value: v.Size,
			Message: fmt.Sprintf("a claim can grow and never shrink: write %s or more, or move the data to another pool with smaller disks", old.Size),
		})
	}
	return found
}

// poolVolumeHoldsReplicas: a volume that goes takes its replicas with it.
func poolVolumeHoldsReplicas(in poolInput) []Finding {
	if in.old == nil || in.facts.Seen == nil || storageType(in.old) != apiv1.StorageJBOD || storageType(in.pool) != apiv1.StorageJBOD {
		return nil
	}
	now := byKey(volumesOf(in.pool))
	var found []Finding
	for _, v := range volumesOf(in.old) {
		if _, stays := now[v.key]; stays || v.key == "" {
			continue
		}
		brokers, replicas := in.holding(v.id)
		if replicas == 0 {
			continue
		}
		found = append(found, Finding{
			Severity: Refuse, Path: storagePath().Child("volumes"), Element: v.key, Value: "without " + v.key,
			Message: fmt.Sprintf("volume %d holds %s on %s, which would be lost: put it back, and empty it first "+
				"with a KafkaRebalance of mode %s", v.id, counted(replicas, "replica"), brokerList(brokers), apiv1.ModeRemoveDisks),
		})
	}
	return found
}

// holding returns the pool's brokers that have replicas on a volume, and how
// many they have on it.
func (in poolInput) holding(volumeID int64) (brokers []int32, replicas int64) {
	for _, id := range nodeIDs(in.observed().NodeIDs) {
		b, _ := in.facts.Seen.Broker(id)
		for _, v := range b.Volumes {
			if v.ID == volumeID && v.Replicas > 0 {
				brokers = append(brokers, id)
				replicas += v.Replicas
			}
		}
	}
	return brokers, replicas
}
