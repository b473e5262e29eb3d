package integration

import (
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
)

func number[T any](n T) *T { return &n }

// topicsThatStrangersTouch has other programs work on topics behind the operator's
// back: it puts right what it can, and says what it cannot.
func topicsThatStrangersTouch(e *topicEnv) {
	const (
		deleted = iota
		configured
		grown
		grownByDefault
		replaced
		moved
		pausedDeleted
		adopted
	)
	e.start("--resync-interval=3s")
	e.create(deleted, apiv1.KafkaTopicSpec{Partitions: number(int64(2))})
	e.create(configured, apiv1.KafkaTopicSpec{})
	e.change(configured, `{"spec":{"config":{"retention.ms":3600000}}}`)
	e.create(grown, apiv1.KafkaTopicSpec{Partitions: number(int64(2))})
	for _, i := range []int{grownByDefault, replaced, moved, pausedDeleted} {
		e.create(i, apiv1.KafkaTopicSpec{})
	}
	e.waitTopics(adopted, isReady)
	before := map[int]string{}
	for i := range adopted {
		before[i] = e.id(i)
	}
	e.annotate(pausedDeleted, apiv1.AnnotationPauseReconciliation, `"true"`)
	e.until(func(context.Context) error { return e.says(pausedDeleted, apiv1.ConditionReconciliationPaused) })
	// What an operator has just made it does not take for gone at the first glance.
	e.stop()
	e.start("--resync-interval=3s")

	e.alter(configured, map[string]string{"retention.ms": "1", "segment.bytes": "1048576"})
	// A mover of replicas sets the first before it submits anything.
	e.alter(moved, map[string]string{"leader.replication.throttled.replicas": "*", "retention.bytes": "5"})
	for i, total := range map[int]int{grown: 4, grownByDefault: 3} {
		if _, err := e.admin.UpdatePartitions(e.Context(), total, e.inKafka(i)); err != nil {
			e.Fatal(err)
		}
	}
	if _, err := e.admin.DeleteTopics(e.Context(), e.inKafka(deleted), e.inKafka(replaced), e.inKafka(pausedDeleted)); err != nil {
		e.Fatal(err)
	}
	// The operator may have been faster.
	if _, err := e.admin.CreateTopic(e.Context(), 1, 1, nil, e.inKafka(replaced)); err != nil && !errors.Is(err, kerr.TopicAlreadyExists) {
		e.Fatal(err)
	}
	stale := "7"
	if _, err := e.admin.CreateTopic(e.Context(), 3, 1, map[string]*string{"retention.bytes": &stale}, e.inKafka(adopted)); err != nil {
		e.Fatal(err)
	}
	strangers := ""
	e.until(func(context.Context) error {
		if strangers = e.id(adopted); strangers == "" {
			return errors.New("the stranger's topic does not show yet")
		}
		return nil
	})
	e.create(adopted, apiv1.KafkaTopicSpec{Partitions: number(int64(3))})

	e.until(func(ctx context.Context) error {
		return errors.Join(
			e.ready(deleted), e.partitions(deleted, 2), e.other(deleted, before[deleted]),
			e.ready(configured), e.set(ctx, configured, map[string]string{"retention.ms": "3600000"}),
			e.says(grown, apiv1.ReasonNotSupported), e.partitions(grown, 4),
			e.ready(grownByDefault), e.partitions(grownByDefault, 3),
			e.ready(replaced), e.other(replaced, before[replaced]),
			e.ready(moved), e.set(ctx, moved, map[string]string{"leader.replication.throttled.replicas": "*"}),
			e.ready(adopted), e.set(ctx, adopted, map[string]string{}),
		)
	})
	if got := e.get(grownByDefault).Status.Partitions; got != 3 {
		e.Errorf("the status says %d partitions of a topic that was grown, want 3", got)
	}
	if got := e.id(adopted); got != strangers {
		e.Errorf("the topic that was there had the ID %s, and now has %s", strangers, got)
	}
	e.lookThatFindsNothing()
	if got := e.id(pausedDeleted); got != "" {
		e.Errorf("the topic of a paused resource came back as %s", got)
	}
	e.annotate(pausedDeleted, apiv1.AnnotationPauseReconciliation, "null")
	e.until(func(context.Context) error { return e.ready(pausedDeleted) })
}

// other fails if the i-th topic has this ID, or none, in Kafka.
func (e *topicEnv) other(i int, id string) error {
	if got := e.id(i); got == "" || got == id {
		return fmt.Errorf("topic %d had the ID %s, and now has %q", i, id, got)
	}
	return nil
}

// topicsThatAreLeftAlone takes resources out of the operator's hands, each in one of
// the ways there are, and gives them back.
func topicsThatAreLeftAlone(e *topicEnv) {
	const (
		unmanaged = iota
		unmanagedDeleted
		paused
		pausedDeleted
		relabelled
		relabelledDeleted
		retained
		all
	)
	const change = `{"spec":{"config":{"retention.ms":3600000}}}`
	e.start("--resync-interval=3s")
	e.createTopics(all)
	e.waitTopics(all, isReady)
	before := map[int]string{}
	for i := range all {
		before[i] = e.id(i)
	}
	e.annotate(unmanaged, apiv1.AnnotationManaged, `"false"`)
	e.annotate(unmanagedDeleted, apiv1.AnnotationManaged, `"false"`)
	e.annotate(paused, apiv1.AnnotationPauseReconciliation, `"true"`)
	e.annotate(pausedDeleted, apiv1.AnnotationPauseReconciliation, `"true"`)
	e.annotate(retained, apiv1.AnnotationDeletionPolicy, `"`+apiv1.DeletionPolicyRetain+`"`)
	for _, i := range []int{relabelled, relabelledDeleted} {
		e.change(i, `{"metadata":{"labels":{"`+apiv1.LabelCluster+`":"nobodys"}}}`)
	}
	for _, i := range []int{unmanaged, paused, relabelled} {
		e.change(i, change)
	}
	e.until(func(context.Context) error {
		return errors.Join(
			e.says(unmanaged, apiv1.ConditionUnmanaged), e.says(unmanagedDeleted, apiv1.ConditionUnmanaged),
			e.says(paused, apiv1.ConditionReconciliationPaused), e.says(pausedDeleted, apiv1.ConditionReconciliationPaused),
			e.unmarked(relabelled), e.unmarked(relabelledDeleted),
		)
	})
	if s := e.get(unmanaged).Status; s.TopicName != "" || s.TopicID != "" {
		e.Errorf("an unmanaged resource claims %q with the ID %q", s.TopicName, s.TopicID)
	}
	if s := e.get(paused).Status; s.TopicName == "" || s.TopicID != "" {
		e.Errorf("a paused resource has the name %q and the ID %q in its status, want the name alone", s.TopicName, s.TopicID)
	}
	e.batches(2)
	e.untouched(before, unmanaged, paused, relabelled)

	e.delete(unmanagedDeleted, pausedDeleted, relabelledDeleted, retained)
	e.annotate(unmanaged, apiv1.AnnotationManaged, "null")
	e.annotate(paused, apiv1.AnnotationPauseReconciliation, "null")
	e.change(relabelled, `{"metadata":{"labels":{"`+apiv1.LabelCluster+`":"`+topicCluster+`"}}}`)
	e.waitTopics(3, isReady)
	e.until(func(ctx context.Context) error {
		var errs []error
		for _, i := range []int{unmanaged, paused, relabelled} {
			errs = append(errs, e.ready(i), e.set(ctx, i, map[string]string{"retention.ms": "3600000"}))
		}
		if id := e.id(pausedDeleted); id != "" {
			errs = append(errs, fmt.Errorf("the topic of a paused resource that was deleted is still there as %s", id))
		}
		return errors.Join(errs...)
	})
	for i, id := range before {
		if got := e.id(i); got != id && i != pausedDeleted {
			e.Errorf("topic %d was %s, and is %q", i, id, got)
		}
	}
}

// unmarked fails if the i-th resource carries the operator's finalizer.
func (e *topicEnv) unmarked(i int) error {
	e.Helper()
	if kt := e.get(i); kt == nil || isMarked(kt) {
		return fmt.Errorf("topic %d is gone or has the finalizer: %+v", i, kt)
	}
	return nil
}

// untouched fails the test unless topics are what they were, with no option set.
func (e *topicEnv) untouched(before map[int]string, is ...int) {
	e.Helper()
	for _, i := range is {
		if err := e.set(e.Context(), i, map[string]string{}); err != nil {
			e.Error(err)
		}
		if got := e.id(i); got != before[i] {
			e.Errorf("topic %d was %s, and is %q", i, before[i], got)
		}
	}
}
