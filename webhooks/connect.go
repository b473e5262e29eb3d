package webhooks

import (
	"context"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/validation"
)

// The workers' pods depend on no other object.

func judgeConnect(opts validation.Options) func(context.Context, *apiv1.KafkaConnect, *apiv1.KafkaConnect) (validation.Result, error) {
	return func(_ context.Context, connect, old *apiv1.KafkaConnect) (validation.Result, error) {
		return validation.KafkaConnect(connect, old, opts), nil
	}
}

func judgeMirrorMaker2(opts validation.Options) func(context.Context, *apiv1.KafkaMirrorMaker2, *apiv1.KafkaMirrorMaker2) (validation.Result, error) {
	return func(_ context.Context, mm2, old *apiv1.KafkaMirrorMaker2) (validation.Result, error) {
		return validation.KafkaMirrorMaker2(mm2, old, opts), nil
	}
}
