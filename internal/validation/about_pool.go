package validation

import apiv1 "github.com/sluice-kafka/sluice/api/v1"

var poolKind = []string{apiv1.KindKafkaNodePool}

// aboutPool describes the rules for a pool as it is written.
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
	{
		Rule: "pool-cluster-changed", Kinds: poolKind, Severity: Refuse,
		Summary: "Nodes that exist keep their cluster: their disks carry its ID.",
		Before: `
kind: KafkaNodePool
metadata:
  name: brokers
  labels:
    strimzi.io/cluster: my-cluster
spec:
  replicas: 3
  roles: [broker]
status:
  nodeIds: [0, 1, 2]
`,
		Example: `
kind: KafkaNodePool
metadata:
  name: brokers
  labels:
    strimzi.io/cluster: other-cluster
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
	{
		Rule: "pool-role-missing", Kinds: poolKind, Severity: Refuse,
		Summary: "The nodes of a pool need a role.",
		Example: `
kind: KafkaNodePool
metadata:
  name: brokers
spec:
  replicas: 3
  roles: []
`,
		Mended: `
kind: KafkaNodePool
metadata:
  name: brokers
spec:
  replicas: 3
  roles: [broker]
`,
	},
	{
		Rule: "pool-role-unknown", Kinds: poolKind, Severity: Refuse,
		Summary: "A node is a broker, a controller or both.",
		Example: `
kind: KafkaNodePool
metadata:
  name: brokers
spec:
  replicas: 3
  roles: [brokers]
`,
		Mended: `
kind: KafkaNodePool
metadata:
  name: brokers
spec:
  replicas: 3
  roles: [broker]
`,
	},
	{
		Rule: "pool-replicas-negative", Kinds: poolKind, Severity: Refuse,
		Summary: "A pool cannot have fewer than no nodes.",
		Example: `
kind: KafkaNodePool
metadata:
  name: brokers
spec:
  replicas: -1
  roles: [broker]
`,
		Mended: `
kind: KafkaNodePool
metadata:
  name: brokers
spec:
  replicas: 0
  roles: [broker]
`,
	},
	{
		Rule: "pool-node-ids-unreadable", Kinds: poolKind, Severity: Refuse,
		Summary: "The annotations `strimzi.io/next-node-ids` and `strimzi.io/remove-node-ids` hold node IDs and ranges of them in brackets.",
		Example: `
kind: KafkaNodePool
metadata:
  name: brokers
  annotations:
    strimzi.io/next-node-ids: "[0, 1, ten]"
spec:
  replicas: 3
  roles: [broker]
`,
		Mended: `
kind: KafkaNodePool
metadata:
  name: brokers
  annotations:
    strimzi.io/next-node-ids: "[0, 1, 10-19]"
spec:
  replicas: 3
  roles: [broker]
`,
	},
	{
		Rule: "pool-field-without-effect", Kinds: poolKind, Severity: Warn,
		Summary: "Sluice runs the cluster, and does not act on this field of Strimzi's.",
		Beside: `
kind: Kafka
metadata:
  name: my-cluster
  annotations:
    sluice.dev/managed: "true"
spec:
  kafka: {}
status:
  clusterId: abc
`,
		Example: `
kind: KafkaNodePool
metadata:
  name: brokers
spec:
  replicas: 3
  roles: [broker]
  template:
    perPodService: {}
`,
		Mended: `
kind: KafkaNodePool
metadata:
  name: brokers
spec:
  replicas: 3
  roles: [broker]
`,
	},
	{
		Rule: "pool-field-unreadable", Kinds: poolKind, Severity: Refuse,
		Summary: "Sluice runs the cluster, and Kubernetes would not take this part of what it is to make.",
		Beside: `
kind: Kafka
metadata:
  name: my-cluster
  annotations:
    sluice.dev/managed: "true"
spec:
  kafka: {}
status:
  clusterId: abc
`,
		Example: `
kind: KafkaNodePool
metadata:
  name: brokers
spec:
  replicas: 3
  roles: [broker]
  resources:
    limits: {memory: 8GB}
`,
		Mended: `
kind: KafkaNodePool
metadata:
  name: brokers
spec:
  replicas: 3
  roles: [broker]
  resources:
    limits: {memory: 8G}
`,
	},
}
