package validation

// aboutVolumeSets describes the rules for how volumes, items and mounts fit together.
var aboutVolumeSets = []About{
	{
		Rule: "templated-volume-items-collide", Kinds: podKinds, Severity: Refuse,
		Summary: "Two items of a volume must not become the same file.",
		Example: `
kind: KafkaConnect
spec:
  template:
    pod:
      templatedVolumes:
        - name: keys
          secret:
            secretName: keys
            items:
              - {key: "{nodeId}.crt", path: tls}
              - {key: "{nodeId}.key", path: tls}
    connectContainer:
      volumeMounts:
        - {name: keys, mountPath: /mnt/keys}
`,
		Mended: `
kind: KafkaConnect
spec:
  template:
    pod:
      templatedVolumes:
        - name: keys
          secret:
            secretName: keys
            items:
              - {key: "{nodeId}.crt", path: tls.crt}
              - {key: "{nodeId}.key", path: tls.key}
    connectContainer:
      volumeMounts:
        - {name: keys, mountPath: /mnt/keys}
`,
	},
	{
		Rule: "templated-volume-claim-shared", Kinds: podKinds, Severity: Warn,
		Summary: "A claim's name without a placeholder is one claim for all nodes.",
		Example: `
kind: KafkaNodePool
spec:
  replicas: 3
  roles: [broker]
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
kind: KafkaNodePool
spec:
  replicas: 3
  roles: [broker]
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
	{
		Rule: "templated-volume-unmounted", Kinds: podKinds, Severity: Warn,
		Summary: "A templated volume that no container mounts is of no use.",
		Example: `
kind: KafkaConnect
spec:
  template:
    pod:
      templatedVolumes:
        - name: creds
          secret: {secretName: "creds-{nodeId}"}
`,
		Mended: `
kind: KafkaConnect
spec:
  template:
    pod:
      templatedVolumes:
        - name: creds
          secret: {secretName: "creds-{nodeId}"}
    connectContainer:
      volumeMounts:
        - {name: creds, mountPath: /mnt/creds}
`,
	},
	{
		Rule: "templated-volume-removed", Kinds: kafkaKind, Severity: Refuse,
		Summary: "A templated volume cannot go while the same object still mounts it.",
		Before: `
kind: Kafka
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
kind: Kafka
spec:
  kafka:
    template:
      kafkaContainer:
        volumeMounts:
          - {name: creds, mountPath: /mnt/creds}
`,
		Mended: `
kind: Kafka
spec:
  kafka:
    template: {}
`,
	},
}
