package webhooks

import (
	"context"
	"fmt"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/validation"
)

// answerWithin bounds a request. It is less than the five seconds after which
// the API server gives up, so that the answer says why.
const answerWithin = 4 * time.Second

// handler answers the requests for one kind. It decodes, asks the rules, and
// words the answer; a dry run is answered alike, since nothing is changed.
type handler[T client.Object] struct {
	answers
	decoder admission.Decoder
	// judge gathers the facts and applies the rules; old is nil on creation. An
	// error means that a fact could not be had, which is not that it is absent.
	judge func(ctx context.Context, obj, old T) (validation.Result, error)
	// judgeDeletion does so for the deletion of an object; nil where a kind may
	// always be deleted.
	judgeDeletion func(ctx context.Context, obj T) (validation.Result, error)
}

var _ admission.Handler = (*handler[*apiv1.Kafka])(nil)

// Handle answers one request.
func (h *handler[T]) Handle(ctx context.Context, req admission.Request) admission.Response {
	if req.SubResource != "" {
		return admission.Allowed("")
	}
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	switch req.Operation {
	case admissionv1.Create, admissionv1.Update:
		return h.change(ctx, req)
	case admissionv1.Delete:
		return h.deletion(ctx, req)
	}
	return admission.Allowed("")
}

func (h *handler[T]) change(ctx context.Context, req admission.Request) admission.Response {
	obj := newObject[T]()
	err := h.decoder.DecodeRaw(req.Object, obj)
	var old T
	if req.Operation == admissionv1.Update {
		was := newObject[T]()
		oldErr := h.decoder.DecodeRaw(req.OldObject, was)
		switch {
		case oldErr == nil:
			old = was
		case err != nil:
			// As unreadable as it was: not this update's fault.
			return admission.Allowed("").WithWarnings(validation.WarningText("spec", fmt.Sprintf("this %s cannot be read, as before, and so was not checked: %v", h.kind, err)))
		}
	}
	if err != nil {
		return h.unreadable(req.Name, err)
	}
	result, err := h.judge(ctx, obj, old)
	if err != nil {
		return h.unknown(req.Name, err)
	}
	name := obj.GetName()
	if name == "" {
		name = obj.GetGenerateName()
	}
	return h.answer(name, result)
}

// deletion lets what cannot be read go: keeping it would help nobody.
func (h *handler[T]) deletion(ctx context.Context, req admission.Request) admission.Response {
	obj := newObject[T]()
	if h.judgeDeletion == nil || h.decoder.DecodeRaw(req.OldObject, obj) != nil {
		return admission.Allowed("")
	}
	result, err := h.judgeDeletion(ctx, obj)
	if err != nil {
		return h.unknown(obj.GetName(), err)
	}
	return h.answer(obj.GetName(), result)
}
