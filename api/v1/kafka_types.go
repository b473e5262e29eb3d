package v1

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ListenerInternal is the type of a listener inside Kubernetes.
const ListenerInternal = "internal"

// Sources of a node's rack.
const (
	RackTopologyLabel       = "topology-label"
	RackEnvironmentVariable = "environment-variable"
)

// Kafka is a Kafka cluster.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=k,categories=strimzi
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`,description="The state of the custom resource"
// +kubebuilder:printcolumn:name="Warnings",type=string,JSONPath=`.status.conditions[?(@.type=="Warning")].status`,description="Warnings related to the custom resource"
// +kubebuilder:printcolumn:name="Kafka version",type=string,JSONPath=`.status.kafkaVersion`,description="The Kafka version used by the cluster"
// +kubebuilder:printcolumn:name="Metadata version",type=string,JSONPath=`.status.kafkaMetadataVersion`,description="The Kafka metadata version used by the cluster"
// +kubebuilder:printcolumn:name="Reasons",type=string,JSONPath=`.status.conditions[*].reason`,description="Why the cluster is not ready, what it waits for, and what to know"
// +kubebuilder:printcolumn:name="Messages",type=string,priority=1,JSONPath=`.status.conditions[*].message`,description="The reasons in full"
type Kafka struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is what the user wants.
	// +optional
	Spec KafkaSpec `json:"spec,omitempty"`
	// Status is what the operator saw.
	// +optional
	Status KafkaStatus `json:"status,omitempty"`
}

// KafkaList is a list of Kafka.
//
// +kubebuilder:object:root=true
type KafkaList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Kafka `json:"items"`
}

// KafkaSpec is the specification of a Kafka cluster.
type KafkaSpec struct {
	// Kafka configures the nodes.
	// +optional
	Kafka KafkaClusterSpec `json:"kafka,omitempty"`
	// EntityOperator configures Strimzi's topic and user operators.
	// +optional
	EntityOperator *EntityOperatorSpec `json:"entityOperator,omitempty"`
	// CruiseControl configures Cruise Control.
	// +optional
	CruiseControl *CruiseControlSpec `json:"cruiseControl,omitempty"`
	// KafkaExporter configures the Kafka Exporter.
	// +optional
	KafkaExporter *KafkaExporterSpec `json:"kafkaExporter,omitempty"`
	// ClusterCA configures the authority that signs the nodes' certificates.
	// +optional
	ClusterCA *apiextensionsv1.JSON `json:"clusterCa,omitempty"`
	// ClientsCA configures the authority that signs the users' certificates.
	// +optional
	ClientsCA *apiextensionsv1.JSON `json:"clientsCa,omitempty"`
	// MaintenanceTimeWindows are when certificates may be renewed.
	// +optional
	MaintenanceTimeWindows *apiextensionsv1.JSON `json:"maintenanceTimeWindows,omitempty"`
}

// KafkaClusterSpec configures the nodes of a Kafka cluster.
type KafkaClusterSpec struct {
	// Version of Kafka; the newest supported one where absent.
	// +optional
	Version string `json:"version,omitempty"`
	// MetadataVersion is the finalized KRaft metadata version.
	// +optional
	MetadataVersion string `json:"metadataVersion,omitempty"`
	// Image of the nodes' containers.
	// +optional
	Image string `json:"image,omitempty"`
	// Listeners for clients.
	// +optional
	Listeners []KafkaListener `json:"listeners,omitempty"`
	// Config holds broker options.
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	// +optional
	Config Config `json:"config,omitempty"`
	// Template customises the generated resources; a pool's own template.pod
	// replaces this one whole.
	// +optional
	Template *KafkaTemplate `json:"template,omitempty"`
	// JVMOptions of the nodes; a pool's own replace them whole.
	// +optional
	JVMOptions *JVMOptions `json:"jvmOptions,omitempty"`
	// Rack tells where a node's rack is read from.
	// +optional
	Rack *Rack `json:"rack,omitempty"`
	// Authorization of clients.
	// +optional
	Authorization *apiextensionsv1.JSON `json:"authorization,omitempty"`
	// BrokerRackInitImage is the image of the container that reads the rack.
	// +optional
	BrokerRackInitImage *apiextensionsv1.JSON `json:"brokerRackInitImage,omitempty"`
	// JMXOptions configure the nodes' JMX port.
	// +optional
	JMXOptions *apiextensionsv1.JSON `json:"jmxOptions,omitempty"`
	// MetricsConfig configures a metrics exporter in the nodes.
	// +optional
	MetricsConfig *apiextensionsv1.JSON `json:"metricsConfig,omitempty"`
	// Logging configures the nodes' log levels.
	// +optional
	Logging *apiextensionsv1.JSON `json:"logging,omitempty"`
	// LivenessProbe of the nodes.
	// +optional
	LivenessProbe *apiextensionsv1.JSON `json:"livenessProbe,omitempty"`
	// ReadinessProbe of the nodes.
	// +optional
	ReadinessProbe *apiextensionsv1.JSON `json:"readinessProbe,omitempty"`
	// TieredStorage configures a remote storage manager.
	// +optional
	TieredStorage *apiextensionsv1.JSON `json:"tieredStorage,omitempty"`
	// Quotas configure a quota plugin.
	// +optional
	Quotas *apiextensionsv1.JSON `json:"quotas,omitempty"`
}

// Rack tells where a node's rack is read from.
type Rack struct {
	// Type is topology-label or environment-variable; topology-label where
	// absent.
	// +optional
	Type string `json:"type,omitempty"`
	// TopologyKey is the label of the Kubernetes node that names its rack.
	// +optional
	TopologyKey string `json:"topologyKey,omitempty"`
	// EnvVarName is the variable that names the rack, for type
	// environment-variable.
	// +optional
	EnvVarName *apiextensionsv1.JSON `json:"envVarName,omitempty"`
}

// KafkaListener is one listener for clients.
type KafkaListener struct {
	// Name of the listener, unique in the cluster.
	// +optional
	Name string `json:"name,omitempty"`
	// Port inside Kubernetes, unique in the cluster.
	// +optional
	Port int64 `json:"port,omitempty"`
	// Type is internal, cluster-ip, nodeport, loadbalancer, ingress or route.
	// +optional
	Type string `json:"type,omitempty"`
	// TLS encrypts the listener.
	// +optional
	TLS bool `json:"tls,omitempty"`
	// Authentication of clients.
	// +optional
	Authentication *apiextensionsv1.JSON `json:"authentication,omitempty"`
	// Configuration holds further settings of the listener.
	// +optional
	Configuration *apiextensionsv1.JSON `json:"configuration,omitempty"`
	// NetworkPolicyPeers are who may connect.
	// +optional
	NetworkPolicyPeers *apiextensionsv1.JSON `json:"networkPolicyPeers,omitempty"`
}

// KafkaTemplate customises what is generated for Kafka nodes.
type KafkaTemplate struct {
	// Pod template.
	// +optional
	Pod *PodTemplate `json:"pod,omitempty"`
	// KafkaContainer is the container named kafka.
	// +optional
	KafkaContainer *ContainerTemplate `json:"kafkaContainer,omitempty"`
	// InitContainer is the init container named kafka-init.
	// +optional
	InitContainer *ContainerTemplate `json:"initContainer,omitempty"`
	// PodSet that holds the pods.
	// +optional
	PodSet *apiextensionsv1.JSON `json:"podSet,omitempty"`
	// BootstrapService leads clients to any broker.
	// +optional
	BootstrapService *InternalServiceTemplate `json:"bootstrapService,omitempty"`
	// BrokersService gives the pods their names in DNS.
	// +optional
	BrokersService *InternalServiceTemplate `json:"brokersService,omitempty"`
	// PersistentVolumeClaim of a disk.
	// +optional
	PersistentVolumeClaim *ResourceTemplate `json:"persistentVolumeClaim,omitempty"`
	// PodDisruptionBudget of all nodes.
	// +optional
	PodDisruptionBudget *PodDisruptionBudgetTemplate `json:"podDisruptionBudget,omitempty"`
	// ServiceAccount of the nodes.
	// +optional
	ServiceAccount *apiextensionsv1.JSON `json:"serviceAccount,omitempty"`
	// ExternalBootstrapService of external listeners.
	// +optional
	ExternalBootstrapService *apiextensionsv1.JSON `json:"externalBootstrapService,omitempty"`
	// PerPodService of external listeners.
	// +optional
	PerPodService *apiextensionsv1.JSON `json:"perPodService,omitempty"`
	// ExternalBootstrapRoute of external listeners.
	// +optional
	ExternalBootstrapRoute *apiextensionsv1.JSON `json:"externalBootstrapRoute,omitempty"`
	// PerPodRoute of external listeners.
	// +optional
	PerPodRoute *apiextensionsv1.JSON `json:"perPodRoute,omitempty"`
	// ExternalBootstrapIngress of external listeners.
	// +optional
	ExternalBootstrapIngress *apiextensionsv1.JSON `json:"externalBootstrapIngress,omitempty"`
	// PerPodIngress of external listeners.
	// +optional
	PerPodIngress *apiextensionsv1.JSON `json:"perPodIngress,omitempty"`
	// ClusterCACert is the Secret with the cluster's authority.
	// +optional
	ClusterCACert *apiextensionsv1.JSON `json:"clusterCaCert,omitempty"`
	// JMXSecret is the Secret with the JMX credentials.
	// +optional
	JMXSecret *apiextensionsv1.JSON `json:"jmxSecret,omitempty"`
	// ClusterRoleBinding lets nodes read their rack.
	// +optional
	ClusterRoleBinding *apiextensionsv1.JSON `json:"clusterRoleBinding,omitempty"`
}

// InternalServiceTemplate customises a service inside Kubernetes.
type InternalServiceTemplate struct {
	ResourceTemplate `json:",inline"`
	// IPFamilyPolicy is SingleStack, PreferDualStack or RequireDualStack.
	// +optional
	IPFamilyPolicy string `json:"ipFamilyPolicy,omitempty"`
	// IPFamilies are IPv4, IPv6 or both.
	// +optional
	IPFamilies []string `json:"ipFamilies,omitempty"`
}

// PodDisruptionBudgetTemplate customises a PodDisruptionBudget.
type PodDisruptionBudgetTemplate struct {
	ResourceTemplate `json:",inline"`
	// MaxUnavailable is how many pods may be evicted at a time.
	// +optional
	MaxUnavailable *apiextensionsv1.JSON `json:"maxUnavailable,omitempty"`
}

// EntityOperatorSpec configures Strimzi's topic and user operators.
type EntityOperatorSpec struct {
	// TopicOperator, where set, runs Strimzi's own topic operator.
	// +optional
	TopicOperator *apiextensionsv1.JSON `json:"topicOperator,omitempty"`
	// UserOperator, where set, runs Strimzi's user operator.
	// +optional
	UserOperator *apiextensionsv1.JSON `json:"userOperator,omitempty"`
	// Template customises the generated resources.
	// +optional
	Template *OtherTemplate `json:"template,omitempty"`
}

// CruiseControlSpec configures Cruise Control.
type CruiseControlSpec struct {
	// AutoRebalance tells what is rebalanced when the cluster is scaled.
	// +optional
	AutoRebalance []AutoRebalance `json:"autoRebalance,omitempty"`
	// Template customises the generated resources.
	// +optional
	Template *OtherTemplate `json:"template,omitempty"`
}

// AutoRebalance is a rebalance that scaling brings about.
type AutoRebalance struct {
	// Mode is add-brokers or remove-brokers.
	// +optional
	Mode string `json:"mode,omitempty"`
	// Template is the KafkaRebalance that its specification is copied from.
	// +optional
	Template *TemplateReference `json:"template,omitempty"`
}

// TemplateReference names a KafkaRebalance in the same namespace.
type TemplateReference struct {
	// Name of the KafkaRebalance.
	// +optional
	Name string `json:"name,omitempty"`
}

// KafkaExporterSpec configures the Kafka Exporter.
type KafkaExporterSpec struct {
	// Template customises the generated resources.
	// +optional
	Template *OtherTemplate `json:"template,omitempty"`
}

// KafkaStatus is what the operator saw of a Kafka cluster.
type KafkaStatus struct {
	// Conditions tell how the cluster is.
	// +optional
	Conditions []Condition `json:"conditions,omitempty"`
	// ObservedGeneration is the generation that was last reconciled.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// ClusterID is Kafka's own cluster ID.
	// +optional
	ClusterID string `json:"clusterId,omitempty"`
	// KafkaVersion is the version in use.
	// +optional
	KafkaVersion string `json:"kafkaVersion,omitempty"`
	// KafkaMetadataVersion is the finalized metadata version.
	// +optional
	KafkaMetadataVersion string `json:"kafkaMetadataVersion,omitempty"`
	// KafkaNodePools that the cluster's nodes come from.
	// +optional
	KafkaNodePools []UsedNodePool `json:"kafkaNodePools,omitempty"`
	// Listeners as clients reach them.
	// +optional
	Listeners []ListenerStatus `json:"listeners,omitempty"`
}

// UsedNodePool names a KafkaNodePool in the same namespace.
type UsedNodePool struct {
	// Name of the KafkaNodePool.
	// +optional
	Name string `json:"name,omitempty"`
}

// ListenerStatus tells where a listener is reached.
type ListenerStatus struct {
	// Name of the listener.
	// +optional
	Name string `json:"name,omitempty"`
	// Addresses of the listener.
	// +optional
	Addresses []ListenerAddress `json:"addresses,omitempty"`
	// BootstrapServers is a comma-separated list of host:port.
	// +optional
	BootstrapServers string `json:"bootstrapServers,omitempty"`
	// Certificates, in PEM form, that a TLS listener's brokers are verified by.
	// +optional
	Certificates []string `json:"certificates,omitempty"`
}

// ListenerAddress is one address of a listener.
type ListenerAddress struct {
	// Host is a DNS name or an IP address.
	// +optional
	Host string `json:"host,omitempty"`
	// Port of the listener.
	// +optional
	Port int64 `json:"port,omitempty"`
}
