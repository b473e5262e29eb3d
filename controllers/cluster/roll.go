package cluster

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kafkav1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/brokerpod"
	"github.com/sluice-kafka/sluice/internal/observed"
	"github.com/sluice-kafka/sluice/internal/rolling"
)

// needsRestart tells whether the pod of any node is not as it is wanted.
func (t *turn) needsRestart() bool {
	for _, m := range t.plan.members {
		if pod := t.pods[m.Pod]; m.pod != nil && isLive(pod) && brokerpod.Revision(pod) != brokerpod.Revision(m.pod) {
			return true
		}
	}
	return false
}

// nodesToRoll are all nodes in the form that the order of restarts takes.
func (t *turn) nodesToRoll() []rolling.Node {
	nodes := make([]rolling.Node, 0, len(t.plan.members))
	for _, m := range t.plan.members {
		n := rolling.Node{ID: m.ID, Pod: m.Pod, Broker: m.Broker, Controller: m.Controller, State: podState(t.pods[m.Pod])}
		if m.pod != nil {
			n.Wanted = brokerpod.Revision(m.pod)
		}
		if pod := t.pods[m.Pod]; pod != nil {
			n.Broker, n.Controller = pod.Labels[kafkav1.LabelBrokerRole] == "true", pod.Labels[kafkav1.LabelControllerRole] == "true"
			n.Live = brokerpod.Revision(pod)
		}
		if m.pod == nil {
			n.Wanted = n.Live // it cannot be made, so the one that there is stays
		}
		nodes = append(nodes, n)
	}
	return nodes
}

func podState(pod *corev1.Pod) rolling.PodState {
	switch {
	case pod == nil:
		return rolling.Missing
	case pod.DeletionTimestamp != nil:
		return rolling.Terminating
	case isReady(pod):
		return rolling.Ready
	}
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse && c.Reason == corev1.PodReasonUnschedulable {
			return rolling.Unschedulable
		}
	}
	return rolling.Unready
}

// restart deletes the pod of one node that is not as it is wanted, for it to be
// made anew at the next look. What only restarts need is asked of Kafka only then.
func (t *turn) restart(ctx context.Context) error {
	if !t.needsRestart() {
		return nil
	}
	t.soon = true
	if t.stopped {
		return nil // pods were deleted that the look still has as running
	}
	in := rolling.Input{Nodes: t.nodesToRoll(), Registration: t.seen.Registration, Partitions: t.seen.Partitions}
	if t.admin != nil {
		in.Quorum = observed.From(t.admin.Quorum(ctx))
		in.MinInSync = observed.Seen(map[string]int{})
		if topics := rolling.Topics(in); len(topics) > 0 {
			in.MinInSync = observed.From(t.admin.MinInSyncReplicas(ctx, topics))
		}
	}
	decision := rolling.Next(in)
	if decision.Restart == nil {
		if text := decision.Message(); text != "" {
			t.warn(reasonRestartWaits, "%s", text)
		}
		return nil
	}
	for _, m := range t.plan.members {
		if m.ID != decision.Restart.Node {
			continue
		}
		if err := t.rehearse(ctx, m.pod); err != nil {
			t.warn(reasonPodInvalid, "node %d keeps running as it is: the pod that it would get is refused. Mend the pod template: %v", m.ID, err)
			return nil
		}
		pod := t.pods[m.Pod]
		ctrl.LoggerFrom(ctx).Info("Restarting a node", "pod", m.Pod, "reason", decision.Restart.Reason)
		if err := t.deleteObject(ctx, pod); err != nil {
			return fmt.Errorf("restarting node %d: deleting pod %s/%s: %w", m.ID, pod.Namespace, pod.Name, err)
		}
		t.stopped = true
		t.opts.Metrics.Restarted(t.key.Namespace, t.key.Name)
		t.event(t.kafka, pod, reasonRestarting, "Restarting node %d: %s", m.ID, decision.Restart.Reason)
	}
	return nil
}

// rehearse asks the API server whether it would take a pod, and changes nothing: one
// that is refused after the old pod was deleted would leave its node down. Only a
// pod that is not valid counts as refused, and AlreadyExists says that it is valid:
// a quota may have no room for a second pod, and has it once the old one is gone.
func (t *turn) rehearse(ctx context.Context, pod *corev1.Pod) error {
	err := t.writer.Create(ctx, pod.DeepCopy(), client.DryRunAll, client.FieldOwner(kafkav1.FieldManager))
	if apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) {
		return err
	}
	return nil
}

// allRunWanted tells whether every pod, those that are about to go included, runs
// the version that is wanted, and every broker is there to take a new metadata
// version.
func (t *turn) allRunWanted() bool {
	registration, seen := t.seen.Registration.Get()
	if !seen {
		return false
	}
	for _, m := range t.plan.members {
		if t.pods[m.Pod] == nil {
			return false
		}
		if b, ok := registration.Broker(m.ID); m.Broker && (!ok || b.Fenced) {
			return false
		}
	}
	for _, pod := range t.pods {
		if pod.Annotations[kafkav1.AnnotationKafkaVersion] != t.plan.versions.run {
			return false
		}
	}
	return true
}

// raiseMetadataVersion finalizes the wanted metadata version.
func (t *turn) raiseMetadataVersion(ctx context.Context) error {
	features, seen := t.seen.Features.Get()
	if t.plan.versions.raise(t.seen.Features, true) == "" || t.admin == nil || !seen {
		return nil
	}
	t.soon = true
	version := t.plan.versions.raise(t.seen.Features, t.allRunWanted())
	if version == "" {
		return nil
	}
	ctrl.LoggerFrom(ctx).Info("Raising the metadata version", "from", features.MetadataVersion, "to", version)
	if err := t.admin.UpdateMetadataVersion(ctx, version); err != nil {
		return fmt.Errorf("raising the metadata version from %s to %s: %w", features.MetadataVersion, version, err)
	}
	t.event(t.kafka, nil, reasonMetadataVersion, "Raised the metadata version from %s to %s", features.MetadataVersion, version)
	return nil
}
