// Package podvolumes decides which templated volumes a pod gets. It is pure: it
// sees a pod and the list that applies to it, never a client.
package podvolumes

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/templating"
)

// ErrNoIdentity marks a pod that is not, by its labels and its name, a node of
// a Kafka cluster or a worker of a Connect or MirrorMaker 2 cluster: a copy made
// for debugging, say.
var ErrNoIdentity = errors.New("not a pod of a node")

// Identity is what a pod says of itself by its labels and its name.
type Identity struct {
	// Component is one of the Component constants of the API.
	Component string
	// Cluster is the name of the Kafka, KafkaConnect or KafkaMirrorMaker2.
	Cluster string
	// Pool is the name of the KafkaNodePool; only Kafka pods have one.
	Pool string
	// Node is what templated volumes are expanded for.
	Node templating.Node
}

// Identify reads a pod's identity. The pod's name must equal its label
// strimzi.io/pod-name and be <cluster>-<pool>-<node ID>, <cluster>-connect-<n>
// or <cluster>-mirrormaker2-<n>, which are the names that Strimzi gives to the
// pods of its pod sets. Any other pod gives ErrNoIdentity with the reason.
func Identify(pod *corev1.Pod) (Identity, error) {
	id := Identity{
		Component: pod.Labels[apiv1.LabelComponentType],
		Cluster:   pod.Labels[apiv1.LabelCluster],
	}
	if pod.Name == "" || pod.Name != pod.Labels[apiv1.LabelPodName] {
		return Identity{}, noIdentity("its name is %q and its label %s says %q",
			pod.Name, apiv1.LabelPodName, pod.Labels[apiv1.LabelPodName])
	}
	if id.Cluster == "" {
		return Identity{}, noIdentity("its label %s is missing", apiv1.LabelCluster)
	}
	var prefix string
	switch id.Component {
	case apiv1.ComponentKafka:
		id.Pool = pod.Labels[apiv1.LabelPoolName]
		if id.Pool == "" {
			return Identity{}, noIdentity("its label %s is missing", apiv1.LabelPoolName)
		}
		prefix = id.Cluster + "-" + id.Pool + "-"
	case apiv1.ComponentKafkaConnect:
		prefix = id.Cluster + "-connect-"
	case apiv1.ComponentMirrorMaker2:
		prefix = id.Cluster + "-mirrormaker2-"
	default:
		return Identity{}, noIdentity("its label %s says %q", apiv1.LabelComponentType, id.Component)
	}
	n, ok := nodeID(pod.Name, prefix)
	if !ok {
		return Identity{}, noIdentity("its name is not %s followed by a number", prefix)
	}
	id.Node = templating.Node{ID: n, PodName: pod.Name}
	return id, nil
}

func noIdentity(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrNoIdentity, fmt.Sprintf(format, args...))
}

// nodeID reads the number that follows prefix in name. Node IDs are Kafka's
// int32 without a sign, written in one way only: 7 is one, 07 and +7 are not.
func nodeID(name, prefix string) (int64, bool) {
	text, ok := strings.CutPrefix(name, prefix)
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 || n > math.MaxInt32 || strconv.FormatInt(n, 10) != text {
		return 0, false
	}
	return n, true
}
