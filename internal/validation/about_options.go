package validation

var aboutOptions = []About{
	{
		Rule: "topic-option-value", Kinds: topicKind, Severity: Refuse,
		Summary: "Kafka does not take this value for this option: it is of another type, or out of range, in the version that the topic goes to (in every known one, where that is not known).",
		Example: `
kind: KafkaTopic
spec:
  config:
    retention.ms: 7d
`,
		Mended: `
kind: KafkaTopic
spec:
  config:
    retention.ms: 604800000
`,
	},
	{
		Rule: "topic-option-unknown", Kinds: topicKind, Severity: Warn,
		Summary: "Kafka has no topic option of this name, and refuses the topic for it.",
		Example: `
kind: KafkaTopic
spec:
  config:
    log.retention.ms: 604800000
`,
		Mended: `
kind: KafkaTopic
spec:
  config:
    retention.ms: 604800000
`,
	},
	{
		Rule: "kafka-option-value", Kinds: kafkaKind, Severity: Refuse,
		Summary: "Kafka does not take this value for this option, and no broker would start with it. Placeholders of config providers are let through.",
		Example: `
kind: Kafka
spec:
  kafka:
    config:
      num.partitions: abc
`,
		Mended: `
kind: Kafka
spec:
  kafka:
    config:
      num.partitions: 3
`,
	},
	{
		Rule: "kafka-option-unknown", Kinds: kafkaKind, Severity: Warn,
		Summary: "Kafka of this version has no broker option of this name, and none of its plugins seems to read it.",
		Example: `
kind: Kafka
spec:
  kafka:
    version: 4.3.1
    config:
      num.partition: 3
`,
		Mended: `
kind: Kafka
spec:
  kafka:
    version: 4.3.1
    config:
      num.partitions: 3
`,
	},
	{
		Rule: "kafka-version-unknown", Kinds: kafkaKind, Severity: Refuse,
		Summary: "Sluice runs only the versions of Kafka that it knows. On a cluster that another operator runs it warns, since it cannot check the options.",
		Example: `
kind: Kafka
metadata:
  annotations:
    sluice.dev/managed: "true"
spec:
  kafka:
    version: 3.9.1
`,
		Mended: `
kind: Kafka
metadata:
  annotations:
    sluice.dev/managed: "true"
spec:
  kafka:
    version: 4.3.1
`,
	},
	{
		Rule: "kafka-metadata-version", Kinds: kafkaKind, Severity: Refuse,
		Summary: "The metadata version is none that this version of Kafka runs at: its brokers would not start, or could not read their own metadata.",
		Example: `
kind: Kafka
spec:
  kafka:
    version: 4.2.2
    metadataVersion: 4.3-IV0
`,
		Mended: `
kind: Kafka
spec:
  kafka:
    version: 4.2.2
    metadataVersion: 4.2-IV1
`,
	},
}
