package brokerconfig

import "github.com/sluice-kafka/sluice/internal/observed"

// Op sets or deletes one dynamic option.
type Op struct {
	// Name of the option.
	Name string
	// Value to set; meaningless with Delete.
	Value string
	// Delete the option's dynamic value.
	Delete bool
	// Reason for people.
	Reason string
}

// CordonState classifies what is to be done about a broker's cordon.
type CordonState string

// States of a cordon.
const (
	// CordonConverged needs no call.
	CordonConverged CordonState = "Converged"
	// CordonChange has a call to make.
	CordonChange CordonState = "Change"
	// CordonUnsupported is wanted, and the version of Kafka has no such thing.
	CordonUnsupported CordonState = "Unsupported"
	// CordonAwaitsMetadataVersion has a call to make that Kafka would refuse below
	// metadata version 4.3-IV0.
	CordonAwaitsMetadataVersion CordonState = "AwaitsMetadataVersion"
	// CordonUnobserved could not be judged, for the broker's configuration or the
	// cluster's features were not seen.
	CordonUnobserved CordonState = "Unobserved"
)

// BrokerChange is what to change at one broker. Each list is one call.
type BrokerChange struct {
	// CordonState tells how the cordon is, and CordonReason why.
	CordonState  CordonState
	CordonReason string
	// Cordon is the first call: at most one operation, on cordoned.log.dirs.
	Cordon []Op
	// Options is the second call, sorted by name.
	Options []Op
	// Unobserved is why nothing can be said of the broker; nil where it was seen.
	Unobserved error
}

// DefaultChange is what to change for all brokers: one call to the resource with
// the empty name.
type DefaultChange struct {
	// Options sorted by name.
	Options []Op
	// Unobserved is why nothing can be said; nil where enough was seen.
	Unobserved error
}

// Live is what was seen of a cluster's configuration.
type Live struct {
	// Brokers are the configurations by broker ID, with synonyms. A broker that is
	// missing here was not seen.
	Brokers map[int32]observed.Of[observed.Config]
	// Default is what is set dynamically for all brokers.
	Default observed.Of[observed.Config]
	// Features that the cluster has finalized.
	Features observed.Of[observed.Features]
}

// DiffBroker compares the file of a broker with what it uses.
func DiffBroker(f File, live Live) BrokerChange { return BrokerChange{} }

// DiffDefault compares the files of all brokers with what is set for all of
// them. files are those of all nodes, in any order; nodes that are no brokers
// do not count.
func DiffDefault(files []File, live Live) DefaultChange { return DefaultChange{} }

// Leftovers are the dynamic options to clear of a broker that leaves, sorted:
// exactly those that it was seen to carry or, where its configuration was not
// seen, all that a broker of that version may carry.
func Leftovers(version string, config observed.Of[observed.Config]) []string { return nil }
