package volumedrift

import (
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/podvolumes"
	"github.com/sluice-kafka/sluice/internal/templating"
)

var errEntry = errors.New("its entry in the StrimziPodSet cannot be read")

// state tells how a pod's volumes compare with the wanted ones.
type state string

const (
	// current pods have all that a new one would get.
	current state = "Current"
	// drifted pods would get other volumes if they were made anew.
	drifted state = "Drifted"
	// unknown is a pod of which that cannot be told; it is left alone.
	unknown state = "Unknown"
)

// life tells where in its life a pod is.
type life string

const (
	// missing pods do not exist, or not yet again.
	missing life = "Missing"
	// going pods are being deleted, or ended for good and will be replaced.
	going life = "Going"
	// neverStarted pods have run no container of theirs.
	neverStarted life = "NeverStarted"
	ready        life = "Ready"
	// unready pods ran and are not ready.
	unready life = "Unready"
)

// verdict is what is known of one pod.
type verdict struct {
	Pod
	id      podvolumes.Identity
	state   state
	life    life
	applied templating.Applied
	// drift lists what a new pod would have otherwise; wanted is a hash of all
	// that it would be given.
	drift  []podvolumes.Difference
	wanted string
	// consent tells that the pod may be restarted.
	consent bool
	// fault tells why the state is unknown.
	fault string
	// overruled are volumes of the creator that stand in place of templated ones.
	overruled []podvolumes.Difference
}

func (v *verdict) owner() Owner { return Owner{Kind: v.applied.Kind, Name: v.applied.Name} }

// marked tells that Strimzi has been asked to restart the pod, by whomever.
func (v *verdict) marked() bool {
	return v.Live != nil && v.Live.Annotations[apiv1.AnnotationManualRollingUpdate] == "true"
}

// outdated tells that the pod is not what its creator wants, who will replace it.
func (v *verdict) outdated() bool {
	return v.Live != nil && v.Entry != nil &&
		v.Live.Annotations[apiv1.AnnotationRevision] != v.Entry.Annotations[apiv1.AnnotationRevision]
}

// judge compares one pod with what a new one in its place would be given.
func judge(c *Cluster, pod Pod) *verdict {
	v := &verdict{Pod: pod, state: unknown, life: lifeOf(pod.Live)}
	given, err := v.given(c)
	switch {
	case err != nil:
		v.fault = err.Error()
	case pod.Live == nil:
		v.fault = "it does not exist"
	default:
		v.state = current
		if v.drift = podvolumes.Differences(pod.Live, given); len(v.drift) > 0 {
			v.state = drifted
		}
	}
	return v
}

// given returns the volumes that a new pod would be given at its admission. It
// fills in what it learns on the way.
func (v *verdict) given(c *Cluster) ([]corev1.Volume, error) {
	if v.Entry == nil {
		return nil, errEntry
	}
	var err error
	if v.id, err = podvolumes.Identify(v.Entry); err != nil {
		return nil, err
	}
	owners := c.of(v.id)
	applied, err := owners.Applied(v.id)
	if errors.Is(err, podvolumes.ErrNoOwner) {
		return nil, err
	}
	v.applied = applied
	if err != nil {
		return nil, err
	}
	v.consent = consent(c, v)
	plan, err := podvolumes.Decide(v.Entry, v.id, owners)
	if err != nil {
		return nil, err
	}
	if !c.behindFor(v) {
		if v.overruled, err = podvolumes.Overruled(v.Entry, v.id, owners); err != nil {
			return nil, err
		}
	}
	if len(plan.Dangling) > 0 {
		return nil, fmt.Errorf("a new pod would be refused, since these mounts name no volume: %s", mounts(plan.Dangling))
	}
	v.wanted, err = podvolumes.Hash(plan.Add)
	return plan.Add, err
}

// consent tells whether a pod may be restarted: its owner says so, or the list
// stands in an annotation, which nobody else would ever restart pods for.
func consent(c *Cluster, v *verdict) bool {
	if pool := c.Pools[v.id.Pool]; pool != nil {
		if said, ok := pool.Annotations[apiv1.AnnotationRollVolumes]; ok {
			return said == "true"
		}
	}
	if m := c.main(); m != nil {
		if said, ok := m.GetAnnotations()[apiv1.AnnotationRollVolumes]; ok {
			return said == "true"
		}
	}
	return v.applied.InAnnotation()
}

// lifeOf classifies a pod by its status.
func lifeOf(pod *corev1.Pod) life {
	switch {
	case pod == nil:
		return missing
	case pod.DeletionTimestamp != nil || pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed:
		return going
	case isReady(pod):
		return ready
	case pod.Status.Phase == corev1.PodPending || !everRan(pod.Status.ContainerStatuses):
		return neverStarted
	}
	return unready
}

func isReady(pod *corev1.Pod) bool {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

func everRan(containers []corev1.ContainerStatus) bool {
	for i := range containers {
		s := &containers[i]
		if s.State.Running != nil || s.State.Terminated != nil || s.LastTerminationState.Terminated != nil || s.RestartCount > 0 {
			return true
		}
	}
	return false
}

func mounts(all []podvolumes.Mount) string {
	texts := make([]string, 0, len(all))
	for _, m := range all {
		texts = append(texts, fmt.Sprint(m))
	}
	return strings.Join(texts, ", ")
}
