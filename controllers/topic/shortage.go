package topic

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/sluice-kafka/sluice/internal/facts"
	"github.com/sluice-kafka/sluice/internal/kafka"
	"github.com/sluice-kafka/sluice/internal/topicplan"
)

// refusal is what a status says of a final answer of Kafka to a creation or growth. A
// replication factor that is too large for the brokers that take new replicas may fit
// when a scale-down is over: it is tried again.
func (p *pass) refusal(ctx context.Context, w *work, err error) *topicplan.Problem {
	problem := kafkaProblem(err)
	if !errors.Is(err, kafka.ErrInvalidReplicationFactor) {
		return problem
	}
	if why := p.shortageOfBrokers(ctx); why != "" {
		problem.Message += ". " + why
		w.next.later = true
	}
	return problem
}

// shortageOfBrokers says which brokers of the cluster take no new replicas; nothing
// where none is known to be so. It is asked for live, and once a batch.
func (p *pass) shortageOfBrokers(ctx context.Context) string {
	if p.shortage == nil {
		why := ""
		if seen, ok := p.facts(ctx); ok {
			why = shortageIn(seen)
		}
		p.shortage = &why
	}
	return *p.shortage
}

// facts are what the cluster controller published of the cluster.
func (p *pass) facts(ctx context.Context) (facts.Facts, bool) {
	if p.cluster.Kafka == nil {
		return facts.Facts{}, false
	}
	ctx, cancel := context.WithTimeout(ctx, writeLimit)
	defer cancel()
	seen, found, err := published(ctx, p.c.client, *p.cluster.Kafka)
	if err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "Judging a replication factor without what is known of the cluster's brokers", "kafka", p.cluster.Kafka.String())
	}
	return seen, found
}

func shortageIn(seen facts.Facts) string {
	var ids []int32
	for _, b := range seen.Brokers {
		if b.Draining || b.Cordoned != nil && *b.Cordoned {
			ids = append(ids, b.ID)
		}
	}
	if len(ids) == 0 {
		return ""
	}
	slices.Sort(ids)
	return fmt.Sprintf("Of the %d brokers these take no new replicas, since a scale-down is in progress or they are cordoned by hand: %s. "+
		"It is tried again until the rest are enough", len(seen.Brokers), strings.Trim(fmt.Sprint(ids), "[]"))
}
