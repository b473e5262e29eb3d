package kafka

import (
	"context"

	"github.com/sluice-kafka/sluice/internal/observed"
)

// DescribeCluster reads who is registered, fenced brokers included.
func (c *Client) DescribeCluster(ctx context.Context) (observed.Registration, error) {
	return observed.Registration{}, ErrNotAnswered
}

// Features reads what is finalized.
func (c *Client) Features(ctx context.Context) (observed.Features, error) {
	return observed.Features{}, ErrNotAnswered
}

// Quorum reads what the active controller says of the metadata quorum.
func (c *Client) Quorum(ctx context.Context) (observed.Quorum, error) {
	return observed.Quorum{}, ErrNotAnswered
}

// Partitions reads all partitions of all topics, internal ones included, and the
// reassignments in flight.
func (c *Client) Partitions(ctx context.Context) ([]observed.Partition, error) {
	return nil, ErrNotAnswered
}

// LogDirs asks a broker for its log directories; ErrUnreachable comes fast.
func (c *Client) LogDirs(ctx context.Context, broker int32) ([]observed.LogDir, error) {
	return nil, ErrNotAnswered
}

// BrokerConfig asks a broker for its configuration with synonyms; ErrUnreachable
// comes fast.
func (c *Client) BrokerConfig(ctx context.Context, broker int32) (observed.Config, error) {
	return nil, ErrNotAnswered
}

// DefaultConfig reads what is set dynamically for all brokers.
func (c *Client) DefaultConfig(ctx context.Context) (observed.Config, error) {
	return nil, ErrNotAnswered
}

// MinInSyncReplicas reads the min.insync.replicas in effect of topics. A topic
// that is gone is not in the answer.
func (c *Client) MinInSyncReplicas(ctx context.Context, topics []string) (map[string]int, error) {
	return nil, ErrNotAnswered
}

// AlterBrokerConfig changes options of one broker, all or none, in one request to
// that very broker.
func (c *Client) AlterBrokerConfig(ctx context.Context, broker int32, ops []ConfigOp) error {
	return ErrNotAnswered
}

// AlterDefaultConfig changes options of all brokers, all or none.
func (c *Client) AlterDefaultConfig(ctx context.Context, ops []ConfigOp) error {
	return ErrNotAnswered
}

// ClearBrokerConfig deletes dynamic options of a broker that is stopped and still
// registered, at the active controller. Where Kafka refuses some of them the rest
// is deleted all the same, and the error is a *RefusedOptions. ErrBrokerNotRegistered
// tells that the broker is not registered (any more): nothing can be cleared then.
func (c *Client) ClearBrokerConfig(ctx context.Context, broker int32, options []string) error {
	return ErrNotAnswered
}

// UnregisterBroker takes a broker out of the registration; one that is not
// registered is no error.
func (c *Client) UnregisterBroker(ctx context.Context, broker int32) error {
	return ErrNotAnswered
}

// UpdateMetadataVersion raises the finalized metadata version, such as to
// "4.3-IV0".
func (c *Client) UpdateMetadataVersion(ctx context.Context, version string) error {
	return ErrNotAnswered
}

// SetServers replaces the brokers to begin at, and the controllers.
func (c *Client) SetServers(brokers, controllers []string) error {
	return ErrNotAnswered
}

// RefusedOptions is why some of a broker's options were not deleted.
type RefusedOptions struct {
	Broker int32
	// Options by name, with Kafka's reason.
	Options map[string]error
}
