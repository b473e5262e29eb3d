package pod

import (
	"net/http"
	"strings"

	jsonpatch "gomodules.xyz/jsonpatch/v2"
	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/podvolumes"
	"github.com/sluice-kafka/sluice/internal/validation"
)

// respond turns a plan into a patch of only what changes. It is written by hand:
// comparing the pod with its own decoding would also drop what a newer API
// server knows of pods and this build does not.
func respond(pod *corev1.Pod, plan podvolumes.Plan) admission.Response {
	resp := passed(plan.Reason, validation.Result{Warnings: plan.Warnings}.WarningTexts()...)
	resp.Patches = patches(pod, plan)
	return resp
}

func patches(pod *corev1.Pod, plan podvolumes.Plan) []jsonpatch.JsonPatchOperation {
	var ops []jsonpatch.JsonPatchOperation
	if len(plan.Add) > 0 && len(pod.Spec.Volumes) == 0 {
		// Adds the member, or replaces an empty one (RFC 6902, section 4.1).
		ops = append(ops, jsonpatch.NewOperation("add", "/spec/volumes", plan.Add))
	} else {
		for _, v := range plan.Add {
			ops = append(ops, jsonpatch.NewOperation("add", "/spec/volumes/-", v))
		}
	}
	switch {
	case plan.Hash == "":
	case len(pod.Annotations) == 0:
		ops = append(ops, jsonpatch.NewOperation("add", "/metadata/annotations",
			map[string]string{apiv1.AnnotationTemplatedVolumesHash: plan.Hash}))
	default:
		ops = append(ops, jsonpatch.NewOperation("add",
			"/metadata/annotations/"+strings.ReplaceAll(apiv1.AnnotationTemplatedVolumesHash, "/", "~1"), plan.Hash))
	}
	return ops
}

// passed lets the pod through.
func passed(reason string, warnings ...string) admission.Response {
	return admission.Allowed(reason).WithWarnings(warnings...)
}

// unavailable refuses for now. The code stands in the answer's status: an HTTP
// error of the webhook itself would reach the pod's creator as a 500.
func unavailable(err error) admission.Response {
	return admission.Response{AdmissionResponse: admissionv1.AdmissionResponse{
		Result: &metav1.Status{
			Status:  metav1.StatusFailure,
			Code:    http.StatusServiceUnavailable,
			Reason:  metav1.StatusReasonServiceUnavailable,
			Message: err.Error(),
		},
	}}
}
