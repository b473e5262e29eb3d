package integration

import (
	"context"
	"errors"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sluice-kafka/sluice/internal/configdef"
	"github.com/sluice-kafka/sluice/internal/configdef/generate"
	"github.com/sluice-kafka/sluice/test/kafka"
)

// optionVersions are those of Kafka whose classes are asked: one, since each
// costs seconds; SLUICE_KAFKA_VERSIONS=all asks them all.
func optionVersions() []string {
	if os.Getenv("SLUICE_KAFKA_VERSIONS") == "all" {
		return generate.Versions
	}
	return []string{kafka.DefaultVersion}
}

func needJava(t *testing.T) {
	t.Helper()
	err := kafka.Available()
	if err == nil {
		return
	}
	if os.Getenv("CI") == "true" {
		t.Fatalf("the table of Kafka's options cannot be checked: %v", err)
	}
	t.Skipf("the table of Kafka's options is not checked: %v", err)
}

// TestOptionsAreThoseOfKafkasClasses generates the options again and compares.
func TestOptionsAreThoseOfKafkasClasses(t *testing.T) {
	needJava(t)
	if !slices.Equal(generate.Versions, configdef.Versions()) {
		t.Errorf("the table has %v, and the generator makes it for %v: run `make generate-options`", configdef.Versions(), generate.Versions)
	}
	for _, version := range optionVersions() {
		t.Run(version, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
			defer cancel()
			options, err := generate.Read(ctx, version)
			if err != nil {
				t.Fatal(err)
			}
			release, _, _ := configdef.ReleaseOf(version)
			if diff := cmp.Diff(options.MetadataVersions, release.MetadataVersions); diff != "" {
				t.Errorf("metadata versions (-Kafka +table; run `make generate-options`):\n%s", diff)
			}
			if options.OldestLevel != release.OldestLevel {
				t.Errorf("the oldest metadata version is at level %d, in the table at %d; run `make generate-options`", options.OldestLevel, release.OldestLevel)
			}
			if diff := cmp.Diff(options.Topic, stored(version, configdef.TopicNames(), configdef.Topic)); diff != "" {
				t.Errorf("topic options (-Kafka +table; run `make generate-options`):\n%s", diff)
			}
			if diff := cmp.Diff(options.Broker, stored(version, configdef.BrokerNames(), configdef.Broker)); diff != "" {
				t.Errorf("broker options (-Kafka +table; run `make generate-options`):\n%s", diff)
			}
		})
	}
}

func stored(version string, names []string, find func(version, name string) (configdef.Option, bool)) []configdef.Option {
	var list []configdef.Option
	for _, name := range names {
		if o, ok := find(version, name); ok {
			list = append(list, o)
		}
	}
	return list
}

// judgedOnlyByKafka are options whose value Kafka compares with others, or looks
// up in its own class path.
var judgedOnlyByKafka = []string{"controller.quorum.voters", "controller.quorum.bootstrap.servers"}

// TestValuesAreReadAsKafkaReadsThem gives Kafka's own parser and validators many
// values for each option, and wants the same verdict and the same equality.
func TestValuesAreReadAsKafkaReadsThem(t *testing.T) {
	needJava(t)
	values := []string{
		"", " ", "\t\n", "0", "1", "-1", "+1", "007", " 100 ", "1.0", "1e3", "1E+3", "1_000", "0x10", "0x1p3", "7d", "32767", "32768",
		"-32769", "2147483647", "2147483648", "-2147483648", "-2147483649", "9223372036854775807", "9223372036854775808",
		"1048576", "1048575", "14", "13", "0.5", ".5", "5.", "0.50", "1.1", "-0.1", "0,5", "NaN", "nan", "Infinity", "-Infinity", "inf", "1d", "1f", "1D", "1L",
		"-0.0", "0.0", "-0", "+NaN", "-Infinity", "0x1.8p-1d", "0x.1p0", "0xp1", "0x1", ".", "e5", "1e",
		"1e400", "1e-400", "true", "TRUE", " False", "yes", "t", "delete", "compact,delete", "compact , delete", "compact;delete", "compacted",
		"Delete", "delete,delete", "delete,", ",delete", ",", "a,b", "a, a", "*", "* ", "0:1,1:2", "0:1,", "0", "0:1:2", "zstd", "ZSTD", "gzip", "none",
		"CreateTime", "createtime", "UPGRADE", "upgrade", "\u00a01", "1\u00a0", "a\u00a0,\u00a0b", "a\v,b", "\x001", "ｔrue", "null", "required", "SSL", "broker,controller",
	}
	for _, version := range optionVersions() {
		t.Run(version, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
			defer cancel()
			readings, err := generate.Try(ctx, version, values)
			if err != nil {
				t.Fatal(err)
			}
			if len(readings) < 300*len(values) {
				t.Fatalf("got only %d readings", len(readings))
			}
			shown := map[configdef.Type]map[string]string{}
			for _, r := range readings {
				o := optionOf(t, version, r)
				if o.Type == configdef.Class || slices.Contains(judgedOnlyByKafka, o.Name) {
					continue
				}
				err := o.Check(r.Value)
				if (err == nil) != r.Accepted || errors.Is(err, configdef.ErrType) != !r.Parsed {
					t.Errorf("%s option %s, value %q: Kafka parsed %v, accepted %v; the check says %v", r.Scope, r.Option, r.Value, r.Parsed, r.Accepted, err)
				}
				if r.Parsed && o.Type != configdef.Password { // which Kafka never shows
					if shown[o.Type] == nil {
						shown[o.Type] = map[string]string{}
					}
					shown[o.Type][r.Value] = r.Shown
				}
			}
			compareAsKafka(t, shown)
		})
	}
}

// compareAsKafka wants those values to be the same that Kafka shows alike.
func compareAsKafka(t *testing.T, shown map[configdef.Type]map[string]string) {
	t.Helper()
	if len(shown) < 7 {
		t.Errorf("Kafka read values of too few types: %v", shown)
	}
	for kind, values := range shown {
		for a := range values {
			for b := range values {
				if got := kind.Same(a, b); got != (values[a] == values[b]) {
					t.Errorf("%s: %q and %q are the same: %v; Kafka shows %q and %q", kind, a, b, got, values[a], values[b])
				}
			}
		}
	}
}

func optionOf(t *testing.T, version string, r generate.Reading) configdef.Option {
	t.Helper()
	find := configdef.Topic
	if r.Scope == "broker" {
		find = configdef.Broker
	}
	o, ok := find(version, r.Option)
	if !ok {
		t.Fatalf("the table lacks the %s option %s of Kafka %s", r.Scope, r.Option, version)
	}
	return o
}
