package brokerconfig

import (
	"fmt"

	"github.com/sluice-kafka/sluice/internal/configdef"
	"github.com/sluice-kafka/sluice/internal/observed"
)

// cordonAll cordons every log directory; it stands alone (KIP-1066).
const cordonAll = "*"

// cordonLevel is the feature level of metadata version 4.3-IV0. Below it a broker
// refuses to set and to delete cordoned.log.dirs, and takes a value in its file
// that has no effect before the level rises.
const cordonLevel = 30

// CordonState classifies what is to be done about a broker's cordon.
type CordonState string

// States of a cordon.
const (
	// CordonConverged needs no call: the option is as wanted.
	CordonConverged CordonState = "Converged"
	// CordonChange has a call to make.
	CordonChange CordonState = "Change"
	// CordonUnsupported is wanted, and the version of Kafka has no such thing.
	CordonUnsupported CordonState = "Unsupported"
	// CordonAwaitsMetadataVersion is wanted, or is to be lifted, and cannot be
	// below metadata version 4.3-IV0.
	CordonAwaitsMetadataVersion CordonState = "AwaitsMetadataVersion"
	// CordonUnobserved could not be judged, for the broker's configuration or the
	// cluster's features were not seen.
	CordonUnobserved CordonState = "Unobserved"
)

// cordonChange fills in the cordon's part of a change.
func (c *BrokerChange) cordonChange(f File, config observed.Config, features observed.Of[observed.Features]) {
	if !canCordon(f.Version) {
		c.CordonState = CordonConverged
		if f.Cordoned {
			c.CordonState = CordonUnsupported
			c.CordonReason = fmt.Sprintf("Kafka %s cannot cordon brokers, which 4.3 brought", f.Version)
		}
		return
	}
	op := cordonOp(f.Cordoned, config[CordonedLogDirs])
	seen, ok := features.Get()
	switch {
	case op == nil && !f.Cordoned:
		c.CordonState = CordonConverged
	case !ok:
		c.CordonState = CordonUnobserved
		c.CordonReason = fmt.Sprintf("the cluster's metadata version was not seen: %v", features.Err())
	case seen.MetadataLevel < cordonLevel:
		// Also where the file carries it already: it has no effect yet.
		c.CordonState = CordonAwaitsMetadataVersion
		c.CordonReason = fmt.Sprintf("Kafka cordons from metadata version 4.3-IV0 on, and the cluster is at %s", seen.MetadataVersion)
	case op == nil:
		c.CordonState = CordonConverged
	default:
		c.CordonState, c.CordonReason, c.Cordon = CordonChange, op.Reason, []Op{*op}
	}
}

// cordonOp is what brings the option to where it is wanted; nil where it is
// there.
func cordonOp(wanted bool, entry observed.ConfigEntry) *Op {
	override, overridden := entry.Synonym(CordonedLogDirs, observed.SourceBroker)
	static, _ := entry.Synonym(CordonedLogDirs, observed.SourceStatic)
	effective := static
	if overridden {
		effective = override
	}
	same := configdef.List.Same
	switch {
	case wanted && same(effective, cordonAll):
		return nil
	case wanted:
		return &Op{Name: CordonedLogDirs, Value: cordonAll, Reason: "the broker is to take no new replicas"}
	case !same(static, "") && same(effective, ""):
		// Deleting what hides the entry in the file would cordon the broker again.
		return nil
	case !same(static, ""):
		return &Op{Name: CordonedLogDirs, Value: "", Reason: "the broker is to take new replicas again, and it was started with a cordon in its file, which outlasts a DELETE"}
	case overridden:
		return &Op{Name: CordonedLogDirs, Delete: true, Reason: "the broker is to take new replicas again"}
	}
	return nil
}
