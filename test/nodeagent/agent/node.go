//go:build linux

package agent

import (
	"context"
	"fmt"
	"maps"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
)

// leaseSeconds is a kubelet's default; it renews at a quarter of it.
const leaseSeconds = 40

// register makes the nodes.
func (a *Agent) register(ctx context.Context) error {
	for _, n := range a.Nodes {
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: n.Name, Labels: map[string]string{
			corev1.LabelHostname:   n.Name,
			corev1.LabelOSStable:   "linux",
			corev1.LabelArchStable: "amd64",
		}}}
		maps.Copy(node.Labels, n.Labels)
		made, err := a.Client.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{})
		if apierrors.IsAlreadyExists(err) {
			made, err = a.Client.CoreV1().Nodes().Get(ctx, n.Name, metav1.GetOptions{})
		}
		if err != nil {
			return fmt.Errorf("registering node %s: %w", n.Name, err)
		}
		made.Status = a.nodeStatus(n.Name)
		if _, err := a.Client.CoreV1().Nodes().UpdateStatus(ctx, made, metav1.UpdateOptions{}); err != nil {
			return fmt.Errorf("writing the status of node %s: %w", n.Name, err)
		}
		if err := a.renew(ctx, n.Name); err != nil {
			return err
		}
	}
	return nil
}

func (a *Agent) nodeStatus(name string) corev1.NodeStatus {
	capacity := corev1.ResourceList{
		corev1.ResourceCPU:              resource.MustParse("16"),
		corev1.ResourceMemory:           resource.MustParse("64Gi"),
		corev1.ResourceEphemeralStorage: resource.MustParse("100Gi"),
		corev1.ResourcePods:             resource.MustParse("110"),
	}
	now := metav1.Now()
	return corev1.NodeStatus{
		Capacity: capacity, Allocatable: capacity,
		Addresses: []corev1.NodeAddress{
			{Type: corev1.NodeInternalIP, Address: a.Network.Gateway.IP.String()},
			{Type: corev1.NodeHostName, Address: name},
		},
		Conditions: []corev1.NodeCondition{{
			Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "AgentReady",
			Message: "pods run as processes", LastHeartbeatTime: now, LastTransitionTime: now,
		}},
		NodeInfo: corev1.NodeSystemInfo{OperatingSystem: "linux", KubeletVersion: "v1.37.2"},
	}
}

// beat keeps the nodes' leases, without which they would be called unreachable
// and their pods be evicted.
func (a *Agent) beat(ctx context.Context) error {
	ticker := time.NewTicker(leaseSeconds * time.Second / 4)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
		for _, n := range a.Nodes {
			if err := a.renew(ctx, n.Name); err != nil && ctx.Err() == nil {
				a.Log.Error("Renewing a lease", "node", n.Name, "error", err)
			}
		}
	}
}

func (a *Agent) renew(ctx context.Context, node string) error {
	leases := a.Client.CoordinationV1().Leases(corev1.NamespaceNodeLease)
	now := metav1.NowMicro()
	lease, err := leases.Get(ctx, node, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		seconds := int32(leaseSeconds)
		_, err = leases.Create(ctx, &coordinationv1.Lease{
			ObjectMeta: metav1.ObjectMeta{Name: node, Namespace: corev1.NamespaceNodeLease},
			Spec:       coordinationv1.LeaseSpec{HolderIdentity: &node, LeaseDurationSeconds: &seconds, RenewTime: &now},
		}, metav1.CreateOptions{})
	} else if err == nil {
		lease.Spec.RenewTime = &now
		_, err = leases.Update(ctx, lease, metav1.UpdateOptions{})
	}
	if err != nil {
		return fmt.Errorf("renewing the lease of node %s: %w", node, err)
	}
	return nil
}

// bindPods gives each pod without a node the one with the fewest pods of those
// that its selector and its node affinity allow and that are not cordoned.
func (a *Agent) bindPods(ctx context.Context) (done bool) {
	done = true
	count := map[string]int{}
	var pending []*corev1.Pod
	for _, p := range a.allPods() {
		switch {
		case p.Spec.NodeName != "":
			if !finished(p) {
				count[p.Spec.NodeName]++
			}
		case p.DeletionTimestamp == nil:
			pending = append(pending, p)
		}
	}
	for _, p := range pending {
		node := a.choose(p, count)
		if node == "" {
			a.Log.Info("No node fits", "pod", p.Namespace+"/"+p.Name, "nodeSelector", p.Spec.NodeSelector)
			a.sayUnschedulable(ctx, p)
			done = false
			continue
		}
		err := a.Client.CoreV1().Pods(p.Namespace).Bind(ctx, &corev1.Binding{
			ObjectMeta: metav1.ObjectMeta{Name: p.Name, Namespace: p.Namespace, UID: p.UID},
			Target:     corev1.ObjectReference{Kind: "Node", Name: node},
		}, metav1.CreateOptions{})
		switch {
		case err == nil:
			count[node]++
		case apierrors.IsConflict(err), apierrors.IsNotFound(err):
			// What we know is behind; the news come as an event.
		default:
			a.Log.Error("Binding a pod", "pod", p.Namespace+"/"+p.Name, "node", node, "error", err)
			done = false
		}
	}
	return done
}

func (a *Agent) choose(p *corev1.Pod, count map[string]int) string {
	best := ""
	for _, n := range a.Nodes {
		node, err := a.nodes.Get(n.Name)
		if err != nil || node.Spec.Unschedulable {
			continue
		}
		// A term that cannot be read matches nothing, as the scheduler has it.
		if fits, err := nodeaffinity.GetRequiredNodeAffinity(p).Match(node); err != nil || !fits {
			continue
		}
		if best == "" || count[n.Name] < count[best] {
			best = n.Name
		}
	}
	return best
}

// sayUnschedulable has the pod say that no node fits, in the words of the
// scheduler's own plugin for node affinity.
func (a *Agent) sayUnschedulable(ctx context.Context, p *corev1.Pod) {
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
			return
		}
	}
	changed := p.DeepCopy()
	changed.Status.Conditions = append(changed.Status.Conditions, corev1.PodCondition{
		Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable, LastTransitionTime: metav1.Now(),
		Message: fmt.Sprintf("0/%d nodes are available: %d node(s) didn't match Pod's node affinity/selector.", len(a.Nodes), len(a.Nodes)),
	})
	if _, err := a.Client.CoreV1().Pods(p.Namespace).UpdateStatus(ctx, changed, metav1.UpdateOptions{}); err != nil && !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) {
		a.Log.Error("Writing that no node fits", "pod", p.Namespace+"/"+p.Name, "error", err)
	}
}
