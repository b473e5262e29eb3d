package main

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
)

// sight watches the resources of one round. Both sides are watched alike, so the
// cost of it is in both.
type sight struct {
	kube client.WithWatch
	opts []client.ListOption
	// version is the last one seen.
	version string
	watch   watch.Interface
}

func (s *stage) watch(ctx context.Context, of side, round string) (*sight, error) {
	seen := &sight{kube: s.kube, opts: []client.ListOption{client.InNamespace(of.namespace), client.MatchingLabels{roundLabel: round}}}
	var list apiv1.KafkaTopicList
	if err := s.kube.List(ctx, &list, append(seen.opts, client.Limit(1))...); err != nil {
		return nil, err
	}
	seen.version = list.ResourceVersion
	return seen, seen.open(ctx)
}

func (s *sight) open(ctx context.Context) (err error) {
	from := &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: s.version}}
	s.watch, err = s.kube.Watch(ctx, &apiv1.KafkaTopicList{}, append(s.opts, from)...)
	return err
}

func (s *sight) stop() { s.watch.Stop() }

// until returns when n resources are as they should be.
func (s *sight) until(ctx context.Context, n int, good func(watch.EventType, *apiv1.KafkaTopic) bool) error {
	ctx, stop := context.WithTimeoutCause(ctx, patience, fmt.Errorf("not done within %s", patience))
	defer stop()
	done := make(map[types.UID]struct{}, n)
	for len(done) < n {
		select {
		case <-ctx.Done():
			return fmt.Errorf("watching topics, with %d of %d as they should be: %w", len(done), n, context.Cause(ctx))
		case event, open := <-s.watch.ResultChan():
			if !open {
				// The API server ends watches when it takes up a new schema.
				if err := s.open(context.WithoutCancel(ctx)); err != nil {
					return fmt.Errorf("watching topics: %w", err)
				}
				continue
			}
			t, ok := event.Object.(*apiv1.KafkaTopic)
			if !ok {
				return fmt.Errorf("watching topics, with %d of %d as they should be: %+v", len(done), n, event.Object)
			}
			s.version = t.ResourceVersion
			if good(event.Type, t) {
				done[t.UID] = struct{}{}
			}
		}
	}
	return nil
}

// ready tells of a topic that is ready at a generation.
func ready(generation int64) func(watch.EventType, *apiv1.KafkaTopic) bool {
	return func(e watch.EventType, t *apiv1.KafkaTopic) bool {
		return e != watch.Deleted && t.Generation >= generation && isReady(t)
	}
}

func deleted(e watch.EventType, _ *apiv1.KafkaTopic) bool { return e == watch.Deleted }
