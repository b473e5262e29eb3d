// Package cluster runs Kafka clusters from a Kafka and its KafkaNodePools. What
// there is of a cluster is gathered from Kubernetes and from Kafka, pure functions
// decide what it needs, the steps are applied in a fixed order, and the outcome is
// written to the statuses. Every step follows from what is observed, so that an
// operator that dies between any two of them goes on where it was.
package cluster

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/clock"

	"github.com/sluice-kafka/sluice/internal/kafka"
	"github.com/sluice-kafka/sluice/internal/metrics"
	"github.com/sluice-kafka/sluice/internal/observed"
	"github.com/sluice-kafka/sluice/internal/scaledown"
)

// Options of the cluster controller. What is zero gets its default.
type Options struct {
	// LookInterval is how often a cluster is looked at without any event; 120 s.
	LookInterval time.Duration
	// WatchInterval is how often while Kafka, which sends no events, is waited for;
	// 5 s.
	WatchInterval time.Duration
	// EmptyFor is how long a broker that takes no new replicas has to be seen empty
	// before it is removed; 5 s.
	EmptyFor time.Duration
	// EmptyForUncordoned is the same for a broker that cannot be kept from taking
	// new ones; 30 s.
	EmptyForUncordoned time.Duration
	// BrokerCalls is how many brokers of a cluster are talked to at a time; 16.
	BrokerCalls int
	// Workers is how many clusters are worked on at a time; 4.
	Workers int
	// Selector of Kafkas; everything if nil.
	Selector labels.Selector
	// Rebalancer that is told of brokers to be emptied and filled; nobody if nil.
	Rebalancer Rebalancer
	// Metrics to count in; counted nowhere if nil.
	Metrics *metrics.Cluster
	// Clock; the real one if nil.
	Clock clock.Clock
}

// Admin is what the controller asks of a Kafka cluster. Every call is bounded by
// itself; an error is classified as package kafka says.
type Admin interface {
	// DescribeCluster is two requests at most: fenced brokers are included.
	DescribeCluster(ctx context.Context) (observed.Registration, error)
	// Features that are finalized, asked on the wire each time.
	Features(ctx context.Context) (observed.Features, error)
	// Partitions of all topics with the reassignments in flight: two requests.
	Partitions(ctx context.Context) ([]observed.Partition, error)
	// LogDirs of one broker, as it reports them itself.
	LogDirs(ctx context.Context, broker int32) ([]observed.LogDir, error)
	// BrokerConfig of one broker, with synonyms, as it reports it itself.
	BrokerConfig(ctx context.Context, broker int32) (observed.Config, error)
	// DefaultConfig is what is set dynamically for all brokers.
	DefaultConfig(ctx context.Context) (observed.Config, error)
	// Quorum of the controllers.
	Quorum(ctx context.Context) (observed.Quorum, error)
	// MinInSyncReplicas of topics.
	MinInSyncReplicas(ctx context.Context, topics []string) (map[string]int, error)
	// AlterBrokerConfig changes options of one broker: all of them or, with an
	// error, none.
	AlterBrokerConfig(ctx context.Context, broker int32, ops []kafka.ConfigOp) error
	// AlterDefaultConfig changes options of all brokers: all of them or none.
	AlterDefaultConfig(ctx context.Context, ops []kafka.ConfigOp) error
	// ClearBrokerConfig deletes options of a broker that is stopped and still
	// registered, at the active controller.
	ClearBrokerConfig(ctx context.Context, broker int32, options []string) error
	// UnregisterBroker makes the cluster forget a stopped broker.
	UnregisterBroker(ctx context.Context, broker int32) error
	// UpdateMetadataVersion raises the finalized metadata version.
	UpdateMetadataVersion(ctx context.Context, version string) error
	// SetServers tells where the nodes are from now on, as Endpoints do.
	SetServers(brokers, controllers []string) error
	// Close ends all calls.
	Close()
}

var _ Admin = (*kafka.Client)(nil)

// Endpoints are where a Kafka cluster is reached.
type Endpoints struct {
	// Namespace and Name of its Kafka.
	Namespace, Name string
	// Brokers and Controllers are host:port pairs of the listeners between nodes.
	Brokers, Controllers []string
	// Resolve returns the IP address of a host of Brokers or Controllers; false
	// where it is not known yet. It may be called concurrently.
	Resolve func(host string) (ip string, ok bool)
}

// Dial makes the client of a cluster; it should not connect.
type Dial func(Endpoints) (Admin, error)

// Rebalancer moves replicas between brokers.
type Rebalancer interface {
	// Rebalance is told at every look which brokers of a Kafka are to be emptied
	// and which are new. It does not wait for the replicas to be moved.
	Rebalance(ctx context.Context, s Scaling) error
}

// Scaling is how the brokers of a cluster change.
type Scaling struct {
	// Namespace and Name of its Kafka.
	Namespace, Name string
	// Drain are the brokers to be emptied, Added those that are new; both ascend.
	Drain, Added []int32
}

// noRebalancer is told in vain.
type noRebalancer struct{}

// Rebalance implements Rebalancer.
func (noRebalancer) Rebalance(context.Context, Scaling) error { return nil }

func (o Options) complete() Options {
	setDefault(&o.LookInterval, 2*time.Minute)
	setDefault(&o.WatchInterval, 5*time.Second)
	setDefault(&o.EmptyFor, scaledown.DefaultInterval)
	setDefault(&o.EmptyForUncordoned, scaledown.DefaultUncordonedInterval)
	setDefault(&o.BrokerCalls, 16)
	setDefault(&o.Workers, 4)
	if o.Selector == nil {
		o.Selector = labels.Everything()
	}
	if o.Rebalancer == nil {
		o.Rebalancer = noRebalancer{}
	}
	if o.Metrics == nil {
		o.Metrics = metrics.NewCluster(nil)
	}
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	return o
}

func setDefault[T int | time.Duration](value *T, def T) {
	if *value <= 0 {
		*value = def
	}
}
