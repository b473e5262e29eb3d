// Package v1 holds the Go types of Strimzi's API group kafka.strimzi.io,
// version v1, as far as Sluice acts on them.
//
// Every object node keeps fields that it does not name: the generated schemas
// preserve them on the server. A typed Update would drop them all the same, so
// a user's resource is only ever changed by a patch.
//
// Numbers are int64 and times are strings on purpose: a value that the schema
// lets through must never break the decoding of a whole list.
//
// +kubebuilder:object:generate=true
// +groupName=kafka.strimzi.io
package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Group is the API group of all kinds in this package.
const Group = "kafka.strimzi.io"

// GroupVersion is the group and version of all kinds in this package.
var GroupVersion = schema.GroupVersion{Group: Group, Version: "v1"}

// AddToScheme registers all kinds of this package.
func AddToScheme(s *runtime.Scheme) error {
	s.AddKnownTypes(GroupVersion,
		&Kafka{}, &KafkaList{},
		&KafkaNodePool{}, &KafkaNodePoolList{},
		&KafkaTopic{}, &KafkaTopicList{},
		&KafkaRebalance{}, &KafkaRebalanceList{},
		&KafkaConnect{}, &KafkaConnectList{},
		&KafkaMirrorMaker2{}, &KafkaMirrorMaker2List{},
	)
	metav1.AddToGroupVersion(s, GroupVersion)
	return nil
}
