package validation

// aboutListeners describes the rules for a Kafka's listeners.
var aboutListeners = []About{
	{
		Rule: "kafka-listener-name", Kinds: kafkaKind, Severity: Refuse,
		Summary: "A listener's name has 1 to 11 lower-case letters and digits.",
		Example: `
kind: Kafka
metadata:
  name: my-cluster
spec:
  kafka:
    listeners:
      - {name: Plain-1, port: 9092, type: internal, tls: false}
`,
		Mended: `
kind: Kafka
metadata:
  name: my-cluster
spec:
  kafka:
    listeners:
      - {name: plain, port: 9092, type: internal, tls: false}
`,
	},
	{
		Rule: "kafka-listener-duplicate", Kinds: kafkaKind, Severity: Refuse,
		Summary: "Listeners differ in name and port.",
		Example: `
kind: Kafka
metadata:
  name: my-cluster
spec:
  kafka:
    listeners:
      - {name: plain, port: 9092, type: internal, tls: false}
      - {name: other, port: 9092, type: internal, tls: false}
`,
		Mended: `
kind: Kafka
metadata:
  name: my-cluster
spec:
  kafka:
    listeners:
      - {name: plain, port: 9092, type: internal, tls: false}
      - {name: other, port: 9093, type: internal, tls: false}
`,
	},
	{
		Rule: "kafka-listener-port", Kinds: kafkaKind, Severity: Refuse,
		Summary: "A listener's port is 9092 or above, and none that the operator uses itself.",
		Example: `
kind: Kafka
metadata:
  name: my-cluster
spec:
  kafka:
    listeners:
      - {name: plain, port: 9404, type: internal, tls: false}
`,
		Mended: `
kind: Kafka
metadata:
  name: my-cluster
spec:
  kafka:
    listeners:
      - {name: plain, port: 9092, type: internal, tls: false}
`,
	},
	{
		Rule: "kafka-listener-type-unknown", Kinds: kafkaKind, Severity: Refuse,
		Summary: "There are seven types of listeners.",
		Example: `
kind: Kafka
metadata:
  name: my-cluster
spec:
  kafka:
    listeners:
      - {name: plain, port: 9092, type: clusterip, tls: false}
`,
		Mended: `
kind: Kafka
metadata:
  name: my-cluster
spec:
  kafka:
    listeners:
      - {name: plain, port: 9092, type: cluster-ip, tls: false}
`,
	},
	{
		Rule: "kafka-listener-tls-without-cert-manager", Kinds: kafkaKind, Severity: Refuse, WithoutCertManager: true,
		Summary: "On a cluster that Sluice runs cert-manager makes the certificates of TLS listeners.",
		Example: `
kind: Kafka
metadata:
  name: my-cluster
  annotations:
    sluice.dev/managed: "true"
spec:
  kafka:
    listeners:
      - {name: tls, port: 9093, type: internal, tls: true}
`,
		Mended: `
kind: Kafka
metadata:
  name: my-cluster
  annotations:
    sluice.dev/managed: "true"
spec:
  kafka:
    listeners:
      - {name: plain, port: 9092, type: internal, tls: false}
`,
	},
}
