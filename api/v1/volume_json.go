package v1

import (
	"encoding/json"
	"math"

	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// UnmarshalJSON implements json.Unmarshaler; see unmarshalVolume.
func (v *AdditionalVolume) UnmarshalJSON(data []byte) error {
	type plain AdditionalVolume
	return unmarshalVolume(data, (*plain)(v))
}

// UnmarshalJSON implements json.Unmarshaler; see unmarshalVolume.
func (v *TemplatedVolume) UnmarshalJSON(data []byte) error {
	type plain TemplatedVolume
	return unmarshalVolume(data, (*plain)(v))
}

// unmarshalVolume reads a volume also where a file mode is larger than the type
// of it. Strimzi's CRDs give modes no format, so the API server stores any, and
// one such object would make every list that it is in unreadable, and so stop
// the operator for all clusters. Such a mode becomes the largest of its type,
// which is no less invalid: modes end at 0777 (validateVolumeSource in
// Kubernetes' pkg/apis/core/validation).
func unmarshalVolume(data []byte, volume any) error {
	err := utiljson.Unmarshal(data, volume)
	if err == nil {
		return nil
	}
	var fields map[string]any
	if utiljson.Unmarshal(data, &fields) != nil || !fitModes(fields) {
		return err
	}
	fitting, marshalErr := json.Marshal(fields)
	if marshalErr != nil {
		return err
	}
	return utiljson.Unmarshal(fitting, volume)
}

// fitModes tells whether it changed any mode.
func fitModes(volume map[string]any) bool {
	changed := false
	for _, source := range []string{"secret", "configMap"} {
		s, ok := volume[source].(map[string]any)
		if !ok {
			continue
		}
		changed = fitMode(s, "defaultMode") || changed
		items, _ := s["items"].([]any)
		for _, i := range items {
			if item, ok := i.(map[string]any); ok {
				changed = fitMode(item, "mode") || changed
			}
		}
	}
	return changed
}

func fitMode(fields map[string]any, name string) bool {
	mode, ok := fields[name].(int64)
	if !ok || mode >= math.MinInt32 && mode <= math.MaxInt32 {
		return false
	}
	fields[name] = int64(math.MaxInt32)
	return true
}
