package e2e

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/test/kafka"
)

// TestUpgrade runs a cluster with one version of Kafka, then with the next.
func TestUpgrade(t *testing.T) {
	const from, to = olderVersion, kafka.DefaultVersion
	c := startCluster(t, clusterOptions{version: from, versions: []string{to}, brokers: 3})
	c.await(time.Minute, c.runsAt(from, "4.2-IV1"))

	c.scene("a new version comes, at the old metadata version", underLoad("orders", func(c *cluster) { c.upgrade(to, "4.2-IV1") }))
	c.scene("the metadata version rises", (*cluster).raisesMetadata)
	c.scene("the version from before is refused", func(c *cluster) { c.refusesDowngrade(from) })
	c.isQuiet(3)
}

// runsAt waits until the status says so, and brokers too.
func (c *cluster) runsAt(version, metadata string) func(context.Context) error {
	return func(ctx context.Context) error {
		k, err := c.get(ctx)
		if err != nil {
			return err
		}
		f, err := c.admin.Features(ctx)
		if err != nil {
			return err
		}
		if k.Status.KafkaVersion != version || k.Status.KafkaMetadataVersion != metadata || f.MetadataVersion != metadata {
			return fmt.Errorf("the status has Kafka %s at %s, the brokers are at %s; want %s at %s",
				k.Status.KafkaVersion, k.Status.KafkaMetadataVersion, f.MetadataVersion, version, metadata)
		}
		return nil
	}
}

func (c *cluster) upgrade(version, metadata string) {
	c.t.Helper()
	before := c.read()
	r := c.watchRestarts()
	c.patch(map[string]any{"spec": map[string]any{"kafka": map[string]any{"version": version, "metadataVersion": metadata}}})
	order := c.oneByOne(r, 4, 5*time.Minute)
	want := []string{podOf("brokers", 0), podOf("brokers", 1), podOf("brokers", 2)}
	if order[0] != podOf("controllers", 3) || !slices.Equal(slices.Sorted(slices.Values(order[1:])), want) {
		c.t.Errorf("restarted were %v, want the controller and then each of %v", order, want)
	}
	c.await(time.Minute, c.runsAt(version, metadata))
	c.look(2)
	if did := c.read().since(before); did.calls["UpdateFeatures"] > 0 {
		c.t.Errorf("the metadata version was written to: %v", did.calls)
	}
	pods, err := c.pods(c.t.Context())
	if err != nil {
		c.t.Fatal(err)
	}
	for pod, p := range pods {
		if p.Annotations[apiv1.AnnotationKafkaVersion] != version {
			c.t.Errorf("pod %s runs %s", pod, p.Annotations[apiv1.AnnotationKafkaVersion])
		}
	}
}

// raisesMetadata leaves the metadata version to the version, whose own is raised
// to with one call and no restart.
func (c *cluster) raisesMetadata() {
	c.t.Helper()
	before, running := c.read(), c.running()
	c.patch(map[string]any{"spec": map[string]any{"kafka": map[string]any{"metadataVersion": nil}}})
	c.await(time.Minute, c.runsAt("4.3.1", "4.3-IV0"))
	c.await(time.Minute, c.told("MetadataVersionRaised", "4.3-IV0"))
	c.await(time.Minute, c.isReady)
	c.look(2)
	c.notRestarted(running)
	if did := c.read().since(before); did.calls["UpdateFeatures"] != 1 {
		c.t.Errorf("the metadata version is raised with one call: %v", did.calls)
	}
}

// refusesDowngrade asks for a version that cannot read the metadata any more.
func (c *cluster) refusesDowngrade(version string) {
	c.t.Helper()
	running := c.running()
	c.patch(map[string]any{"spec": map[string]any{"kafka": map[string]any{"version": version}}})
	c.await(time.Minute, c.hasCondition("NotReady", "UnsupportedVersion"))
	c.await(time.Minute, c.told("VersionRefused", "4.3-IV0"))
	c.look(2)
	c.notRestarted(running)
	c.patch(map[string]any{"spec": map[string]any{"kafka": map[string]any{"version": "4.3.1"}}})
	c.await(time.Minute, c.isReady)
	c.notRestarted(running)
}
