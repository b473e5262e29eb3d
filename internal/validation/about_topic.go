package validation

import apiv1 "github.com/sluice-kafka/sluice/api/v1"

var topicKind = []string{apiv1.KindKafkaTopic}

var aboutTopic = []About{
	{
		Rule: "topic-annotation-value", Kinds: topicKind, Severity: Warn,
		Summary: "An annotation that takes one of two values has another one, which counts as the default.",
		Example: `
kind: KafkaTopic
metadata:
  name: orders
  annotations:
    strimzi.io/managed: "no"
`,
		Mended: `
kind: KafkaTopic
metadata:
  name: orders
  annotations:
    strimzi.io/managed: "false"
`,
	},
	{
		Rule: "topic-option-left-alone", Kinds: topicKind, Severity: Warn,
		Summary: "An option that is set has no effect, since the annotation `sluice.dev/unmanaged-config` or the operator's `--alterable-topic-config` leaves it alone; or that annotation names what is no option.",
		Example: `
kind: KafkaTopic
metadata:
  name: orders
  labels:
    strimzi.io/cluster: my-cluster
  annotations:
    sluice.dev/unmanaged-config: retention.ms
spec:
  config:
    retention.ms: 3600000
`,
		Mended: `
kind: KafkaTopic
metadata:
  name: orders
  labels:
    strimzi.io/cluster: my-cluster
  annotations:
    sluice.dev/unmanaged-config: retention.ms
spec:
  config: {}
`,
	},
	{
		Rule: "topic-replicas-without-engine", Kinds: topicKind, Severity: Warn,
		Summary: "Without an engine (Sluice itself, or Cruise Control under Strimzi) nobody moves the replicas that a new replication factor asks for.",
		Beside: `
kind: Kafka
metadata:
  name: my-cluster
spec:
  kafka: {}
`,
		Before: `
kind: KafkaTopic
spec:
  replicas: 2
status:
  topicName: orders
`,
		Example: `
kind: KafkaTopic
spec:
  replicas: 3
`,
		Mended: `
kind: KafkaTopic
spec:
  replicas: 2
`,
	},
	{
		Rule: "topic-cluster-label-missing", Kinds: topicKind, Severity: Warn,
		Summary: "Without the label `strimzi.io/cluster` no operator creates the topic.",
		Example: `
kind: KafkaTopic
metadata:
  name: orders
spec:
  partitions: 3
`,
		Mended: `
kind: KafkaTopic
metadata:
  name: orders
  labels:
    strimzi.io/cluster: my-cluster
spec:
  partitions: 3
`,
	},
	{
		Rule: "topic-name-illegal", Kinds: topicKind, Severity: Refuse,
		Summary: "Kafka accepts 1 to 249 letters, digits, `.`, `_` and `-` as a topic's name, and neither `.` nor `..`.",
		Example: `
kind: KafkaTopic
spec:
  topicName: orders/europe
`,
		Mended: `
kind: KafkaTopic
spec:
  topicName: orders.europe
`,
	},
	{
		Rule: "topic-renamed", Kinds: topicKind, Severity: Refuse,
		Summary: "Kafka cannot rename a topic that it has created.",
		Before: `
kind: KafkaTopic
spec:
  topicName: orders
status:
  topicName: orders
`,
		Example: `
kind: KafkaTopic
spec:
  topicName: orders-v2
`,
		Mended: `
kind: KafkaTopic
spec:
  topicName: orders
`,
	},
	{
		Rule: "topic-name-internal", Kinds: topicKind, Severity: Warn,
		Summary: "Names that start with `__` belong to Kafka's own topics.",
		Example: `
kind: KafkaTopic
spec:
  topicName: __consumer_offsets
`,
		Mended: `
kind: KafkaTopic
spec:
  topicName: consumer-offsets-copy
`,
	},
	{
		Rule: "topic-duplicate", Kinds: topicKind, Severity: Refuse,
		Summary: "Two resources that manage one topic would undo each other's changes.",
		Beside: `
kind: KafkaTopic
metadata:
  name: orders-of-shop
  labels:
    strimzi.io/cluster: my-cluster
spec:
  topicName: orders
`,
		Example: `
kind: KafkaTopic
spec:
  topicName: orders
`,
		Mended: `
kind: KafkaTopic
spec:
  topicName: orders-of-warehouse
`,
	},
	{
		Rule: "topic-metric-collision", Kinds: topicKind, Severity: Refuse,
		Summary: "Kafka's metrics cannot tell `.` from `_`, so it refuses two topics that differ in these alone.",
		Beside: `
kind: KafkaTopic
metadata:
  name: orders-of-shop
  labels:
    strimzi.io/cluster: my-cluster
spec:
  topicName: shop.orders
`,
		Example: `
kind: KafkaTopic
spec:
  topicName: shop_orders
`,
		Mended: `
kind: KafkaTopic
spec:
  topicName: shop-orders
`,
	},
	{
		Rule: "topic-partitions-range", Kinds: topicKind, Severity: Refuse,
		Summary: "A topic has at least one partition.",
		Example: `
kind: KafkaTopic
spec:
  partitions: 0
`,
		Mended: `
kind: KafkaTopic
spec:
  partitions: 1
`,
	},
	{
		Rule: "topic-partitions-shrink", Kinds: topicKind, Severity: Refuse,
		Summary: "Kafka cannot take partitions away from a topic.",
		Before: `
kind: KafkaTopic
spec:
  partitions: 12
status:
  partitions: 12
`,
		Example: `
kind: KafkaTopic
spec:
  partitions: 6
`,
		Mended: `
kind: KafkaTopic
spec:
  partitions: 12
`,
	},
	{
		Rule: "topic-replicas-range", Kinds: topicKind, Severity: Refuse,
		Summary: "A replication factor is 1 to 32767.",
		Example: `
kind: KafkaTopic
spec:
  replicas: 0
`,
		Mended: `
kind: KafkaTopic
spec:
  replicas: 3
`,
	},
	{
		Rule: "topic-config-shape", Kinds: topicKind, Severity: Refuse,
		Summary: "An option's value is a text, a number, true or false, or a list of these, of 32,767 bytes at most; null, maps and nested lists mean nothing to Kafka.",
		Example: `
kind: KafkaTopic
spec:
  config:
    retention.ms: null
`,
		Mended: `
kind: KafkaTopic
metadata:
  name: orders
  labels:
    strimzi.io/cluster: my-cluster
  annotations:
    sluice.dev/unmanaged-config: retention.ms
spec:
  config: {}
`,
	},
	{
		Rule: "topic-min-isr-above-replicas", Kinds: topicKind, Severity: Warn, Strict: true,
		Summary: "With `min.insync.replicas` above the replication factor, writes with acks=all fail while any replica is down.",
		Example: `
kind: KafkaTopic
spec:
  replicas: 2
  config:
    min.insync.replicas: 3
`,
		Mended: `
kind: KafkaTopic
spec:
  replicas: 3
  config:
    min.insync.replicas: 2
`,
	},
}
