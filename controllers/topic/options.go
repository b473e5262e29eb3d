// Package topic keeps topics in Kafka in step with KafkaTopic resources, never
// the other way round. Resources are worked on in batches: what is known of them
// is gathered, what they need is decided by pure functions, one call to Kafka is
// made for each kind of change, and the outcome is written to each status.
package topic

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"github.com/sluice-kafka/sluice/internal/kafka"
	"github.com/sluice-kafka/sluice/internal/metrics"
	"github.com/sluice-kafka/sluice/internal/observed"
	"github.com/sluice-kafka/sluice/internal/topicplan"
)

// Cluster is a Kafka cluster whose topics are kept.
type Cluster struct {
	// Name that resources carry in the label strimzi.io/cluster.
	Name string
	// Namespaces whose resources are meant.
	Namespaces []string
	// BootstrapServers are host:port pairs.
	BootstrapServers []string
	// Kafka is the resource that the cluster was found by; nil for one that has
	// none.
	Kafka *types.NamespacedName
	// NoEngine says, where no engine changes replication factors, why not and what
	// would give the cluster one: see NoEngineExternal. A general text if empty.
	NoEngine string
}

// Options of the topic controller. What is zero gets its default.
type Options struct {
	Clusters []Cluster
	// MaxBatchSize is the number of topics that close a batch; 1000.
	MaxBatchSize int
	// MaxBatchLinger closes a smaller batch this long after its first topic;
	// 100 ms.
	MaxBatchLinger time.Duration
	// ResyncInterval is how often every topic is looked at; 120 s.
	ResyncInterval time.Duration
	// UnreachableAfter is how long a cluster may be unreachable before resources
	// that are not ready say so; 2 min.
	UnreachableAfter time.Duration
	// Workers is the number of batches of one cluster worked on at a time; 1.
	Workers int
	// WriteConcurrency is the number of Kubernetes writes a batch makes at a
	// time; 16.
	WriteConcurrency int
	// Alterable are the options of topics that may be altered.
	Alterable topicplan.Alterable
	// UseFinalizers must be true: topics are deleted through a finalizer.
	UseFinalizers bool
	// Selector of resources; everything if nil.
	Selector labels.Selector
	// Metrics to count in; counted nowhere if nil.
	Metrics *metrics.Topic
	// Debug serves PathResync beside the metrics.
	Debug bool
	// Clock; the real one if nil.
	Clock clock.Clock
}

// Admin is what the controller asks of a Kafka cluster, each a single call for a
// whole batch. Every asked name has an entry in an answer; the last error is
// non-nil only if nothing was answered.
type Admin interface {
	DescribeTopics(ctx context.Context, names []string) (map[string]kafka.TopicDescription, error)
	// DescribeTopicConfigs answers with at least what is set on each topic, and with
	// the options that are named; with all where none are.
	DescribeTopicConfigs(ctx context.Context, names []string, options ...string) (map[string]kafka.TopicConfig, error)
	CreateTopics(ctx context.Context, topics []kafka.NewTopic) (map[string]kafka.CreatedTopic, error)
	CreatePartitions(ctx context.Context, growth []kafka.PartitionGrowth) (map[string]error, error)
	AlterTopicConfigs(ctx context.Context, changes []kafka.TopicConfigChange) (map[string]error, error)
	DeleteTopics(ctx context.Context, topics []kafka.TopicDeletion) (map[string]error, error)
	// Reassignments are those in flight; a topic without any has no entry.
	Reassignments(ctx context.Context, topics []string) (map[string][]observed.Partition, error)
	Close()
}

var _ Admin = (*kafka.Client)(nil)

// complete checks the options and fills in defaults.
func (o Options) complete() (Options, error) {
	if !o.UseFinalizers {
		return o, errors.New("finalizers are switched off: deleting topics without finalizers is not supported; switch them on")
	}
	for i, c := range o.Clusters {
		if err := c.check(); err != nil {
			return o, err
		}
		for _, other := range o.Clusters[:i] {
			if other.Name == c.Name {
				return o, fmt.Errorf("kafka cluster %q is given twice: give it once, with all of its namespaces", c.Name)
			}
		}
	}
	setDefault(&o.MaxBatchSize, 1000)
	setDefault(&o.MaxBatchLinger, 100*time.Millisecond)
	setDefault(&o.ResyncInterval, 2*time.Minute)
	setDefault(&o.UnreachableAfter, 2*time.Minute)
	setDefault(&o.Workers, 1)
	setDefault(&o.WriteConcurrency, 16)
	if o.Selector == nil {
		o.Selector = labels.Everything()
	}
	if o.Metrics == nil {
		o.Metrics = metrics.NewTopic(nil)
	}
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	return o, nil
}

func setDefault[T int | time.Duration](value *T, def T) {
	if *value <= 0 {
		*value = def
	}
}

func (c Cluster) check() error {
	switch {
	case c.Name == "":
		return errors.New("a kafka cluster has no name: give the value that topics carry in the label strimzi.io/cluster")
	case len(c.Namespaces) == 0:
		return fmt.Errorf("kafka cluster %q has no namespaces: name those whose KafkaTopics are meant", c.Name)
	case len(c.BootstrapServers) == 0:
		return fmt.Errorf("kafka cluster %q has no bootstrap servers: give at least one host:port", c.Name)
	}
	return nil
}

// serves tells whether a resource with this label in this namespace is meant.
func (c Cluster) serves(namespace, label string) bool {
	return label == c.Name && slices.Contains(c.Namespaces, namespace)
}
