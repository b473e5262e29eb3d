package main

import (
	"context"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
)

// sight watches the resources of one round. Both sides are watched alike, so the
// cost of it is in both.
type sight struct {
	kube client.WithWatch
	opts []client.ListOption
	// there is what was there when the watch began.
	there []apiv1.KafkaTopic
	watch watch.Interface
}

func (s *stage) watch(ctx context.Context, of side, round string) (*sight, error) {
	seen := &sight{kube: s.kube, opts: []client.ListOption{client.InNamespace(of.namespace), client.MatchingLabels{roundLabel: round}}}
	return seen, seen.open(ctx)
}

// open begins to watch after what is there.
func (s *sight) open(ctx context.Context) error {
	var list apiv1.KafkaTopicList
	if err := s.kube.List(ctx, &list, s.opts...); err != nil {
		return err
	}
	s.there = list.Items
	from := &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: list.ResourceVersion}}
	var err error
	s.watch, err = s.kube.Watch(ctx, &apiv1.KafkaTopicList{}, slices.Concat(s.opts, []client.ListOption{from})...)
	return err
}

func (s *sight) stop() { s.watch.Stop() }

// goal is how resources should come to be: a state that they reach, or gone where
// none is given.
type goal func(*apiv1.KafkaTopic) bool

// ready is the goal of topics that are ready at a generation.
func ready(generation int64) goal {
	return func(t *apiv1.KafkaTopic) bool { return t.Generation >= generation && isReady(t) }
}

// until returns when n resources are as they should be, those that were there
// before among them; where they should be gone, all n were there.
func (s *sight) until(ctx context.Context, n int, g goal) error {
	ctx, stop := context.WithTimeoutCause(ctx, patience, fmt.Errorf("not done within %s", patience))
	defer stop()
	done := map[string]struct{}{}
	if g != nil {
		done = g.done(s.there, n)
	}
	for len(done) < n {
		select {
		case <-ctx.Done():
			return fmt.Errorf("watching topics, with %d of %d as they should be: %w", len(done), n, context.Cause(ctx))
		case event, open := <-s.watch.ResultChan():
			if t, ok := event.Object.(*apiv1.KafkaTopic); open && ok {
				if g.metBy(event.Type, t) {
					done[t.Name] = struct{}{}
				}
				continue
			}
			// The API server ends watches when it takes up a new schema, and those
			// that do not keep up.
			s.watch.Stop()
			if err := s.open(context.WithoutCancel(ctx)); err != nil {
				return fmt.Errorf("watching topics: %w", err)
			}
			done = g.done(s.there, n)
		}
	}
	return nil
}

func (g goal) metBy(e watch.EventType, t *apiv1.KafkaTopic) bool {
	if g == nil {
		return e == watch.Deleted
	}
	return e != watch.Deleted && g(t)
}

// done names those of n resources that are as they should be, going by those that
// are there.
func (g goal) done(there []apiv1.KafkaTopic, n int) map[string]struct{} {
	done := make(map[string]struct{}, n)
	for i := range there {
		if g != nil && g(&there[i]) {
			done[there[i].Name] = struct{}{}
		}
	}
	for i := len(there); g == nil && i < n; i++ {
		done[fmt.Sprintf("gone unseen, number %d", i)] = struct{}{}
	}
	return done
}
