package cluster

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"k8s.io/client-go/util/workqueue"

	"github.com/sluice-kafka/sluice/internal/observed"
)

// Why something of a Kafka cluster was not seen.
var (
	errNoNodes      = errors.New("no node of the cluster is running yet")
	errFenced       = errors.New("the broker is fenced")
	errOtherCluster = errors.New("another Kafka cluster answers at the addresses of its nodes")
)

// observe looks at a Kafka cluster. Each part that cannot be seen says why, and
// hinders no other part. A nil admin sees nothing.
//
// Who is registered is asked first: a broker that is seen fenced was so before the
// partitions were read, which show whatever was placed on it until then.
func (r *reconciler) observe(ctx context.Context, admin Admin, clusterID string) observed.Cluster {
	at := r.opts.Clock.Now()
	var registration observed.Registration
	err := errNoNodes
	if admin != nil {
		registration, err = admin.DescribeCluster(ctx)
	}
	if err == nil && clusterID != "" && registration.ClusterID != clusterID {
		err = fmt.Errorf("%w: its ID is %s and should be %s", errOtherCluster, registration.ClusterID, clusterID)
	}
	if err != nil {
		// Nobody answers: asking each broker would only take time.
		seen := unseen(err)
		seen.At = at
		return seen
	}
	seen := observed.Cluster{
		At: at, Registration: observed.Seen(registration),
		LogDirs: make(map[int32]observed.Of[[]observed.LogDir], len(registration.Brokers)),
		Configs: make(map[int32]observed.Of[observed.Config], len(registration.Brokers)),
	}
	var mu sync.Mutex
	calls := []func(){
		func() { seen.Features = observed.From(admin.Features(ctx)) },
		func() { seen.Partitions = observed.From(admin.Partitions(ctx)) },
		func() { seen.Default = observed.From(admin.DefaultConfig(ctx)) },
	}
	for _, b := range registration.Brokers {
		if b.Fenced {
			seen.LogDirs[b.ID] = observed.Unseen[[]observed.LogDir](errFenced)
			seen.Configs[b.ID] = observed.Unseen[observed.Config](errFenced)
			continue
		}
		calls = append(calls, func() {
			dirs := observed.From(admin.LogDirs(ctx, b.ID))
			config := observed.From(admin.BrokerConfig(ctx, b.ID))
			mu.Lock()
			defer mu.Unlock()
			seen.LogDirs[b.ID], seen.Configs[b.ID] = dirs, config
		})
	}
	workqueue.ParallelizeUntil(context.WithoutCancel(ctx), r.opts.BrokerCalls, len(calls), func(i int) { calls[i]() })
	return seen
}

// unseen is a look that saw nothing.
func unseen(err error) observed.Cluster {
	return observed.Cluster{
		Registration: observed.Unseen[observed.Registration](err),
		Features:     observed.Unseen[observed.Features](err),
		Partitions:   observed.Unseen[[]observed.Partition](err),
		Default:      observed.Unseen[observed.Config](err),
	}
}
