package cluster

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	kafkav1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/brokerconfig"
	"github.com/sluice-kafka/sluice/internal/brokerpod"
)

// Reasons of conditions, besides those of the API.
const (
	reasonFailed             = "ReconciliationFailed"
	reasonPodsNotReady       = "PodsNotReady"
	reasonPlainListeners     = "PlainListeners"
	reasonCordonWaits        = "CordonAwaitsMetadataVersion"
	reasonCordonFailed       = "CordonRefused"
	reasonCordonUnsupported  = "CordonUnsupported"
	reasonInvalidConfig      = kafkav1.ReasonInvalidConfig
	reasonIgnoredConfig      = "IgnoredConfig"
	reasonUnseen             = "KafkaNotSeen"
	reasonRestartWaits       = "RestartWaits"
	reasonRemovalWaits       = "ScaleDownAwaitsRebalance"
	reasonVersionUnsupported = "UnsupportedVersion"
	reasonMetadataNotLowered = "MetadataVersionNotLowered"
	reasonStrayBroker        = "BrokerWithoutPool"
	reasonPodInvalid         = "PodCannotBeMade"
	reasonStrimziRuns        = "StrimziPodSetExists"
)

// writeStatuses tells how the cluster and its pools are.
func (t *turn) writeStatuses(ctx context.Context, failed error) error {
	changed := t.kafka.DeepCopy()
	t.fillStatus(&changed.Status, failed)
	var errs []error
	if !reflect.DeepEqual(changed.Status, t.kafka.Status) {
		if err := t.patchStatus(ctx, changed, t.kafka); err != nil {
			errs = append(errs, fmt.Errorf("writing the status of Kafka %s: %w", t.key, err))
		}
	}
	for _, n := range t.plan.layout.pools {
		p := t.pool(n.pool.Name)
		pool := p.DeepCopy()
		t.fillPoolStatus(pool, n)
		if reflect.DeepEqual(pool.Status, p.Status) {
			continue
		}
		if err := t.patchStatus(ctx, pool, p); err != nil {
			errs = append(errs, fmt.Errorf("writing the status of KafkaNodePool %s/%s: %w", p.Namespace, p.Name, err))
		}
	}
	return errors.Join(errs...)
}

// fillStatus fills in what is known; what could not be seen stays as it was.
func (t *turn) fillStatus(status *kafkav1.KafkaStatus, failed error) {
	status.ObservedGeneration = t.kafka.Generation
	status.Conditions = t.since(status.Conditions, t.conditions(failed))
	if len(t.plan.faults) > 0 {
		return
	}
	if f, seen := t.seen.Features.Get(); seen {
		status.KafkaMetadataVersion = f.MetadataVersion
	}
	if t.allRunWanted() {
		status.KafkaVersion = t.plan.versions.run
	}
	status.KafkaNodePools = nil
	for _, p := range t.pools {
		status.KafkaNodePools = append(status.KafkaNodePools, kafkav1.UsedNodePool{Name: p.Name})
	}
	status.Listeners = nil
	host := brokerpod.BootstrapServiceName(t.key.Name) + "." + t.key.Namespace + ".svc"
	for _, l := range t.kafka.Spec.Kafka.Listeners {
		if l.Type == kafkav1.ListenerInternal {
			status.Listeners = append(status.Listeners, kafkav1.ListenerStatus{
				Name: l.Name, BootstrapServers: fmt.Sprintf("%s:%d", host, l.Port),
				Addresses: []kafkav1.ListenerAddress{{Host: host, Port: l.Port}},
			})
		}
	}
}

// conditions are one main condition and a warning for each reason.
func (t *turn) conditions(failed error) []kafkav1.Condition {
	conditions := []kafkav1.Condition{t.mainCondition(failed)}
	all := append(t.planWarnings(), t.warnings...)
	slices.SortStableFunc(all, func(a, b warning) int { return strings.Compare(a.reason, b.reason) })
	for i := 0; i < len(all); {
		reason, texts := all[i].reason, []string(nil)
		for ; i < len(all) && all[i].reason == reason; i++ {
			texts = append(texts, all[i].message)
		}
		conditions = append(conditions, condition(kafkav1.ConditionWarning, reason, strings.Join(texts, "; ")))
	}
	return conditions
}

func condition(kind, reason, message string) kafkav1.Condition {
	return kafkav1.Condition{Type: kind, Status: string(metav1.ConditionTrue), Reason: reason, Message: message}
}

func (t *turn) mainCondition(failed error) kafkav1.Condition {
	if len(t.plan.faults) > 0 {
		return condition(kafkav1.ConditionNotReady, kafkav1.ReasonInvalidResource, strings.Join(t.plan.faults, "; "))
	}
	if t.plan.versions.refusal != "" {
		return condition(kafkav1.ConditionNotReady, reasonVersionUnsupported, t.plan.versions.refusal)
	}
	if failed != nil && !outdated(failed) {
		return condition(kafkav1.ConditionNotReady, reasonFailed, failed.Error())
	}
	var unready []string
	for _, m := range t.plan.members {
		if pod := t.pods[m.Pod]; pod == nil || !isReady(pod) || m.err != nil {
			unready = append(unready, m.Pod+unscheduled(m, pod))
		}
	}
	if len(unready) > 0 {
		return condition(kafkav1.ConditionNotReady, reasonPodsNotReady, "these pods are not ready: "+strings.Join(unready, ", "))
	}
	return condition(kafkav1.ConditionReady, "", "")
}

// unscheduled tells, in parentheses, why no node fits a pod; it is empty where one
// does.
func unscheduled(m member, pod *corev1.Pod) string {
	if pod == nil {
		return ""
	}
	for _, c := range pod.Status.Conditions {
		if c.Type != corev1.PodScheduled || c.Status != corev1.ConditionFalse || c.Reason != corev1.PodReasonUnschedulable {
			continue
		}
		text := c.Message
		if key := brokerpod.RackKey(m.input); key != "" {
			text += fmt.Sprintf(" For spec.kafka.rack it has to have the label %s.", key)
		}
		return " (no node fits: " + text + ")"
	}
	return ""
}

// planWarnings are what the plan itself tells.
func (t *turn) planWarnings() []warning {
	p := t.plan
	warnings := []warning{{reasonPlainListeners, fmt.Sprintf(
		"the listeners between nodes, %d and %d, are neither encrypted nor authenticated: let a NetworkPolicy keep all but the cluster's pods and the operator away from them",
		brokerconfig.ControlPlanePort, brokerconfig.ReplicationPort)}}
	add := func(reason, message string) {
		if message != "" {
			warnings = append(warnings, warning{reason, message})
		}
	}
	add(kafkav1.ReasonScaleDownPreventionCheck, p.guard.Message())
	if p.waits != "" && p.wantsRemoval() {
		add(reasonRemovalWaits, "nodes are removed when the rebalance is over: "+p.waits)
	}
	add(reasonMetadataNotLowered, p.versions.notLowered)
	if err := t.seen.Registration.Err(); err != nil && t.admin != nil {
		add(reasonUnseen, fmt.Sprintf("the Kafka cluster could not be looked at: %v", err))
	}
	return warnings
}

// wantsRemoval tells whether any node is to go.
func (p *plan) wantsRemoval() bool {
	for _, n := range p.layout.pools {
		if len(n.Removed)+len(n.UsedToBeBroker) > 0 {
			return true
		}
	}
	return false
}

// since gives conditions the time from which on they have been so.
func (t *turn) since(before, now []kafkav1.Condition) []kafkav1.Condition {
	for i := range now {
		now[i].LastTransitionTime = t.opts.Clock.Now().UTC().Format(time.RFC3339)
		for _, b := range before {
			if b.Type == now[i].Type && b.Status == now[i].Status && b.Reason == now[i].Reason {
				now[i].LastTransitionTime = b.LastTransitionTime
			}
		}
	}
	return now
}

func (t *turn) fillPoolStatus(pool *kafkav1.KafkaNodePool, n poolNodes) {
	pool.Status.ObservedGeneration = pool.Generation
	var conditions []kafkav1.Condition
	if message := t.plan.guard.Message(); message != "" && len(n.Removed)+len(n.UsedToBeBroker) > 0 {
		conditions = append(conditions, condition(kafkav1.ConditionWarning, kafkav1.ReasonScaleDownPreventionCheck, message))
	}
	pool.Status.Conditions = t.since(pool.Status.Conditions, conditions)
	if len(t.plan.faults) > 0 {
		return
	}
	pool.Status.Replicas = int64(len(pool.Status.NodeIDs))
	pool.Status.LabelSelector = fmt.Sprintf("%s=%s,%s=%s-kafka,%s=%s",
		kafkav1.LabelCluster, t.key.Name, kafkav1.LabelName, t.key.Name, kafkav1.LabelPoolName, pool.Name)
}

// tellOfGuard tells when a removal begins to be held.
func (t *turn) tellOfGuard() {
	var ids []string
	for _, h := range t.plan.guard.Held {
		ids = append(ids, fmt.Sprint(h.ID))
	}
	t.tell(reasonHeld, strings.Join(ids, ", "), "%s", t.plan.guard.Message())
	if !t.plan.awaitsPools {
		t.tell(reasonInvalid, strings.Join(t.plan.faults, "; "), "%s", strings.Join(t.plan.faults, "; "))
	}
	t.tell(reasonVersionRefused, t.plan.versions.refusal, "%s", t.plan.versions.refusal)
	_, seen := t.seen.Registration.Get()
	t.opts.Metrics.Reachable(t.key.Namespace, t.key.Name, seen)
	t.opts.Metrics.Brokers(t.key.Namespace, t.key.Name, len(t.plan.members), len(t.plan.cordoned), len(t.plan.guard.Held), len(t.plan.guard.Drain))
}
