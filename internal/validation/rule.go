package validation

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/topicplan"
)

// Options are the operator's choices that rules depend on.
type Options struct {
	// StrictConfig refuses options that would otherwise only be warned of,
	// because they are ignored or make writes fail.
	StrictConfig bool
	// KafkaVersion is the version whose options count where neither the object nor
	// its Kafka tells; empty to accept what any known version does.
	KafkaVersion string
	// Alterable are the options of topics that the operator may alter.
	Alterable topicplan.Alterable
	// WithoutCertManager tells that the API server is known to lack
	// cert-manager, which Sluice takes the certificates of TLS listeners from.
	WithoutCertManager bool
}

// rule is one check, by the name that its findings carry.
type rule[I any] struct {
	name  string
	check func(I) []Finding
}

// run applies a chain of rules and names what each of them found.
func run[I any](chain []rule[I], in I) []Finding {
	var found []Finding
	for _, r := range chain {
		for _, f := range r.check(in) {
			f.Rule = r.name
			found = append(found, f)
		}
	}
	return found
}

// judge applies find to the new object and, on an update, to the old one with
// the same facts: only what the update brings about counts. A fault that was
// there before never stands in the way of a change of something else.
func judge[T metav1.Object](obj, old T, update bool, find func(obj, old T) []Finding) Result {
	if obj.GetDeletionTimestamp() != nil {
		return Result{}
	}
	found := find(obj, old)
	if update && len(found) > 0 { // most updates have no fault, and need no look at the old object
		found = introduced(found, find(old, old))
	}
	return newResult(found)
}

// introduced returns what is found now and was not before. Equal faults are
// counted, so that a third duplicate of a name is new where there were two.
func introduced(now, before []Finding) []Finding {
	known := make(map[identity]int, len(before))
	for _, f := range before {
		known[f.identity()]++
	}
	var fresh []Finding
	for _, f := range now {
		id := f.identity()
		if known[id] > 0 {
			known[id]--
			continue
		}
		fresh = append(fresh, f)
	}
	return fresh
}

// settle turns the refusals of joining rules into warnings unless the other
// side is settled: resources may be applied in any order, and what is missing
// now may be on its way.
func settle(found []Finding, settled bool) []Finding {
	if settled {
		return found
	}
	for i := range found {
		if found[i].Joining {
			found[i].Severity = Warn
		}
	}
	return found
}

// readyAtGeneration tells whether conditions say Ready for the object's current
// generation.
func readyAtGeneration(conditions []apiv1.Condition, observed, generation int64) bool {
	if observed != generation {
		return false
	}
	for _, c := range conditions {
		if c.Type == apiv1.ConditionReady {
			return c.Status == string(metav1.ConditionTrue)
		}
	}
	return false
}
