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
	// Unlabelled takes the resources of the namespaces whatever they carry in that
	// label; the selector alone decides.
	Unlabelled bool
	// Kafka is the resource that the cluster was found by; nil for one that has
	// none.
	Kafka *types.NamespacedName
	// UID of that resource.
	UID types.UID
	// Security of the connections, as far as it is known without Secrets; with what
	// they hold when the cluster is dialled.
	Security kafka.Security
	// CA, if set, is where the certificates are that brokers are verified by.
	CA *SecretKey
	// Credentials, if set, names a Secret whose data kafka.SecurityOf reads.
	Credentials *types.NamespacedName
	// Login, if set, reads how to connect in place of these, as it is each time that it
	// is called. Its errors show no secret.
	Login func(ctx context.Context) (kafka.Security, error)
	// NoEngine says, where no engine changes replication factors, why not and what
	// would give the cluster one: see NoEngineExternal. A general text if empty.
	NoEngine string
}

// SecretKey is a key of a Secret.
type SecretKey struct {
	types.NamespacedName
	Key string
}

// ID tells clusters apart, in metrics and logs too: that of a Kafka resource is
// namespace/name, any other's is its name.
func (c Cluster) ID() string {
	if c.Kafka != nil {
		return c.Kafka.String()
	}
	return c.Name
}

// Options of the topic controller. What is zero gets its default.
type Options struct {
	// Clusters that are served from the start to the end.
	Clusters []Cluster
	// Kafkas serves those Kafka resources too that are annotated, for as long as they
	// are.
	Kafkas bool
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
	// UseFinalizers has a resource wait until its topic is deleted. Without them a
	// topic is deleted once its resource is gone, if that is seen.
	UseFinalizers bool
	// OrphanUnreachable lets go of resources that are being deleted though Kafka
	// cannot be asked to delete their topics, once it was unreachable for
	// OrphanAfter. The annotation sluice.dev/on-unreachable of a namespace wins.
	OrphanUnreachable bool
	// OrphanAfter is how long Kafka has to be unreachable without a break; 10 min.
	OrphanAfter time.Duration
	// SkipClusterConfigReview leaves the brokers' own options alone, which nothing but
	// warnings depends on.
	SkipClusterConfigReview bool
	// Selector of resources; everything if nil.
	Selector labels.Selector
	// Standalone tells that the process does nothing else and may do nothing beyond
	// KafkaTopics: it sends no Events but logs them, and is ready only while its
	// loops run.
	Standalone bool
	// Metrics to count in; counted nowhere if nil.
	Metrics *metrics.Topic
	// Debug serves /debug/resync beside the metrics.
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
	// DescribeCluster tells who is registered; it is asked where a replication factor
	// was refused.
	DescribeCluster(ctx context.Context) (observed.Registration, error)
	// BrokerOptions is no call for a batch: it reads options in effect at some broker,
	// and leaves out those that this Kafka does not have.
	BrokerOptions(ctx context.Context, names []string) (map[string]string, error)
	// ClusterID is Kafka's own ID of the cluster, in one call.
	ClusterID(ctx context.Context) (string, error)
	// Reassignments are those in flight; a topic without any has no entry.
	Reassignments(ctx context.Context, topics []string) (map[string][]observed.Partition, error)
	// Close ends all calls.
	Close()
}

var _ Admin = (*kafka.Client)(nil)

// complete checks the options and fills in defaults.
func (o Options) complete() (Options, error) {
	for i, c := range o.Clusters {
		if err := c.check(); err != nil {
			return o, err
		}
		for _, other := range o.Clusters[:i] {
			if other.ID() == c.ID() {
				return o, fmt.Errorf("kafka cluster %q is given twice: give it once, with all of its namespaces", c.Name)
			}
		}
	}
	setDefault(&o.MaxBatchSize, 1000)
	setDefault(&o.MaxBatchLinger, 100*time.Millisecond)
	setDefault(&o.ResyncInterval, 2*time.Minute)
	setDefault(&o.UnreachableAfter, 2*time.Minute)
	setDefault(&o.OrphanAfter, 10*time.Minute)
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
	return (c.Unlabelled || label == c.Name) && slices.Contains(c.Namespaces, namespace)
}
