package validation

import apiv1 "github.com/sluice-kafka/sluice/api/v1"

var kafkaKind = []string{apiv1.KindKafka}

var aboutKafka = []About{
	{
		Rule: "kafka-cordoned-log-dirs", Kinds: kafkaKind, Severity: Refuse,
		Summary: "The operator sets `cordoned.log.dirs` itself while it takes brokers away.",
		Example: `
kind: Kafka
spec:
  kafka:
    config:
      cordoned.log.dirs: "*"
`,
		Mended: `
kind: Kafka
spec:
  kafka:
    config: {}
`,
	},
	{
		Rule: "kafka-option-owned", Kinds: kafkaKind, Severity: Warn, Strict: true,
		Summary: "The operator sets this option itself, and ignores a user's.",
		Example: `
kind: Kafka
spec:
  kafka:
    config:
      log.dirs: /data
`,
		Mended: `
kind: Kafka
spec:
  kafka:
    config:
      log.retention.hours: 24
`,
	},
	{
		Rule: "kafka-min-isr-above-factor", Kinds: kafkaKind, Severity: Warn, Strict: true,
		Summary: "With `min.insync.replicas` above `default.replication.factor`, writes with acks=all to a new topic fail while any of its replicas is down.",
		Example: `
kind: Kafka
spec:
  kafka:
    config:
      default.replication.factor: 1
      min.insync.replicas: 2
`,
		Mended: `
kind: Kafka
spec:
  kafka:
    config:
      default.replication.factor: 3
      min.insync.replicas: 2
`,
	},
}
