// Package observed holds what was seen of a Kafka cluster at one time: values
// alone, for decisions to be made from. What was not seen is marked as such and
// is never taken for absent.
package observed

import (
	"errors"
	"time"
)

// ErrNotAsked is why something was not seen that nobody asked for.
var ErrNotAsked = errors.New("it was not asked for")

// Of is something that was seen, or the reason why it was not. The zero value
// was not seen.
type Of[T any] struct {
	value T
	seen  bool
	err   error
}

// Seen is a value that was seen.
func Seen[T any](value T) Of[T] { return Of[T]{value: value, seen: true} }

// Unseen is a value that could not be seen for a reason.
func Unseen[T any](err error) Of[T] { return Of[T]{err: err} }

// From is Seen or, with an error, Unseen.
func From[T any](value T, err error) Of[T] {
	if err != nil {
		return Unseen[T](err)
	}
	return Seen(value)
}

// Get returns the value, and whether it was seen.
func (o Of[T]) Get() (T, bool) { return o.value, o.seen }

// Seen tells whether the value was seen.
func (o Of[T]) Seen() bool { return o.seen }

// Err is why the value was not seen; nil where it was.
func (o Of[T]) Err() error {
	if o.seen {
		return nil
	}
	if o.err == nil {
		return ErrNotAsked
	}
	return o.err
}

// Cluster is what one look at a Kafka cluster saw.
type Cluster struct {
	// At is when the look began: everything in it is at least as new.
	At time.Time
	// Registration of the brokers.
	Registration Of[Registration]
	// Features that the cluster has finalized.
	Features Of[Features]
	// Partitions of all topics, internal ones included, sorted by topic and ID,
	// with the reassignments in flight.
	Partitions Of[[]Partition]
	// LogDirs by broker, as each reports its own.
	LogDirs map[int32]Of[[]LogDir]
	// Configs by broker, as each reports its own.
	Configs map[int32]Of[Config]
	// Default holds what is set dynamically for all brokers.
	Default Of[Config]
}

// CordonedLogDirs is the option that keeps new replicas off log directories of a
// broker (KIP-1066).
const CordonedLogDirs = "cordoned.log.dirs"

// cordonLevel is the feature level of metadata version 4.3-IV0, from which on
// cordons have an effect.
const cordonLevel = 30

// Cordoned tells whether a broker takes no new replicas, by what it reports itself:
// every directory that it can use is cordoned. Nothing is known where it reports no
// such directory.
//
// Where it read "*" from its file at its start, and nothing overrides that, it is so
// whatever it reports of its directories. Kafka tells the controller of the cordon
// from the start on, and its own report heeds it only when one of the broker's
// dynamic options changes (DynamicLogConfig in DynamicBrokerConfig.scala): which none
// does at a start where all that is set dynamically stands in the file too, the
// cordon included. Seen with 4.3.1.
func (c Cluster) Cordoned(id int32) (yes, known bool) {
	dirs, _ := c.LogDirs[id].Get()
	yes = true
	for _, d := range dirs {
		if !d.Offline {
			known = true
			yes = yes && d.Cordoned
		}
	}
	return known && (yes || c.startedCordoned(id)), known
}

func (c Cluster) startedCordoned(id int32) bool {
	features, _ := c.Features.Get()
	config, _ := c.Configs[id].Get()
	entry := config[CordonedLogDirs]
	static, _ := entry.Synonym(CordonedLogDirs, SourceStatic)
	return features.MetadataLevel >= cordonLevel && entry.Value == "*" && static == "*"
}

// Registration is who has registered with the cluster's controllers
// (DescribeCluster, KIP-919 and KIP-1073 for fenced brokers).
type Registration struct {
	// ClusterID is Kafka's own ID of the cluster.
	ClusterID string
	// Brokers ascend by ID, fenced ones included.
	Brokers []Broker
}

// Broker returns the registration of one broker.
func (r Registration) Broker(id int32) (Broker, bool) {
	for _, b := range r.Brokers {
		if b.ID == id {
			return b, true
		}
	}
	return Broker{}, false
}

// Broker is one registered broker.
type Broker struct {
	// ID of the node.
	ID int32
	// Rack as the broker registered it; empty without one.
	Rack string
	// Fenced brokers lead nothing: they are stopped, starting or cut off.
	Fenced bool
}

// Features are those that matter here (ApiVersions, KIP-584).
type Features struct {
	// MetadataVersion that is finalized, such as "4.3-IV0"; a level without a name
	// that is known here is written "level 99".
	MetadataVersion string
	// MetadataLevel is its feature level, such as 30.
	MetadataLevel int16
	// EligibleLeaderReplicas tells that KIP-966's feature is on.
	EligibleLeaderReplicas bool
}

// Topic is one topic with what moves in it.
type Topic struct {
	// ID of the topic in the form that Kafka's own tools print.
	ID string
	// Partitions are sorted by ID.
	Partitions []Partition
}

// Partition of a topic.
type Partition struct {
	Topic string
	ID    int32
	// Leader is the leading broker; -1 without one.
	Leader int32
	// Replicas are the brokers that hold it, the preferred leader first, those
	// that a reassignment adds or removes included.
	Replicas []int32
	// InSync are those of them that have all that was acknowledged.
	InSync []int32
	// Adding and Removing are those of Replicas that a reassignment in flight
	// adds and takes away.
	Adding, Removing []int32
}

// LogDir is one log directory of a broker (DescribeLogDirs, KIP-1066 for
// Cordoned).
type LogDir struct {
	Path string
	// Replicas in it, those that are still being copied into it included.
	Replicas int64
	// Bytes of these replicas.
	Bytes int64
	// Cordoned tells that it takes no new replicas. The broker says so from
	// metadata version 4.3-IV0 on; below it is always false.
	Cordoned bool
	// Offline tells that the broker cannot use it; nothing else is known then.
	Offline bool
}

// Config is the configuration of a broker, or of all, by the option's name.
type Config map[string]ConfigEntry

// ConfigEntry is one option as Kafka reports it.
type ConfigEntry struct {
	// Value in effect; empty where Sensitive.
	Value string
	// Sensitive options have no readable value.
	Sensitive bool
	// ReadOnly options are those that Kafka says it does not change dynamically.
	ReadOnly bool
	// Synonyms are all values that there are, the one in effect first.
	Synonyms []ConfigSynonym
}

// Synonym returns the value that a source gives the option itself: synonyms of
// other names (log.retention.ms has log.retention.hours) do not count.
func (e ConfigEntry) Synonym(name string, source ConfigSource) (string, bool) {
	for _, s := range e.Synonyms {
		if s.Source == source && s.Name == name {
			return s.Value, true
		}
	}
	return "", false
}

// ConfigSynonym is one value of an option and where it comes from.
type ConfigSynonym struct {
	Name   string
	Value  string
	Source ConfigSource
}

// ConfigSource tells where a value comes from.
type ConfigSource int8

// Sources; the numbers are those of Kafka's DescribeConfigsResponse.ConfigSource.
const (
	// SourceBroker was set dynamically on this broker.
	SourceBroker ConfigSource = 2
	// SourceDefault was set dynamically for all brokers.
	SourceDefault ConfigSource = 3
	// SourceStatic stands in the file that the process read at its start.
	SourceStatic ConfigSource = 4
	// SourceKafka is Kafka's own default.
	SourceKafka ConfigSource = 5
)

// Quorum is what the active controller says of the metadata quorum
// (DescribeQuorum, KIP-836).
type Quorum struct {
	// Leader is the ID of the active controller.
	Leader int32
	// Voters ascend by ID.
	Voters []Voter
}

// Voter is one controller.
type Voter struct {
	ID int32
	// LogEndOffset that it is known to have reached.
	LogEndOffset int64
	// LastCaughtUp is when it last had all that the leader had; zero where that is
	// not known. It is the leader's clock.
	LastCaughtUp time.Time
	// LastFetch is when it last fetched; zero where that is not known.
	LastFetch time.Time
}
