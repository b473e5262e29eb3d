package pod

import (
	"fmt"
	"net/http"
	"strings"

	jsonpatch "gomodules.xyz/jsonpatch/v2"
	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/podvolumes"
)

// Bounds on an answer's warnings, in number and in characters each. The API
// server passes on 4,096 characters in all before it cuts every one of them to
// 256 (k8s.io/apiserver/pkg/endpoints/filters/warning.go).
const (
	maxWarnings      = 10
	maxWarningLength = 256
)

// respond turns a plan into a patch of only what changes. It is written by hand:
// comparing the pod with its own decoding would also drop what a newer API
// server knows of pods and this build does not.
func respond(pod *corev1.Pod, plan podvolumes.Plan) admission.Response {
	resp := passed(plan.Reason, plan.Warnings...)
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
	return admission.Allowed(reason).WithWarnings(bounded(warnings)...)
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

// bounded keeps warnings within what the API server passes on.
func bounded(warnings []string) []string {
	out := make([]string, 0, min(len(warnings), maxWarnings))
	for i, w := range warnings {
		if i == maxWarnings-1 && len(warnings) > maxWarnings {
			return append(out, fmt.Sprintf("pod: %d more warnings", len(warnings)-i))
		}
		out = append(out, shortened(w))
	}
	return out
}

func shortened(w string) string {
	if runes := []rune(w); len(runes) > maxWarningLength {
		return string(runes[:maxWarningLength-1]) + "…"
	}
	return w
}
