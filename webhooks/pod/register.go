// Package pod completes the pods of Kafka nodes and of Connect and MirrorMaker 2
// workers at admission: a pod with a mount that names no volume gets the
// templated volumes of its owner, each expanded for that pod.
package pod

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
)

// path is where the manager's webhook server serves the handler.
const path = "/mutate-pod"

// Add registers the handler, with wrap around it, with the manager's webhook
// server. The owners of pods come from the manager's cache, whose informers for
// them are asked for here, so that they are synced when the first pod comes.
func Add(mgr ctrl.Manager, wrap func(admission.Handler) admission.Handler) error {
	for _, owner := range []client.Object{
		&apiv1.Kafka{}, &apiv1.KafkaNodePool{}, &apiv1.KafkaConnect{}, &apiv1.KafkaMirrorMaker2{},
	} {
		// A kind that is not installed yet is asked for again by the first pod
		// that needs it.
		_, err := mgr.GetCache().GetInformer(context.Background(), owner, cache.BlockUntilSynced(false))
		if err != nil && !meta.IsNoMatchError(err) {
			return fmt.Errorf("watching %T for the pod webhook: %w", owner, err)
		}
	}
	mgr.GetWebhookServer().Register(path, &webhook.Admission{
		Handler: wrap(newHandler(mgr.GetCache(), mgr.GetAPIReader())),
	})
	return nil
}
