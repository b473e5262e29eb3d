package main

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
)

// lives are how long the topics of one round took to be created, to be changed
// and to be deleted.
type lives struct {
	create, change, remove time.Duration
}

// worker does what is left to be done after users have written to resources.
type worker interface {
	// afterCreate, afterChange and afterDelete take the resources as they come,
	// until there are no more.
	afterCreate(ctx context.Context, written <-chan *apiv1.KafkaTopic) error
	afterChange(ctx context.Context, written <-chan *apiv1.KafkaTopic) error
	afterDelete(ctx context.Context, written <-chan *apiv1.KafkaTopic) error
}

// operatorWorks is the worker where the operator is: nothing is left to be done.
type operatorWorks struct{}

func (operatorWorks) afterCreate(_ context.Context, written <-chan *apiv1.KafkaTopic) error {
	return drain(written)
}

func (operatorWorks) afterChange(_ context.Context, written <-chan *apiv1.KafkaTopic) error {
	return drain(written)
}

func (operatorWorks) afterDelete(_ context.Context, written <-chan *apiv1.KafkaTopic) error {
	return drain(written)
}

func drain[T any](c <-chan T) error {
	for range c {
	}
	return nil
}

// live takes the topics of a round through their lives.
func (s *stage) live(ctx context.Context, of side, w worker, round string) (l lives, err error) {
	seen, err := s.watch(ctx, of, round)
	if err != nil {
		return l, err
	}
	defer seen.stop()
	step := func(write func(ctx context.Context, n int) (*apiv1.KafkaTopic, error), work func(context.Context, <-chan *apiv1.KafkaTopic) error,
		g goal,
	) (time.Duration, error) {
		start := time.Now()
		if err := s.step(ctx, write, work, func(ctx context.Context) error { return seen.until(ctx, s.batch, g) }); err != nil {
			return 0, err
		}
		took := time.Since(start)
		return took, s.rest(ctx)
	}
	l.create, err = step(func(ctx context.Context, n int) (*apiv1.KafkaTopic, error) {
		t := of.topic(round, n)
		return t, s.kube.Create(ctx, t)
	}, w.afterCreate, ready(1))
	if err != nil {
		return l, fmt.Errorf("creating %d topics: %w", s.batch, err)
	}
	if err := s.shown(ctx, of, round, s.batch); err != nil {
		return l, err
	}
	l.change, err = step(func(ctx context.Context, n int) (*apiv1.KafkaTopic, error) {
		t := of.topic(round, n)
		return t, s.kube.Patch(ctx, t, client.RawPatch(types.MergePatchType, retentionPatch(retentionOf(n)+1)))
	}, w.afterChange, ready(2))
	if err != nil {
		return l, fmt.Errorf("changing %d topics: %w", s.batch, err)
	}
	l.remove, err = step(func(ctx context.Context, n int) (*apiv1.KafkaTopic, error) {
		t := of.topic(round, n)
		return t, s.kube.Delete(ctx, t)
	}, w.afterDelete, nil)
	if err != nil {
		return l, fmt.Errorf("deleting %d topics: %w", s.batch, err)
	}
	return l, nil
}

// step has users write to each resource, the work done that follows, and waits
// until all is seen to be as it should.
func (s *stage) step(ctx context.Context, write func(context.Context, int) (*apiv1.KafkaTopic, error),
	work func(context.Context, <-chan *apiv1.KafkaTopic) error, wait func(context.Context) error,
) error {
	written := make(chan *apiv1.KafkaTopic, s.batch)
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		defer close(written)
		return each(ctx, 0, s.batch, func(ctx context.Context, n int) error {
			t, err := write(ctx, n)
			written <- t
			return err
		})
	})
	g.Go(func() error { return work(ctx, written) })
	g.Go(func() error { return wait(ctx) })
	return g.Wait()
}
