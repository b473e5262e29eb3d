package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Modes of a rebalance.
const (
	ModeFull          = "full"
	ModeAddBrokers    = "add-brokers"
	ModeRemoveBrokers = "remove-brokers"
	ModeRemoveDisks   = "remove-disks"
)

// KafkaRebalance moves replicas between the brokers of a Kafka cluster.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=kr,categories=strimzi
// +kubebuilder:printcolumn:name="Cluster",type=string,JSONPath=`.metadata.labels.strimzi\.io/cluster`,description="The name of the Kafka cluster this resource rebalances"
// +kubebuilder:printcolumn:name="Template",type=string,JSONPath=`.metadata.annotations.strimzi\.io/rebalance-template`,description="If this rebalance resource is a template"
// +kubebuilder:printcolumn:name="Status",type=string,JSONPath=`.status.conditions[*].type`,description="Status of the current rebalancing operation"
type KafkaRebalance struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is what the user wants.
	// +optional
	Spec KafkaRebalanceSpec `json:"spec,omitempty"`
	// Status is what the operator saw.
	// +optional
	Status KafkaRebalanceStatus `json:"status,omitempty"`
}

// KafkaRebalanceList is a list of KafkaRebalance.
//
// +kubebuilder:object:root=true
type KafkaRebalanceList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []KafkaRebalance `json:"items"`
}

// KafkaRebalanceSpec is the specification of a rebalance.
type KafkaRebalanceSpec struct {
	// Mode is full, add-brokers, remove-brokers or remove-disks; full where
	// absent.
	// +optional
	Mode string `json:"mode,omitempty"`
	// Brokers to be filled or emptied.
	// +optional
	Brokers []int64 `json:"brokers,omitempty"`
	// Goals for Cruise Control.
	// +optional
	Goals []string `json:"goals,omitempty"`
	// RebalanceDisk moves replicas between the disks of a broker only.
	// +optional
	RebalanceDisk bool `json:"rebalanceDisk,omitempty"`
	// MoveReplicasOffVolumes lists the disks to be emptied.
	// +optional
	MoveReplicasOffVolumes []BrokerVolumes `json:"moveReplicasOffVolumes,omitempty"`
}

// BrokerVolumes names disks of one broker.
type BrokerVolumes struct {
	// BrokerID of the broker.
	// +optional
	BrokerID *int64 `json:"brokerId,omitempty"`
	// VolumeIDs of its JBOD volumes.
	// +optional
	VolumeIDs []int64 `json:"volumeIds,omitempty"`
}

// KafkaRebalanceStatus is what the operator saw of a rebalance.
type KafkaRebalanceStatus struct {
	// Conditions tell the state of the rebalance.
	// +optional
	Conditions []Condition `json:"conditions,omitempty"`
	// ObservedGeneration is the generation that was last reconciled.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// SessionID identifies the task to the engine that does it.
	// +optional
	SessionID string `json:"sessionId,omitempty"`
}
