package validation

// aboutPoolScale describes the rules for a pool that changes its size or goes.
var aboutPoolScale = []About{
	{
		Rule: "pool-scale-down", Kinds: poolKind, Severity: Warn,
		Summary: "Tells which brokers would leave, and what they hold.",
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
---
kind: ConfigMap
metadata:
  name: my-cluster-sluice-facts
data:
  facts.json: |
    {"observedAt": "2026-01-01T00:00:00Z",
     "brokers": [{"id": 0, "replicas": 20}, {"id": 1, "replicas": 20}, {"id": 2, "replicas": 20},
                 {"id": 3, "replicas": 20, "volumes": [{"id": 0, "replicas": 15, "bytes": 1000000}, {"id": 1, "replicas": 5, "bytes": 1000000}]}],
     "highestReplicationFactor": {"topic": "orders", "replicationFactor": 3}}
`,
		Before: `
kind: KafkaNodePool
metadata:
  name: brokers
spec:
  replicas: 4
  roles: [broker]
status:
  nodeIds: [0, 1, 2, 3]
`,
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
spec:
  replicas: 4
  roles: [broker]
`,
	},
	{
		Rule: "pool-broker-role-removed", Kinds: poolKind, Severity: Warn,
		Summary: "Tells which brokers would be none any more, and what they hold.",
		Before: `
kind: KafkaNodePool
metadata:
  name: brokers
spec:
  replicas: 4
  roles: [broker, controller]
status:
  nodeIds: [0, 1, 2, 3]
`,
		Example: `
kind: KafkaNodePool
metadata:
  name: brokers
spec:
  replicas: 4
  roles: [controller]
`,
		Mended: `
kind: KafkaNodePool
metadata:
  name: brokers
spec:
  replicas: 4
  roles: [broker, controller]
`,
	},
	{
		Rule: "pool-scale-down-never-ends", Kinds: poolKind, Severity: Refuse,
		Summary: "With fewer brokers than a topic has replicas, some of them have nowhere to go.",
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
---
kind: ConfigMap
metadata:
  name: my-cluster-sluice-facts
data:
  facts.json: |
    {"observedAt": "2026-01-01T00:00:00Z",
     "brokers": [{"id": 0, "replicas": 20}, {"id": 1, "replicas": 20}, {"id": 2, "replicas": 20},
                 {"id": 3, "replicas": 20, "volumes": [{"id": 0, "replicas": 15, "bytes": 1000000}, {"id": 1, "replicas": 5, "bytes": 1000000}]}],
     "highestReplicationFactor": {"topic": "orders", "replicationFactor": 3}}
`,
		Before: `
kind: KafkaNodePool
metadata:
  name: brokers
spec:
  replicas: 4
  roles: [broker]
status:
  nodeIds: [0, 1, 2, 3]
`,
		Example: `
kind: KafkaNodePool
metadata:
  name: brokers
spec:
  replicas: 2
  roles: [broker]
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
		Rule: "pool-controllers-changed", Kinds: poolKind, Severity: Refuse,
		Summary: "The quorum of a running cluster is static. A warning on a cluster that Sluice does not run.",
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
		Before: `
kind: KafkaNodePool
metadata:
  name: controllers
spec:
  replicas: 3
  roles: [controller]
status:
  nodeIds: [0, 1, 2]
`,
		Example: `
kind: KafkaNodePool
metadata:
  name: controllers
spec:
  replicas: 5
  roles: [controller]
`,
		Mended: `
kind: KafkaNodePool
metadata:
  name: controllers
spec:
  replicas: 3
  roles: [controller]
`,
	},
	{
		Rule: "pool-controllers-even", Kinds: poolKind, Severity: Warn,
		Summary: "An even number of controllers stands no more failures than one fewer.",
		Example: `
kind: KafkaNodePool
metadata:
  name: brokers
spec:
  replicas: 2
  roles: [controller]
`,
		Mended: `
kind: KafkaNodePool
metadata:
  name: brokers
spec:
  replicas: 3
  roles: [controller]
`,
	},
	{
		Rule: "pool-deletion-controllers", Kinds: poolKind, Severity: Refuse, Deleted: true,
		Summary: "A running cluster cannot do without its controllers.",
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
  name: controllers
spec:
  replicas: 3
  roles: [controller]
status:
  nodeIds: [0, 1, 2]
`,
		Mended: `
kind: KafkaNodePool
metadata:
  name: controllers
spec:
  replicas: 0
  roles: [controller]
`,
	},
	{
		Rule: "pool-deletion-replicas", Kinds: poolKind, Severity: Refuse, Deleted: true,
		Summary: "The replicas on the brokers of a pool go with it.",
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
---
kind: ConfigMap
metadata:
  name: my-cluster-sluice-facts
data:
  facts.json: |
    {"observedAt": "2026-01-01T00:00:00Z",
     "brokers": [{"id": 0, "replicas": 20}, {"id": 1, "replicas": 20}, {"id": 2, "replicas": 20},
                 {"id": 3, "replicas": 20, "volumes": [{"id": 0, "replicas": 15, "bytes": 1000000}, {"id": 1, "replicas": 5, "bytes": 1000000}]}],
     "highestReplicationFactor": {"topic": "orders", "replicationFactor": 3}}
`,
		Example: `
kind: KafkaNodePool
metadata:
  name: brokers
spec:
  replicas: 4
  roles: [broker]
status:
  nodeIds: [0, 1, 2, 3]
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
}
