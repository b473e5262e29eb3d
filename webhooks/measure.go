package webhooks

import (
	"context"
	"net/http"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/sluice-kafka/sluice/internal/metrics"
)

// measured counts and times the answers of a handler.
type measured struct {
	kind    string
	clock   clock.PassiveClock
	metrics *metrics.Admission
	next    admission.Handler
}

// Handle answers one request.
func (m *measured) Handle(ctx context.Context, req admission.Request) (resp admission.Response) {
	start := m.clock.Now()
	verdict := metrics.VerdictFailed // where the handler panics
	defer func() {
		m.metrics.Answered(m.kind, operationOf(req), verdict, m.clock.Since(start))
	}()
	resp = m.next.Handle(ctx, req)
	verdict = verdictOf(resp)
	return resp
}

func operationOf(req admission.Request) string {
	switch {
	case req.SubResource == subresourceScale:
		return metrics.OperationScale
	case req.Operation == admissionv1.Create:
		return metrics.OperationCreate
	case req.Operation == admissionv1.Update:
		return metrics.OperationUpdate
	case req.Operation == admissionv1.Delete:
		return metrics.OperationDelete
	}
	return metrics.OperationOther
}

func verdictOf(resp admission.Response) string {
	switch {
	case resp.Allowed && len(resp.Warnings) > 0:
		return metrics.VerdictWarned
	case resp.Allowed:
		return metrics.VerdictAllowed
	case resp.Result == nil:
		return metrics.VerdictFailed
	}
	switch resp.Result.Code {
	case http.StatusUnprocessableEntity:
		return metrics.VerdictRefused
	case http.StatusBadRequest:
		return metrics.VerdictUnreadable
	case http.StatusServiceUnavailable:
		return metrics.VerdictUnavailable
	}
	return metrics.VerdictFailed
}
