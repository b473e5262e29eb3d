package harness

import (
	"context"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// RoundTrip creates an object, reads it back, deletes it, and returns what
// differs between what was sent and what came back; an empty string is what one
// wants. What the API server itself adds to the metadata does not count.
func (cp *ControlPlane) RoundTrip(ctx context.Context, sent *unstructured.Unstructured) (diff string, err error) {
	o := sent.DeepCopy()
	if err := cp.Client.Create(ctx, o); err != nil {
		return "", err
	}
	got := &unstructured.Unstructured{}
	got.SetGroupVersionKind(o.GroupVersionKind())
	if err := cp.Client.Get(ctx, client.ObjectKeyFromObject(o), got); err != nil {
		return "", err
	}
	if err := cp.Client.Delete(ctx, got.DeepCopy()); err != nil && !apierrors.IsNotFound(err) {
		return "", err
	}
	return cmp.Diff(userPart(sent), userPart(got)), nil
}

// userPart is what a user writes of an object: the status of a new object is
// dropped by the API server, since it is a subresource.
func userPart(o *unstructured.Unstructured) map[string]any {
	part := map[string]any{"labels": o.GetLabels(), "annotations": o.GetAnnotations()}
	for k, v := range o.Object {
		if k != "metadata" && k != "status" {
			part[k] = v
		}
	}
	return part
}
