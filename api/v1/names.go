package v1

// Kinds of the group.
const (
	KindKafka             = "Kafka"
	KindKafkaNodePool     = "KafkaNodePool"
	KindKafkaTopic        = "KafkaTopic"
	KindKafkaRebalance    = "KafkaRebalance"
	KindKafkaConnect      = "KafkaConnect"
	KindKafkaMirrorMaker2 = "KafkaMirrorMaker2"
)

// StrimziPodSet is what Strimzi makes pods from; see
// https://strimzi.io/docs/operators/latest/configuring#type-StrimziPodSet-reference.
const (
	GroupStrimziPodSet = "core.strimzi.io"
	KindStrimziPodSet  = "StrimziPodSet"
)

// Labels that Strimzi and Sluice put on resources and pods.
const (
	// LabelCluster names the Kafka (or Connect, MirrorMaker 2) that a resource
	// or pod belongs to.
	LabelCluster = "strimzi.io/cluster"
	// LabelKind is the kind of the resource that a pod was made for.
	LabelKind = "strimzi.io/kind"
	// LabelName is the name of the component that a pod belongs to.
	LabelName = "strimzi.io/name"
	// LabelPoolName names the KafkaNodePool of a Kafka pod.
	LabelPoolName = "strimzi.io/pool-name"
	// LabelPodName repeats a pod's own name.
	LabelPodName = "strimzi.io/pod-name"
	// LabelComponentType tells what runs in a pod; see the Component constants.
	LabelComponentType = "strimzi.io/component-type"
	// LabelBrokerRole and LabelControllerRole tell with "true" or "false" whether
	// a Kafka pod has the role.
	LabelBrokerRole     = "strimzi.io/broker-role"
	LabelControllerRole = "strimzi.io/controller-role"
)

// Values of LabelComponentType for the pods that may carry templated volumes.
const (
	ComponentKafka        = "kafka"
	ComponentKafkaConnect = "kafka-connect"
	ComponentMirrorMaker2 = "kafka-mirror-maker-2"
)

// Annotations that Strimzi defines.
const (
	// AnnotationManaged set to "false" on a KafkaTopic leaves its topic alone.
	AnnotationManaged = "strimzi.io/managed"
	// AnnotationPauseReconciliation set to "true" pauses a resource.
	AnnotationPauseReconciliation = "strimzi.io/pause-reconciliation"
	// AnnotationNextNodeIDs lists the IDs that new nodes of a pool take.
	AnnotationNextNodeIDs = "strimzi.io/next-node-ids"
	// AnnotationRemoveNodeIDs lists the IDs that leave a pool first.
	AnnotationRemoveNodeIDs = "strimzi.io/remove-node-ids"
	// AnnotationSkipScaleDownCheck set to "true" on a Kafka lifts the guard.
	AnnotationSkipScaleDownCheck = "strimzi.io/skip-broker-scaledown-check"
	// AnnotationManualRollingUpdate set to "true" on a pod of a StrimziPodSet has
	// Strimzi restart it in its next reconciliation, when that is safe
	// (https://strimzi.io/docs/operators/latest/deploying#proc-manual-rolling-update-pods-str).
	AnnotationManualRollingUpdate = "strimzi.io/manual-rolling-update"
	// AnnotationRevision on a pod, and on its entry in a StrimziPodSet, is a hash
	// of the pod as its operator wants it; where they differ, the pod is restarted.
	AnnotationRevision = "strimzi.io/revision"
	// AnnotationConfigurationHash on a pod is over those of its options that only a
	// restart brings into effect.
	AnnotationConfigurationHash = "strimzi.io/configuration-hash"
	// AnnotationKafkaVersion on a pod is the version of Kafka that runs in it.
	AnnotationKafkaVersion = "strimzi.io/kafka-version"
	// AnnotationDeleteClaim on a claim is "true" where it goes with its node.
	AnnotationDeleteClaim = "strimzi.io/delete-claim"
	// AnnotationRebalanceTemplate set to "true" marks a template, never run.
	AnnotationRebalanceTemplate = "strimzi.io/rebalance-template"
)

// Annotations and namespace labels of Sluice's own.
const (
	// AnnotationSluiceManaged set to "true" hands a Kafka to Sluice.
	AnnotationSluiceManaged = "sluice.dev/managed"
	// AnnotationSluiceTopics set to "true" hands a Kafka's topics to Sluice.
	AnnotationSluiceTopics = "sluice.dev/topics"
	// AnnotationTopicsListener names the listener of a Kafka that its topics are
	// worked on through; the first internal one without it.
	AnnotationTopicsListener = "sluice.dev/topics-listener"
	// AnnotationTopicsCredentials names a Secret, in the Kafka's namespace, with the
	// credentials for that listener.
	AnnotationTopicsCredentials = "sluice.dev/topics-credentials"
	// AnnotationRebalanceEngine says who moves replicas of a Kafka cluster:
	// EngineBuiltin, or EngineCruiseControl where the Kafka has spec.cruiseControl.
	AnnotationRebalanceEngine = "sluice.dev/rebalance-engine"
	// EngineBuiltin and EngineCruiseControl are the values of
	// AnnotationRebalanceEngine.
	EngineBuiltin       = "builtin"
	EngineCruiseControl = "cruise-control"
	// AnnotationCordon lists brokers to be cordoned by hand.
	AnnotationCordon = "sluice.dev/cordon"
	// AnnotationPodTemplatedVolumes carries template.pod.templatedVolumes as
	// YAML or JSON where the served schema would prune the field.
	AnnotationPodTemplatedVolumes = "sluice.dev/pod-templated-volumes"
	// AnnotationTemplatedVolumesHash records on a pod a hash of its expanded
	// templated volumes. It is information, never the source of a decision.
	AnnotationTemplatedVolumesHash = "sluice.dev/templated-volumes"
	// AnnotationRollVolumes set to "true" lets pods be restarted for their
	// templated volumes; any other value forbids it. On a KafkaNodePool it decides
	// for the pool's pods, on a Kafka for those of pools without it. Without it
	// only pods whose list stands in an annotation are restarted.
	AnnotationRollVolumes = "sluice.dev/roll-volumes"
	// AnnotationVolumeRestarts records the restarts that are not over yet, or that
	// did not help, on the resource whose list of templated volumes they are for.
	AnnotationVolumeRestarts = "sluice.dev/volume-restarts"
	// AnnotationUnmanagedConfig lists topic options that Sluice leaves alone.
	AnnotationUnmanagedConfig = "sluice.dev/unmanaged-config"
	// AnnotationDeletionPolicy with DeletionPolicyRetain keeps the topic in
	// Kafka when its resource goes.
	AnnotationDeletionPolicy = "sluice.dev/deletion-policy"
	// AnnotationOnUnreachable on a namespace with OnUnreachableWait or
	// OnUnreachableOrphan says what becomes of its KafkaTopics that are deleted while
	// Kafka is unreachable for long.
	AnnotationOnUnreachable = "sluice.dev/on-unreachable"
	// OnUnreachableWait has them wait, and OnUnreachableOrphan has them go and leave
	// their topics behind. They are the values of --on-unreachable too.
	OnUnreachableWait   = "wait"
	OnUnreachableOrphan = "orphan"
	// DeletionPolicyRetain and DeletionPolicyDelete, the default, are the values
	// of AnnotationDeletionPolicy.
	DeletionPolicyRetain = "retain"
	DeletionPolicyDelete = "delete"
	// LabelAdmission with AdmissionDisabled on a namespace switches admission
	// off there.
	LabelAdmission = "sluice.dev/admission"
	// AdmissionDisabled is the value of LabelAdmission.
	AdmissionDisabled = "disabled"
	// LabelFacts with the value "true" marks the ConfigMap in which the operator
	// publishes what it saw of a Kafka cluster.
	LabelFacts = "sluice.dev/facts"
)

// FinalizerNodePool keeps a KafkaNodePool until its brokers hold no replica.
const FinalizerNodePool = "sluice.dev/node-pool"

// FinalizerTopic keeps a KafkaTopic until its topic is gone from Kafka.
const FinalizerTopic = "strimzi.io/topic-operator"

// FieldManager names Sluice in managedFields.
const FieldManager = "sluice"

// Condition types.
const (
	ConditionReady                = "Ready"
	ConditionNotReady             = "NotReady"
	ConditionWarning              = "Warning"
	ConditionUnmanaged            = "Unmanaged"
	ConditionReconciliationPaused = "ReconciliationPaused"
)

// Reasons of the conditions of a cluster and its pools.
const (
	// ReasonInvalidResource: a resource asks for what cannot be.
	ReasonInvalidResource = "InvalidResourceException"
	// ReasonScaleDownPreventionCheck: brokers that are to go are still in use.
	ReasonScaleDownPreventionCheck = "ScaleDownPreventionCheck"
)

// Reasons of a topic's conditions.
const (
	ReasonKafkaError       = "KafkaError"
	ReasonNotSupported     = "NotSupported"
	ReasonResourceConflict = "ResourceConflict"
	ReasonInternalError    = "InternalError"
	ReasonInvalidConfig    = "InvalidConfig"
)
