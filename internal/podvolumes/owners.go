package podvolumes

import (
	"errors"
	"fmt"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/templating"
)

// ErrNoOwner marks a pod whose owner does not exist, as far as was seen.
var ErrNoOwner = errors.New("no owner")

// Owners are the resources that a pod's templated volumes come from, as they
// were observed: nil is one that does not exist. Which of them matter depends
// on the pod's component.
type Owners struct {
	// Kafka and Pool own a Kafka pod together.
	Kafka *apiv1.Kafka
	Pool  *apiv1.KafkaNodePool
	// Connect owns a Connect worker's pod.
	Connect *apiv1.KafkaConnect
	// MirrorMaker2 owns a MirrorMaker 2 worker's pod.
	MirrorMaker2 *apiv1.KafkaMirrorMaker2
}

// Applied returns the list that applies to the pod. A Kafka pod needs both its
// Kafka and its pool, for either may decide. The error is ErrNoOwner where an
// owner is missing, and templating.ErrAnnotation where the list cannot be read.
func (o Owners) Applied(id Identity) (templating.Applied, error) {
	switch id.Component {
	case apiv1.ComponentKafkaConnect:
		if o.Connect == nil {
			return templating.Applied{}, missing(apiv1.KindKafkaConnect, id.Cluster)
		}
		return templating.ForConnect(o.Connect)
	case apiv1.ComponentMirrorMaker2:
		if o.MirrorMaker2 == nil {
			return templating.Applied{}, missing(apiv1.KindKafkaMirrorMaker2, id.Cluster)
		}
		return templating.ForMirrorMaker2(o.MirrorMaker2)
	}
	if o.Kafka == nil {
		return templating.Applied{}, missing(apiv1.KindKafka, id.Cluster)
	}
	if o.Pool == nil {
		return templating.Applied{}, missing(apiv1.KindKafkaNodePool, id.Pool)
	}
	if of := o.Pool.Labels[apiv1.LabelCluster]; of != id.Cluster {
		return templating.Applied{}, fmt.Errorf("%w: KafkaNodePool %s belongs to cluster %q, not to %q",
			ErrNoOwner, id.Pool, of, id.Cluster)
	}
	return templating.ForKafkaNode(o.Kafka, o.Pool)
}

func missing(kind, name string) error {
	return fmt.Errorf("%w: %s %s does not exist", ErrNoOwner, kind, name)
}
