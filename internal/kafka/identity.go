package kafka

import (
	"context"
	"fmt"
)

// ClusterID reads Kafka's own ID of the cluster with one Metadata request for no
// topic, which needs no permission (KIP-78; KafkaApis.handleTopicMetadataRequest).
// ErrNotAnswered tells that the brokers do not know it. The request is not observed:
// it comes now and then, and what is observed is the work on topics.
func (c *Client) ClusterID(ctx context.Context) (string, error) {
	ctx, cancel := c.bound(ctx)
	defer cancel()
	to := c.toAny()
	to.quiet = true
	resp, err := brokersOnly().RequestWith(ctx, to)
	if err != nil {
		return "", fmt.Errorf("read the cluster's ID: %w", err)
	}
	if resp.ClusterID == nil || *resp.ClusterID == "" {
		return "", fmt.Errorf("read the cluster's ID: %w: ask brokers of Kafka 0.10.1 or newer", ErrNotAnswered)
	}
	return *resp.ClusterID, nil
}
