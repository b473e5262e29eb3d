package validation

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sluice-kafka/sluice/internal/configdef"
)

func kafkaVersionKnown(in kafkaInput) []Finding {
	version := in.kafka.Spec.Kafka.Version
	if version == "" {
		return nil
	}
	if _, _, ok := configdef.ReleaseOf(version); ok {
		return nil
	}
	f := Finding{
		Path: field.NewPath("spec", "kafka", "version"), Value: version,
		Message: "Sluice does not know this version of Kafka, so it cannot check its options: " + supported(),
	}
	if in.kafka.HandedOver() {
		f.Severity = Refuse
		f.Message = "Sluice does not run this version of Kafka: " + supported()
	}
	return []Finding{f}
}

func supported() string {
	return "write one of " + strings.Join(configdef.Versions(), ", ") + " or another patch of these"
}

// kafkaMetadataVersion judges what a cluster's records are written in (KIP-584):
// brokers that are older cannot read them.
func kafkaMetadataVersion(in kafkaInput) []Finding {
	wanted := in.kafka.Spec.Kafka.MetadataVersion
	if wanted == "" {
		return nil
	}
	message := metadataFault(wanted, in.brokerVersions().named)
	if message == "" {
		return nil
	}
	return []Finding{{
		Severity: Refuse, Path: field.NewPath("spec", "kafka", "metadataVersion"), Value: wanted, Message: message,
	}}
}

func metadataFault(wanted, version string) string {
	if !configdef.MetadataVersionForm(wanted) {
		r, _, ok := configdef.ReleaseOf(version)
		if !ok {
			r, _, _ = configdef.ReleaseOf(configdef.Latest())
		}
		return fmt.Sprintf("a metadata version is a minor version of Kafka with a number, as in %s: write it like that, or leave it out",
			r.LatestMetadataVersion())
	}
	r, _, ok := configdef.ReleaseOf(version)
	switch {
	case ok && r.RunsAt(wanted):
		return ""
	case ok && configdef.CompareMetadataVersions(wanted, r.LatestMetadataVersion()) > 0:
		return fmt.Sprintf("Kafka %s runs at metadata version %s at most: write that or an older one, or raise spec.kafka.version first",
			version, r.LatestMetadataVersion())
	case ok:
		return fmt.Sprintf("Kafka %s knows no such metadata version, of those from %s to %s: write %s",
			version, r.MetadataVersions[0], r.LatestMetadataVersion(), r.LatestMetadataVersion())
	}
	minor := minorOf(version)
	if minor == "" || !configdef.MetadataVersionForm(minor) || configdef.CompareMetadataVersions(wanted, minor) <= 0 {
		return "" // of a Kafka that nobody here knows
	}
	return fmt.Sprintf("the metadata version is above Kafka %s, which could not read its own metadata: write %s or an older one", version, minor)
}

// minorOf returns 3.9 of 3.9.1; empty where a version has another form.
func minorOf(version string) string {
	major, rest, ok := strings.Cut(version, ".")
	minor, _, ok2 := strings.Cut(rest, ".")
	if !ok || !ok2 {
		return ""
	}
	return major + "." + minor
}
