package rebalance

import (
	"context"
	"fmt"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/sluice-kafka/sluice/internal/observed"
)

// atOnce bounds how many brokers are asked side by side.
const atOnce = 16

// look asks who the brokers are, and each that lives what it holds and whether it is
// cordoned. One that does not answer takes no replicas.
func (b *Builtin) look(ctx context.Context) ([]Broker, error) {
	cordons, err := b.cordons(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading which brokers are to take no replicas: %w", err)
	}
	registration, err := b.kafka.DescribeCluster(ctx)
	if err != nil {
		return nil, err
	}
	features, err := b.kafka.Features(ctx)
	if err != nil {
		return nil, err
	}
	seen := observed.Cluster{
		Registration: observed.Seen(registration), Features: observed.Seen(features),
		LogDirs: map[int32]observed.Of[[]observed.LogDir]{}, Configs: map[int32]observed.Of[observed.Config]{},
	}
	var mu sync.Mutex
	var group errgroup.Group
	group.SetLimit(atOnce)
	for _, r := range registration.Brokers {
		if r.Fenced {
			continue
		}
		group.Go(func() error {
			dirs := observed.From(b.kafka.LogDirs(ctx, r.ID))
			config := observed.Unseen[observed.Config](nil)
			// The configuration tells of a cordon that stands in the broker's file, which
			// its directories may not show. A principal that may not read it still sees all
			// other cordons.
			if dirs.Seen() {
				config = observed.From(b.kafka.BrokerConfig(ctx, r.ID))
			}
			mu.Lock()
			defer mu.Unlock()
			seen.LogDirs[r.ID], seen.Configs[r.ID] = dirs, config
			return nil
		})
	}
	_ = group.Wait() // none of them fails
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return Brokers(seen, cordons), nil
}
