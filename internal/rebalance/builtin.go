package rebalance

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"k8s.io/utils/clock"

	"github.com/sluice-kafka/sluice/internal/observed"
)

// Kafka is what Builtin asks of a cluster.
type Kafka interface {
	// DescribeCluster reads who is registered, fenced brokers included.
	DescribeCluster(ctx context.Context) (observed.Registration, error)
	// Features reads what is finalized.
	Features(ctx context.Context) (observed.Features, error)
	// LogDirs asks a broker for its log directories.
	LogDirs(ctx context.Context, broker int32) ([]observed.LogDir, error)
	// BrokerConfig asks a broker for its configuration with synonyms.
	BrokerConfig(ctx context.Context, broker int32) (observed.Config, error)
	// TopicPartitions reads partitions with what is in flight. A topic that does not
	// exist is not in the answer, one that could not be read is unseen.
	TopicPartitions(ctx context.Context, topics []string) (map[string]observed.Of[observed.Topic], error)
	// Reassign begins to give partitions other replicas and answers for each.
	Reassign(ctx context.Context, replicas map[string]map[int32][]int32) (map[string]map[int32]error, error)
}

// Options of Builtin; the zero value will do.
type Options struct {
	// Cordons, if set, tells what is known beside Kafka of brokers that are to take no
	// new replicas: those that are being removed, or that an administrator cordoned. An
	// error keeps all changes from being begun.
	Cordons func(context.Context) (map[int32]Cordon, error)
	// Clock is the system's if nil.
	Clock clock.PassiveClock
}

// Builtin is Sluice's own engine. What it has begun it finds again in Kafka,
// whichever process began it, and it never cancels or replaces a reassignment that
// is in flight. It can be used concurrently, but not for one topic at a time.
type Builtin struct {
	kafka   Kafka
	cordons func(context.Context) (map[int32]Cordon, error)
	recent  recent
}

// NewBuiltin makes the engine of a cluster.
func NewBuiltin(kafka Kafka, opts Options) *Builtin {
	b := &Builtin{kafka: kafka, cordons: opts.Cordons, recent: recent{clock: opts.Clock}}
	if b.cordons == nil {
		b.cordons = func(context.Context) (map[int32]Cordon, error) { return nil, nil }
	}
	if b.recent.clock == nil {
		b.recent.clock = clock.RealClock{}
	}
	return b
}

// What an error of a single topic can be recognised by.
var (
	// ErrNoTopic tells that a topic does not exist, as far as the broker knows that
	// was asked.
	ErrNoTopic = errors.New("the topic does not exist")
	// ErrLeftOut tells that none of a topic's partitions can be changed as things
	// stand; the message says of each why, and what lifts it.
	ErrLeftOut = errors.New("nothing can be changed for now")
)

// ChangeReplicas begins to change topics to the replication factors given, with one
// look at the cluster and one AlterPartitionReassignments for all of them. What is at
// its factor, or on its way there, is left alone, and then the brokers are not even
// asked. Every topic has an entry in the answer; the last error is non-nil only if
// nothing was answered.
func (b *Builtin) ChangeReplicas(ctx context.Context, factors map[string]int16) (map[string]Started, error) {
	topics, err := b.kafka.TopicPartitions(ctx, slices.Sorted(maps.Keys(factors)))
	if err != nil {
		return nil, fmt.Errorf("change replication factors: %w", err)
	}
	c := change{factors: factors, topics: map[string]observed.Topic{}, started: map[string]Started{}}
	for name := range factors {
		seen, there := topics[name]
		topic, known := seen.Get()
		switch {
		case !there:
			c.started[name] = Started{Err: fmt.Errorf("change the replication factor of topic %q: %w", name, ErrNoTopic)}
		case !known:
			c.started[name] = Started{Err: fmt.Errorf("change the replication factor of topic %q: %w", name, seen.Err())}
		default:
			c.topics[name] = topic
			c.take(topic, name, &b.recent)
		}
	}
	if len(c.partitions) > 0 {
		if err := b.begin(ctx, &c); err != nil {
			return nil, fmt.Errorf("change replication factors: %w", err)
		}
	}
	for name := range c.topics {
		c.started[name] = c.outcome(name)
	}
	return c.started, nil
}

// begin plans and submits.
func (b *Builtin) begin(ctx context.Context, c *change) error {
	brokers, err := b.look(ctx)
	if err != nil {
		return err
	}
	plan := PlanReplicas(brokers, c.partitions, c.factors)
	for _, l := range plan.LeftOut {
		c.leave(l.Topic, l.Partition, l.Why)
	}
	if len(plan.Assignments) == 0 {
		return nil
	}
	lists := map[string]map[int32][]int32{}
	for _, a := range plan.Assignments {
		if lists[a.Topic] == nil {
			lists[a.Topic] = map[int32][]int32{}
		}
		lists[a.Topic][a.Partition] = a.Replicas
	}
	answers, err := b.kafka.Reassign(ctx, lists)
	if err != nil {
		return err
	}
	var taken []Assignment
	for _, a := range plan.Assignments {
		err, answered := answers[a.Topic][a.Partition]
		switch {
		case !answered:
			c.leave(a.Topic, a.Partition, "kafka did not answer for it")
		case err != nil:
			c.refuse(a.Topic, a.Partition, err)
		default:
			c.begin(a.Topic)
			taken = append(taken, a)
		}
	}
	b.recent.add(taken, c.partitions)
	return nil
}

// PollReplicas tells how the sessions of topics stand, with one look at their
// partitions. Every topic has an entry in the answer; the error is non-nil only if
// nothing was answered.
func (b *Builtin) PollReplicas(ctx context.Context, sessions map[string]string) (map[string]Progress, error) {
	topics, err := b.kafka.TopicPartitions(ctx, slices.Sorted(maps.Keys(sessions)))
	if err != nil {
		return nil, fmt.Errorf("follow changes of replication factors: %w", err)
	}
	out := make(map[string]Progress, len(sessions))
	for name, text := range sessions {
		seen, there := topics[name]
		s, ours := parseSession(text)
		switch {
		case !ours:
			out[name] = Progress{State: Unknown, Message: fmt.Sprintf("the session %q is none of the builtin engine", text)}
		case !there:
			out[name] = Progress{State: Unknown, Message: ErrNoTopic.Error()}
		case !seen.Seen():
			// Not seen is not over.
			out[name] = Progress{State: Running, Message: fmt.Sprintf("how far it is could not be read: %v", seen.Err())}
		default:
			topic, _ := seen.Get()
			out[name] = s.progress(topic, &b.recent)
		}
	}
	return out, nil
}
