package validation

import apiv1 "github.com/sluice-kafka/sluice/api/v1"

// aboutVolumes describes the rules for the volumes of a pod template.
var aboutVolumes = []About{
	{
		Rule:  "templated-volumes-misplaced",
		Kinds: []string{apiv1.KindKafka, apiv1.KindKafkaConnect, apiv1.KindKafkaMirrorMaker2}, Severity: Refuse,
		Summary: "Templated volumes need pods with a node ID; those of a build, the entity operator, Cruise Control and the exporter have none.",
		Example: `
kind: KafkaConnect
spec:
  template:
    buildPod:
      templatedVolumes:
        - name: creds
          secret: {secretName: creds}
`,
		Mended: `
kind: KafkaConnect
spec:
  template:
    buildPod:
      volumes:
        - name: creds
          secret: {secretName: creds}
`,
	},
	{
		Rule: "templated-volumes-unreadable", Kinds: podKinds, Severity: Refuse,
		Summary: "The annotation `sluice.dev/pod-templated-volumes` holds a list of templated volumes in YAML or JSON.",
		Example: `
kind: KafkaConnect
metadata:
  name: my-connect
  annotations:
    sluice.dev/pod-templated-volumes: "creds-{nodeId}"
`,
		Mended: `
kind: KafkaConnect
metadata:
  name: my-connect
  annotations:
    sluice.dev/pod-templated-volumes: |
      - name: creds
        secret: {secretName: "creds-{nodeId}"}
spec:
  template:
    connectContainer:
      volumeMounts:
        - {name: creds, mountPath: /mnt/creds}
`,
	},
	{
		Rule: "templated-volumes-annotation-unused", Kinds: podKinds, Severity: Warn,
		Summary: "Where the field `templatedVolumes` is given, the annotation is ignored.",
		Example: `
kind: KafkaConnect
metadata:
  name: my-connect
  annotations:
    sluice.dev/pod-templated-volumes: '[{name: keys, secret: {secretName: "keys-{nodeId}"}}]'
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
		Mended: `
kind: KafkaConnect
spec:
  template:
    pod:
      templatedVolumes:
        - name: creds
          secret: {secretName: "creds-{nodeId}"}
        - name: keys
          secret: {secretName: "keys-{nodeId}"}
    connectContainer:
      volumeMounts:
        - {name: creds, mountPath: /mnt/creds}
        - {name: keys, mountPath: /mnt/keys}
`,
	},
	{
		Rule: "volume-name-illegal", Kinds: podKinds, Severity: Refuse,
		Summary: "A volume's name is 1 to 63 lower-case letters, digits and `-` (Strimzi also wants two characters at least).",
		Example: `
kind: KafkaConnect
spec:
  template:
    pod:
      volumes:
        - name: My_Volume
          configMap: {name: settings}
`,
		Mended: `
kind: KafkaConnect
spec:
  template:
    pod:
      volumes:
        - name: my-volume
          configMap: {name: settings}
`,
	},
	{
		Rule: "volume-name-duplicate", Kinds: podKinds, Severity: Refuse,
		Summary: "A pod cannot have two volumes of one name.",
		Example: `
kind: KafkaConnect
spec:
  template:
    pod:
      volumes:
        - name: creds
          configMap: {name: settings}
      templatedVolumes:
        - name: creds
          secret: {secretName: "creds-{nodeId}"}
    connectContainer:
      volumeMounts:
        - {name: creds, mountPath: /mnt/creds}
`,
		Mended: `
kind: KafkaConnect
spec:
  template:
    pod:
      volumes:
        - name: settings
          configMap: {name: settings}
      templatedVolumes:
        - name: creds
          secret: {secretName: "creds-{nodeId}"}
    connectContainer:
      volumeMounts:
        - {name: creds, mountPath: /mnt/creds}
`,
	},
	{
		Rule: "volume-name-reserved", Kinds: podKinds, Severity: Refuse,
		Summary: "The operator gives these pods volumes of its own; names that it uses only sometimes give a warning.",
		Example: `
kind: KafkaNodePool
spec:
  replicas: 3
  roles: [broker]
  template:
    pod:
      volumes:
        - name: data-0
          configMap: {name: settings}
`,
		Mended: `
kind: KafkaNodePool
spec:
  replicas: 3
  roles: [broker]
  template:
    pod:
      volumes:
        - name: settings
          configMap: {name: settings}
`,
	},
	{
		Rule: "templated-volume-source", Kinds: podKinds, Severity: Refuse,
		Summary: "A templated volume has exactly one of `secret`, `configMap` and `persistentVolumeClaim`.",
		Example: `
kind: KafkaConnect
spec:
  template:
    pod:
      templatedVolumes:
        - name: scratch
          emptyDir: {}
    connectContainer:
      volumeMounts:
        - {name: scratch, mountPath: /mnt/scratch}
`,
		Mended: `
kind: KafkaConnect
spec:
  template:
    pod:
      volumes:
        - name: scratch
          emptyDir: {}
    connectContainer:
      volumeMounts:
        - {name: scratch, mountPath: /mnt/scratch}
`,
	},
	{
		Rule: "templated-volume-placeholder", Kinds: podKinds, Severity: Refuse,
		Summary: "There are two placeholders, `{nodeId}` and `{nodePodName}`; in an item's path other braces give a warning.",
		Example: `
kind: KafkaConnect
spec:
  template:
    pod:
      templatedVolumes:
        - name: creds
          secret: {secretName: "creds-{nodeID}"}
    connectContainer:
      volumeMounts:
        - {name: creds, mountPath: /mnt/creds}
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
		Rule: "volume-placeholder-literal", Kinds: podKinds, Severity: Warn,
		Summary: "No placeholder is replaced in plain `volumes`.",
		Example: `
kind: KafkaConnect
spec:
  template:
    pod:
      volumes:
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
		Rule: "templated-volume-expansion", Kinds: podKinds, Severity: Refuse,
		Summary: "What a placeholder becomes has to be a legal name, key or relative path for every node.",
		Example: `
kind: KafkaConnect
spec:
  template:
    pod:
      templatedVolumes:
        - name: creds
          secret:
            secretName: Creds-{nodeId}
    connectContainer:
      volumeMounts:
        - {name: creds, mountPath: /mnt/creds}
`,
		Mended: `
kind: KafkaConnect
spec:
  template:
    pod:
      templatedVolumes:
        - name: creds
          secret:
            secretName: creds-{nodeId}
    connectContainer:
      volumeMounts:
        - {name: creds, mountPath: /mnt/creds}
`,
	},
}
