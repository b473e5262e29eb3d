package configdef

import (
	_ "embed" // the table
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

//go:embed options.json
var data []byte

// Release is a version of Kafka whose options are known.
type Release struct {
	// Kafka is its version, such as "4.3.1": the newest patch that there was when
	// the options were generated.
	Kafka string `json:"kafka"`
	// OldestLevel is the feature level of the first of MetadataVersions; that of
	// each other is one above the one before it.
	OldestLevel int16 `json:"oldestLevel"`
	// MetadataVersions are those that it runs at, in ascending order, such as
	// "4.3-IV0" (org.apache.kafka.server.common.MetadataVersion, up to the newest
	// for production).
	MetadataVersions []string `json:"metadataVersions"`
}

// Table is the generated knowledge as it is stored.
type Table struct {
	// Releases in ascending order.
	Releases []Release `json:"releases"`
	// Topic and Broker are sorted by name and by the first release.
	Topic  []Definition `json:"topic"`
	Broker []Definition `json:"broker"`
}

// Definition is an option with the releases that define it so.
type Definition struct {
	// In are those releases' versions of Kafka.
	In []string `json:"in"`
	Option
}

// variant is a definition with its releases as bits, the oldest the lowest.
type variant struct {
	releases uint64
	option   *Option
}

type index map[string][]variant

type tables struct {
	releases      []Release
	minors        []string // of the releases, such as 4.3
	topic, broker index
	topicNames    []string
	brokerNames   []string
}

// load reads the table when it is first asked for: about half a megabyte that a
// process without rules never needs.
var load = sync.OnceValue(func() tables {
	t, err := parseTable(data)
	if err != nil {
		panic(err) // the tests read the same bytes
	}
	return t
})

func parseTable(data []byte) (tables, error) {
	var stored Table
	if err := json.Unmarshal(data, &stored); err != nil {
		return tables{}, fmt.Errorf("reading the table of kafka's options: %w", err)
	}
	t := tables{releases: stored.Releases}
	bits := make(map[string]uint64, len(stored.Releases))
	for i, r := range stored.Releases {
		bits[r.Kafka] = 1 << i
		minor, _, ok := splitVersion(r.Kafka)
		if !ok || len(r.MetadataVersions) == 0 || r.OldestLevel < 1 {
			return tables{}, fmt.Errorf("release %q of the table of kafka's options is no version, or has no metadata versions or no level of the oldest of them", r.Kafka)
		}
		t.minors = append(t.minors, minor)
	}
	var err error
	if t.topic, err = indexOf(stored.Topic, bits); err != nil {
		return tables{}, err
	}
	if t.broker, err = indexOf(stored.Broker, bits); err != nil {
		return tables{}, err
	}
	t.topicNames, t.brokerNames = slices.Sorted(maps.Keys(t.topic)), slices.Sorted(maps.Keys(t.broker))
	return t, nil
}

func indexOf(definitions []Definition, bits map[string]uint64) (index, error) {
	x := make(index, len(definitions))
	for i := range definitions {
		d := &definitions[i]
		v := variant{option: &d.Option}
		for _, version := range d.In {
			bit, ok := bits[version]
			if !ok {
				return nil, fmt.Errorf("option %s is said to be in kafka %s, which is no release of the table", d.Name, version)
			}
			v.releases |= bit
		}
		x[d.Name] = append(x[d.Name], v)
	}
	return x, nil
}

// Versions are those of Kafka whose options are known, in ascending order: the
// newest patch of each minor version.
func Versions() []string {
	releases := load().releases
	list := make([]string, len(releases))
	for i, r := range releases {
		list[i] = r.Kafka
	}
	return list
}

// Latest is the newest version of Kafka that is known.
func Latest() string {
	releases := load().releases
	return releases[len(releases)-1].Kafka
}

// Topic returns a topic's option in a version of Kafka, of which any patch will
// do. It returns false if the version does not have the option, or is not known.
func Topic(version, name string) (Option, bool) {
	return load().topic.find(version, name)
}

// Broker returns a broker's option like Topic. Options of one listener are found
// under the name that they have for all listeners: see OfListener.
func Broker(version, name string) (Option, bool) {
	return load().broker.find(version, name)
}

// TopicNames are the names of all options of topics in any known version, sorted.
func TopicNames() []string { return slices.Clone(load().topicNames) }

// BrokerNames are the names of all options of brokers in any known version,
// sorted.
func BrokerNames() []string { return slices.Clone(load().brokerNames) }

func (x index) find(version, name string) (Option, bool) {
	release := position(version)
	if release < 0 {
		return Option{}, false
	}
	for _, v := range x[name] {
		if v.releases&(1<<release) != 0 {
			return *v.option, true
		}
	}
	return Option{}, false
}

// OfListener splits the name of an option that is given for one listener, such
// as listener.name.plain-9092.max.connections (LISTENER_CONFIG_REGEX in Kafka's
// org.apache.kafka.server.config.DynamicBrokerConfig).
func OfListener(name string) (listener, option string, ok bool) {
	rest, ok := strings.CutPrefix(name, "listener.name.")
	if !ok {
		return "", "", false
	}
	return strings.Cut(rest, ".")
}
