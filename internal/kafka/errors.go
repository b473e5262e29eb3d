package kafka

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
)

// What an error of this package can be recognised by, with errors.Is. The
// names of Kafka's codes are those of the protocol's error table
// (org.apache.kafka.common.protocol.Errors).
var (
	// ErrUnknownTopic is UNKNOWN_TOPIC_OR_PARTITION: the topic does not exist.
	ErrUnknownTopic = errors.New("the topic does not exist")
	// ErrUnknownTopicID is UNKNOWN_TOPIC_ID: no topic has this ID; one of the same
	// name may exist.
	ErrUnknownTopicID = errors.New("no topic has this ID")
	// ErrTopicExists is TOPIC_ALREADY_EXISTS.
	ErrTopicExists = errors.New("the topic exists already")
	// ErrTopicDeletionDisabled is TOPIC_DELETION_DISABLED: the brokers run
	// with delete.topic.enable=false.
	ErrTopicDeletionDisabled = errors.New("the brokers do not delete topics")
	// ErrAuthorization is TOPIC_AUTHORIZATION_FAILED or
	// CLUSTER_AUTHORIZATION_FAILED.
	ErrAuthorization = errors.New("not authorized")
	// ErrAuthentication tells that nobody is logged in: SASL_AUTHENTICATION_FAILED,
	// UNSUPPORTED_SASL_MECHANISM or ILLEGAL_SASL_STATE, credentials that a mechanism
	// cannot use, or a token endpoint that gives no token.
	ErrAuthentication = errors.New("not authenticated")
	// ErrTLS tells that a connection could not be encrypted and trusted: by either side's
	// certificate, or since one side speaks TLS and the other does not.
	ErrTLS = errors.New("no trusted connection")
	// ErrInvalidPartitions is INVALID_PARTITIONS: a number below one, or not
	// above the number that the topic has.
	ErrInvalidPartitions = errors.New("invalid number of partitions")
	// ErrInvalidReplicationFactor is INVALID_REPLICATION_FACTOR: below one, or
	// above the number of brokers that take replicas.
	ErrInvalidReplicationFactor = errors.New("invalid replication factor")
	// ErrInvalidReplicaAssignment is INVALID_REPLICA_ASSIGNMENT: a list of replicas
	// that is empty, names a broker twice, or names one that is not registered or,
	// from Kafka 4.3.2 on, cordoned.
	ErrInvalidReplicaAssignment = errors.New("invalid list of replicas")
	// ErrInvalidTopic is INVALID_TOPIC_EXCEPTION: a name that Kafka does not
	// take, or one that differs from another topic's only in '.' and '_' and
	// so collides with it in the names of metrics.
	ErrInvalidTopic = errors.New("invalid topic name")
	// ErrInvalidConfig is INVALID_CONFIG: an unknown option or a bad value.
	ErrInvalidConfig = errors.New("invalid configuration")
	// ErrInvalidRequest is INVALID_REQUEST, which Kafka answers, among others,
	// where one request names a topic twice.
	ErrInvalidRequest = errors.New("invalid request")
	// ErrPolicyViolation is POLICY_VIOLATION: a policy of the cluster (KIP-108,
	// KIP-133) or one of Kafka's own limits forbids it.
	ErrPolicyViolation = errors.New("forbidden by a policy of the cluster")
	// ErrThrottled is THROTTLING_QUOTA_EXCEEDED (KIP-599); Wait tells for how
	// long.
	ErrThrottled = errors.New("throttled by a quota")
	// ErrNotController is NOT_CONTROLLER: the active controller is moving.
	ErrNotController = errors.New("the active controller is moving")

	// ErrBrokerNotRegistered is BROKER_ID_NOT_REGISTERED: the controllers know of
	// no broker with this ID.
	ErrBrokerNotRegistered = errors.New("the broker is not registered")
	// ErrInvalidUpdateVersion is INVALID_UPDATE_VERSION: a feature level that is not
	// known, that a node of the cluster does not run at, or that is below the
	// finalized one.
	ErrInvalidUpdateVersion = errors.New("invalid feature level")
	// ErrFeatureUpdateFailed is FEATURE_UPDATE_FAILED: Kafka does not say more.
	ErrFeatureUpdateFailed = errors.New("the feature update failed")
	// ErrUnsupportedVersion is UNSUPPORTED_VERSION, or a broker that is too old to
	// tell what was asked.
	ErrUnsupportedVersion = errors.New("not supported by this version of kafka")

	// ErrTimeout is a call, or Kafka's own work on it (REQUEST_TIMED_OUT), that
	// did not end within its bound. Whether a write took effect is unknown.
	ErrTimeout = errors.New("timed out")
	// ErrUnreachable tells that no broker could be talked to.
	ErrUnreachable = errors.New("kafka is unreachable")
	// ErrNotAnswered tells that Kafka's answer lacks what was asked for: nothing
	// is known of it.
	ErrNotAnswered = errors.New("kafka's answer lacks what was asked for")
	// ErrClosed tells that the client was closed.
	ErrClosed = errors.New("the kafka client is closed")
)

// class is what a code of Kafka's means here.
type class struct {
	is      error
	passing bool
}

var classes = map[int16]class{
	kerr.UnknownTopicOrPartition.Code:    {is: ErrUnknownTopic},
	kerr.UnknownTopicID.Code:             {is: ErrUnknownTopicID},
	kerr.TopicAlreadyExists.Code:         {is: ErrTopicExists},
	kerr.TopicDeletionDisabled.Code:      {is: ErrTopicDeletionDisabled},
	kerr.TopicAuthorizationFailed.Code:   {is: ErrAuthorization},
	kerr.ClusterAuthorizationFailed.Code: {is: ErrAuthorization},
	kerr.SaslAuthenticationFailed.Code:   {is: ErrAuthentication, passing: true},
	kerr.UnsupportedSaslMechanism.Code:   {is: ErrAuthentication, passing: true},
	kerr.IllegalSaslState.Code:           {is: ErrAuthentication, passing: true},
	kerr.InvalidPartitions.Code:          {is: ErrInvalidPartitions},
	kerr.InvalidReplicationFactor.Code:   {is: ErrInvalidReplicationFactor},
	kerr.InvalidReplicaAssignment.Code:   {is: ErrInvalidReplicaAssignment},
	kerr.InvalidTopicException.Code:      {is: ErrInvalidTopic},
	kerr.InvalidConfig.Code:              {is: ErrInvalidConfig},
	kerr.InvalidRequest.Code:             {is: ErrInvalidRequest},
	kerr.PolicyViolation.Code:            {is: ErrPolicyViolation},
	kerr.BrokerIDNotRegistered.Code:      {is: ErrBrokerNotRegistered},
	kerr.InvalidUpdateVersion.Code:       {is: ErrInvalidUpdateVersion},
	kerr.FeatureUpdateFailed.Code:        {is: ErrFeatureUpdateFailed},
	kerr.UnsupportedVersion.Code:         {is: ErrUnsupportedVersion},
	kerr.ThrottlingQuotaExceeded.Code:    {is: ErrThrottled, passing: true},
	kerr.NotController.Code:              {is: ErrNotController, passing: true},
	kerr.RequestTimedOut.Code:            {is: ErrTimeout, passing: true},
}

// Error is an error that Kafka answered.
type Error struct {
	// Code of the protocol, and its Name there.
	Code int16
	Name string
	// Message as Kafka gave it, else the protocol's description of the code.
	Message string
	// Wait is how long Kafka asks to be left alone; zero if it does not.
	Wait time.Duration
}

// Error gives the name, the code and the message.
func (e *Error) Error() string {
	return fmt.Sprintf("%s (%d): %s", e.Name, e.Code, e.Message)
}

// Is tells whether the target is the sentinel of this code.
func (e *Error) Is(target error) bool {
	c, known := classes[e.Code]
	return known && c.is == target
}

// passing follows Kafka's own notion of a retriable error for all codes that
// this package has no opinion on.
func (e *Error) passing() bool {
	if c, known := classes[e.Code]; known {
		return c.passing
	}
	return kerr.IsRetriable(kerr.ErrorForCode(e.Code))
}

// Passing tells that the same request may succeed later with nothing in it changed:
// the fault is Kafka's, the network's or that of the client's own credentials and
// certificates, and nobody should be told that their topic is wrong.
func Passing(err error) bool {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.passing()
	}
	for _, passing := range []error{
		ErrTimeout, ErrUnreachable, ErrAuthentication, ErrTLS, ErrNotController, ErrNotAnswered, ErrClosed, context.Canceled, context.DeadlineExceeded,
	} {
		if errors.Is(err, passing) {
			return true
		}
	}
	return false
}

// NotConnected tells that there was no connection over which anything could be asked:
// no broker was reached, or none and the client believe each other (ErrUnreachable,
// ErrAuthentication, ErrTLS).
func NotConnected(err error) bool {
	return errors.Is(err, ErrUnreachable) || errors.Is(err, ErrAuthentication) || errors.Is(err, ErrTLS)
}

// Wait is how long Kafka asks to be left alone after this error; zero where it
// does not say.
func Wait(err error) time.Duration {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Wait
	}
	return 0
}

// answer is what Kafka said of one subject of a request.
type answer struct {
	code           int16
	message        *string
	throttleMillis int32
}

// topicError is errorOf for an item of a batch.
func (o operation) topicError(topic string, a answer) error {
	return o.errorOf(o.item(topic), a)
}

// errorOf is nil where Kafka answered that all is well.
func (o operation) errorOf(subject string, a answer) error {
	if a.code == 0 {
		return nil
	}
	err := kafkaError(a)
	if errors.Is(err, ErrAuthorization) {
		return fmt.Errorf("%s %s: %w (the operator's principal needs %s)", o.verb, subject, err, o.needs)
	}
	return fmt.Errorf("%s %s: %w", o.verb, subject, err)
}

func kafkaError(a answer) *Error {
	e := &Error{Code: a.code}
	// ErrorForCode gives UNKNOWN_SERVER_ERROR for a code of a newer Kafka,
	// whose number is kept.
	if known, ok := errors.AsType[*kerr.Error](kerr.ErrorForCode(a.code)); ok {
		e.Name, e.Message = known.Message, known.Description
	}
	if a.message != nil && *a.message != "" {
		e.Message = *a.message
	}
	if errors.Is(e, ErrThrottled) {
		e.Wait = time.Duration(a.throttleMillis) * time.Millisecond
	}
	return e
}
