package topic

import (
	"context"
	"fmt"

	"github.com/sluice-kafka/sluice/internal/kafka"
	"github.com/sluice-kafka/sluice/internal/observed"
)

// absent is a cluster that there is no connection to.
type absent struct{ why error }

// err is that of a cluster that cannot be reached. What lies behind it is for people:
// nobody is to act on it twice.
func (a absent) err() error {
	if a.why == nil {
		return fmt.Errorf("%w: there is no connection yet", kafka.ErrUnreachable)
	}
	return fmt.Errorf("%w: %s", kafka.ErrUnreachable, a.why.Error())
}

// DescribeTopics implements Admin.
func (a absent) DescribeTopics(context.Context, []string) (map[string]kafka.TopicDescription, error) {
	return nil, a.err()
}

// DescribeTopicConfigs implements Admin.
func (a absent) DescribeTopicConfigs(context.Context, []string, ...string) (map[string]kafka.TopicConfig, error) {
	return nil, a.err()
}

// CreateTopics implements Admin.
func (a absent) CreateTopics(context.Context, []kafka.NewTopic) (map[string]kafka.CreatedTopic, error) {
	return nil, a.err()
}

// CreatePartitions implements Admin.
func (a absent) CreatePartitions(context.Context, []kafka.PartitionGrowth) (map[string]error, error) {
	return nil, a.err()
}

// AlterTopicConfigs implements Admin.
func (a absent) AlterTopicConfigs(context.Context, []kafka.TopicConfigChange) (map[string]error, error) {
	return nil, a.err()
}

// DeleteTopics implements Admin.
func (a absent) DeleteTopics(context.Context, []kafka.TopicDeletion) (map[string]error, error) {
	return nil, a.err()
}

// Reassignments implements Admin.
func (a absent) Reassignments(context.Context, []string) (map[string][]observed.Partition, error) {
	return nil, a.err()
}

// ClusterID implements Admin.
func (a absent) ClusterID(context.Context) (string, error) { return "", a.err() }

// DescribeCluster implements Admin.
func (a absent) DescribeCluster(context.Context) (observed.Registration, error) {
	return observed.Registration{}, a.err()
}

// BrokerOptions implements Admin.
func (a absent) BrokerOptions(context.Context, []string) (map[string]string, error) {
	return nil, a.err()
}

// Close implements Admin.
func (absent) Close() {}
