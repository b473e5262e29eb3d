package validation

import apiv1 "github.com/sluice-kafka/sluice/api/v1"

var poolKind = []string{apiv1.KindKafkaNodePool}

var aboutPool = []About{
	{
		Rule: "pool-cluster-label-missing", Kinds: poolKind, Severity: Refuse,
		Summary: "A pool without the label `strimzi.io/cluster` belongs to no cluster and gets no nodes.",
		Example: `
kind: KafkaNodePool
metadata:
  name: brokers
spec:
  replicas: 3
  roles: [broker]
`,
		Mended: `
kind: KafkaNodePool
metadata:
  name: brokers
  labels:
    strimzi.io/cluster: my-cluster
spec:
  replicas: 3
  roles: [broker]
`,
	},
}
