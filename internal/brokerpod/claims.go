package brokerpod

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/brokerconfig"
)

// Claims returns the claims of a node's disks, sorted by name; none for
// ephemeral ones. With deleteClaim a claim is owned by the Kafka and goes with
// it, and AnnotationDeleteClaim says so also when the pool is gone. An error is
// ErrInvalid.
func Claims(in Input) ([]*corev1.PersistentVolumeClaim, error) {
	f := &faults{}
	all := claims(in, f)
	if err := f.err(); err != nil {
		return nil, err
	}
	return all, nil
}

func claims(in Input, f *faults) []*corev1.PersistentVolumeClaim {
	var all []*corev1.PersistentVolumeClaim
	for _, v := range brokerconfig.Volumes(in.Pool, in.Node) {
		if v.ClaimName != "" {
			all = append(all, claim(in, v, f))
		}
	}
	slices.SortFunc(all, func(a, b *corev1.PersistentVolumeClaim) int { return strings.Compare(a.Name, b.Name) })
	return all
}

func claim(in Input, v brokerconfig.Volume, f *faults) *corev1.PersistentVolumeClaim {
	spec, at := specOf(in, v, f)
	labels, annotations := claimMetadata(in, f)
	c := &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{
			Name:        v.ClaimName,
			Namespace:   in.Kafka.Namespace,
			Labels:      merge(labels, nodeLabels(in)),
			Annotations: merge(annotations, map[string]string{apiv1.AnnotationDeleteClaim: strconv.FormatBool(spec.DeleteClaim)}),
		},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes:               []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			StorageClassName:          pointer(spec.Class),
			VolumeAttributesClassName: pointer(spec.VolumeAttributesClass),
		},
	}
	if spec.DeleteClaim {
		c.OwnerReferences = []metav1.OwnerReference{owner(in.Kafka)}
	}
	if spec.Size == "" {
		at.child("size").fault("a persistent claim needs a size: write one such as 100Gi")
	} else if size := quantity(spec.Size, at.child("size")); size != nil {
		c.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: *size}
	}
	if selector := texts(spec.Selector, at.child("selector")); len(selector) > 0 {
		c.Spec.Selector = &metav1.LabelSelector{MatchLabels: selector}
	}
	return c
}

// claimMetadata: a pool's template of claims replaces the Kafka's whole.
func claimMetadata(in Input, f *faults) (labels, annotations map[string]string) {
	if t := in.Pool.Spec.Template; t != nil && t.PersistentVolumeClaim != nil {
		return metadata(t.PersistentVolumeClaim.Metadata, f.of(in, true, "template", "persistentVolumeClaim"))
	}
	if t := in.Kafka.Spec.Kafka.Template; t != nil && t.PersistentVolumeClaim != nil {
		return metadata(t.PersistentVolumeClaim.Metadata, f.of(in, false, "template", "persistentVolumeClaim"))
	}
	return nil, nil
}

// pointer returns nil for an empty text.
func pointer(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// ClaimChange returns what a live claim has to become, and what of it changes;
// nil where it may stay as it is. What cannot change is left as it is: a claim
// grows and never shrinks, and its class and its selector stay
// (ValidatePersistentVolumeClaimUpdate in Kubernetes' pkg/apis/core/validation).
// Labels, annotations and owners that others gave it stay.
func ClaimChange(live, wanted *corev1.PersistentVolumeClaim) (change *corev1.PersistentVolumeClaim, what []string) {
	change = live.DeepCopy()
	if keys := differing(live.Labels, wanted.Labels); len(keys) > 0 {
		change.Labels = merge(live.Labels, wanted.Labels)
		what = append(what, "labels "+strings.Join(keys, ", "))
	}
	if keys := differing(live.Annotations, wanted.Annotations); len(keys) > 0 {
		change.Annotations = merge(live.Annotations, wanted.Annotations)
		what = append(what, "annotations "+strings.Join(keys, ", "))
	}
	if owners := ownersOf(live, wanted); !equality.Semantic.DeepEqual(owners, live.OwnerReferences) {
		change.OwnerReferences = owners
		what = append(what, "owners")
	}
	if size := wanted.Spec.Resources.Requests.Storage(); size.Cmp(*live.Spec.Resources.Requests.Storage()) > 0 {
		change.Spec.Resources.Requests = maps.Clone(live.Spec.Resources.Requests)
		if change.Spec.Resources.Requests == nil {
			change.Spec.Resources.Requests = corev1.ResourceList{}
		}
		change.Spec.Resources.Requests[corev1.ResourceStorage] = *size
		what = append(what, "size "+size.String())
	}
	if class := wanted.Spec.VolumeAttributesClassName; class != nil && *class != ptr.Deref(live.Spec.VolumeAttributesClassName, "") {
		change.Spec.VolumeAttributesClassName = class
		what = append(what, "volume attributes class "+*class)
	}
	if len(what) == 0 {
		return nil, nil
	}
	return change, what
}

// differing returns the keys of wanted that are not so in live, sorted.
func differing(live, wanted map[string]string) []string {
	var keys []string
	for _, key := range slices.Sorted(maps.Keys(wanted)) {
		if value, ok := live[key]; !ok || value != wanted[key] {
			keys = append(keys, key)
		}
	}
	return keys
}

// ownersOf returns the owners of a live claim with the Kafkas among them replaced
// by the wanted one, if any: a Kafka that was made anew has another UID.
func ownersOf(live, wanted *corev1.PersistentVolumeClaim) []metav1.OwnerReference {
	owners := slices.DeleteFunc(slices.Clone(live.OwnerReferences), func(o metav1.OwnerReference) bool {
		group, err := schema.ParseGroupVersion(o.APIVersion)
		return err == nil && group.Group == apiv1.GroupVersion.Group && o.Kind == apiv1.KindKafka && !slices.ContainsFunc(wanted.OwnerReferences, same(o))
	})
	for _, o := range wanted.OwnerReferences {
		if !slices.ContainsFunc(owners, same(o)) {
			owners = append(owners, o)
		}
	}
	return owners
}

func same(a metav1.OwnerReference) func(metav1.OwnerReference) bool {
	return func(b metav1.OwnerReference) bool { return a.UID == b.UID }
}
