package volumes

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kafkav1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/volumedrift"
)

// outdated tells of a write that was refused since its object is newer than the
// one that was read, or gone.
func outdated(err error) bool { return apierrors.IsConflict(err) || apierrors.IsNotFound(err) }

// apply writes what was decided. The records come first: a restart that nobody
// remembers could be repeated for ever.
func (r *reconciler) apply(ctx context.Context, k key, seen *volumedrift.Cluster, d volumedrift.Decision) error {
	log := ctrl.LoggerFrom(ctx)
	for _, rec := range d.Records {
		owner, ok := seen.Object(rec.Owner).(client.Object)
		if !ok {
			continue
		}
		log.Info("Recording restarts", "owner", rec.Owner.Kind+"/"+rec.Owner.Name, "record", rec.Record.String())
		var value any // a null takes the annotation away
		if text := rec.Record.String(); text != "" {
			value = text
		}
		if err := r.annotate(ctx, owner, kafkav1.AnnotationVolumeRestarts, value); err != nil {
			return fmt.Errorf("recording restarts on %s %s/%s: %w", rec.Owner.Kind, k.namespace, rec.Owner.Name, err)
		}
	}
	if d.Action == volumedrift.Wait {
		return nil
	}
	log = log.WithValues("pod", d.Pod.Name, "reason", d.Reason, "change", d.Change)
	var did string
	switch d.Action {
	case volumedrift.Mark:
		log.Info("Marking a pod for a restart")
		if err := r.annotate(ctx, d.Pod, kafkav1.AnnotationManualRollingUpdate, "true"); err != nil {
			return fmt.Errorf("marking pod %s/%s for a restart: %w", k.namespace, d.Pod.Name, err)
		}
		did = "Marked pod %s for Strimzi to restart it. %s"
	case volumedrift.Delete:
		log.Info("Deleting a pod that never started")
		err := r.writer.Delete(ctx, d.Pod, client.Preconditions{UID: &d.Pod.UID, ResourceVersion: &d.Pod.ResourceVersion})
		if err != nil {
			return fmt.Errorf("deleting pod %s/%s: %w", k.namespace, d.Pod.Name, err)
		}
		did = "Deleted pod %s, which never started, for a new one. %s"
	}
	if owner, ok := seen.Object(d.Owner).(runtime.Object); ok {
		r.recorder.Eventf(owner, d.Pod, corev1.EventTypeNormal, "VolumesRestart", string(d.Action), did, d.Pod.Name, d.Change)
	}
	return nil
}

// annotate sets one annotation of the object that was read, and of no newer one.
func (r *reconciler) annotate(ctx context.Context, object client.Object, name string, value any) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid":             object.GetUID(),
		"resourceVersion": object.GetResourceVersion(),
		"annotations":     map[string]any{name: value},
	}})
	if err != nil {
		return fmt.Errorf("encoding the patch: %w", err)
	}
	target := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: object.GetNamespace(), Name: object.GetName()}}
	gvk, err := r.writer.GroupVersionKindFor(object)
	if err != nil {
		return err
	}
	target.SetGroupVersionKind(gvk)
	return r.writer.Patch(ctx, target, client.RawPatch(types.MergePatchType, patch), client.FieldOwner(kafkav1.FieldManager))
}
