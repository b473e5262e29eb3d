package validation

import apiv1 "github.com/sluice-kafka/sluice/api/v1"

// aboutMounts describes the rules for the mounts of containers.
var aboutMounts = []About{
	{
		Rule: "mount-placeholder", Kinds: podKinds, Severity: Refuse,
		Summary: "A mount is the same on every node: in one of a templated volume a placeholder is refused, in others it gives a warning.",
		Example: `
kind: KafkaConnect
spec:
  template:
    pod:
      templatedVolumes:
        - name: creds
          secret: {secretName: "creds-{nodeId}"}
    connectContainer:
      volumeMounts:
        - {name: creds, mountPath: "/mnt/creds-{nodeId}"}
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
		Rule: "mount-path", Kinds: podKinds, Severity: Refuse,
		Summary: "A volume is mounted at `/mnt` or below it, where it cannot hide files of the image.",
		Example: `
kind: KafkaConnect
spec:
  template:
    pod:
      volumes:
        - name: settings
          configMap: {name: settings}
    connectContainer:
      volumeMounts:
        - {name: settings, mountPath: /etc/settings}
`,
		Mended: `
kind: KafkaConnect
spec:
  template:
    pod:
      volumes:
        - name: settings
          configMap: {name: settings}
    connectContainer:
      volumeMounts:
        - {name: settings, mountPath: /mnt/settings}
`,
	},
	{
		Rule: "mount-path-duplicate", Kinds: podKinds, Severity: Refuse,
		Summary: "A container cannot mount two volumes at one path.",
		Example: `
kind: KafkaConnect
spec:
  template:
    pod:
      volumes:
        - name: settings
          configMap: {name: settings}
        - name: scripts
          configMap: {name: scripts}
    connectContainer:
      volumeMounts:
        - {name: settings, mountPath: /mnt/files}
        - {name: scripts, mountPath: /mnt/files}
`,
		Mended: `
kind: KafkaConnect
spec:
  template:
    pod:
      volumes:
        - name: settings
          configMap: {name: settings}
        - name: scripts
          configMap: {name: scripts}
    connectContainer:
      volumeMounts:
        - {name: settings, mountPath: /mnt/settings}
        - {name: scripts, mountPath: /mnt/scripts}
`,
	},
	{
		Rule:  "mount-of-no-volume",
		Kinds: []string{apiv1.KindKafkaNodePool, apiv1.KindKafkaConnect, apiv1.KindKafkaMirrorMaker2}, Severity: Refuse,
		Summary: "Kubernetes refuses pods with a mount that names no volume.",
		Example: `
kind: KafkaConnect
spec:
  template:
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
}
