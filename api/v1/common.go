package v1

import (
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// Condition is one of Strimzi's status conditions.
type Condition struct {
	// Type identifies the condition.
	// +optional
	Type string `json:"type,omitempty"`
	// Status is True, False or Unknown.
	// +optional
	Status string `json:"status,omitempty"`
	// LastTransitionTime is when the status last changed, as
	// yyyy-MM-ddTHH:mm:ssZ in UTC.
	// +optional
	LastTransitionTime string `json:"lastTransitionTime,omitempty"`
	// Reason is a single word in CamelCase.
	// +optional
	Reason string `json:"reason,omitempty"`
	// Message is for people.
	// +optional
	Message string `json:"message,omitempty"`
}

// Config maps option names to values as the user wrote them. A null stays
// visible as a JSON value with no raw bytes.
type Config map[string]apiextensionsv1.JSON

// PodTemplate is the part of template.pod that Sluice acts on.
type PodTemplate struct {
	// Volumes are added alike to every pod.
	// +optional
	Volumes []AdditionalVolume `json:"volumes,omitempty"`
	// TemplatedVolumes are added to every pod after {nodeId} and {nodePodName}
	// in them were replaced by the pod's own.
	// +optional
	TemplatedVolumes []TemplatedVolume `json:"templatedVolumes,omitempty"`
}

// AdditionalVolume is a volume that is the same in every pod.
type AdditionalVolume struct {
	// Name of the volume, for mounts to refer to.
	// +optional
	Name string `json:"name,omitempty"`
	// Secret to mount.
	// +optional
	Secret *corev1.SecretVolumeSource `json:"secret,omitempty"`
	// ConfigMap to mount.
	// +optional
	ConfigMap *corev1.ConfigMapVolumeSource `json:"configMap,omitempty"`
	// EmptyDir to mount.
	// +optional
	EmptyDir *apiextensionsv1.JSON `json:"emptyDir,omitempty"`
	// PersistentVolumeClaim to mount.
	// +optional
	PersistentVolumeClaim *corev1.PersistentVolumeClaimVolumeSource `json:"persistentVolumeClaim,omitempty"`
	// CSI volume to mount.
	// +optional
	CSI *apiextensionsv1.JSON `json:"csi,omitempty"`
	// Image volume to mount.
	// +optional
	Image *apiextensionsv1.JSON `json:"image,omitempty"`
}

// TemplatedVolume is a volume whose source differs from pod to pod. Exactly one
// of secret, configMap and persistentVolumeClaim is given.
type TemplatedVolume struct {
	// Name of the volume, the same in every pod.
	// +optional
	Name string `json:"name,omitempty"`
	// Secret to mount; its name and its items' keys and paths are expanded.
	// +optional
	Secret *corev1.SecretVolumeSource `json:"secret,omitempty"`
	// ConfigMap to mount; its name and its items' keys and paths are expanded.
	// +optional
	ConfigMap *corev1.ConfigMapVolumeSource `json:"configMap,omitempty"`
	// PersistentVolumeClaim to mount; its claimName is expanded.
	// +optional
	PersistentVolumeClaim *corev1.PersistentVolumeClaimVolumeSource `json:"persistentVolumeClaim,omitempty"`
	// EmptyDir cannot be templated; it is read so that it can be refused.
	// +optional
	EmptyDir *apiextensionsv1.JSON `json:"emptyDir,omitempty"`
	// CSI cannot be templated; it is read so that it can be refused.
	// +optional
	CSI *apiextensionsv1.JSON `json:"csi,omitempty"`
	// Image cannot be templated; it is read so that it can be refused.
	// +optional
	Image *apiextensionsv1.JSON `json:"image,omitempty"`
}

// ContainerTemplate is the part of a container's template that Sluice acts on.
type ContainerTemplate struct {
	// VolumeMounts are added to the container.
	// +optional
	VolumeMounts []corev1.VolumeMount `json:"volumeMounts,omitempty"`
}

// OtherTemplate is the template of a component whose pods have no stable
// identity: templated volumes do not work there.
type OtherTemplate struct {
	// Pod template.
	// +optional
	Pod *OtherPodTemplate `json:"pod,omitempty"`
}

// OtherPodTemplate is a pod template under which templated volumes do not work.
type OtherPodTemplate struct {
	// TemplatedVolumes do not work here; they are read so that they can be
	// refused.
	// +optional
	TemplatedVolumes *apiextensionsv1.JSON `json:"templatedVolumes,omitempty"`
}
