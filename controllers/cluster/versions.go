package cluster

import (
	"cmp"
	"fmt"
	"strings"

	kafkav1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/configdef"
	"github.com/sluice-kafka/sluice/internal/observed"
)

// cordonVersion is the first version of Kafka with cordoned.log.dirs (KIP-1066).
const cordonVersion = "4.3"

// versions is what a cluster is to run.
type versions struct {
	// run is the version of Kafka that the nodes are to run.
	run string
	// running is the oldest that a node may be running still.
	running string
	// metadata is the metadata version that is wanted, in full, and that new log
	// directories are formatted at.
	metadata string
	// refusal is why spec.kafka.version is not run; empty where it is.
	refusal string
	// notLowered is why the metadata version stays above the wanted one.
	notLowered string
}

// decideVersions follows the spec as far as that does no harm: a binary that does
// not know the finalized metadata version would not start (its controllers cannot
// read the log), so it is refused.
func decideVersions(kafka *kafkav1.Kafka, features observed.Of[observed.Features]) versions {
	spec, status := kafka.Spec.Kafka, kafka.Status
	v := versions{run: cmp.Or(spec.Version, configdef.Latest())}
	v.running = cmp.Or(status.KafkaVersion, v.run)
	release, _, ok := configdef.ReleaseOf(v.run)
	if !ok {
		v.refusal = fmt.Sprintf("spec.kafka.version: %q is not supported: use one of %s",
			v.run, strings.Join(configdef.Versions(), ", "))
		v.run = v.running
		return v
	}
	finalized := status.KafkaMetadataVersion
	if f, seen := features.Get(); seen {
		finalized = f.MetadataVersion
	}
	if finalized != "" && !release.RunsAt(finalized) {
		v.refusal = fmt.Sprintf("spec.kafka.version: Kafka %s cannot run at the cluster's metadata version %s, which is newer, "+
			"so its nodes would not start: go back to the version from before, or to a later one", v.run, finalized)
		v.run = v.running
		if release, _, ok = configdef.ReleaseOf(v.run); !ok {
			return v
		}
	}
	if older(v.run, v.running) {
		v.running = v.run
	}
	v.metadata = fullMetadataVersion(release, spec.MetadataVersion)
	if finalized != "" && configdef.MetadataVersionForm(finalized) && configdef.CompareMetadataVersions(v.metadata, finalized) < 0 {
		if spec.MetadataVersion != "" {
			v.notLowered = fmt.Sprintf("spec.kafka.metadataVersion: the cluster runs at %s, and Kafka's metadata version is not lowered to %s: "+
				"set it to %s", finalized, v.metadata, finalized)
		}
		v.metadata = finalized
	}
	return v
}

// older compares two versions of Kafka by their minor version.
func older(a, b string) bool {
	return configdef.CompareMetadataVersions(minorOf(a), minorOf(b)) < 0
}

func minorOf(version string) string {
	parts := strings.SplitN(version, ".", 3)
	return strings.Join(parts[:min(len(parts), 2)], ".")
}

// cordons tells whether all nodes run a version that can cordon.
func (v versions) cordons() bool { return !older(v.running, cordonVersion) }

// fullMetadataVersion gives a metadata version its IV part: "4.3" stands for the
// newest of that minor version, and none for the release's own. One that the
// release does not know is left to the rules.
func fullMetadataVersion(release configdef.Release, wanted string) string {
	full := release.LatestMetadataVersion()
	if wanted == "" {
		return full
	}
	for _, v := range release.MetadataVersions {
		if minor, _, _ := strings.Cut(v, "-"); v == wanted || minor == wanted {
			full = v
		}
	}
	return full
}

// raise is the metadata version that the cluster is to be raised to; empty where
// there is none, or where a node may not know it yet.
func (v versions) raise(features observed.Of[observed.Features], allRun bool) string {
	f, seen := features.Get()
	if !seen || !allRun || v.metadata == "" || !configdef.MetadataVersionForm(f.MetadataVersion) {
		return ""
	}
	if configdef.CompareMetadataVersions(v.metadata, f.MetadataVersion) <= 0 {
		return ""
	}
	return v.metadata
}
