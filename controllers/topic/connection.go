package topic

import (
	"context"

	"github.com/sluice-kafka/sluice/internal/rebalance"
)

// Connection is what a cluster is worked on through.
type Connection struct {
	Admin Admin
	// Engine changes replication factors; nil where the cluster has none.
	Engine Engine
}

// Engine changes replication factors, each in one call for a whole batch. Every
// asked topic has an entry in an answer; the last error is non-nil only if nothing
// was answered.
type Engine interface {
	// ChangeReplicas begins to change topics to the replication factors given.
	ChangeReplicas(ctx context.Context, targets map[string]int16) (map[string]rebalance.Started, error)
	// PollReplicas tells how the sessions of topics stand; sessions are given by
	// topic.
	PollReplicas(ctx context.Context, sessions map[string]string) (map[string]rebalance.Progress, error)
}
