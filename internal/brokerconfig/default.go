package brokerconfig

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/sluice-kafka/sluice/internal/configdef"
	"github.com/sluice-kafka/sluice/internal/observed"
)

// defaults is what the judgement of an option of all brokers looks at.
type defaults struct {
	// file stands for those of all brokers, which have the same options of this
	// kind: it is the one of the oldest version.
	file File
	live Live
	// set is what is set dynamically for all brokers.
	set observed.Config
	// brokers are the configurations of the brokers that were seen.
	brokers []observed.Config
	// unseen tells that some broker was not.
	unseen bool
}

// DiffDefault compares the files of all brokers with what is set for all of
// them. files are those of all nodes, in any order; nodes that are no brokers
// do not count.
//
// What no broker needs is not set: an option whose value all processes read from
// their files stays there. While a broker was not seen, an option that is to go
// is set to Kafka's default and not deleted, for that broker may have read
// another value.
func DiffDefault(files []File, live Live) DefaultChange {
	files = slices.DeleteFunc(slices.Clone(files), func(f File) bool { return !f.Node.Broker })
	if len(files) == 0 {
		return DefaultChange{}
	}
	set, ok := live.Default.Get()
	if !ok {
		return DefaultChange{Unobserved: fmt.Errorf("what is set for all brokers was not seen: %w", live.Default.Err())}
	}
	d := defaults{live: live, set: set}
	names := []iter.Seq[string]{maps.Keys(set)}
	d.file = slices.MinFunc(files, func(a, b File) int {
		return cmp.Or(compareVersions(a.Version, b.Version), cmp.Compare(a.Node.ID, b.Node.ID))
	})
	names = append(names, maps.Keys(d.file.Options))
	for _, f := range files {
		if config, ok := live.Brokers[f.Node.ID].Get(); ok {
			d.brokers = append(d.brokers, config)
			names = append(names, maps.Keys(config))
		} else {
			d.unseen = true
		}
	}
	var c DefaultChange
	for _, name := range union(names...) {
		op, held := d.op(name)
		switch {
		case held:
			c.Held = append(c.Held, name)
		case op != nil:
			c.Options = append(c.Options, *op)
		}
	}
	return c
}

// op is what one option needs; nil where that is nothing. It is held where the
// brokers cannot all follow.
func (d defaults) op(name string) (_ *Op, held bool) {
	h, option := d.file.handling(name)
	entry, overridden := d.set[name]
	override, ok := entry.Synonym(name, observed.SourceDefault)
	if !ok {
		override = entry.Value
	}
	if entry.Sensitive || option.Type == configdef.Password {
		return nil, false
	}
	switch {
	case h == clusterWide:
		op, plain := d.dynamicOp(name, option, overridden, override)
		return slowly(op, plain, override, d.brokers...)
	case h == byRestart && overridden && option.Name != "":
		return &Op{Name: name, Delete: true, Reason: "each broker's file decides, and a value is set for all of them"}, false
	default:
		return nil, false
	}
}

// dynamicOp is what an option needs however long the way is, and the value that
// it comes to.
func (d defaults) dynamicOp(name string, option configdef.Option, overridden bool, override string) (_ *Op, plain string) {
	if wanted, ok := d.file.Options[name]; ok {
		return d.wantedOp(name, option, overridden, override, wanted), wanted
	}
	plain, _ = d.file.fallback(name)
	if name == minInsyncReplicas && overridden && !d.live.minISRSettable() {
		return d.minISROp(option, override, plain), plain
	}
	return d.unwantedOp(name, option, overridden, override), plain
}

// wantedOp sets an option where some broker lacks it. A value that a broker has
// of its own does not count: it goes.
func (d defaults) wantedOp(name string, option configdef.Option, overridden bool, override, wanted string) *Op {
	lacking := !overridden && slices.ContainsFunc(d.brokers, func(config observed.Config) bool {
		v, ok := withoutOverride(config[name], name)
		return !ok || !option.Type.Same(v, wanted)
	})
	if lacking || overridden && !option.Type.Same(override, wanted) {
		return &Op{Name: name, Value: wanted, Reason: reasonWanted}
	}
	return nil
}

// unwantedOp is File.unwantedOp over all brokers.
func (d defaults) unwantedOp(name string, option configdef.Option, overridden bool, override string) *Op {
	entries := make([]observed.ConfigEntry, 0, len(d.brokers)+1)
	for _, config := range d.brokers {
		entries = append(entries, config[name])
	}
	if d.unseen && overridden {
		// What an unseen process read is not known; whatever it is counts.
		entries = append(entries, observed.ConfigEntry{Synonyms: []observed.ConfigSynonym{
			{Name: name, Value: override, Source: observed.SourceStatic},
		}})
	}
	return d.file.unwantedOp(name, option, overridden, override, entries)
}

// minISROp takes min.insync.replicas back where it cannot be deleted; where that
// is not known it waits.
func (d defaults) minISROp(option configdef.Option, override, plain string) *Op {
	if !d.live.Features.Seen() || option.Type.Same(override, plain) {
		return nil
	}
	return &Op{Name: minInsyncReplicas, Value: plain, Reason: reasonMinISR}
}
