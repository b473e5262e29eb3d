// Package kafka is the product's only user of a Kafka client library. It
// speaks in its own types, in batches, and classifies every error.
package kafka

// TopicDescription is what Kafka's metadata shows of one topic.
type TopicDescription struct {
	// ID is the topic's ID in the URL-safe base64 form that Kafka's own tools
	// print, empty where Err is set.
	ID string
	// Partitions are sorted by ID.
	Partitions []Partition
	// Err is why the topic could not be described; ErrUnknownTopic where it
	// does not exist.
	Err error
}

// Partition is one partition of a topic.
type Partition struct {
	// ID counts from 0.
	ID int32
	// Replicas are the IDs of the brokers that hold it, the preferred leader
	// first.
	Replicas []int32
}

// TopicConfig is the configuration of one topic.
type TopicConfig struct {
	// Entries by option name.
	Entries map[string]ConfigEntry
	// Err is why the configuration could not be read.
	Err error
}

// ConfigEntry is one option as Kafka reports it.
type ConfigEntry struct {
	// Value as Kafka normalised it; empty where Sensitive.
	Value string
	// Type is Kafka's type of the option.
	Type ConfigType
	// Dynamic tells that the value was set on this very topic
	// (DYNAMIC_TOPIC_CONFIG).
	Dynamic bool
	// ReadOnly options cannot be altered.
	ReadOnly bool
	// Sensitive options have no readable value.
	Sensitive bool
}

// ConfigType is the type of an option, as DescribeConfigs reports it.
type ConfigType int8

// Types of options; the numbers are those of Kafka's ConfigEntry.ConfigType.
const (
	ConfigTypeUnknown  ConfigType = 0
	ConfigTypeBoolean  ConfigType = 1
	ConfigTypeString   ConfigType = 2
	ConfigTypeInt      ConfigType = 3
	ConfigTypeShort    ConfigType = 4
	ConfigTypeLong     ConfigType = 5
	ConfigTypeDouble   ConfigType = 6
	ConfigTypeList     ConfigType = 7
	ConfigTypeClass    ConfigType = 8
	ConfigTypePassword ConfigType = 9
)

// NewTopic is a topic to be created.
type NewTopic struct {
	Name string
	// Partitions; -1 takes the broker's num.partitions.
	Partitions int32
	// ReplicationFactor; -1 takes the broker's default.replication.factor.
	ReplicationFactor int16
	Config            map[string]string
}

// CreatedTopic is Kafka's answer to one NewTopic.
type CreatedTopic struct {
	ID                string
	Partitions        int32
	ReplicationFactor int16
	// MinInSync is the min.insync.replicas in effect; empty where Kafka does not
	// tell the principal of the topic's options (KIP-525).
	MinInSync string
	// Err is why the topic was not created; ErrTopicExists where it is there.
	Err error
}

// TopicDeletion is a topic to be deleted.
type TopicDeletion struct {
	Name string
	// ID of the topic that is meant, where that is known: one of the same name
	// that somebody created since is not deleted.
	ID string
}

// PartitionGrowth raises the number of partitions of a topic.
type PartitionGrowth struct {
	Name string
	// Total is the number of partitions after the call.
	Total int32
}

// TopicConfigChange changes options of one topic.
type TopicConfigChange struct {
	Name string
	Ops  []ConfigOp
}

// ConfigOp sets or deletes one option.
type ConfigOp struct {
	Name string
	// Value to be set; not used by a deletion.
	Value string
	// Delete removes what was set on the topic.
	Delete bool
}
