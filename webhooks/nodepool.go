package webhooks

import (
	"context"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/validation"
)

func judgeNodePool(s source, opts validation.Options) func(context.Context, *apiv1.KafkaNodePool, *apiv1.KafkaNodePool) (validation.Result, error) {
	return func(ctx context.Context, pool, old *apiv1.KafkaNodePool) (validation.Result, error) {
		facts, err := s.pool(ctx, pool)
		if err != nil {
			return validation.Result{}, err
		}
		return validation.KafkaNodePool(pool, old, facts, opts), nil
	}
}
