package brokerconfig

import (
	"strings"

	"k8s.io/apimachinery/pkg/util/version"
)

// cordonsFrom is the first Kafka that can cordon a broker (KIP-1066).
var cordonsFrom = version.MustParseGeneric("4.3.0")

// canCordon tells whether a version of Kafka knows CordonedLogDirs.
func canCordon(kafka string) bool {
	v, err := version.ParseGeneric(kafka)
	return err == nil && v.AtLeast(cordonsFrom)
}

// compareVersions orders versions of Kafka, and what is none by its letters.
func compareVersions(a, b string) int {
	v, err := version.ParseGeneric(a)
	if err == nil {
		if order, err := v.Compare(b); err == nil {
			return order
		}
	}
	return strings.Compare(a, b)
}
