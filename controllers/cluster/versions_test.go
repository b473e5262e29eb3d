package cluster

import (
	"errors"
	"slices"
	"strings"
	"testing"

	kafkav1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/observed"
)

func TestVersions(t *testing.T) {
	unseen := observed.Unseen[observed.Features](errors.New("nobody answers"))
	at := func(version string) observed.Of[observed.Features] {
		return observed.Seen(observed.Features{MetadataVersion: version})
	}
	tests := map[string]struct {
		version, metadata             string // of the spec
		statusVersion, statusMetadata string
		features                      observed.Of[observed.Features]
		wantRun, wantMetadata         string
		wantRefused, wantNotLowered   bool
		// wantRaise is what the cluster is raised to once all nodes run the version.
		wantRaise string
	}{
		"a new cluster gets the version's own metadata version": {
			version: "4.2.1", features: unseen, wantRun: "4.2.1", wantMetadata: "4.2-IV1"},
		"a new cluster at an older one": {
			version: "4.3.1", metadata: "4.2", features: unseen, wantRun: "4.3.1", wantMetadata: "4.2-IV1"},
		"an upgraded cluster is raised": {
			version: "4.3.1", statusVersion: "4.2.1", features: at("4.2-IV1"), wantRun: "4.3.1", wantMetadata: "4.3-IV0", wantRaise: "4.3-IV0"},
		"an upgraded cluster that is to stay": {
			version: "4.3.1", metadata: "4.2-IV1", statusVersion: "4.2.1", features: at("4.2-IV1"), wantRun: "4.3.1", wantMetadata: "4.2-IV1"},
		"a downgrade below the finalized level is refused": {
			version: "4.2.1", statusVersion: "4.3.1", features: at("4.3-IV0"), wantRun: "4.3.1", wantMetadata: "4.3-IV0", wantRefused: true},
		"also where nobody answers, by what was seen last": {
			version: "4.2.1", statusVersion: "4.3.1", statusMetadata: "4.3-IV0", features: unseen, wantRun: "4.3.1", wantMetadata: "4.3-IV0", wantRefused: true},
		"a downgrade that the level allows": {
			version: "4.2.1", statusVersion: "4.3.1", features: at("4.2-IV1"), wantRun: "4.2.1", wantMetadata: "4.2-IV1"},
		"a metadata version is never lowered": {
			version: "4.3.1", metadata: "4.2", statusVersion: "4.3.1", features: at("4.3-IV0"), wantRun: "4.3.1", wantMetadata: "4.3-IV0", wantNotLowered: true},
		"a version that is not known": {
			version: "3.9.0", statusVersion: "4.3.1", features: at("4.3-IV0"), wantRun: "4.3.1", wantRefused: true},
		"a level that is newer than all that are known": {
			version: "4.3.1", statusVersion: "4.3.1", features: at("level 99"), wantRun: "4.3.1", wantMetadata: "4.3-IV0", wantRefused: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			kafka := newKafka()
			kafka.Spec.Kafka.Version, kafka.Spec.Kafka.MetadataVersion = tc.version, tc.metadata
			kafka.Status.KafkaVersion, kafka.Status.KafkaMetadataVersion = tc.statusVersion, tc.statusMetadata
			got := decideVersions(kafka, tc.features)
			if got.run != tc.wantRun || got.metadata != tc.wantMetadata || (got.refusal != "") != tc.wantRefused || (got.notLowered != "") != tc.wantNotLowered {
				t.Errorf("got %+v", got)
			}
			if raise := got.raise(tc.features, true); raise != tc.wantRaise {
				t.Errorf("raised to %q, want %q", raise, tc.wantRaise)
			}
			if raise := got.raise(tc.features, false); raise != "" {
				t.Errorf("raised to %q while a node does not run the version", raise)
			}
		})
	}
}

func TestUpgradeRaisesTheMetadataVersionAfterTheLastRestart(t *testing.T) {
	e := runningAt(t, 3, "4.2.1", "")
	edit(e, "c", func(k *kafkav1.Kafka) { k.Spec.Kafka.Version = "4.3.1" })
	raised := func() bool {
		return slices.Contains(e.kafka.TakeWrites(), "UpdateMetadataVersion (4.3-IV0)")
	}
	e.until("the metadata version is raised", raised)
	for _, name := range e.podNames() {
		if v := e.podOf(name).Annotations[kafkav1.AnnotationKafkaVersion]; v != "4.3.1" {
			t.Errorf("raised while pod %s runs %s", name, v)
		}
	}
	e.turns(2)
	if s := e.kafkaResource().Status; s.KafkaVersion != "4.3.1" || s.KafkaMetadataVersion != "4.3-IV0" {
		t.Errorf("status says %s at %s", s.KafkaVersion, s.KafkaMetadataVersion)
	}
	e.settled()
}

func TestRefusedVersionRestartsNothing(t *testing.T) {
	e := running(t, 3)
	edit(e, "c", func(k *kafkav1.Kafka) { k.Spec.Kafka.Version = "4.2.1" })
	e.turns(4)
	for id := range int32(3) {
		if n := e.kafka.Starts(id); n != 1 {
			t.Errorf("broker %d was restarted", id)
		}
	}
	if message, ok := e.condition(kafkav1.ConditionNotReady, reasonVersionUnsupported); !ok || !strings.Contains(message, "4.3-IV0") {
		t.Errorf("condition %q\n%s", message, e.describe())
	}
	if n := count(e.eventReasons(), "VersionRefused"); n != 1 {
		t.Errorf("told %d times", n)
	}
}
