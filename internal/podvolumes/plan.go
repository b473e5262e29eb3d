package podvolumes

import (
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/templating"
	"github.com/sluice-kafka/sluice/internal/validation"
)

// Plan is what happens to a pod.
type Plan struct {
	// Add are the volumes that the pod lacks, in the owner's order.
	Add []corev1.Volume
	// Hash is the value that AnnotationTemplatedVolumesHash must get; "" where
	// it stays as it is.
	Hash string
	// Dangling are the mounts that name no volume even then; where there are
	// any, nothing is added.
	Dangling []Mount
	// Warnings say what was passed over and why. A path is one in the pod or,
	// where the message names an owner, in that owner.
	Warnings []validation.Finding
	// Reason says in a few words why the plan is what it is.
	Reason string
}

// Empty tells that the pod stays as it is.
func (p Plan) Empty() bool { return len(p.Add) == 0 && p.Hash == "" }

// Decide plans the templated volumes of a pod. Only a pod with a mount that
// names no volume gets any, and then all of its owner's list; a volume that the
// pod has already stands. An entry that would make the pod invalid is passed
// over, and so is a second one of the same name. If a mount names no volume even
// then, the pod stays as it is, for the API server to refuse in its own words.
func Decide(pod *corev1.Pod, id Identity, owners Owners) (Plan, error) {
	if len(Dangling(pod)) == 0 {
		return Plan{Reason: "every mount names a volume"}, nil
	}
	var plan Plan
	applied, err := owners.Applied(id)
	switch {
	case errors.Is(err, ErrNoOwner):
		plan.warn("pod-owner", field.NewPath("metadata", "labels"), err.Error())
	case err != nil:
		plan.warn("pod-owner-list", field.NewPath(applied.Path), ofOwner(err.Error(), applied))
	}
	wanted := plan.expand(pod, id.Node, applied)
	carried := plan.complete(pod, wanted, applied)

	if left := dangling(pod, names(pod.Spec.Volumes).Union(names(plan.Add))); len(left) > 0 {
		plan.warn("pod-mount", field.NewPath("spec", "volumes"), "nothing added, since mounts would still name no volume: "+list(left))
		return Plan{
			Dangling: left,
			Warnings: plan.Warnings,
			Reason:   "a mount names neither a volume of the pod nor a templated one",
		}, nil
	}
	h, err := Hash(carried)
	if err != nil {
		return Plan{}, err
	}
	if pod.Annotations[apiv1.AnnotationTemplatedVolumesHash] != h {
		plan.Hash = h
	}
	plan.Reason = fmt.Sprintf("adding %d of %d templated volumes of %s %s",
		len(plan.Add), len(applied.Volumes), applied.Kind, applied.Name)
	return plan, nil
}

// complete adds to the plan those of the wanted volumes that the pod lacks. It
// returns the ones that the pod carries then, whoever added them.
func (p *Plan) complete(pod *corev1.Pod, wanted []corev1.Volume, applied templating.Applied) (carried []corev1.Volume) {
	have := byName(pod.Spec.Volumes)
	for _, w := range wanted {
		own, there := have[w.Name]
		switch {
		case !there:
			p.Add = append(p.Add, w)
			carried = append(carried, w)
		case sameVolume(*own, w):
			carried = append(carried, w)
		default:
			p.warn("pod-volume-differs", field.NewPath("spec", "volumes").Key(w.Name),
				ofOwner("the one of the pod's creator stands; it is not the templated one", applied))
		}
	}
	return carried
}

// expand returns the volumes of the list that the pod may carry, and warns of
// those that it may not.
func (p *Plan) expand(pod *corev1.Pod, node templating.Node, applied templating.Applied) (wanted []corev1.Volume) {
	claims := ephemeralClaims(pod)
	seen := sets.New[string]()
	for i, entry := range applied.Volumes {
		volume := templating.Expand(entry, node)
		msg := fault(entry, volume, claims)
		if msg == "" && seen.Has(volume.Name) {
			msg = fmt.Sprintf("%q is there already, and the first stands", volume.Name)
		}
		if msg != "" {
			p.warn("pod-entry", field.NewPath(applied.Path).Index(i), ofOwner("left out of the pod: "+msg, applied))
			continue
		}
		seen.Insert(volume.Name)
		wanted = append(wanted, volume)
	}
	return wanted
}

func (p *Plan) warn(rule string, path *field.Path, message string) {
	p.Warnings = append(p.Warnings, validation.Finding{Rule: rule, Severity: validation.Warn, Path: path, Message: message})
}

func ofOwner(message string, applied templating.Applied) string {
	return fmt.Sprintf("%s (%s %s)", message, applied.Kind, applied.Name)
}

func list(mounts []Mount) string {
	const most = 3
	texts := make([]string, 0, most)
	for i, m := range mounts {
		if i == most {
			return strings.Join(texts, ", ") + fmt.Sprintf(" and %d more", len(mounts)-most)
		}
		texts = append(texts, m.String())
	}
	return strings.Join(texts, ", ")
}
