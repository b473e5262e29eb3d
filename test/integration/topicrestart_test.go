package integration

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/test/harness"
	testkafka "github.com/sluice-kafka/sluice/test/kafka"
)

// topicsThroughARestart restarts the broker in order in the middle of a thousand
// topics, as an upgrade would.
func topicsThroughARestart(e *topicEnv) {
	const n = 600
	e.start("--max-batch-size=50")
	wrong := e.watchWrong()
	creations := make(chan struct{})
	go func() {
		defer close(creations)
		e.createTopics(n)
	}()
	e.waitMetric(metricBatches, 3)
	e.restartBroker(nil)
	ready := e.count(isReady)
	<-creations
	if ready == n {
		e.Fatal("all topics were ready before the broker was restarted: the test tries nothing")
	}
	back := time.Now()
	e.waitTopics(n, isReady)
	e.Logf("%d of %d topics were ready when the broker came back; all were %s later", ready, n, time.Since(back).Round(100*time.Millisecond))
	e.waitInKafka(n)
	wrong()
}

// restartBroker restarts the only broker, with other options.
func (e *topicEnv) restartBroker(config map[string]string) {
	e.Helper()
	broker := e.kafka.Brokers()[0]
	if err := errors.Join(
		e.kafka.Configure(config), e.kafka.StopNode(e.Context(), broker), e.kafka.StartNode(e.Context(), broker),
	); err != nil {
		e.Fatal(err)
	}
}

// topicsThatKafkaKeeps deletes resources while the brokers delete nothing: it is
// said, holds up no other topic, and heals when the brokers may.
func topicsThatKafkaKeeps(e *topicEnv) {
	const kept, retained, other = 0, 1, 2
	const option, autoCreate = "delete.topic.enable", "auto.create.topics.enable"
	e.restartBroker(map[string]string{option: "false", autoCreate: "true"})
	// The brokers' options are looked at when the operator starts.
	e.start("--resync-interval=3s", e.table(e.kafka.Bootstrap()...))
	e.told("TopicsCreatedByClients", autoCreate+"=false")
	e.create(kept, apiv1.KafkaTopicSpec{})
	e.create(retained, apiv1.KafkaTopicSpec{})
	e.until(func(context.Context) error { return errors.Join(e.ready(kept), e.ready(retained)) })
	id := e.id(kept)
	e.delete(kept, retained)
	e.create(other, apiv1.KafkaTopicSpec{})
	e.until(func(context.Context) error {
		errs := []error{e.ready(other)}
		for _, i := range []int{kept, retained} {
			kt := e.get(i)
			if kt == nil || len(kt.Status.Conditions) == 0 {
				return fmt.Errorf("topic %d says nothing: %+v", i, kt)
			}
			c := kt.Status.Conditions[0]
			for _, part := range []string{"TOPIC_DELETION_DISABLED (73)", option + "=true", apiv1.AnnotationDeletionPolicy} {
				if c.Status != "False" || c.Reason != apiv1.ReasonKafkaError || !strings.Contains(c.Message, part) {
					errs = append(errs, fmt.Errorf("topic %d says %+v, which lacks %q", i, c, part))
				}
			}
		}
		return errors.Join(errs...)
	})
	before := e.settled()
	e.batches(2)
	if got := e.callsOf("DeleteTopics", before); got != 0 {
		e.Errorf("%v more tries to delete within seconds, want one in ten minutes", got)
	}
	if got := e.id(kept); got != id {
		e.Errorf("the topic was %s and is %q", id, got)
	}
	// The other way out that the message names.
	e.annotate(retained, apiv1.AnnotationDeletionPolicy, `"`+apiv1.DeletionPolicyRetain+`"`)
	e.waitTopics(2, func(*apiv1.KafkaTopic) bool { return true })
	e.restartBroker(map[string]string{option: "true", autoCreate: "false"})
	e.annotate(kept, "example.com/try", `"again"`) // sooner than in ten minutes
	e.waitTopics(1, isReady)
	e.waitInKafka(2)
	if e.id(kept) != "" || e.id(retained) == "" {
		e.Errorf("of the deleted topics Kafka has %q, which was to go, and %q, which was to stay", e.id(kept), e.id(retained))
	}
}

// TestTopicsWhileBrokersAreRestarted restarts one of three brokers while topics are
// made that ask for all of them, as an upgrade of the cluster would; with
// SLUICE_KAFKA_VERSIONS=all one after the other. A broker that is away for a moment
// makes no topic wrong, though Kafka refuses replication factors meanwhile.
func TestTopicsWhileBrokersAreRestarted(t *testing.T) {
	t.Parallel()
	in, cluster := topicPartsOn(t, testkafka.Options{Brokers: 3}, harness.ControlPlaneOptions{}, "rolling")
	e := newTopicEnv(t, in, cluster, "rolling", nil)
	e.start()
	wrong := e.watchWrong()
	brokers := cluster.Brokers()
	if !everyVersion() {
		brokers = brokers[:1]
	}
	restarted := make(chan error, 1)
	go func() {
		for _, broker := range brokers {
			if err := errors.Join(cluster.StopNode(t.Context(), broker), cluster.StartNode(t.Context(), broker)); err != nil {
				restarted <- err
				return
			}
		}
		restarted <- nil
	}()
	n, over := 0, false
	for !over {
		select {
		case err := <-restarted:
			if err != nil {
				t.Fatal(err)
			}
			over = true
		case <-time.After(100 * time.Millisecond):
		}
		e.create(n, apiv1.KafkaTopicSpec{Partitions: number(int64(1)), Replicas: number(int64(3))})
		n++
	}
	e.waitTopics(n, isReady)
	e.waitInKafka(n)
	for name, detail := range e.details() {
		if got := len(detail.Partitions[0].Replicas); got != 3 {
			t.Errorf("%s has %d replicas, want 3", name, got)
		}
	}
	wrong()
	t.Logf("%d topics while %d brokers were restarted: %s", n, len(brokers), e.settled().calls(reading{}))
}
