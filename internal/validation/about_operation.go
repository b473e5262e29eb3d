package validation

// aboutOperation describes the rules for how a Kafka is run.
var aboutOperation = []About{
	{
		Rule: "kafka-annotation-value", Kinds: kafkaKind, Severity: Warn,
		Summary: "An annotation that takes one of two values has another one, and does not do what was meant. Case matters.",
		Example: `
kind: Kafka
metadata:
  name: my-cluster
  annotations:
    sluice.dev/topics: "True"
spec:
  kafka: {}
`,
		Mended: `
kind: Kafka
metadata:
  name: my-cluster
  annotations:
    sluice.dev/topics: "true"
spec:
  kafka: {}
`,
	},
	{
		Rule: "kafka-auto-rebalance-mode", Kinds: kafkaKind, Severity: Refuse,
		Summary: "Each mode of auto-rebalance is given once.",
		Example: `
kind: Kafka
metadata:
  name: my-cluster
spec:
  kafka: {}
  cruiseControl:
    autoRebalance:
      - mode: add-brokers
      - mode: add-brokers
`,
		Mended: `
kind: Kafka
metadata:
  name: my-cluster
spec:
  kafka: {}
  cruiseControl:
    autoRebalance:
      - mode: add-brokers
      - mode: remove-brokers
`,
	},
	{
		Rule: "kafka-auto-rebalance-template-missing", Kinds: kafkaKind, Severity: Warn,
		Summary: "The template that auto-rebalance copies does not exist (yet).",
		Beside: `
kind: KafkaRebalance
metadata:
  name: add-brokers
  annotations:
    strimzi.io/rebalance-template: "true"
spec:
  skipHardGoalCheck: true
`,
		Example: `
kind: Kafka
metadata:
  name: my-cluster
spec:
  kafka: {}
  cruiseControl:
    autoRebalance:
      - {mode: add-brokers, template: {name: adding-brokers}}
`,
		Mended: `
kind: Kafka
metadata:
  name: my-cluster
spec:
  kafka: {}
  cruiseControl:
    autoRebalance:
      - {mode: add-brokers, template: {name: add-brokers}}
`,
	},
	{
		Rule: "kafka-cordon-unreadable", Kinds: kafkaKind, Severity: Refuse,
		Summary: "The annotation `sluice.dev/cordon` lists brokers.",
		Example: `
kind: Kafka
metadata:
  name: my-cluster
  annotations:
    sluice.dev/managed: "true"
    sluice.dev/cordon: "3, four"
spec:
  kafka: {}
`,
		Mended: `
kind: Kafka
metadata:
  name: my-cluster
  annotations:
    sluice.dev/managed: "true"
    sluice.dev/cordon: "3, 4"
spec:
  kafka: {}
`,
	},
	{
		Rule: "kafka-cordon-unknown-broker", Kinds: kafkaKind, Severity: Warn,
		Summary: "A broker that is to be cordoned does not exist.",
		Beside: `
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
kind: Kafka
metadata:
  name: my-cluster
  annotations:
    sluice.dev/managed: "true"
    sluice.dev/cordon: "7"
spec:
  kafka: {}
`,
		Mended: `
kind: Kafka
metadata:
  name: my-cluster
  annotations:
    sluice.dev/managed: "true"
    sluice.dev/cordon: "3"
spec:
  kafka: {}
`,
	},
	{
		Rule: "kafka-cordon-too-many", Kinds: kafkaKind, Severity: Warn,
		Summary: "With fewer uncordoned brokers than replicas no such topic can be created.",
		Beside: `
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
kind: Kafka
metadata:
  name: my-cluster
  annotations:
    sluice.dev/managed: "true"
    sluice.dev/cordon: "2, 3"
spec:
  kafka: {}
`,
		Mended: `
kind: Kafka
metadata:
  name: my-cluster
  annotations:
    sluice.dev/managed: "true"
    sluice.dev/cordon: "3"
spec:
  kafka: {}
`,
	},
	{
		Rule: "kafka-cordon-without-effect", Kinds: kafkaKind, Severity: Warn,
		Summary: "Brokers are cordoned by Sluice alone, from Kafka 4.3 on.",
		Example: `
kind: Kafka
metadata:
  name: my-cluster
  annotations:
    sluice.dev/managed: "true"
    sluice.dev/cordon: "3"
spec:
  kafka:
    version: 4.2.0
`,
		Mended: `
kind: Kafka
metadata:
  name: my-cluster
  annotations:
    sluice.dev/managed: "true"
    sluice.dev/cordon: "3"
spec:
  kafka:
    version: 4.3.1
`,
	},
	{
		Rule: "kafka-field-without-effect", Kinds: kafkaKind, Severity: Warn,
		Summary: "Sluice runs the cluster, and does not act on this field of Strimzi's.",
		Example: `
kind: Kafka
metadata:
  name: my-cluster
  annotations:
    sluice.dev/managed: "true"
spec:
  kafka:
    authorization: {type: simple}
`,
		Mended: `
kind: Kafka
metadata:
  name: my-cluster
  annotations:
    sluice.dev/managed: "true"
spec:
  kafka: {}
`,
	},
	{
		Rule: "kafka-field-unreadable", Kinds: kafkaKind, Severity: Refuse,
		Summary: "Sluice runs the cluster, and Kubernetes would not take this part of what it is to make.",
		Example: `
kind: Kafka
metadata:
  name: my-cluster
  annotations:
    sluice.dev/managed: "true"
spec:
  kafka:
    template:
      pod:
        tolerations: [dedicated]
`,
		Mended: `
kind: Kafka
metadata:
  name: my-cluster
  annotations:
    sluice.dev/managed: "true"
spec:
  kafka:
    template:
      pod:
        tolerations: [{key: dedicated, operator: Exists}]
`,
	},
}
