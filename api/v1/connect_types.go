package v1

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// KafkaConnect is a Kafka Connect cluster.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.replicas,statuspath=.status.replicas,selectorpath=.status.labelSelector
// +kubebuilder:resource:shortName=kc,categories=strimzi
// +kubebuilder:printcolumn:name="Desired replicas",type=integer,JSONPath=`.spec.replicas`,description="The desired number of Kafka Connect replicas"
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`,description="The state of the custom resource"
type KafkaConnect struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is what the user wants.
	// +optional
	Spec ConnectSpec `json:"spec,omitempty"`
	// Status is what the operator saw.
	// +optional
	Status ConnectStatus `json:"status,omitempty"`
}

// KafkaConnectList is a list of KafkaConnect.
//
// +kubebuilder:object:root=true
type KafkaConnectList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []KafkaConnect `json:"items"`
}

// KafkaMirrorMaker2 is a MirrorMaker 2 cluster, which runs in Kafka Connect.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.replicas,statuspath=.status.replicas,selectorpath=.status.labelSelector
// +kubebuilder:resource:path=kafkamirrormaker2s,shortName=kmm2,categories=strimzi
// +kubebuilder:printcolumn:name="Desired replicas",type=integer,JSONPath=`.spec.replicas`,description="The desired number of Kafka MirrorMaker 2 replicas"
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`,description="The state of the custom resource"
type KafkaMirrorMaker2 struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is what the user wants.
	// +optional
	Spec ConnectSpec `json:"spec,omitempty"`
	// Status is what the operator saw.
	// +optional
	Status ConnectStatus `json:"status,omitempty"`
}

// KafkaMirrorMaker2List is a list of KafkaMirrorMaker2.
//
// +kubebuilder:object:root=true
type KafkaMirrorMaker2List struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []KafkaMirrorMaker2 `json:"items"`
}

// ConnectSpec is what KafkaConnect and KafkaMirrorMaker2 have in common.
type ConnectSpec struct {
	// Replicas is the number of workers.
	// +optional
	Replicas *int64 `json:"replicas,omitempty"`
	// TLS of the connection to Kafka. Only the names of Secrets are read from it.
	// +optional
	TLS *apiextensionsv1.JSON `json:"tls,omitempty"`
	// Authentication to Kafka. Only the names of Secrets are read from it.
	// +optional
	Authentication *apiextensionsv1.JSON `json:"authentication,omitempty"`
	// Target of a MirrorMaker 2. Only its alias and the names of Secrets are read
	// from it.
	// +optional
	Target *apiextensionsv1.JSON `json:"target,omitempty"`
	// Mirrors of a MirrorMaker 2. Only aliases and the names of Secrets are read
	// from them.
	// +optional
	Mirrors *apiextensionsv1.JSON `json:"mirrors,omitempty"`
	// Template customises the generated resources.
	// +optional
	Template *ConnectTemplate `json:"template,omitempty"`
}

// ConnectTemplate customises what is generated for Connect workers.
type ConnectTemplate struct {
	// Pod template.
	// +optional
	Pod *PodTemplate `json:"pod,omitempty"`
	// ConnectContainer is the worker's container.
	// +optional
	ConnectContainer *ContainerTemplate `json:"connectContainer,omitempty"`
	// InitContainer is the init container named kafka-init.
	// +optional
	InitContainer *ContainerTemplate `json:"initContainer,omitempty"`
	// BuildPod is the pod that builds the Connect image.
	// +optional
	BuildPod *OtherPodTemplate `json:"buildPod,omitempty"`
}

// ConnectStatus is what the operator saw of the workers.
type ConnectStatus struct {
	// Conditions tell how the workers are.
	// +optional
	Conditions []Condition `json:"conditions,omitempty"`
	// ObservedGeneration is the generation that was last reconciled.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// Replicas is the number of workers that exist.
	// +optional
	Replicas int64 `json:"replicas,omitempty"`
	// LabelSelector selects the workers' pods.
	// +optional
	LabelSelector string `json:"labelSelector,omitempty"`
}
