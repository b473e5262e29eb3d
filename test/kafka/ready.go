package kafka

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"k8s.io/apimachinery/pkg/util/wait"
)

// startBound is how long nodes may take to be ready, on a busy machine.
const startBound = 2 * time.Minute

// awaitReady returns when each of the nodes that are brokers answers and knows
// all of the brokers in want as unfenced: Metadata lists no others
// (kafka.server.KRaftMetadataCache).
func (c *Cluster) awaitReady(ctx context.Context, nodes []*node, want []int32) error {
	ctx, cancel := context.WithTimeout(ctx, startBound)
	defer cancel()
	for _, n := range nodes {
		if !n.isBroker() {
			continue
		}
		if err := awaitBroker(ctx, n, want); err != nil {
			return err
		}
	}
	return nil
}

func awaitBroker(ctx context.Context, n *node, want []int32) error {
	client, err := kgo.NewClient(kgo.SeedBrokers(n.address()), kgo.RequestRetries(0), kgo.DisableClientMetrics())
	if err != nil {
		return fmt.Errorf("waiting for kafka node %d: %w", n.id, err)
	}
	defer client.Close()
	var last error
	err = wait.PollUntilContextCancel(ctx, 50*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		if n.process.ended() {
			return false, fmt.Errorf("its process ended: %w", n.process.err)
		}
		last = sees(ctx, client.SeedBrokers()[0], want)
		return last == nil, nil
	})
	if err != nil {
		output, _ := os.ReadFile(n.logPath())
		return fmt.Errorf("kafka node %d on %s did not become ready: %w (last seen: %w); the end of its log:\n%s",
			n.id, n.address(), err, last, lastLines(string(output), 20))
	}
	return nil
}

// sees asks one broker for the brokers that it knows.
func sees(ctx context.Context, broker *kgo.Broker, want []int32) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	req := kmsg.NewPtrMetadataRequest()
	req.Topics = []kmsg.MetadataRequestTopic{}
	resp, err := req.RequestWith(ctx, broker)
	if err != nil {
		return err
	}
	known := make(map[int32]bool, len(resp.Brokers))
	for _, b := range resp.Brokers {
		known[b.NodeID] = true
	}
	for _, id := range want {
		if !known[id] {
			return fmt.Errorf("broker %d is fenced or not registered", id)
		}
	}
	return nil
}
