package pod

import (
	"context"
	"fmt"
	"runtime/debug"

	corev1 "k8s.io/api/core/v1"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/sluice-kafka/sluice/internal/podvolumes"
	"github.com/sluice-kafka/sluice/internal/validation"
)

// handler answers for pods that are being created. It never refuses a pod for
// its content: that would keep a crashed broker down. What it cannot tell it
// answers with 503, so that the pod's creator tries again.
type handler struct {
	gatherer gatherer
}

var _ admission.Handler = (*handler)(nil)

// newHandler returns a handler that looks for owners in the cache first.
func newHandler(cache, live getter) *handler {
	return &handler{gatherer: gatherer{cache: cache, live: live, bound: defaultBound}}
}

// Handle answers one request.
func (h *handler) Handle(ctx context.Context, req admission.Request) (resp admission.Response) {
	logger := log.FromContext(ctx)
	defer func() {
		if r := recover(); r != nil {
			logger.Error(fmt.Errorf("panic: %v", r), "Recovered from a panic", "stack", string(debug.Stack()))
			resp = unavailable(fmt.Errorf("completing the pod's volumes: a fault in Sluice: %v", r))
		}
	}()

	pod, err := decode(req)
	if err != nil {
		logger.Info("Letting through what is not a pod", "reason", err.Error())
		return passed("not a pod that can be completed", validation.WarningText("spec", "no templated volumes added: "+err.Error()))
	}
	if len(podvolumes.Dangling(pod)) == 0 {
		return passed("every mount names a volume")
	}
	id, err := podvolumes.Identify(pod)
	if err != nil {
		return passed("not a pod of a node", validation.WarningText("metadata.name", "no templated volumes added: "+err.Error()))
	}
	plan, err := h.plan(ctx, req.Namespace, pod, id)
	if err != nil {
		logger.Error(err, "Asking the pod's creator to try again", "pod", pod.Name)
		return unavailable(fmt.Errorf("completing the volumes of pod %s: %w; try again", pod.Name, err))
	}
	logger.V(1).Info("Decided on the pod's volumes", "pod", pod.Name, "reason", plan.Reason,
		"added", len(plan.Add))
	return respond(pod, plan)
}

// plan decides from the cache, and once more from live reads where a mount would
// name no volume: its owner may have changed since the cache last heard of it.
func (h *handler) plan(ctx context.Context, namespace string, pod *corev1.Pod, id podvolumes.Identity) (podvolumes.Plan, error) {
	seen, err := h.gatherer.gather(ctx, namespace, id)
	if err != nil {
		return podvolumes.Plan{}, err
	}
	plan, err := podvolumes.Decide(pod, id, seen.Owners)
	if err != nil || len(plan.Dangling) == 0 || seen.live {
		return plan, err
	}
	seen, err = h.gatherer.fresh(ctx, namespace, id)
	if err != nil {
		return podvolumes.Plan{}, err
	}
	return podvolumes.Decide(pod, id, seen.Owners)
}

// decode reads the pod of a request.
func decode(req admission.Request) (*corev1.Pod, error) {
	if kind := req.Kind; kind.Group != "" || kind.Kind != "Pod" {
		return nil, fmt.Errorf("the request is for a %q of group %q", kind.Kind, kind.Group)
	}
	pod := &corev1.Pod{}
	if err := utiljson.Unmarshal(req.Object.Raw, pod); err != nil {
		return nil, fmt.Errorf("decoding the pod: %w", err)
	}
	return pod, nil
}
