package cases

// Pending names the cases whose rule is not built yet, with the rule that is
// missing. A test that runs the cases fails when one of these gets its answer.
var Pending = map[string]string{
	"kafka-config-wrong-type":      "broker options have no types yet",
	"topic-cleanup-policy-typo":    "topic options have no types yet",
	"topic-retention-not-a-number": "topic options have no types yet",
	"topic-unknown-option-warns":   "the names of topic options are not known yet",
}
