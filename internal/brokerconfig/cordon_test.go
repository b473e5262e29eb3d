package brokerconfig_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/utils/ptr"

	"github.com/sluice-kafka/sluice/internal/brokerconfig"
	"github.com/sluice-kafka/sluice/internal/observed"
)

func TestCordon(t *testing.T) {
	t.Parallel()
	const option = brokerconfig.CordonedLogDirs
	type synonyms = []observed.ConfigSynonym
	op := func(o brokerconfig.Op) []brokerconfig.Op { return []brokerconfig.Op{o} }
	none := inKafka(option, "")
	for name, tc := range map[string]struct {
		file     brokerconfig.File
		entry    synonyms
		features *observed.Of[observed.Features]
		want     []brokerconfig.Op
		state    brokerconfig.CordonState
	}{
		"wanted and not set": {
			file: cordoned(), entry: synonyms{none}, want: op(set(option, "*")), state: brokerconfig.CordonChange,
		},
		"wanted and set": {
			file: cordoned(), entry: synonyms{onBroker(option, "*"), none}, state: brokerconfig.CordonConverged,
		},
		"wanted and read from the file": {
			file: cordoned(), entry: synonyms{inFile(option, "*"), none}, state: brokerconfig.CordonConverged,
		},
		"wanted, and one directory is cordoned": {
			file: cordoned(), entry: synonyms{onBroker(option, "/a"), none}, want: op(set(option, "*")), state: brokerconfig.CordonChange,
		},
		"wanted again over an empty override of the file": {
			file: cordoned(), entry: synonyms{onBroker(option, ""), inFile(option, "*"), none}, want: op(set(option, "*")), state: brokerconfig.CordonChange,
		},
		"set and not wanted": {
			file: file(), entry: synonyms{onBroker(option, "*"), none}, want: op(del(option)), state: brokerconfig.CordonChange,
		},
		"not set and not wanted": {
			file: file(), entry: synonyms{none}, state: brokerconfig.CordonConverged,
		},
		"a broker that reports no such option": {
			file: file(), state: brokerconfig.CordonConverged,
		},
		"not wanted and read from the file": {
			file: file(), entry: synonyms{inFile(option, "*"), none}, want: op(set(option, "")), state: brokerconfig.CordonChange,
		},
		"not wanted, set and read from the file": {
			file: file(), entry: synonyms{onBroker(option, "*"), inFile(option, "*"), none}, want: op(set(option, "")), state: brokerconfig.CordonChange,
		},
		"an empty override of the file is what there can be": {
			file: file(), entry: synonyms{onBroker(option, ""), inFile(option, "*"), none}, state: brokerconfig.CordonConverged,
		},
		"an empty override goes after the restart": {
			file: file(), entry: synonyms{onBroker(option, ""), none}, want: op(del(option)), state: brokerconfig.CordonChange,
		},
		"an empty override over an empty entry goes": {
			file: file(), entry: synonyms{onBroker(option, ""), inFile(option, ""), none}, want: op(del(option)), state: brokerconfig.CordonChange,
		},
		"one directory in the file": {
			file: file(), entry: synonyms{inFile(option, "/a"), none}, want: op(set(option, "")), state: brokerconfig.CordonChange,
		},
		"wanted below the metadata version": {
			file: cordoned(), entry: synonyms{none}, features: ptr.To(features(29, true)), state: brokerconfig.CordonAwaitsMetadataVersion,
		},
		"in the file below the metadata version, which has no effect": {
			file: cordoned(), entry: synonyms{inFile(option, "*"), none}, features: ptr.To(features(29, true)), state: brokerconfig.CordonAwaitsMetadataVersion,
		},
		"to be lifted below the metadata version": {
			file: file(), entry: synonyms{inFile(option, "*"), none}, features: ptr.To(features(29, true)), state: brokerconfig.CordonAwaitsMetadataVersion,
		},
		"nothing to do below the metadata version": {
			file: file(), entry: synonyms{none}, features: ptr.To(features(29, true)), state: brokerconfig.CordonConverged,
		},
		"the metadata version was not seen": {
			file: cordoned(), entry: synonyms{none}, features: ptr.To(observed.Unseen[observed.Features](errAway)), state: brokerconfig.CordonUnobserved,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			look := seen(live(option, tc.entry...))
			if tc.features != nil {
				look.Features = *tc.features
			}
			got := brokerconfig.DiffBroker(tc.file, look)
			if diff := cmp.Diff(tc.want, plainOps(t, got.Cordon)); diff != "" || got.CordonState != tc.state || len(got.Options) > 0 {
				t.Errorf("%+v, want %s (-want +got):\n%s", got, tc.state, diff)
			}
			if said := got.CordonReason != ""; said != (tc.state != brokerconfig.CordonConverged) {
				t.Errorf("%s for the reason %q", got.CordonState, got.CordonReason)
			}
		})
	}
}

func TestCordonWhereKafkaHasNone(t *testing.T) {
	t.Parallel()
	in := input()
	in.Version, in.Cordoned = older, true
	got := brokerconfig.DiffBroker(brokerconfig.Render(in), seen(observed.Config{}))
	if got.CordonState != brokerconfig.CordonUnsupported || got.Cordon != nil || !strings.Contains(got.CordonReason, older) {
		t.Errorf("%+v", got)
	}
	in.Cordoned = false
	if got := brokerconfig.DiffBroker(brokerconfig.Render(in), seen(observed.Config{})); got.CordonState != brokerconfig.CordonConverged {
		t.Errorf("%+v", got)
	}
}

// A call that carries the cordon carries nothing else: one refused option fails
// them all.
func TestCordonIsACallOfItsOwn(t *testing.T) {
	t.Parallel()
	got := brokerconfig.DiffBroker(cordoned("ssl.protocol", "TLSv1.2"), seen(observed.Config{}))
	if len(got.Cordon) != 1 || len(got.Options) != 1 || got.Options[0].Name != "ssl.protocol" {
		t.Errorf("%+v", got)
	}
}

func TestNothingIsSaidOfWhatWasNotSeen(t *testing.T) {
	t.Parallel()
	for name, look := range map[string]brokerconfig.Live{
		"nobody asked": {},
		"no answer":    {Brokers: map[int32]observed.Of[observed.Config]{3: observed.Unseen[observed.Config](errAway)}},
	} {
		got := brokerconfig.DiffBroker(cordoned("ssl.protocol", "TLSv1.2"), look)
		if got.Unobserved == nil || got.Cordon != nil || got.Options != nil || got.CordonState != brokerconfig.CordonUnobserved || got.CordonReason == "" {
			t.Errorf("%s: %+v", name, got)
		}
	}
	got := brokerconfig.DiffDefault([]brokerconfig.File{file("log.retention.ms", "1")}, brokerconfig.Live{Default: observed.Unseen[observed.Config](errAway)})
	if got.Unobserved == nil || got.Options != nil {
		t.Errorf("%+v", got)
	}
}

func TestControllersAreNotReached(t *testing.T) {
	t.Parallel()
	in := input("log.retention.ms", "1", "ssl.protocol", "TLSv1.2")
	in.Node, in.Cordoned = node(1, "heads", "controller"), true
	f := brokerconfig.Render(in)
	got := brokerconfig.DiffBroker(f, brokerconfig.Live{})
	if diff := cmp.Diff(brokerconfig.BrokerChange{CordonState: brokerconfig.CordonConverged}, got); diff != "" {
		t.Error(diff)
	}
	if got := brokerconfig.DiffDefault([]brokerconfig.File{f}, seen(observed.Config{})); !cmp.Equal(got, brokerconfig.DefaultChange{}, cmpopts.EquateErrors()) {
		t.Errorf("%+v", got)
	}
}
