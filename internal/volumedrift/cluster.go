// Package volumedrift decides which of the pods that Strimzi made have to be
// restarted to get the templated volumes that they are wanted to have, and which
// of them may be. It is pure: it sees what was observed of one cluster, never a
// client.
package volumedrift

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/podvolumes"
)

// Cluster is what was observed of one Kafka, KafkaConnect or KafkaMirrorMaker2.
// Its pods are restarted one at a time, across all of its node pools.
type Cluster struct {
	// Component is one of the Component constants of the API.
	Component string
	// Owners without the pool; nil is one that does not exist.
	Owners podvolumes.Owners
	// Pools of a Kafka, by name.
	Pools map[string]*apiv1.KafkaNodePool
	// Pods are the entries of the cluster's pod sets.
	Pods []Pod
	// AdmissionDisabled tells that the namespace has the emergency label.
	AdmissionDisabled bool
}

// Pod is an entry of a pod set, with the pod that was made from it.
type Pod struct {
	// Name of both.
	Name string
	// Entry is the pod as its creator wants it; nil where it could not be read.
	Entry *corev1.Pod
	// Live is the pod as it is; nil where there is none.
	Live *corev1.Pod
}

// Owner names a resource that holds a list of templated volumes.
type Owner struct {
	Kind, Name string
}

// main is the resource that stands for the cluster, or nil.
func (c *Cluster) main() metav1.Object {
	switch {
	case c.Component == apiv1.ComponentKafkaConnect && c.Owners.Connect != nil:
		return c.Owners.Connect
	case c.Component == apiv1.ComponentMirrorMaker2 && c.Owners.MirrorMaker2 != nil:
		return c.Owners.MirrorMaker2
	case c.Component == apiv1.ComponentKafka && c.Owners.Kafka != nil:
		return c.Owners.Kafka
	}
	return nil
}

// Object returns the resource that is named, or nil.
func (c *Cluster) Object(o Owner) metav1.Object {
	if o.Kind == apiv1.KindKafkaNodePool {
		if pool := c.Pools[o.Name]; pool != nil {
			return pool
		}
		return nil
	}
	if m := c.main(); m != nil && m.GetName() == o.Name && c.mainKind() == o.Kind {
		return m
	}
	return nil
}

func (c *Cluster) mainKind() string {
	switch c.Component {
	case apiv1.ComponentKafkaConnect:
		return apiv1.KindKafkaConnect
	case apiv1.ComponentMirrorMaker2:
		return apiv1.KindKafkaMirrorMaker2
	}
	return apiv1.KindKafka
}

// owners are all resources that may hold a list, in a fixed order.
func (c *Cluster) owners() []Owner {
	var out []Owner
	if m := c.main(); m != nil {
		out = append(out, Owner{Kind: c.mainKind(), Name: m.GetName()})
	}
	for _, name := range sortedKeys(c.Pools) {
		out = append(out, Owner{Kind: apiv1.KindKafkaNodePool, Name: name})
	}
	return out
}

// of returns the owners of one pod.
func (c *Cluster) of(id podvolumes.Identity) podvolumes.Owners {
	owners := c.Owners
	owners.Pool = c.Pools[id.Pool]
	return owners
}

// behindFor tells whether a pod's entry may still be from an older state of its
// owners.
func (c *Cluster) behindFor(v *verdict) bool {
	pool := c.Pools[v.id.Pool]
	return behind(c.main()) || pool != nil && behind(pool)
}

// behind tells whether a resource has a generation that its operator has not
// reconciled yet.
func behind(o metav1.Object) bool {
	var observed int64
	switch o := o.(type) {
	case *apiv1.Kafka:
		observed = o.Status.ObservedGeneration
	case *apiv1.KafkaNodePool:
		observed = o.Status.ObservedGeneration
	case *apiv1.KafkaConnect:
		observed = o.Status.ObservedGeneration
	case *apiv1.KafkaMirrorMaker2:
		observed = o.Status.ObservedGeneration
	}
	return observed != o.GetGeneration()
}
