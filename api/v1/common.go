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

// MetadataTemplate is the labels and annotations that a generated object gets
// besides its own.
type MetadataTemplate struct {
	// Labels of the object; its own win.
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	// +optional
	Labels *apiextensionsv1.JSON `json:"labels,omitempty"`
	// Annotations of the object; its own win.
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	// +optional
	Annotations *apiextensionsv1.JSON `json:"annotations,omitempty"`
}

// ResourceTemplate customises a generated object.
type ResourceTemplate struct {
	// Metadata of the object.
	// +optional
	Metadata *MetadataTemplate `json:"metadata,omitempty"`
}

// PodTemplate is the part of template.pod that Sluice acts on. What is a
// Kubernetes type in it is kept as it was written, so that one object which is
// not of that type leaves the others readable.
type PodTemplate struct {
	// Metadata of the pod.
	// +optional
	Metadata *MetadataTemplate `json:"metadata,omitempty"`
	// ImagePullSecrets are Kubernetes' LocalObjectReferences.
	// +optional
	ImagePullSecrets []apiextensionsv1.JSON `json:"imagePullSecrets,omitempty"`
	// SecurityContext is Kubernetes' PodSecurityContext; it replaces Sluice's own
	// whole.
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	// +optional
	SecurityContext *apiextensionsv1.JSON `json:"securityContext,omitempty"`
	// TerminationGracePeriodSeconds is how long a node may take to stop; 30 where
	// absent.
	// +optional
	TerminationGracePeriodSeconds *int64 `json:"terminationGracePeriodSeconds,omitempty"`
	// Affinity is Kubernetes' Affinity.
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	// +optional
	Affinity *apiextensionsv1.JSON `json:"affinity,omitempty"`
	// Tolerations are Kubernetes' Tolerations.
	// +optional
	Tolerations []apiextensionsv1.JSON `json:"tolerations,omitempty"`
	// TopologySpreadConstraints are Kubernetes' TopologySpreadConstraints.
	// +optional
	TopologySpreadConstraints []apiextensionsv1.JSON `json:"topologySpreadConstraints,omitempty"`
	// PriorityClassName of the pod.
	// +optional
	PriorityClassName string `json:"priorityClassName,omitempty"`
	// SchedulerName of the pod.
	// +optional
	SchedulerName string `json:"schedulerName,omitempty"`
	// HostAliases are Kubernetes' HostAliases.
	// +optional
	HostAliases []apiextensionsv1.JSON `json:"hostAliases,omitempty"`
	// DNSConfig is Kubernetes' PodDNSConfig.
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	// +optional
	DNSConfig *apiextensionsv1.JSON `json:"dnsConfig,omitempty"`
	// DNSPolicy of the pod.
	// +optional
	DNSPolicy string `json:"dnsPolicy,omitempty"`
	// EnableServiceLinks puts the namespace's services into the environment.
	// +optional
	EnableServiceLinks *bool `json:"enableServiceLinks,omitempty"`
	// HostUsers set to false runs the pod in a user namespace.
	// +optional
	HostUsers *bool `json:"hostUsers,omitempty"`
	// TmpDirSizeLimit bounds /tmp, as a Kubernetes quantity.
	// +optional
	TmpDirSizeLimit string `json:"tmpDirSizeLimit,omitempty"`
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
	// Env are Kubernetes' EnvVars; those that Sluice itself sets win.
	// +optional
	Env []apiextensionsv1.JSON `json:"env,omitempty"`
	// SecurityContext is Kubernetes' SecurityContext; it replaces Sluice's own
	// whole.
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	// +optional
	SecurityContext *apiextensionsv1.JSON `json:"securityContext,omitempty"`
	// VolumeMounts are added to the container.
	// +optional
	VolumeMounts []corev1.VolumeMount `json:"volumeMounts,omitempty"`
}

// JVMOptions of a node.
type JVMOptions struct {
	// XX holds -XX options: true and false switch one on and off. They replace
	// Kafka's own choice whole.
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	// +optional
	XX *apiextensionsv1.JSON `json:"-XX,omitempty"`
	// Xms is the initial heap, as Java writes it.
	// +optional
	Xms string `json:"-Xms,omitempty"`
	// Xmx is the largest heap, as Java writes it.
	// +optional
	Xmx string `json:"-Xmx,omitempty"`
	// GCLoggingEnabled logs the garbage collector's work.
	// +optional
	GCLoggingEnabled bool `json:"gcLoggingEnabled,omitempty"`
	// JavaSystemProperties are set with -D.
	// +optional
	JavaSystemProperties []SystemProperty `json:"javaSystemProperties,omitempty"`
}

// SystemProperty of a JVM.
type SystemProperty struct {
	// Name of the property.
	// +optional
	Name string `json:"name,omitempty"`
	// Value of the property.
	// +optional
	Value string `json:"value,omitempty"`
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
