package cases

// Pending names the cases whose rule is not built yet, with the rule that is
// missing. A test that runs the cases fails when one of these gets its answer.
var Pending = map[string]string{
	"kafka-cordon-annotation-bad":   "the annotation to cordon by hand is not read yet",
	"pool-bad-next-node-ids":        "the annotations with node IDs are not read yet",
	"pool-storage-shrinks":          "changes of a pool's storage are not judged yet",
	"rebalance-add-without-brokers": "rebalances are not judged yet",
	"rebalance-disk-with-goals":     "rebalances are not judged yet",
}
