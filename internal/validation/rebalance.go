package validation

import (
	"fmt"
	"strconv"

	"k8s.io/apimachinery/pkg/util/validation/field"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/facts"
)

// RebalanceFacts is what the rules need to know of the cluster that a rebalance
// is for.
type RebalanceFacts struct {
	// Pools of the Kafka that are known, in any order.
	Pools []apiv1.KafkaNodePool
	// AllPools tells that no pool is missing in Pools.
	AllPools bool
	// Seen is what the operator saw of the running cluster; nil where that is not
	// known.
	Seen *facts.Facts
}

type rebalanceInput struct {
	rebalance *apiv1.KafkaRebalance
	facts     RebalanceFacts
}

var rebalanceRules = []rule[rebalanceInput]{
	{"rebalance-mode-unknown", rebalanceMode},
	{"rebalance-brokers-missing", rebalanceBrokersMissing},
	{"rebalance-brokers-ignored", rebalanceBrokersIgnored},
	{"rebalance-broker-unknown", rebalanceBrokerUnknown},
	{"rebalance-volumes-missing", rebalanceVolumesMissing},
	{"rebalance-disk-with-goals", rebalanceDiskWithGoals},
	{"rebalance-removes-too-many", rebalanceRemovesTooMany},
}

// KafkaRebalance judges a rebalance; old is nil on creation. Of a template, which
// is never run, nothing is said.
func KafkaRebalance(rebalance, old *apiv1.KafkaRebalance, facts RebalanceFacts, _ Options) Result {
	return judge(rebalance, old, old != nil, func(r, _ *apiv1.KafkaRebalance) []Finding {
		if IsRebalanceTemplate(r) {
			return nil
		}
		return run(rebalanceRules, rebalanceInput{rebalance: r, facts: facts})
	})
}

// mode of the rebalance, full where none is given.
func (in rebalanceInput) mode() string {
	if in.rebalance.Spec.Mode == "" {
		return apiv1.ModeFull
	}
	return in.rebalance.Spec.Mode
}

func (in rebalanceInput) movesBrokers() bool {
	return in.mode() == apiv1.ModeAddBrokers || in.mode() == apiv1.ModeRemoveBrokers
}

func rebalanceMode(in rebalanceInput) []Finding {
	return unknownWord(field.NewPath("spec", "mode"), "", in.rebalance.Spec.Mode,
		apiv1.ModeFull, apiv1.ModeAddBrokers, apiv1.ModeRemoveBrokers, apiv1.ModeRemoveDisks)
}

func rebalanceBrokersMissing(in rebalanceInput) []Finding {
	if !in.movesBrokers() || len(in.rebalance.Spec.Brokers) > 0 {
		return nil
	}
	what := "to be filled"
	if in.mode() == apiv1.ModeRemoveBrokers {
		what = "to be emptied"
	}
	return []Finding{{
		Severity: Refuse, Path: field.NewPath("spec", "brokers"), Element: in.mode(),
		Message: fmt.Sprintf("mode %s needs the IDs of the brokers that are %s: list them, as in [3, 4]", in.mode(), what),
	}}
}

func rebalanceBrokersIgnored(in rebalanceInput) []Finding {
	if in.mode() != apiv1.ModeFull || len(in.rebalance.Spec.Brokers) == 0 {
		return nil
	}
	return []Finding{{
		Path: field.NewPath("spec", "brokers"), Element: in.mode(), Value: "ignored",
		Message: fmt.Sprintf("mode full rebalances all brokers and ignores this list: remove it, or set the mode to %s or %s",
			apiv1.ModeAddBrokers, apiv1.ModeRemoveBrokers),
	}}
}

func rebalanceBrokerUnknown(in rebalanceInput) []Finding {
	known := brokersOfPools(in.facts.Pools, in.facts.AllPools)
	if in.facts.Seen != nil {
		known = in.facts.Seen.IDs()
	}
	if known == nil {
		return nil
	}
	var found []Finding
	say := func(path *field.Path, id int64) {
		if ids := nodeIDs([]int64{id}); len(ids) == 0 || !known[ids[0]] {
			text := strconv.FormatInt(id, 10)
			found = append(found, Finding{Path: path, Element: text, Value: text, Message: fmt.Sprintf("there is no broker %d: correct the ID", id)})
		}
	}
	if in.movesBrokers() {
		for i, id := range in.rebalance.Spec.Brokers {
			say(field.NewPath("spec", "brokers").Index(i), id)
		}
	}
	if in.mode() == apiv1.ModeRemoveDisks {
		for i, v := range in.rebalance.Spec.MoveReplicasOffVolumes {
			if v.BrokerID != nil {
				say(field.NewPath("spec", "moveReplicasOffVolumes").Index(i).Child("brokerId"), *v.BrokerID)
			}
		}
	}
	return found
}

func rebalanceVolumesMissing(in rebalanceInput) []Finding {
	if in.mode() != apiv1.ModeRemoveDisks || len(in.rebalance.Spec.MoveReplicasOffVolumes) > 0 {
		return nil
	}
	return []Finding{{
		Severity: Refuse, Path: field.NewPath("spec", "moveReplicasOffVolumes"),
		Message: "mode remove-disks needs the volumes that are to be emptied: list brokers with their volumes, as in [{brokerId: 0, volumeIds: [1]}]",
	}}
}

// rebalanceDiskWithGoals: Cruise Control balances disks by goals of its own and
// refuses others with it.
func rebalanceDiskWithGoals(in rebalanceInput) []Finding {
	if !in.rebalance.Spec.RebalanceDisk || len(in.rebalance.Spec.Goals) == 0 {
		return nil
	}
	return []Finding{{
		Severity: Refuse, Path: field.NewPath("spec", "goals"), Value: listed(in.rebalance.Spec.Goals),
		Message: "rebalanceDisk balances the disks within each broker by goals of its own: remove the goals, or rebalanceDisk",
	}}
}

func rebalanceRemovesTooMany(in rebalanceInput) []Finding {
	seen := in.facts.Seen
	if in.mode() != apiv1.ModeRemoveBrokers || seen == nil || seen.HighestFactor == nil {
		return nil
	}
	left := seen.IDs()
	for _, id := range nodeIDs(in.rebalance.Spec.Brokers) {
		delete(left, id)
	}
	highest := seen.HighestFactor
	if len(left) == len(seen.Brokers) || int64(len(left)) >= highest.Factor {
		return nil
	}
	return []Finding{{
		Severity: Refuse, Path: field.NewPath("spec", "brokers"), Element: strconv.Itoa(len(left)), Value: idsText(in.rebalance.Spec.Brokers),
		Message: fmt.Sprintf("only %s would be left, and topic %s has replication factor %d, so its replicas have nowhere to go: "+
			"list fewer brokers, or lower the factor of the topic first", counted(int64(len(left)), "broker"), shown(highest.Topic), highest.Factor),
	}}
}

func idsText(ids []int64) string {
	texts := make([]string, 0, len(ids))
	for _, id := range ids {
		texts = append(texts, strconv.FormatInt(id, 10))
	}
	return listed(texts)
}
