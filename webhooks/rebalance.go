package webhooks

import (
	"context"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/validation"
)

func judgeRebalance(s source, opts validation.Options) func(context.Context, *apiv1.KafkaRebalance, *apiv1.KafkaRebalance) (validation.Result, error) {
	return func(ctx context.Context, rebalance, old *apiv1.KafkaRebalance) (validation.Result, error) {
		facts, err := s.rebalance(ctx, rebalance)
		if err != nil {
			return validation.Result{}, err
		}
		return validation.KafkaRebalance(rebalance, old, facts, opts), nil
	}
}
