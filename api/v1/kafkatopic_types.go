package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// KafkaTopic is a topic in a Kafka cluster.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=kt,categories=strimzi
// +kubebuilder:printcolumn:name="Cluster",type=string,JSONPath=`.metadata.labels.strimzi\.io/cluster`,description="The name of the Kafka cluster this topic belongs to"
// +kubebuilder:printcolumn:name="Partitions",type=integer,JSONPath=`.spec.partitions`,description="The desired number of partitions in the topic"
// +kubebuilder:printcolumn:name="Replication factor",type=integer,JSONPath=`.spec.replicas`,description="The desired number of replicas of each partition"
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`,description="The state of the custom resource"
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`,description="Why the topic is not ready"
// +kubebuilder:printcolumn:name="Observed partitions",type=integer,JSONPath=`.status.partitions`,description="The partitions that the topic has in Kafka",priority=1
// +kubebuilder:printcolumn:name="Observed replicas",type=integer,JSONPath=`.status.replicas`,description="The replicas that each partition has in Kafka",priority=1
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type KafkaTopic struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is what the user wants.
	// +optional
	Spec KafkaTopicSpec `json:"spec,omitempty"`
	// Status is what the operator saw.
	// +optional
	Status KafkaTopicStatus `json:"status,omitempty"`
}

// KafkaTopicList is a list of KafkaTopic.
//
// +kubebuilder:object:root=true
type KafkaTopicList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []KafkaTopic `json:"items"`
}

// KafkaTopicSpec is the specification of a topic.
type KafkaTopicSpec struct {
	// TopicName in Kafka; metadata.name where absent.
	// +optional
	TopicName *string `json:"topicName,omitempty"`
	// Partitions of the topic; the broker's num.partitions where absent.
	// +optional
	Partitions *int64 `json:"partitions,omitempty"`
	// Replicas of each partition; the broker's default.replication.factor where
	// absent.
	// +optional
	Replicas *int64 `json:"replicas,omitempty"`
	// Config holds topic options.
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	// +optional
	Config Config `json:"config,omitempty"`
}

// KafkaTopicStatus is what the operator saw of a topic.
type KafkaTopicStatus struct {
	// Conditions tell how the topic is: one main condition, then warnings.
	// +optional
	Conditions []Condition `json:"conditions,omitempty"`
	// ObservedGeneration is the generation that was last reconciled.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// TopicName in Kafka, once this resource manages the topic.
	// +optional
	TopicName string `json:"topicName,omitempty"`
	// TopicID in Kafka; it changes only when the topic is deleted and created
	// again.
	// +optional
	TopicID string `json:"topicId,omitempty"`
	// Partitions that the topic has in Kafka.
	// +optional
	Partitions int64 `json:"partitions,omitempty"`
	// Replicas that each partition has in Kafka.
	// +optional
	Replicas int64 `json:"replicas,omitempty"`
	// ReplicasChange follows a change of the replication factor.
	// +optional
	ReplicasChange *ReplicasChange `json:"replicasChange,omitempty"`
}

// ReplicasChange follows a change of the replication factor.
type ReplicasChange struct {
	// TargetReplicas is the factor being moved to.
	// +optional
	TargetReplicas int64 `json:"targetReplicas,omitempty"`
	// State is pending or ongoing.
	// +optional
	State string `json:"state,omitempty"`
	// Message tells of an error that may pass.
	// +optional
	Message string `json:"message,omitempty"`
	// SessionID identifies the change to the engine that does it.
	// +optional
	SessionID string `json:"sessionId,omitempty"`
}
