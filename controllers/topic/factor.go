package topic

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"

	kafkav1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/kafka"
	"github.com/sluice-kafka/sluice/internal/observed"
)

// A broker that is being stopped, or is starting, takes no replicas, and Kafka refuses
// with INVALID_REPLICATION_FACTOR what fits as soon as the broker is back
// (StripedReplicaPlacer in Kafka's sources: it leaves out brokers in controlled
// shutdown, and places nothing where all are fenced). In a cluster that is restarted
// one broker at a time that befalls every new topic that asks for all of them.
// factorPatience is how long such a refusal is not said.
const factorPatience = time.Minute

// factorRefusals holds since when Kafka has refused replication factors that the
// registered brokers are enough for. What nothing refuses takes no space.
type factorRefusals struct {
	mu    sync.Mutex
	since map[refusedFactor]time.Time
}

// refusedFactor counts for one spec alone.
type refusedFactor struct {
	name       string
	generation int64
}

// lasting tells whether a refusal has lasted for longer than patience.
func (r *factorRefusals) lasting(f refusedFactor, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	maps.DeleteFunc(r.since, func(_ refusedFactor, since time.Time) bool { return now.Sub(since) >= 2*factorPatience })
	since, known := r.since[f]
	if !known {
		if r.since == nil {
			r.since = map[refusedFactor]time.Time{}
		}
		since = now
		r.since[f] = now
	}
	return now.Sub(since) >= factorPatience
}

// mayFitSoon tells of a refused replication factor that is not to be reported yet: the
// brokers that are registered are enough for it, or it is not known how many are.
func (p *pass) mayFitSoon(ctx context.Context, w *work, err error) bool {
	if !errors.Is(err, kafka.ErrInvalidReplicationFactor) || p.shortageOfBrokers(ctx) != "" || saidWrong(w.topic) {
		return false // what lacks is known, or silence would gain nothing
	}
	factor := w.wanted.Replicas
	if w.seen != nil {
		for _, n := range w.seen.Replicas {
			factor = max(factor, n)
		}
	}
	if brokers, known := p.registeredBrokers(ctx); known && int(factor) > brokers {
		return false
	}
	return !p.factors.lasting(refusedFactor{w.name, w.topic.Generation}, p.now)
}

// registeredBrokers counts the brokers that are registered, whether they live or not.
// It asks once a batch.
func (p *pass) registeredBrokers(ctx context.Context) (n int, known bool) {
	if p.registration == nil {
		r, err := p.admin.DescribeCluster(ctx)
		if err != nil {
			ctrl.LoggerFrom(ctx).V(1).Info("Judging a replication factor without knowing how many brokers there are", "error", err.Error())
		}
		p.registration = &observed.Registration{}
		if err == nil {
			p.registration = &r
		}
	}
	return len(p.registration.Brokers), len(p.registration.Brokers) > 0
}

// saidWrong tells of a resource whose status says so at its generation.
func saidWrong(t *kafkav1.KafkaTopic) bool {
	s := &t.Status
	return s.ObservedGeneration == t.Generation && len(s.Conditions) > 0 &&
		s.Conditions[0].Type == kafkav1.ConditionReady && s.Conditions[0].Status == "False"
}
