package e2e

import (
	"context"
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
)

// TestScaleDown takes two of five brokers away, while topics are created and
// records are written all the time.
func TestScaleDown(t *testing.T) {
	c := startCluster(t, clusterOptions{brokers: 5})
	c.createTopic("orders", 10, 3)
	load := c.startLoad("orders")
	before := c.running()
	c.keepsTopics()

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

// keepsTopics holds the operator to the topics of a cluster that it runs: nothing but
// the Kafka tells it how they are reached.
func (c *cluster) keepsTopics() {
	c.t.Helper()
	partitions, replicas := int64(2), int64(3)
	kept := &apiv1.KafkaTopic{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "kept", Labels: map[string]string{apiv1.LabelCluster: name}},
		Spec:       apiv1.KafkaTopicSpec{Partitions: &partitions, Replicas: &replicas},
	}
	create(c.t, c.client, kept)
	c.await(2*time.Minute, func(ctx context.Context) error {
		if err := c.client.Get(ctx, client.ObjectKeyFromObject(kept), kept); err != nil {
			return err
		}
		if len(kept.Status.Conditions) == 0 || kept.Status.Conditions[0].Type != apiv1.ConditionReady || kept.Status.Conditions[0].Status != "True" {
			return fmt.Errorf("the topic is not ready: %+v", kept.Status)
		}
		topics, err := c.kadm.ListTopics(ctx, kept.Name)
		if err == nil && (len(topics[kept.Name].Partitions) != 2 || topics[kept.Name].Partitions.NumReplicas() != 3) {
			err = fmt.Errorf("the topic in Kafka: %+v", topics[kept.Name])
		}
		return err
	})
}
