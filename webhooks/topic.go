package webhooks

import (
	"context"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/validation"
)

func judgeTopic(s source, opts validation.Options) func(context.Context, *apiv1.KafkaTopic, *apiv1.KafkaTopic) (validation.Result, error) {
	return func(ctx context.Context, topic, old *apiv1.KafkaTopic) (validation.Result, error) {
		facts, err := s.topic(ctx, topic, old)
		if err != nil {
			return validation.Result{}, err
		}
		return validation.KafkaTopic(topic, old, facts, opts), nil
	}
}
