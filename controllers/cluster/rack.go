package cluster

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kafkav1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/brokerpod"
)

// The kubelet starts no container whose ConfigMap lacks the rack. It is written
// when the pod was bound to a node, which has it as a label, and is taken away
// before a pod is made: the next one may be bound to another node.

// rackFor is the rack of a member's pod; nil where there is none, or where it is
// not known yet.
func (s *state) rackFor(m *member) *string {
	pod := s.pods[m.Pod]
	if brokerpod.RackKey(m.input) == "" || !isLive(pod) || pod.Spec.NodeName == "" {
		return nil
	}
	if rack, ok := s.writtenRack(m.Pod); ok {
		return &rack
	}
	if rack, ok := s.racks[pod.Spec.NodeName]; ok {
		return &rack
	}
	return nil
}

func (s *state) writtenRack(pod string) (string, bool) {
	cm := s.configMaps[pod]
	if cm == nil {
		return "", false
	}
	rack, ok := cm.Data[brokerpod.KeyRack]
	return rack, ok
}

// gatherRacks reads the label of those of Kubernetes' nodes that a pod was bound
// to and whose rack is not written yet. A node without the label has an empty
// rack: the container would wait for ever.
func (g gatherer) gatherRacks(ctx context.Context, s *state) error {
	rackKey := brokerpod.RackKey(brokerpod.Input{Kafka: s.kafka})
	if rackKey == "" {
		return nil
	}
	for _, pod := range s.pods {
		node := pod.Spec.NodeName
		if _, known := s.racks[node]; known || !isLive(pod) || node == "" || pod.Labels[kafkav1.LabelCluster] != s.kafka.Name {
			continue
		}
		if _, written := s.writtenRack(pod.Name); written {
			continue
		}
		o := &metav1.PartialObjectMetadata{}
		o.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Node"))
		err := g.live.Get(ctx, client.ObjectKey{Name: node}, o)
		if apierrors.IsNotFound(err) {
			continue // its pods are about to go
		}
		if err != nil {
			return fmt.Errorf("reading the rack of node %s for pod %s/%s: %w", node, pod.Namespace, pod.Name, err)
		}
		s.racks[node] = o.Labels[rackKey]
	}
	return nil
}
