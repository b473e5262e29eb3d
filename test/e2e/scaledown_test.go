package e2e

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"
)

// TestScaleDown takes two of five brokers away.
func TestScaleDown(t *testing.T) {
	c := startCluster(t, clusterOptions{brokers: 3})
	a := c.admin()
	c.await(30*time.Second, func(ctx context.Context) error {
		r, err := a.DescribeCluster(ctx)
		if err != nil {
			return err
		}
		if len(r.Brokers) != 3 {
			return fmt.Errorf("%+v", r)
		}
		return nil
	})
	c.scale("brokers", 2)
	c.await(2*time.Minute, func(ctx context.Context) error {
		ids, err := c.nodeIDs(ctx, "brokers")
		if err == nil && !slices.Equal(ids, []int64{0, 1}) {
			err = fmt.Errorf("node IDs %v", ids)
		}
		return err
	})
	c.await(2*time.Minute, c.isReady)
}
