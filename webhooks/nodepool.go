package webhooks

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

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

// How long the deletion of a pool waits for the cache to hear that its Kafka is
// being deleted too, and how often it looks.
const (
	hearWithin = time.Second
	hearEvery  = 20 * time.Millisecond
)

// judgeNodePoolDeletion waits a moment before it refuses: `kubectl delete -f`
// deletes a Kafka and, right after, its pools, and the cache may not have heard
// of the first when the second comes.
func judgeNodePoolDeletion(s source) func(context.Context, *apiv1.KafkaNodePool) (validation.Result, error) {
	return func(ctx context.Context, pool *apiv1.KafkaNodePool) (validation.Result, error) {
		var result validation.Result
		err := wait.PollUntilContextTimeout(ctx, hearEvery, hearWithin, true, func(ctx context.Context) (bool, error) {
			facts, err := s.pool(ctx, pool)
			if err != nil {
				return false, err
			}
			result = validation.KafkaNodePoolDeletion(pool, facts)
			return len(result.Refusals) == 0, nil
		})
		if len(result.Refusals) > 0 {
			return result, nil
		}
		return result, err
	}
}
