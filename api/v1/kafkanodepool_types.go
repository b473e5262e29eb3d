package v1

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Roles of a node.
const (
	RoleBroker     = "broker"
	RoleController = "controller"
)

// Storage types.
const (
	StorageEphemeral       = "ephemeral"
	StoragePersistentClaim = "persistent-claim"
	StorageJBOD            = "jbod"
)

// KafkaNodePool is a set of like nodes of a Kafka cluster.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.replicas,statuspath=.status.replicas,selectorpath=.status.labelSelector
// +kubebuilder:resource:shortName=knp,categories=strimzi
// +kubebuilder:printcolumn:name="Desired replicas",type=integer,JSONPath=`.spec.replicas`,description="The desired number of replicas"
// +kubebuilder:printcolumn:name="Roles",type=string,JSONPath=`.status.roles`,description="Roles of the nodes in the pool"
// +kubebuilder:printcolumn:name="NodeIds",type=string,JSONPath=`.status.nodeIds`,description="Node IDs used by Kafka nodes in this pool"
// +kubebuilder:printcolumn:name="Replicas",type=integer,JSONPath=`.status.replicas`,description="The number of nodes that exist"
// +kubebuilder:printcolumn:name="Warnings",type=string,JSONPath=`.status.conditions[?(@.type=="Warning")].status`,description="Warnings related to the custom resource"
// +kubebuilder:printcolumn:name="Reasons",type=string,priority=1,JSONPath=`.status.conditions[*].reason`,description="What the pool waits for, and what to know"
// +kubebuilder:printcolumn:name="Messages",type=string,priority=1,JSONPath=`.status.conditions[*].message`,description="The reasons in full"
type KafkaNodePool struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is what the user wants.
	// +optional
	Spec KafkaNodePoolSpec `json:"spec,omitempty"`
	// Status is what the operator saw.
	// +optional
	Status KafkaNodePoolStatus `json:"status,omitempty"`
}

// KafkaNodePoolList is a list of KafkaNodePool.
//
// +kubebuilder:object:root=true
type KafkaNodePoolList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []KafkaNodePool `json:"items"`
}

// KafkaNodePoolSpec is the specification of a pool.
type KafkaNodePoolSpec struct {
	// Replicas is the number of nodes.
	// +optional
	Replicas *int64 `json:"replicas,omitempty"`
	// Roles of the nodes: broker, controller or both.
	// +optional
	Roles []string `json:"roles,omitempty"`
	// Resources of every node, as Kubernetes' ResourceRequirements.
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	// +optional
	Resources *apiextensionsv1.JSON `json:"resources,omitempty"`
	// JVMOptions of every node; they replace the Kafka's whole.
	// +optional
	JVMOptions *JVMOptions `json:"jvmOptions,omitempty"`
	// Storage of every node.
	// +optional
	Storage *Storage `json:"storage,omitempty"`
	// Template customises the generated resources.
	// +optional
	Template *KafkaTemplate `json:"template,omitempty"`
}

// Storage of a node.
type Storage struct {
	SingleVolume `json:",inline"`
	// Volumes of storage type jbod.
	// +optional
	Volumes []SingleVolume `json:"volumes,omitempty"`
}

// SingleVolume is one disk of a node.
type SingleVolume struct {
	// ID of the volume, unique in its node; needed for jbod.
	// +optional
	ID *int64 `json:"id,omitempty"`
	// Type is ephemeral, persistent-claim or, for the whole storage, jbod.
	// +optional
	Type string `json:"type,omitempty"`
	// Size of a persistent claim, as a Kubernetes quantity.
	// +optional
	Size string `json:"size,omitempty"`
	// DeleteClaim deletes the claim together with its node.
	// +optional
	DeleteClaim bool `json:"deleteClaim,omitempty"`
	// Class is the storage class of a persistent claim.
	// +optional
	Class string `json:"class,omitempty"`
	// Selector of the volumes that a persistent claim may get, as labels.
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	// +optional
	Selector *apiextensionsv1.JSON `json:"selector,omitempty"`
	// VolumeAttributesClass of a persistent claim.
	// +optional
	VolumeAttributesClass string `json:"volumeAttributesClass,omitempty"`
	// SizeLimit of an ephemeral volume, as a Kubernetes quantity.
	// +optional
	SizeLimit string `json:"sizeLimit,omitempty"`
	// KraftMetadata set to shared puts the metadata log on this volume.
	// +optional
	KraftMetadata string `json:"kraftMetadata,omitempty"`
}

// KafkaNodePoolStatus is what the operator saw of a pool.
type KafkaNodePoolStatus struct {
	// Conditions tell how the pool is.
	// +optional
	Conditions []Condition `json:"conditions,omitempty"`
	// ObservedGeneration is the generation that was last reconciled.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// NodeIDs in use.
	// +optional
	NodeIDs []int64 `json:"nodeIds,omitempty"`
	// ClusterID is Kafka's own cluster ID.
	// +optional
	ClusterID string `json:"clusterId,omitempty"`
	// Roles of the nodes.
	// +optional
	Roles []string `json:"roles,omitempty"`
	// Replicas is the number of nodes that exist.
	// +optional
	Replicas int64 `json:"replicas,omitempty"`
	// LabelSelector selects the pool's pods.
	// +optional
	LabelSelector string `json:"labelSelector,omitempty"`
}
