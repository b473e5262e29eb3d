package webhooks

import (
	"context"
	"fmt"
	"net/http"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
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
	kind    string
	decoder admission.Decoder
	// judge gathers the facts and applies the rules; old is nil on creation. An
	// error means that a fact could not be had, which is not that it is absent.
	judge func(ctx context.Context, obj, old T) (validation.Result, error)
}

var _ admission.Handler = (*handler[*apiv1.Kafka])(nil)

// Handle answers one request.
func (h *handler[T]) Handle(ctx context.Context, req admission.Request) admission.Response {
	if req.SubResource != "" || req.Operation != admissionv1.Create && req.Operation != admissionv1.Update {
		return admission.Allowed("")
	}
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()

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
	return h.answer(obj, result)
}

func (h *handler[T]) answer(obj T, result validation.Result) admission.Response {
	resp := admission.Allowed("")
	if errs := result.Errors(); len(errs) > 0 {
		name := obj.GetName()
		if name == "" {
			name = obj.GetGenerateName()
		}
		status := apierrors.NewInvalid(schema.GroupKind{Group: apiv1.GroupVersion.Group, Kind: h.kind}, name, errs).Status()
		resp = refused(status)
	}
	return resp.WithWarnings(result.WarningTexts()...)
}

// unreadable refuses what is no object of the kind.
func (h *handler[T]) unreadable(name string, err error) admission.Response {
	return refused(apierrors.NewBadRequest(fmt.Sprintf(
		"%s %q cannot be read: %v; compare it with `kubectl explain %s --recursive`", h.kind, name, err, h.kind)).Status())
}

// unknown refuses for now, since a fact that the rules need is not to be had.
func (h *handler[T]) unknown(name string, err error) admission.Response {
	return refused(metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusServiceUnavailable, Reason: metav1.StatusReasonServiceUnavailable,
		Message: fmt.Sprintf("%s %q cannot be checked just now, try again: %v", h.kind, name, err),
	})
}

func refused(status metav1.Status) admission.Response {
	return admission.Response{AdmissionResponse: admissionv1.AdmissionResponse{Result: &status}}
}
