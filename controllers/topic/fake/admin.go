// Package fake holds a Kafka cluster for tests of the topic controller. It
// answers like the real client does, records every call, and fails on demand.
package fake

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sluice-kafka/sluice/internal/kafka"
	"github.com/sluice-kafka/sluice/internal/observed"
)

// Topic is a topic of the cluster.
type Topic struct {
	ID         string
	Partitions int32
	Replicas   int16
	Config     map[string]string
}

// Admin is the cluster. Its fields may be set between calls.
type Admin struct {
	mu     sync.Mutex
	topics map[string]Topic
	nextID int
	calls  []string
	closed int

	// The next call of a kind fails as a whole with these, once.
	NextDescribeTopicsErr, NextDescribeConfigsErr, NextCreateTopicsErr error
	NextCreatePartitionsErr, NextAlterConfigsErr, NextDeleteTopicsErr  error
	NextReassignmentsErr                                               error
	// Unreachable fails every call until it is nil.
	Unreachable error
	// TopicErrs is what changes and describes answer for single topics, by
	// "<call> <topic>", until removed.
	TopicErrs map[string]error
	// Shown overrides what DescribeTopics shows of a topic.
	Shown map[string]kafka.TopicDescription
	// ShownConfigs overrides which options DescribeTopicConfigs shows as set on a
	// topic.
	ShownConfigs map[string]map[string]string
	// Moving are the reassignments in flight, by topic.
	Moving map[string][]observed.Partition
	// MinInSync is the cluster's min.insync.replicas; 1 where empty.
	MinInSync string
	// Normalise is applied to the values that are set.
	Normalise func(option, value string) string
	// Brokers is how many are registered; one.
	Brokers int
	// BrokerOptionsErr fails BrokerOptions until it is nil.
	BrokerOptionsErr error
	// ID is the cluster's own.
	ID string
	// NextClusterIDErr fails the next ClusterID, once.
	NextClusterIDErr error
	// BeforeCall is told of each call before it is answered.
	BeforeCall func(call string, names []string)
	// brokerOptions are those in effect at the brokers; SetBrokerOption sets one.
	brokerOptions map[string]string
}

// clusters numbers those that are made.
var clusters atomic.Int64

// NewAdmin makes an empty cluster, with an ID of its own.
func NewAdmin() *Admin {
	a := &Admin{
		topics: map[string]Topic{}, ID: fmt.Sprintf("kafka-%d", clusters.Add(1)),
		brokerOptions: map[string]string{"auto.create.topics.enable": "false"},
	}
	a.Reset()
	return a
}

// Reset forgets calls and faults, and keeps the topics, what moves and the cluster's
// options.
func (a *Admin) Reset() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.calls = nil
	a.NextDescribeTopicsErr, a.NextDescribeConfigsErr, a.NextCreateTopicsErr = nil, nil, nil
	a.NextCreatePartitionsErr, a.NextAlterConfigsErr, a.NextDeleteTopicsErr = nil, nil, nil
	a.Brokers = 1
	a.Unreachable, a.BrokerOptionsErr = nil, nil
	a.NextClusterIDErr = nil
	a.NextReassignmentsErr = nil
	a.TopicErrs = map[string]error{}
	a.Shown = map[string]kafka.TopicDescription{}
	a.ShownConfigs = map[string]map[string]string{}
	a.Normalise = func(_, value string) string { return value }
	a.BeforeCall = func(string, []string) {}
}

// Calls are the names of the calls since the last Reset.
func (a *Admin) Calls() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.calls)
}

// Topics is a copy of what the cluster holds.
func (a *Admin) Topics() map[string]Topic {
	a.mu.Lock()
	defer a.mu.Unlock()
	return maps.Clone(a.topics)
}

// SetTopic puts a topic into the cluster, as somebody else would.
func (a *Admin) SetTopic(name string, t Topic) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if t.ID == "" {
		t.ID = a.newID()
	}
	a.topics[name] = t
}

// RemoveTopic takes a topic away, as somebody else would.
func (a *Admin) RemoveTopic(name string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.topics, name)
}

// SetBrokerOption sets an option of all brokers.
func (a *Admin) SetBrokerOption(name, value string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.brokerOptions[name] = value
}

// ClusterID implements the controller's Admin.
func (a *Admin) ClusterID(ctx context.Context) (string, error) {
	err := a.begin(ctx, "ClusterID", nil, &a.NextClusterIDErr)
	defer a.mu.Unlock()
	return a.ID, err
}

// Close implements the controller's Admin. The cluster goes on.
func (a *Admin) Close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.closed++
}

// Closed is how many connections to the cluster were closed.
func (a *Admin) Closed() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.closed
}

// begin records a call; the caller holds the lock afterwards.
func (a *Admin) begin(ctx context.Context, call string, names []string, next *error) error {
	a.BeforeCall(call, names)
	a.mu.Lock()
	a.calls = append(a.calls, call)
	err := *next
	*next = nil
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case a.Unreachable != nil:
		return a.Unreachable
	}
	return err
}

func (a *Admin) newID() string {
	a.nextID++
	return fmt.Sprintf("id-%d", a.nextID)
}

func (a *Admin) topicErr(call, name string) error { return a.TopicErrs[call+" "+name] }

// Answers of Kafka to single topics, by the protocol's error table
// (org.apache.kafka.common.protocol.Errors).
var (
	ErrUnknownTopic         = answer(3, "UNKNOWN_TOPIC_OR_PARTITION")
	ErrInvalidTopic         = answer(17, "INVALID_TOPIC_EXCEPTION")
	ErrNotAuthorized        = answer(29, "TOPIC_AUTHORIZATION_FAILED")
	ErrClusterNotAuthorized = answer(31, "CLUSTER_AUTHORIZATION_FAILED")
	ErrUnknownTopicID       = answer(100, "UNKNOWN_TOPIC_ID")
	ErrTopicExists          = answer(36, "TOPIC_ALREADY_EXISTS")
	ErrInvalidFactor        = answer(38, "INVALID_REPLICATION_FACTOR")
	ErrInvalidPartitions    = answer(37, "INVALID_PARTITIONS")
	ErrInvalidConfig        = answer(40, "INVALID_CONFIG")
	ErrDeletionDisabled     = answer(73, "TOPIC_DELETION_DISABLED")
	ErrTimedOut             = answer(7, "REQUEST_TIMED_OUT")
)

// Throttled is THROTTLING_QUOTA_EXCEEDED with the time to wait.
func Throttled(wait time.Duration) error {
	return &kafka.Error{Code: 89, Name: "THROTTLING_QUOTA_EXCEEDED", Message: "as a test wants it", Wait: wait}
}

func answer(code int16, name string) error {
	return &kafka.Error{Code: code, Name: name, Message: "as a test wants it"}
}
