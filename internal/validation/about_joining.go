package validation

import apiv1 "github.com/sluice-kafka/sluice/api/v1"

var kafkaAndPool = []string{apiv1.KindKafka, apiv1.KindKafkaNodePool}

// aboutJoining describes the rules that look at a Kafka and its pools together.
var aboutJoining = []About{
	{
		Rule: "join-replication-factor", Kinds: kafkaAndPool, Severity: Refuse, Joining: true,
		Summary: "No topic can have more replicas than there are brokers.",
		Beside: `
kind: KafkaNodePool
metadata:
  name: brokers
  labels:
    strimzi.io/cluster: my-cluster
spec:
  replicas: 2
  roles: [broker]
`,
		Example: `
kind: Kafka
metadata:
  name: my-cluster
spec:
  kafka:
    config:
      default.replication.factor: 3
`,
		Mended: `
kind: Kafka
metadata:
  name: my-cluster
spec:
  kafka:
    config:
      default.replication.factor: 2
`,
	},
	{
		Rule: "join-mount-of-no-volume", Kinds: kafkaAndPool, Severity: Refuse, Joining: true,
		Summary: "Neither the pool nor its Kafka has the volume that a mount names.",
		Beside: `
kind: KafkaNodePool
metadata:
  name: brokers
  labels:
    strimzi.io/cluster: my-cluster
spec:
  replicas: 3
  roles: [broker]
`,
		Example: `
kind: Kafka
metadata:
  name: my-cluster
spec:
  kafka:
    template:
      kafkaContainer:
        volumeMounts:
          - {name: creds, mountPath: /mnt/creds}
`,
		Mended: `
kind: Kafka
metadata:
  name: my-cluster
spec:
  kafka:
    template:
      pod:
        templatedVolumes:
          - name: creds
            secret: {secretName: "creds-{nodeId}"}
      kafkaContainer:
        volumeMounts:
          - {name: creds, mountPath: /mnt/creds}
`,
	},
	{
		Rule: "join-templated-volumes-unused", Kinds: kafkaKind, Severity: Warn, Joining: true,
		Summary: "The Kafka's templated volumes apply to no node, since every pool has a pod template of its own.",
		Beside: `
kind: KafkaNodePool
metadata:
  name: brokers
  labels:
    strimzi.io/cluster: my-cluster
spec:
  replicas: 3
  roles: [broker]
  template:
    pod:
      volumes:
        - name: creds
          secret: {secretName: creds}
`,
		Example: `
kind: Kafka
metadata:
  name: my-cluster
spec:
  kafka:
    template:
      pod:
        templatedVolumes:
          - name: creds
            secret: {secretName: "creds-{nodeId}"}
      kafkaContainer:
        volumeMounts:
          - {name: creds, mountPath: /mnt/creds}
`,
		Mended: `
kind: Kafka
metadata:
  name: my-cluster
spec:
  kafka:
    template:
      kafkaContainer:
        volumeMounts:
          - {name: creds, mountPath: /mnt/creds}
`,
	},
	{
		Rule: "join-templated-volumes-dropped", Kinds: poolKind, Severity: Warn, Joining: true,
		Summary: "A pool's own pod template replaces its Kafka's whole, so the Kafka's templated volumes are missing there.",
		Beside: `
kind: Kafka
metadata:
  name: my-cluster
spec:
  kafka:
    template:
      pod:
        templatedVolumes:
          - name: creds
            secret: {secretName: "creds-{nodeId}"}
      kafkaContainer:
        volumeMounts:
          - {name: creds, mountPath: /mnt/creds}
`,
		Example: `
kind: KafkaNodePool
metadata:
  name: brokers
  labels:
    strimzi.io/cluster: my-cluster
spec:
  replicas: 3
  roles: [broker]
  template:
    pod: {}
    kafkaContainer: {}
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
  template:
    pod:
      templatedVolumes:
        - name: creds
          secret: {secretName: "creds-{nodeId}"}
`,
	},
	{
		Rule: "join-templated-volume-expansion", Kinds: kafkaAndPool, Severity: Refuse, Joining: true,
		Summary: "With the names of a pool's nodes, a placeholder in the Kafka's templated volumes becomes no legal name.",
		Beside: `
kind: Kafka
metadata:
  name: my-cluster
spec:
  kafka:
    template:
      pod:
        templatedVolumes:
          - name: creds
            secret: {secretName: "{nodePodName}-{nodePodName}-{nodePodName}-{nodePodName}-{nodePodName}-{nodePodName}"}
      kafkaContainer:
        volumeMounts:
          - {name: creds, mountPath: /mnt/creds}
`,
		Example: `
kind: KafkaNodePool
metadata:
  name: brokers-of-the-second-data-centre-in-europe
  labels:
    strimzi.io/cluster: my-cluster
spec:
  replicas: 3
  roles: [broker]
`,
		Mended: `
kind: KafkaNodePool
metadata:
  name: brokers-2
  labels:
    strimzi.io/cluster: my-cluster
spec:
  replicas: 3
  roles: [broker]
`,
	},
	{
		Rule: "join-templated-volume-claim-shared", Kinds: kafkaAndPool, Severity: Warn, Joining: true,
		Summary: "A claim's name without a placeholder in the Kafka's templated volumes is one claim for all nodes of its pools.",
		Beside: `
kind: KafkaNodePool
metadata:
  name: brokers
  labels:
    strimzi.io/cluster: my-cluster
spec:
  replicas: 3
  roles: [broker]
`,
		Example: `
kind: Kafka
metadata:
  name: my-cluster
spec:
  kafka:
    template:
      pod:
        templatedVolumes:
          - name: archive
            persistentVolumeClaim: {claimName: archive}
      kafkaContainer:
        volumeMounts:
          - {name: archive, mountPath: /mnt/archive}
`,
		Mended: `
kind: Kafka
metadata:
  name: my-cluster
spec:
  kafka:
    template:
      pod:
        templatedVolumes:
          - name: archive
            persistentVolumeClaim: {claimName: "archive-{nodeId}"}
      kafkaContainer:
        volumeMounts:
          - {name: archive, mountPath: /mnt/archive}
`,
	},
}
