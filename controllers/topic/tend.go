package topic

import (
	"context"
	"errors"
	"reflect"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/sluice-kafka/sluice/internal/batch"
)

// credentialsInterval is how often Secrets are read without a doubt.
const credentialsInterval = time.Minute

// obstacle is what keeps a cluster from being worked on until somebody does
// something about it. Its message says what.
type obstacle struct {
	// reason of the Event.
	reason  string
	message string
	// awaited tells that it is expected to pass by itself.
	awaited bool
}

// Error implements error.
func (o *obstacle) Error() string { return o.message }

// Reasons of Events on clusters.
const (
	reasonNoListener        = "TopicsListenerMissing"
	reasonNoSecret          = "TopicsCredentialsMissing"
	reasonSecretForbidden   = "TopicsCredentialsForbidden"
	reasonBadCredentials    = "TopicsCredentialsInvalid"
	reasonBadSettings       = "TopicsSettingsInvalid"
	reasonSameKafka         = "SameKafkaClusterTwice"
	reasonAwaitsStatus      = "TopicsAwaitKafka"
	reasonStandingBack      = "TopicsLeftToStrimzi"
	reasonServedByTable     = "TopicsServedByTable"
	reasonTopicsLetGo       = "TopicsLetGo"
	reasonCredentialsChange = "TopicsCredentialsChanged"
)

// told is what was said last, so that it is said once.
type told struct {
	mu   sync.Mutex
	last string
}

// once tells whether something is to be said.
func (t *told) once(what string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.last == what {
		return false
	}
	t.last = what
	return true
}

// change takes what is known of the cluster by now.
func (l *loop) change(cluster Cluster, waits *obstacle) {
	l.mu.Lock()
	same := reflect.DeepEqual(l.latest, cluster) && reflect.DeepEqual(l.waits, waits)
	l.latest, l.waits = cluster, waits
	l.mu.Unlock()
	if !same {
		l.doubt()
	}
}

// doubt has the connection looked after at once.
func (l *loop) doubt() {
	select {
	case l.doubts <- struct{}{}:
	default: // it will be
	}
}

// tend makes the connection and makes it anew when the cluster's settings or Secrets
// change. What is wrong with one cluster must not stop the others, so it is tried
// until the loop is not needed any more.
func (l *loop) tend(ctx context.Context) {
	var once sync.Once
	for failures := 0; ; {
		err := l.renew(ctx)
		pause := credentialsInterval
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			pause = batch.Backoff(failures)
			failures++
			l.report(ctx, err)
		default:
			failures = 0
		}
		once.Do(func() { close(l.tried) })
		if !l.rest(ctx, pause) {
			return
		}
	}
}

// rest waits until the connection is to be looked after again; false where nobody
// needs it any more.
func (l *loop) rest(ctx context.Context, pause time.Duration) bool {
	timer := l.c.opts.Clock.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-l.closed:
		return false
	case <-l.doubts:
	case <-timer.C():
	}
	return true
}

// renew makes a connection where there is none or the one there is was made from
// other settings. Until a new one is known to work the old one is kept: what could
// not be read is not known to have changed.
func (l *loop) renew(ctx context.Context) error {
	cluster, waits := l.settings()
	if waits != nil {
		return waits
	}
	cluster, err := l.c.withSecrets(ctx, cluster)
	if err != nil {
		return err
	}
	had, same := l.link.connected(), reflect.DeepEqual(cluster, l.linked)
	if had && same && !l.astray(ctx) {
		l.told.once("") // what was wrong is right again
		return nil
	}
	connection, err := l.dial(cluster)
	if err != nil {
		return &obstacle{reason: reasonBadSettings, message: "the Kafka client cannot be set up: check the cluster's settings: " + err.Error()}
	}
	id, err := connection.Admin.ClusterID(ctx)
	if err == nil {
		err = l.c.identities.use(l, id, connection)
	}
	if err != nil {
		connection.Admin.Close()
		return err
	}
	l.linked = cluster
	l.told.once("")
	l.answered(ctx)
	ctrl.LoggerFrom(ctx).Info("Connected to Kafka", "bootstrapServers", cluster.BootstrapServers, "clusterID", id, "anew", had)
	if had && !same {
		l.c.recorder.Eventf(l.reference(), nil, corev1.EventTypeNormal, reasonCredentialsChange, "Reconcile",
			"The topics of the Kafka cluster %s are worked on with its new settings and credentials", l.id)
	}
	return nil
}

// astray tells that the connection leads to another Kafka cluster than the one that
// this loop has the right to work on: it was built anew, or its address leads to
// another's by now. Whether it answers at all is the batches' concern.
func (l *loop) astray(ctx context.Context) bool {
	// It is no batch, for which a connection would have to be kept open.
	connection := l.link.take()
	l.link.give(connection)
	id, err := connection.Admin.ClusterID(ctx)
	return err == nil && id != l.c.identities.known(l)
}

// report says once what keeps the cluster from being worked on.
func (l *loop) report(ctx context.Context, err error) {
	o, ok := errors.AsType[*obstacle](err)
	had := l.link.connected()
	if !had {
		l.link.cut(err)
	}
	switch {
	case ok && l.told.once(o.message):
		eventType := corev1.EventTypeWarning
		if o.awaited {
			eventType = corev1.EventTypeNormal
		}
		ctrl.LoggerFrom(ctx).Info("The topics of a Kafka cluster wait", "reason", o.reason, "message", o.message, "oldConnectionKept", had)
		l.c.recorder.Eventf(l.reference(), nil, eventType, o.reason, "Reconcile", "%s", o.message)
	case !ok && had:
		ctrl.LoggerFrom(ctx).Info("Failed to connect to Kafka with new settings or credentials: the old connection is kept, trying again", "error", err.Error())
	}
	if !had {
		l.silent(ctx, err)
	}
}
