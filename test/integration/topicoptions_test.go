package integration

import (
	"context"
	"fmt"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
)

// Options that a mover of replicas sets.
const (
	leaderThrottled   = "leader.replication.throttled.replicas"
	followerThrottled = "follower.replication.throttled.replicas"
)

// topicOptions follows options that are left alone, by the operator's will, by the
// user's and by their nature, and warnings about what Kafka takes without a word.
func topicOptions(e *topicEnv) {
	e.start("--resync-interval=2s", "--alterable-topic-config= Retention.MS ,flush.ms")
	e.createWith(0, nil, map[string]string{"retention.ms": "3600000", "segment.bytes": "1048576"})
	e.waitTopics(1, func(kt *apiv1.KafkaTopic) bool { return isReady(kt) && warns(kt, "segment.bytes") })
	e.waitOptions(0, map[string]string{"retention.ms": "3600000"})
	// Both behind the operator's back: the one it may alter it mends.
	e.setOptions(0, map[string]string{"retention.ms": "7200000", "segment.bytes": "2097152", "flush.ms": "5000"})
	e.waitOptions(0, map[string]string{"retention.ms": "3600000", "segment.bytes": "2097152"})
	e.stop()

	e.start("--resync-interval=2s")
	// Now that it may alter all of them, it does.
	e.waitOptions(0, map[string]string{"retention.ms": "3600000", "segment.bytes": "1048576"})
	e.waitTopics(1, func(kt *apiv1.KafkaTopic) bool { return isReady(kt) && len(kt.Status.Conditions) == 1 })

	e.createWith(1, map[string]string{apiv1.AnnotationUnmanagedConfig: "max.message.bytes, retention.ms"}, map[string]string{"retention.ms": "3600000"})
	e.waitTopics(2, func(kt *apiv1.KafkaTopic) bool {
		return isReady(kt) && (kt.Name == "topic-0000" || warns(kt, "retention.ms"))
	})
	e.waitOptions(1, map[string]string{})
	e.setOptions(1, map[string]string{"max.message.bytes": "2000000", "flush.ms": "5000", leaderThrottled: "*", followerThrottled: "0:1"})
	e.waitOptions(1, map[string]string{"max.message.bytes": "2000000", leaderThrottled: "*", followerThrottled: "0:1"})
	e.lookThatFindsNothing()

	// Whoever insists gets a throttle, and is told.
	if err := e.patch(e.Context(), 1, fmt.Sprintf(`{"spec":{"config":{%q:"0:1"}}}`, leaderThrottled)); err != nil {
		e.Fatal(err)
	}
	e.waitTopics(2, func(kt *apiv1.KafkaTopic) bool {
		return isReady(kt) && (kt.Name == "topic-0000" || warns(kt, leaderThrottled))
	})
	e.waitOptions(1, map[string]string{"max.message.bytes": "2000000", leaderThrottled: "0:1", followerThrottled: "0:1"})
	e.belowMinInSync()
}

// belowMinInSync raises the cluster's min.insync.replicas above the replicas of the
// topics.
func (e *topicEnv) belowMinInSync() {
	e.Helper()
	e.setClusterMinInSync(kadm.AlterConfig{Op: kadm.SetConfig, Name: "min.insync.replicas", Value: kadm.StringPtr("2")})
	e.createWith(2, nil, nil)
	e.waitTopics(3, func(kt *apiv1.KafkaTopic) bool { return isReady(kt) && warns(kt, "min.insync.replicas, which is 2") })
	// As the warning says, Kafka is content with the replicas that there are.
	producer, err := kgo.NewClient(kgo.SeedBrokers(e.kafka.BootstrapServers...), kgo.RequiredAcks(kgo.AllISRAcks()))
	if err != nil {
		e.Fatal(err)
	}
	defer producer.Close()
	if err := producer.ProduceSync(e.Context(), &kgo.Record{Topic: e.inKafka(2), Value: []byte("a")}).FirstErr(); err != nil {
		e.Errorf("writing with acks=all to a topic of one replica below min.insync.replicas: %v", err)
	}
	e.setClusterMinInSync(kadm.AlterConfig{Op: kadm.SetConfig, Name: "min.insync.replicas", Value: kadm.StringPtr("1")})
	e.waitTopics(3, func(kt *apiv1.KafkaTopic) bool { return isReady(kt) && !warns(kt, "min.insync.replicas") })
}

func (e *topicEnv) setClusterMinInSync(c kadm.AlterConfig) {
	e.Helper()
	answers, err := e.admin.AlterBrokerConfigs(e.Context(), []kadm.AlterConfig{c})
	if err != nil {
		e.Fatal(err)
	}
	for _, a := range answers {
		if a.Err != nil {
			e.Fatalf("%v: %s", a.Err, a.ErrMessage)
		}
	}
}

// createWith applies a topic with annotations and options.
func (e *topicEnv) createWith(i int, annotations, options map[string]string) {
	e.Helper()
	kt := e.topic(i, apiv1.KafkaTopicSpec{Config: apiv1.Config{}})
	kt.Annotations = annotations
	for name, value := range options {
		kt.Spec.Config[name] = apiextensionsv1.JSON{Raw: fmt.Appendf(nil, "%q", value)}
	}
	if err := e.kube.Create(e.Context(), kt); err != nil {
		e.Fatal(err)
	}
}

// setOptions sets options of a topic as somebody else would.
func (e *topicEnv) setOptions(i int, options map[string]string) {
	e.Helper()
	var changes []kadm.AlterConfig
	for name, value := range options {
		changes = append(changes, kadm.AlterConfig{Op: kadm.SetConfig, Name: name, Value: &value})
	}
	answers, err := e.admin.AlterTopicConfigs(e.Context(), changes, e.inKafka(i))
	if err != nil {
		e.Fatal(err)
	}
	for _, a := range answers {
		if a.Err != nil {
			e.Fatalf("%v: %s", a.Err, a.ErrMessage)
		}
	}
}

// waitOptions waits until exactly these options are set on a topic.
func (e *topicEnv) waitOptions(i int, want map[string]string) {
	e.Helper()
	var got map[string]string
	e.eventually(func(ctx context.Context) (bool, error) {
		configs, err := e.admin.DescribeTopicConfigs(ctx, e.inKafka(i))
		if err != nil {
			return false, err
		}
		config, err := configs.On(e.inKafka(i), nil)
		if err != nil {
			return false, err
		}
		got = map[string]string{}
		for _, c := range config.Configs {
			if c.Source.String() == "DYNAMIC_TOPIC_CONFIG" {
				got[c.Key] = c.MaybeValue()
			}
		}
		return fmt.Sprint(got) == fmt.Sprint(want), nil
	})
	if fmt.Sprint(got) != fmt.Sprint(want) {
		e.Fatalf("options that are set on topic %d: %v, want %v", i, got, want)
	}
}

// warns tells whether a resource has a warning with some text.
func warns(kt *apiv1.KafkaTopic, text string) bool {
	for _, c := range kt.Status.Conditions {
		if c.Type == apiv1.ConditionWarning && c.Reason == apiv1.ReasonInvalidConfig && strings.Contains(c.Message, text) {
			return true
		}
	}
	return false
}
