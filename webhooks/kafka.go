package webhooks

import (
	"context"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/validation"
)

func judgeKafka(s source, opts func() validation.Options) func(context.Context, *apiv1.Kafka, *apiv1.Kafka) (validation.Result, error) {
	return func(ctx context.Context, kafka, old *apiv1.Kafka) (validation.Result, error) {
		facts, err := s.kafka(ctx, kafka)
		if err != nil {
			return validation.Result{}, err
		}
		return validation.Kafka(kafka, old, facts, opts()), nil
	}
}
