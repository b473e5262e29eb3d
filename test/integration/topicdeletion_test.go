package integration

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/test/harness"
)

// TestTopicDeletion has topics deleted in both ways, by four workers.
func TestTopicDeletion(t *testing.T) {
	t.Parallel()
	in, cluster := topicParts(t, harness.ControlPlaneOptions{}, "marked", "bare", "moving")
	// Admission refuses two resources of one topic.
	open := map[string]string{apiv1.LabelAdmission: apiv1.AdmissionDisabled}
	t.Run("with finalizers", func(t *testing.T) {
		e := newTopicEnv(t, in, cluster, "marked", open)
		e.start("--topic-workers=4")
		e.pairs()
	})
	t.Run("without finalizers", func(t *testing.T) {
		e := newTopicEnv(t, in, cluster, "bare", open)
		e.start("--topic-workers=4", "--use-finalizers=false")
		e.pairs()
		e.deleteAndCreate(100)
		if raw, err := os.ReadFile(e.operator.Log); err != nil || strings.Count(string(raw), "deleted while no operator leads stay in Kafka") != 1 {
			t.Errorf("the log does not say what goes without finalizers (%v)", err)
		}
	})
	t.Run("finalizers are switched off", func(t *testing.T) {
		const n = 100
		e := newTopicEnv(t, in, cluster, "moving", nil)
		e.start()
		e.createTopics(n)
		e.waitTopics(n, isMarked)
		e.waitTopics(n, isReady)
		e.catchUp()
		e.stop()
		e.start("--use-finalizers=false", "--topic-workers=4")
		e.waitTopics(n, func(kt *apiv1.KafkaTopic) bool { return isReady(kt) && !isMarked(kt) })
		e.each(n, func(ctx context.Context, i int) error { return e.kube.Delete(ctx, e.topic(i, apiv1.KafkaTopicSpec{})) })
		e.waitTopics(0, isReady)
		e.waitInKafka(0)
	})
}

// pairs plays every order in which two resources of one topic come and go, each at
// its own pace: without a pause, and with one until all is at rest. All run side by
// side, and so do batches of topics that have nothing to do with them.
func (e *topicEnv) pairs() {
	const others = 500
	e.Helper()
	orders := []string{"+a +b -a -b", "+a +b -b -a", "+a -a +b -b", "+b +a -a -b", "+b +a -b -a", "+b -b +a -a"}
	g, ctx := errgroup.WithContext(e.Context())
	for i, order := range orders {
		for pace, pause := range map[string]bool{"fast": false, "slow": true} {
			id := fmt.Sprintf("%s%d", pace, i)
			g.Go(func() error {
				p := &topicPair{topicEnv: e, id: id}
				if err := p.play(ctx, strings.Fields(order), pause); err != nil {
					return fmt.Errorf("%s, %s: %w", order, pace, err)
				}
				return nil
			})
		}
	}
	g.Go(func() error {
		for i := range others {
			if err := e.kube.Create(ctx, e.topic(i, apiv1.KafkaTopicSpec{})); err != nil {
				return err
			}
		}
		return nil
	})
	if err := g.Wait(); err != nil {
		e.Fatal(err)
	}
	e.waitTopics(others, isReady)
	e.each(others, func(ctx context.Context, i int) error { return e.kube.Delete(ctx, e.topic(i, apiv1.KafkaTopicSpec{})) })
	e.waitTopics(0, isReady)
	e.catchUp()
	e.waitInKafka(0)
}

// catchUp waits until Kafka shows all that was done to topics so far: a broker replays
// it in order, and may be behind by seconds after hundreds of them.
func (e *topicEnv) catchUp() {
	e.Helper()
	last := "latest-of-" + e.namespace
	if _, err := e.admin.CreateTopic(e.Context(), 1, 1, nil, last); err != nil {
		e.Fatal(err)
	}
	shown := false
	e.eventually(func(ctx context.Context) (bool, error) {
		topics, err := e.admin.ListTopics(ctx, last)
		shown = topics[last].Err == nil
		return shown, err
	})
	if !shown {
		e.Fatal("Kafka does not show what was done last")
	}
	if _, err := e.admin.DeleteTopic(e.Context(), last); err != nil {
		e.Fatal(err)
	}
	e.eventually(func(ctx context.Context) (bool, error) {
		topics, err := e.admin.ListTopics(ctx, last)
		shown = topics[last].Err == nil
		return !shown, err
	})
}

// topicPair are two resources, a and b, of one topic.
type topicPair struct {
	*topicEnv
	id string
}

func (p *topicPair) inKafka() string { return p.namespace + "-" + p.id }

func (p *topicPair) resource(name string) *apiv1.KafkaTopic {
	kt := p.topic(0, apiv1.KafkaTopicSpec{TopicName: new(p.inKafka())})
	kt.Name = p.id + "-" + name
	return kt
}

// play looks at what is left after all but the last event, and after the last.
func (p *topicPair) play(ctx context.Context, events []string, pause bool) error {
	left := map[string]bool{}
	id := ""
	for i, event := range events {
		kt := p.resource(event[1:])
		var err error
		if left[event[1:]] = event[0] == '+'; event[0] == '+' {
			err = p.kube.Create(ctx, kt)
		} else {
			delete(left, event[1:])
			err = p.kube.Delete(ctx, kt)
		}
		if err != nil {
			return err
		}
		if !pause && i < 2 {
			continue
		}
		now, err := p.await(ctx, left)
		if err != nil {
			return fmt.Errorf("after %v: %w", events[:i+1], err)
		}
		if id != "" && now != "" && now != id {
			return fmt.Errorf("after %v: the topic was made anew", events[:i+1])
		}
		id = now
	}
	return nil
}

// await waits until Kafka has the topic if any resource is left, one of which is
// Ready, and returns its ID.
func (p *topicPair) await(ctx context.Context, left map[string]bool) (string, error) {
	id, state := "", ""
	err := wait.PollUntilContextTimeout(ctx, 200*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		ready := 0
		for name := range left {
			kt := p.resource(name)
			if err := p.kube.Get(ctx, client.ObjectKeyFromObject(kt), kt); err != nil {
				return false, err
			}
			if isReady(kt) {
				ready++
			}
		}
		topics, err := p.admin.ListTopics(ctx, p.inKafka())
		if err != nil {
			return false, err
		}
		topic := topics[p.inKafka()]
		there := topic.Err == nil
		if state = fmt.Sprintf("%d of %d are ready, the topic is there: %v", ready, len(left), there); !there {
			return len(left) == 0, nil
		}
		id = topic.ID.String()
		return ready == 1, nil
	})
	if err != nil {
		return "", fmt.Errorf("%w; %s", err, state)
	}
	if len(left) == 0 {
		id = ""
	}
	return id, nil
}

// deleteAndCreate has n resources deleted and created again at once: each topic is
// deleted and made anew. One that is retained stays.
func (e *topicEnv) deleteAndCreate(n int) {
	e.Helper()
	e.createTopics(n)
	e.waitTopics(n, isReady)
	retained := e.topic(n, apiv1.KafkaTopicSpec{})
	retained.Annotations = map[string]string{apiv1.AnnotationDeletionPolicy: apiv1.DeletionPolicyRetain}
	if err := e.kube.Create(e.Context(), retained); err != nil {
		e.Fatal(err)
	}
	e.waitTopics(n+1, isReady)
	e.catchUp()
	before := e.details()
	if err := e.kube.Delete(e.Context(), &apiv1.KafkaTopic{ObjectMeta: metav1.ObjectMeta{Namespace: e.namespace, Name: retained.Name}}); err != nil {
		e.Fatal(err)
	}
	e.each(n, func(ctx context.Context, i int) error {
		if err := e.kube.Delete(ctx, e.topic(i, apiv1.KafkaTopicSpec{})); err != nil {
			return err
		}
		return e.kube.Create(ctx, e.topic(i, apiv1.KafkaTopicSpec{}))
	})
	e.waitTopics(n, isReady)
	e.catchUp()
	e.waitInKafka(n + 1)
	for name, now := range e.details() {
		same := now.ID == before[name].ID
		if isRetained := name == e.inKafka(n); same != isRetained {
			e.Errorf("%s has the same ID as before: %v", name, same)
		}
	}
	e.each(n, func(ctx context.Context, i int) error { return e.kube.Delete(ctx, e.topic(i, apiv1.KafkaTopicSpec{})) })
	e.waitTopics(0, isReady)
	e.waitInKafka(1) // nothing tells when a topic follows its resource
	if _, err := e.admin.DeleteTopics(e.Context(), e.inKafka(n)); err != nil {
		e.Fatal(err)
	}
}
