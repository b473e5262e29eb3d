package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// standing is what the operator tells of its queue.
type standing struct {
	Topics, Waiting, Delayed, InFlight int
}

const (
	// pollInterval is how exactly the end of a resync is seen.
	pollInterval = 5 * time.Millisecond
	// metricAdminCalls and metricWrites are histograms of calls to Kafka and of
	// writes to Kubernetes.
	metricAdminCalls = "sluice_topic_admin_call_duration_seconds"
	metricWrites     = "sluice_topic_kubernetes_write_duration_seconds"
)

func (s *stage) standing(ctx context.Context, method string) (standing, error) {
	raw, err := s.operator.Ask(ctx, method, "/debug/resync")
	if err != nil {
		return standing{}, err
	}
	var all []standing
	if err := json.Unmarshal(raw, &all); err != nil {
		return standing{}, fmt.Errorf("reading how the operator's queue stands: %w", err)
	}
	if len(all) != 1 {
		return standing{}, fmt.Errorf("the operator serves %d clusters, not one", len(all))
	}
	return all[0], nil
}

// idle waits until the operator has nothing to work on now.
func (s *stage) idle(ctx context.Context) error {
	return s.until(ctx, func(q standing) bool { return q.Waiting == 0 && q.InFlight == 0 })
}

// rest waits until nothing is left to be looked at later either.
func (s *stage) rest(ctx context.Context) error {
	return s.until(ctx, func(q standing) bool { return q.Waiting == 0 && q.InFlight == 0 && q.Delayed == 0 })
}

func (s *stage) until(ctx context.Context, good func(standing) bool) error {
	var last standing
	err := wait.PollUntilContextTimeout(ctx, pollInterval, patience, true, func(ctx context.Context) (_ bool, err error) {
		last, err = s.standing(ctx, http.MethodGet)
		return good(last), err
	})
	if err != nil {
		return fmt.Errorf("waiting for the operator's queue, which has %+v: %w", last, err)
	}
	return nil
}

// resync has the operator look at all topics and returns how long that took.
func (s *stage) resync(ctx context.Context) (time.Duration, error) {
	start := time.Now()
	q, err := s.standing(ctx, http.MethodPost)
	if err != nil {
		return 0, err
	}
	if q.Topics != s.loaded {
		return 0, fmt.Errorf("the operator knows %d topics of %d", q.Topics, s.loaded)
	}
	if err := s.idle(ctx); err != nil {
		return 0, err
	}
	return time.Since(start), nil
}
