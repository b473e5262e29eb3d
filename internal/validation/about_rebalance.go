package validation

import apiv1 "github.com/sluice-kafka/sluice/api/v1"

var rebalanceKind = []string{apiv1.KindKafkaRebalance}

// aboutRebalance describes the rules for a rebalance.
var aboutRebalance = []About{
	{
		Rule: "rebalance-mode-unknown", Kinds: rebalanceKind, Severity: Refuse,
		Summary: "There are four modes.",
		Example: `
kind: KafkaRebalance
metadata:
  name: move
spec:
  mode: add
  brokers: [3]
`,
		Mended: `
kind: KafkaRebalance
metadata:
  name: move
spec:
  mode: add-brokers
  brokers: [3]
`,
	},
	{
		Rule: "rebalance-brokers-missing", Kinds: rebalanceKind, Severity: Refuse,
		Summary: "These modes need the brokers that are to be filled or emptied.",
		Example: `
kind: KafkaRebalance
metadata:
  name: move
spec:
  mode: add-brokers
`,
		Mended: `
kind: KafkaRebalance
metadata:
  name: move
spec:
  mode: add-brokers
  brokers: [3]
`,
	},
	{
		Rule: "rebalance-brokers-ignored", Kinds: rebalanceKind, Severity: Warn,
		Summary: "Mode `full` rebalances all brokers.",
		Example: `
kind: KafkaRebalance
metadata:
  name: move
spec:
  mode: full
  brokers: [3]
`,
		Mended: `
kind: KafkaRebalance
metadata:
  name: move
spec:
  mode: full
`,
	},
	{
		Rule: "rebalance-broker-unknown", Kinds: rebalanceKind, Severity: Warn,
		Summary: "A broker that is named does not exist.",
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
kind: KafkaRebalance
metadata:
  name: move
spec:
  mode: add-brokers
  brokers: [7]
`,
		Mended: `
kind: KafkaRebalance
metadata:
  name: move
spec:
  mode: add-brokers
  brokers: [3]
`,
	},
	{
		Rule: "rebalance-volumes-missing", Kinds: rebalanceKind, Severity: Refuse,
		Summary: "Mode `remove-disks` needs the volumes that are to be emptied.",
		Example: `
kind: KafkaRebalance
metadata:
  name: move
spec:
  mode: remove-disks
`,
		Mended: `
kind: KafkaRebalance
metadata:
  name: move
spec:
  mode: remove-disks
  moveReplicasOffVolumes:
    - {brokerId: 3, volumeIds: [1]}
`,
	},
	{
		Rule: "rebalance-disk-with-goals", Kinds: rebalanceKind, Severity: Refuse,
		Summary: "Disks are balanced by goals of their own.",
		Example: `
kind: KafkaRebalance
metadata:
  name: move
spec:
  rebalanceDisk: true
  goals: [RackAwareGoal]
`,
		Mended: `
kind: KafkaRebalance
metadata:
  name: move
spec:
  rebalanceDisk: true
`,
	},
	{
		Rule: "rebalance-removes-too-many", Kinds: rebalanceKind, Severity: Refuse,
		Summary: "With fewer brokers than a topic has replicas, some of them have nowhere to go.",
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
kind: KafkaRebalance
metadata:
  name: move
spec:
  mode: remove-brokers
  brokers: [2, 3]
`,
		Mended: `
kind: KafkaRebalance
metadata:
  name: move
spec:
  mode: remove-brokers
  brokers: [3]
`,
	},
}
