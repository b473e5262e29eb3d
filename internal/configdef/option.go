// Package configdef knows the options of Kafka's brokers and topics: names,
// types, valid values and how a change takes effect, for each version of Kafka
// that Sluice supports. The knowledge is generated from Kafka's own classes (see
// generate), and values are read as Kafka reads them.
package configdef

// Type is the type of an option's value: those of Kafka's
// org.apache.kafka.common.config.ConfigDef.Type.
type Type string

// Types of options.
const (
	Boolean  Type = "BOOLEAN"
	String   Type = "STRING"
	Int      Type = "INT"
	Short    Type = "SHORT"
	Long     Type = "LONG"
	Double   Type = "DOUBLE"
	List     Type = "LIST"
	Class    Type = "CLASS"
	Password Type = "PASSWORD"
)

// Update tells how a change of a broker's option takes effect.
type Update string

// Ways of a change (KIP-226). They have no meaning for the options of topics,
// which all change at run time.
const (
	// ReadOnly options are read when the broker starts.
	ReadOnly Update = ""
	// PerBroker options change at run time, each broker's own.
	PerBroker Update = "per-broker"
	// ClusterWide options change at run time, for one broker or as the cluster's
	// default.
	ClusterWide Update = "cluster-wide"
	// DynamicOnly options change at run time and are not read from a broker's
	// file.
	DynamicOnly Update = "dynamic-only"
)

// Option is one option as one or several versions of Kafka define it. It is
// shared: do not change what its slices hold.
type Option struct {
	// Name as Kafka spells it; it is case-sensitive.
	Name string `json:"name"`
	// Type of its value.
	Type Type `json:"type"`
	// Default as Kafka shows it; nil where there is none, and for a password. A
	// topic's is what counts without the broker's own setting.
	Default *string `json:"default,omitempty"`
	// Min and Max bound a number, both inclusive; empty where there is no bound.
	Min string `json:"min,omitempty"`
	Max string `json:"max,omitempty"`
	// Values are all that it may have, or that each item of its list may be; empty
	// where there is no such limit.
	Values []string `json:"values,omitempty"`
	// IgnoreCase tells that Values are compared without regard to case.
	IgnoreCase bool `json:"ignoreCase,omitempty"`
	// NotEmpty tells that neither a text nor a list may be empty.
	NotEmpty bool `json:"notEmpty,omitempty"`
	// Unique tells that no item may stand twice in a list.
	Unique bool `json:"unique,omitempty"`
	// NoEmptyItem tells that no item of a list may be empty.
	NoEmptyItem bool `json:"noEmptyItem,omitempty"`
	// Form names a way of writing that no other field tells; see formThrottled.
	Form string `json:"form,omitempty"`
	// Update tells how a change takes effect on a broker.
	Update Update `json:"update,omitempty"`
	// Internal options are for Kafka's own tests, and not documented.
	Internal bool `json:"internal,omitempty"`
	// Deprecated options go in a later version, as Kafka's documentation says.
	Deprecated bool `json:"deprecated,omitempty"`
}
