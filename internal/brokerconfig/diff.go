package brokerconfig

import (
	"iter"
	"maps"
	"slices"

	"github.com/sluice-kafka/sluice/internal/configdef"
	"github.com/sluice-kafka/sluice/internal/observed"
)

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

// BrokerChange is what to change at one broker. Each list is one call.
type BrokerChange struct {
	// CordonState tells how the cordon is, and CordonReason why.
	CordonState  CordonState
	CordonReason string
	// Cordon is the first call: at most one operation, on cordoned.log.dirs. It
	// stands alone, for one refused option fails its whole call.
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
	// Held are the names of options whose change waits: numbers of threads that
	// the brokers differ too much in for one value to suit all. They agree once
	// they have all been started with their present files.
	Held []string
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

const minInsyncReplicas = "min.insync.replicas"

// minISRSettable tells whether min.insync.replicas of one broker can be set and
// deleted: not while eligible leader replicas are on (KIP-966), when Kafka
// refuses the whole call; and not where that is not known.
func (l Live) minISRSettable() bool {
	features, seen := l.Features.Get()
	return seen && !features.EligibleLeaderReplicas
}

// withoutOverride is what an entry of a broker's configuration is worth without what is
// set dynamically for that broker; false where Kafka reports nothing.
func withoutOverride(entry observed.ConfigEntry, name string) (string, bool) {
	for _, source := range []observed.ConfigSource{observed.SourceDefault, observed.SourceStatic, observed.SourceKafka} {
		if v, ok := entry.Synonym(name, source); ok {
			return v, true
		}
	}
	return "", false
}

// fallback is what an option comes to where the file does not have it: for a
// listener's what all listeners have, else Kafka's default. It is false where
// that is nothing that could be set.
func (f File) fallback(name string) (string, bool) {
	if _, base, ok := configdef.OfListener(name); ok {
		if v, wanted := f.Options[base]; wanted && !configdef.HasPlaceholder(v) {
			return v, true
		}
		name = base
	}
	o, known := configdef.Broker(f.Version, name)
	switch {
	case !known:
		return "", false
	case o.Default != nil:
		return *o.Default, true
	}
	return f.fromSynonym(name)
}

// DiffBroker compares the file of a broker with what it uses. The broker of a
// node without that role has nothing to change.
//
// A process keeps what it read from its file: an option that is not wanted any
// more and stands there is set to Kafka's default, since its deletion would
// change nothing and be repeated for ever.
func DiffBroker(f File, live Live) BrokerChange {
	c := BrokerChange{CordonState: CordonConverged}
	if !f.Node.Broker {
		return c
	}
	seen := live.Brokers[f.Node.ID]
	config, ok := seen.Get()
	if !ok {
		c.Unobserved = seen.Err()
		c.CordonState = CordonUnobserved
		c.CordonReason = "the broker's configuration was not seen: " + c.Unobserved.Error()
		return c
	}
	c.cordonChange(f, config, live.Features)
	for _, name := range union(maps.Keys(f.Options), maps.Keys(config)) {
		if op := f.brokerOp(name, config[name], live); op != nil {
			c.Options = append(c.Options, *op)
		}
	}
	return c
}

// brokerOp is what one option of a broker needs; nil where that is nothing.
func (f File) brokerOp(name string, entry observed.ConfigEntry, live Live) *Op {
	h, option := f.handling(name)
	if entry.Sensitive || option.Type == configdef.Password {
		return nil
	}
	switch h {
	case clusterWide:
		return ownOp(name, entry, live)
	case perBroker:
		return f.perBrokerOp(name, option, entry)
	case byRestart:
		return f.strayOp(name, option, entry)
	default:
		return nil
	}
}

// ownOp removes what somebody set on one broker of an option of all.
func ownOp(name string, entry observed.ConfigEntry, live Live) *Op {
	override, overridden := entry.Synonym(name, observed.SourceBroker)
	if !overridden || name == minInsyncReplicas && !live.minISRSettable() {
		return nil
	}
	op := &Op{Name: name, Delete: true, Reason: "it is set for all brokers alike, and this broker has a value of its own"}
	rest, _ := withoutOverride(entry, name)
	op, _ = slowly(op, rest, override, observed.Config{name: entry})
	return op
}

func (f File) perBrokerOp(name string, option configdef.Option, entry observed.ConfigEntry) *Op {
	override, overridden := entry.Synonym(name, observed.SourceBroker)
	wanted, ok := f.Options[name]
	if !ok {
		return f.unwantedOp(name, option, overridden, override, []observed.ConfigEntry{entry})
	}
	effective := entry.Value
	if overridden {
		effective = override
	}
	if option.Type.Same(effective, wanted) {
		return nil
	}
	return &Op{Name: name, Value: wanted, Reason: reasonWanted}
}

const (
	reasonWanted   = "it is configured so"
	reasonUnwanted = "it is not configured any more"
	reasonStatic   = "it is not configured any more, and a process keeps what it read from its file"
	reasonMinISR   = "it is not configured any more, and Kafka deletes no min.insync.replicas while eligible leader replicas are on"
	reasonFile     = "its file decides, and the broker has another value of its own"
)

// strayOp removes what somebody set dynamically of an option that the file
// decides, once the process has read that file.
func (f File) strayOp(name string, option configdef.Option, entry observed.ConfigEntry) *Op {
	override, overridden := entry.Synonym(name, observed.SourceBroker)
	if !overridden {
		return nil
	}
	static, started := entry.Synonym(name, observed.SourceStatic)
	wanted, ok := f.Options[name]
	switch {
	case !ok && started:
		return nil // a restart comes first
	case !ok, configdef.HasPlaceholder(wanted):
	case option.Type.Same(override, wanted), !started, !option.Type.Same(static, wanted):
		return nil // as it is to be, or a restart comes first
	}
	return &Op{Name: name, Delete: true, Reason: reasonFile}
}

// unwantedOp undoes what is set of an option that is not in the file: it is
// deleted unless a process read it from its file, or may have. entries are those
// of the brokers in question.
func (f File) unwantedOp(name string, option configdef.Option, overridden bool, override string, entries []observed.ConfigEntry) *Op {
	plain, settable := f.fallback(name)
	read, differs := false, false
	for _, e := range entries {
		if static, ok := e.Synonym(name, observed.SourceStatic); ok {
			read = true
			differs = differs || !option.Type.Same(static, plain)
		}
	}
	hide := read && settable
	switch {
	case overridden && !hide:
		return &Op{Name: name, Delete: true, Reason: reasonUnwanted}
	case hide && overridden && !option.Type.Same(override, plain), hide && !overridden && differs:
		return &Op{Name: name, Value: plain, Reason: reasonStatic}
	}
	return nil
}

// union of names, sorted.
func union(sequences ...iter.Seq[string]) []string {
	all := map[string]bool{}
	for _, s := range sequences {
		for name := range s {
			all[name] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}
