package e2e

import (
	"testing"
	"time"
)

// TestScaleDown takes two of five brokers away, while topics are created and
// records are written all the time.
func TestScaleDown(t *testing.T) {
	c := startCluster(t, clusterOptions{brokers: 5})
	c.createTopic("orders", 10, 3)
	load := c.startLoad("orders")
	before := c.running()

	c.scale("brokers", 3)
	c.await(time.Minute, c.cordoned(3, 4))
	c.await(time.Minute, c.warns("ScaleDownPreventionCheck"))
	c.hasNodeIDs("brokers", 0, 1, 2, 3, 4)
	c.createTopic("meanwhile", 6, 3)
	c.holdsNothingOf("meanwhile", 3, 4)

	c.drain(3, 4)
	c.await(2*time.Minute, c.nodeIDsAre("brokers", 0, 1, 2))
	c.await(time.Minute, c.registered(0, 1, 2))
	c.await(time.Minute, c.isReady)
	c.await(time.Minute, c.podsAre("my-cluster-brokers-0", "my-cluster-brokers-1", "my-cluster-brokers-2", "my-cluster-controllers-5"))
	c.notRestarted(before)
	load.stopAndVerify()
}
