package webhooks

import (
	"context"
	"fmt"
	"slices"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/validation"
)

const subresourceScale = "scale"

// liveWithin bounds the one read that does not come from the cache.
const liveWithin = time.Second

// scaleHandler judges the Scale of a pool, which `kubectl scale` and autoscalers
// send, as if the pool itself had been changed.
type scaleHandler struct {
	answers
	cache, live client.Reader
	judge       func(ctx context.Context, pool, old *apiv1.KafkaNodePool) (validation.Result, error)
}

// Handle answers one request.
func (h *scaleHandler) Handle(ctx context.Context, req admission.Request) admission.Response {
	if req.SubResource != subresourceScale || req.Operation != admissionv1.Update {
		return admission.Allowed("")
	}
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()

	var now, was autoscalingv1.Scale
	if err := utiljson.Unmarshal(req.Object.Raw, &now); err != nil {
		return h.unreadable(req.Name, err)
	}
	pool, err := h.pool(ctx, client.ObjectKey{Namespace: req.Namespace, Name: req.Name})
	switch {
	case apierrors.IsNotFound(err):
		return admission.Allowed("") // the API server says so itself
	case err != nil:
		return h.unknown(req.Name, err)
	}
	old, scaled := pool.DeepCopy(), pool.DeepCopy()
	if utiljson.Unmarshal(req.OldObject.Raw, &was) == nil && len(req.OldObject.Raw) > 0 {
		// What the API server has, even where the cache is behind.
		old.Spec.Replicas = wide(was.Spec.Replicas)
	}
	scaled.Spec.Replicas = wide(now.Spec.Replicas)
	result, err := h.judge(ctx, scaled, old)
	if err != nil {
		return h.unknown(req.Name, err)
	}
	return h.answer(req.Name, atReplicas(result))
}

func wide(n int32) *int64 {
	w := int64(n)
	return &w
}

// pool reads the pool from the cache, or live where that does not have it (yet).
func (h *scaleHandler) pool(ctx context.Context, key client.ObjectKey) (*apiv1.KafkaNodePool, error) {
	var pool apiv1.KafkaNodePool
	err := h.cache.Get(ctx, key, &pool)
	if apierrors.IsNotFound(err) {
		ctx, cancel := context.WithTimeout(ctx, liveWithin)
		defer cancel()
		err = h.live.Get(ctx, key, &pool)
	}
	if err != nil {
		return nil, fmt.Errorf("reading KafkaNodePool %s: %w", key, err)
	}
	return &pool, nil
}

// atReplicas reports everything at the one field that a Scale has.
func atReplicas(r validation.Result) validation.Result {
	at := field.NewPath("spec", "replicas")
	move := func(list []validation.Finding) []validation.Finding {
		list = slices.Clone(list)
		for i := range list {
			if from := list[i].Path.String(); from != at.String() {
				list[i].Path, list[i].Message = at, fmt.Sprintf("%s of the pool: %s", from, list[i].Message)
			}
		}
		return list
	}
	return validation.Result{Refusals: move(r.Refusals), Warnings: move(r.Warnings)}
}
