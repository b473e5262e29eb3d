package webhooks

import (
	"fmt"
	"net/http"

	admissionv1 "k8s.io/api/admission/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/validation"
)

// answers words what is answered for one kind.
type answers struct {
	kind string
	// refused is told of each rule that a request is refused for.
	refused func(kind, rule string)
}

func (a answers) answer(name string, result validation.Result) admission.Response {
	resp := admission.Allowed("")
	if errs := result.Errors(); len(errs) > 0 {
		for _, f := range result.Refusals {
			a.refused(a.kind, f.Rule)
		}
		status := apierrors.NewInvalid(schema.GroupKind{Group: apiv1.GroupVersion.Group, Kind: a.kind}, name, errs).Status()
		resp = denied(status)
	}
	return resp.WithWarnings(result.WarningTexts()...)
}

// unreadable refuses what is no object of the kind.
func (a answers) unreadable(name string, err error) admission.Response {
	return denied(apierrors.NewBadRequest(fmt.Sprintf(
		"%s %q cannot be read: %v; compare it with `kubectl explain %s --recursive`", a.kind, name, err, a.kind)).Status())
}

// unknown refuses for now, since a fact that the rules need is not to be had.
func (a answers) unknown(name string, err error) admission.Response {
	return denied(metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusServiceUnavailable, Reason: metav1.StatusReasonServiceUnavailable,
		Message: fmt.Sprintf("%s %q cannot be checked just now, try again: %v", a.kind, name, err),
	})
}

func denied(status metav1.Status) admission.Response {
	return admission.Response{AdmissionResponse: admissionv1.AdmissionResponse{Result: &status}}
}
