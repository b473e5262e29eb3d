package validation

import (
	"cmp"
	"slices"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
)

// About tells people of one rule. docs/rules.md is made from it, and the tests
// hold it to be true: every rule of a chain is described, each Example gives the
// finding and each Mended does not.
//
// To add a rule, put it into a chain and describe it in the about_….go file of
// its subject.
type About struct {
	// Rule is the name that the rule's findings carry.
	Rule string
	// Kinds that the rule judges.
	Kinds []string
	// Severity is the gravest that the rule gives without Options.StrictConfig.
	Severity Severity
	// Strict tells that Options.StrictConfig turns the rule's warnings into
	// refusals.
	Strict bool
	// Joining tells that the rule needs another object: the webhook warns until
	// the Kafka is Ready, and a set of files that holds both is refused.
	Joining bool
	// Summary says in one line what is wrong, and why.
	Summary string
	// Deleted tells that it is the deletion of the object that is judged.
	Deleted bool
	// WithoutCertManager tells that the example is one where cert-manager is known
	// not to be installed.
	WithoutCertManager bool
	// Beside are YAML documents of objects that are there already, the ConfigMap
	// of internal/facts among them.
	Beside string
	// Before is the object as it was, for what only an update can do wrong.
	Before string
	// Example is the object that gives the finding, and Mended what to write
	// instead. Like Before and Beside they are YAML; what is left out of
	// apiVersion, of metadata and, in Before, Example and Mended, of the cluster's
	// label is filled in (see internal/rulesdoc).
	Example, Mended string
}

// Catalogue describes all rules, sorted by name.
func Catalogue() []About {
	all := slices.Concat(aboutTopic, aboutKafka, aboutListeners, aboutOperation, aboutPool, aboutPoolStorage, aboutPoolScale,
		aboutRebalance, aboutVolumes, aboutVolumeSets, aboutMounts, aboutJoining, aboutOptions)
	slices.SortFunc(all, func(a, b About) int { return cmp.Compare(a.Rule, b.Rule) })
	return all
}

// podKinds are the kinds whose pod templates are judged.
var podKinds = []string{apiv1.KindKafka, apiv1.KindKafkaNodePool, apiv1.KindKafkaConnect, apiv1.KindKafkaMirrorMaker2}
