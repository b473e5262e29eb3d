package validation

// aboutPoolStorage describes the rules for the disks of a pool.
var aboutPoolStorage = []About{
	{
		Rule: "pool-storage-type-unknown", Kinds: poolKind, Severity: Refuse,
		Summary: "Storage is `ephemeral`, `persistent-claim` or `jbod`.",
		Example: `
kind: KafkaNodePool
metadata:
  name: brokers
spec:
  replicas: 3
  roles: [broker]
  storage: {type: disk}
`,
		Mended: `
kind: KafkaNodePool
metadata:
  name: brokers
spec:
  replicas: 3
  roles: [broker]
  storage: {type: ephemeral}
`,
	},
	{
		Rule: "pool-volume-id-duplicate", Kinds: poolKind, Severity: Refuse,
		Summary: "A node tells its JBOD volumes apart by their IDs.",
		Example: `
kind: KafkaNodePool
metadata:
  name: brokers
spec:
  replicas: 3
  roles: [broker]
  storage:
    type: jbod
    volumes:
      - {id: 0, type: ephemeral}
      - {id: 0, type: ephemeral}
`,
		Mended: `
kind: KafkaNodePool
metadata:
  name: brokers
spec:
  replicas: 3
  roles: [broker]
  storage:
    type: jbod
    volumes:
      - {id: 0, type: ephemeral}
      - {id: 1, type: ephemeral}
`,
	},
	{
		Rule: "pool-storage-type-changed", Kinds: poolKind, Severity: Refuse,
		Summary: "The data would stay behind on storage of the old type.",
		Before: `
kind: KafkaNodePool
metadata:
  name: brokers
spec:
  replicas: 3
  roles: [broker]
  storage: {type: persistent-claim, size: 10Gi}
`,
		Example: `
kind: KafkaNodePool
metadata:
  name: brokers
spec:
  replicas: 3
  roles: [broker]
  storage: {type: ephemeral}
`,
		Mended: `
kind: KafkaNodePool
metadata:
  name: brokers
spec:
  replicas: 3
  roles: [broker]
  storage: {type: persistent-claim, size: 20Gi}
`,
	},
	{
		Rule: "pool-storage-shrinks", Kinds: poolKind, Severity: Refuse,
		Summary: "A persistent claim can grow and never shrink.",
		Before: `
kind: KafkaNodePool
metadata:
  name: brokers
spec:
  replicas: 3
  roles: [broker]
  storage: {type: persistent-claim, size: 10Gi}
`,
		Example: `
kind: KafkaNodePool
metadata:
  name: brokers
spec:
  replicas: 3
  roles: [broker]
  storage: {type: persistent-claim, size: 5Gi}
`,
		Mended: `
kind: KafkaNodePool
metadata:
  name: brokers
spec:
  replicas: 3
  roles: [broker]
  storage: {type: persistent-claim, size: 20Gi}
`,
	},
	{
		Rule: "pool-volume-holds-replicas", Kinds: poolKind, Severity: Refuse,
		Summary: "A JBOD volume that goes takes the replicas on it along.",
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
  replicas: 3
  roles: [broker]
  storage:
    type: jbod
    volumes:
      - {id: 0, type: ephemeral}
      - {id: 1, type: ephemeral}
status:
  nodeIds: [1, 2, 3]
`,
		Example: `
kind: KafkaNodePool
metadata:
  name: brokers
spec:
  replicas: 3
  roles: [broker]
  storage:
    type: jbod
    volumes:
      - {id: 0, type: ephemeral}
`,
		Mended: `
kind: KafkaNodePool
metadata:
  name: brokers
spec:
  replicas: 3
  roles: [broker]
  storage:
    type: jbod
    volumes:
      - {id: 0, type: ephemeral}
      - {id: 1, type: ephemeral}
`,
	},
}
