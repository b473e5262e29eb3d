package volumedrift

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
)

// Attempt is a restart that was begun for a pod's templated volumes.
type Attempt struct {
	// UID of the pod that was to be restarted.
	UID types.UID `json:"uid"`
	// Wanted is a hash of the volumes that the restart was to bring.
	Wanted string `json:"wanted"`
}

// Record is what an owner remembers of restarts, by the pod's name: those that
// are not over, and those that did not help. It is kept in the annotation
// AnnotationVolumeRestarts.
type Record map[string]Attempt

// parseRecord reads the annotation of an owner; there is none in "".
func parseRecord(annotation string) (Record, error) {
	if annotation == "" {
		return nil, nil
	}
	var r Record
	if err := json.Unmarshal([]byte(annotation), &r); err != nil {
		return nil, fmt.Errorf("annotation %s is not a record of restarts: %w", apiv1.AnnotationVolumeRestarts, err)
	}
	return r, nil
}

// String is the annotation's text; "" for an empty record, which has none.
func (r Record) String() string {
	if len(r) == 0 {
		return ""
	}
	raw, err := json.Marshal(r)
	if err != nil {
		// Texts in maps always encode.
		panic(err)
	}
	return string(raw)
}

func sortedKeys[T any](m map[string]T) []string { return slices.Sorted(maps.Keys(m)) }
