package main

import (
	"context"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/util/flowcontrol"
)

// inFlight bounds the requests that wait for an answer at once. At the usual
// rate they are enough for answers that take a tenth of a second.
const inFlight = 32

// times calls f with each number below n, some at once, until one fails.
func times(ctx context.Context, n int, f func(ctx context.Context, n int) error) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(inFlight)
	for i := 0; i < n && ctx.Err() == nil; i++ {
		g.Go(func() error { return f(ctx, i) })
	}
	return g.Wait()
}

// load sends requests. Its numbers go on from call to call, for an update that
// repeats an earlier one changes nothing and passes without admission.
type load struct {
	sent atomic.Int64
}

// during sends requests at a rate a second until the time is over or one fails.
// It returns how many were answered, and how many in a second.
func (l *load) during(ctx context.Context, d time.Duration, rate int, send func(ctx context.Context, n int) error) (answered, reached float64, err error) {
	start, before := time.Now(), l.sent.Load()
	// A burst of one: what was missed is not made up for.
	limiter := flowcontrol.NewTokenBucketRateLimiter(float32(rate), 1)
	g, ctx := errgroup.WithContext(ctx)
	for range inFlight {
		g.Go(func() error {
			for time.Since(start) < d {
				if err := limiter.Wait(ctx); err != nil {
					return err
				}
				if err := send(ctx, int(l.sent.Add(1))); err != nil {
					return err
				}
			}
			return nil
		})
	}
	err = g.Wait()
	answered = float64(l.sent.Load() - before)
	return answered, answered / time.Since(start).Seconds(), err
}
