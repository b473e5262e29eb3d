package topic

import (
	"context"

	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/sluice-kafka/sluice/internal/batch"
	"github.com/sluice-kafka/sluice/internal/metrics"
)

// requeue says what becomes of each key. It comes before the batch is done, so
// that nobody sees a key neither in flight nor queued.
func (p *pass) requeue(b batch.Batch[key]) {
	worked := make(map[key]bool, len(p.works))
	for _, w := range p.works {
		worked[w.key()] = true
	}
	for i, k := range b.Keys {
		switch {
		case worked[k]:
		case p.index.nameOf(k) != "":
			p.queue.Add(b.Priorities[i], k) // it stands for another name by now
		default:
			p.queue.Forget(k)
		}
	}
	for _, w := range p.works {
		switch {
		case w.next.retry, w.next.later:
			p.queue.Retry(w.key(), w.priority, w.next.wait)
			if !w.next.kafkas {
				p.queue.Excuse(w.key())
			}
			continue
		case w.next.returned:
			p.queue.Add(w.priority, w.key())
			continue
		case w.next.after > 0:
			p.queue.AddAfter(w.key(), batch.Resync, w.next.after)
		case w.gone:
			p.rest(w.key(), w.topic.UID)
		}
		p.queue.Forget(w.key())
	}
}

func (p *pass) measure(ctx context.Context, b batch.Batch[key]) {
	counts := metrics.Reconciliations{Locked: b.SetAside}
	for _, w := range p.works {
		switch {
		case w.next.retry, w.next.returned:
			counts.Retried++
		case w.failed:
			counts.Failed++
		default:
			counts.Successful++
		}
	}
	d := p.c.opts.Clock.Since(p.now)
	p.c.opts.Metrics.Batch(p.id, len(b.Keys), len(b.Keys)+b.Left, d)
	p.c.opts.Metrics.Reconciled(p.id, counts)
	p.memories.forgetOld(p.now)
	ctrl.LoggerFrom(ctx).V(1).Info("Worked on a batch", "topics", len(b.Keys), "successful", counts.Successful,
		"failed", counts.Failed, "tryingAgain", counts.Retried, "setAside", b.SetAside, "left", b.Left, "duration", d.String())
}
