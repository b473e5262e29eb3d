package topic

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/sluice-kafka/sluice/internal/batch"
	"github.com/sluice-kafka/sluice/internal/kafka"
)

// reviewInterval is how often the brokers' own options are looked at: they change
// with a restart, which nobody tells of.
const reviewInterval = 10 * time.Minute

// optionAutoCreate has Kafka create what a client asks for.
const optionAutoCreate = "auto.create.topics.enable"

// finding is what a review has to say; nothing where reason is empty.
type finding struct {
	reason, message string
}

// review looks at the brokers' own options as soon as Kafka answers, and now and
// again. It is no part of any batch, and what it may not look at holds up nothing.
func (l *loop) review(ctx context.Context) {
	if l.c.opts.SkipClusterConfigReview {
		return
	}
	var said finding
	for failures := 0; ; {
		pause := reviewInterval
		found, err := l.lookAtBrokers(ctx)
		if err == nil {
			failures = 0
			l.tell(ctx, said, found)
			said = found
		} else {
			// The batches tell of a Kafka that does not answer.
			ctrl.LoggerFrom(ctx).V(1).Info("The brokers' options are not known: trying again", "error", err.Error())
			pause = batch.Backoff(failures)
			failures++
		}
		if l.sleep(ctx, pause) != nil {
			return
		}
	}
}

// lookAtBrokers fails where nothing is known.
func (l *loop) lookAtBrokers(ctx context.Context) (finding, error) {
	// It is no batch, for which a connection would have to be kept open.
	connection := l.link.take()
	l.link.give(connection)
	options, err := connection.Admin.BrokerOptions(ctx, []string{optionAutoCreate})
	switch {
	case errors.Is(err, kafka.ErrAuthorization):
		return l.unreviewed(err), nil
	case err != nil:
		return finding{}, err
	}
	return l.judgeBrokers(options), nil
}

// judgeBrokers finds what makes topics come and go beside their resources.
func (l *loop) judgeBrokers(options map[string]string) finding {
	if !strings.EqualFold(options[optionAutoCreate], "true") {
		return finding{}
	}
	return finding{reason: "TopicsCreatedByClients", message: fmt.Sprintf(
		"The brokers of the Kafka cluster %s have %s=true: a client that asks for a topic before its KafkaTopic is reconciled gets one "+
			"with the brokers' defaults, a topic that is deleted comes back while clients use it, and topics appear that have no KafkaTopic. "+
			"Set %s=false on the brokers, or switch this review off with --skip-cluster-config-review",
		l.id, optionAutoCreate, optionAutoCreate)}
}

func (l *loop) unreviewed(err error) finding {
	return finding{reason: "PermissionMissing", message: fmt.Sprintf(
		"Whether the brokers of the Kafka cluster %s have %s=true is not known: %v. Everything else goes on: "+
			"grant the right, or switch the review off with --skip-cluster-config-review",
		l.id, optionAutoCreate, err)}
}

// tell says what is new.
func (l *loop) tell(ctx context.Context, said, found finding) {
	switch {
	case found == said:
	case found.reason == "":
		ctrl.LoggerFrom(ctx).Info("Nothing is wrong with the brokers' options any more", "reason", said.reason)
	default:
		ctrl.LoggerFrom(ctx).Info("Found something about the brokers' options", "reason", found.reason, "finding", found.message)
		l.c.recorder.Eventf(l.reference(), nil, corev1.EventTypeWarning, found.reason, "Review", "%s", found.message)
	}
}
