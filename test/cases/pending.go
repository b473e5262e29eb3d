package cases

// Pending names the cases whose rule is not built yet, with the rule that is
// missing. A test that runs the cases fails when one of these gets its answer.
var Pending = map[string]string{}
