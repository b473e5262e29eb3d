package topic

import (
	"context"

	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/sluice-kafka/sluice/internal/batch"
	"github.com/sluice-kafka/sluice/internal/metrics"
)

// requeue says what becomes of each key. It comes before the batch is done, so
// that nobody sees a key neither in flight nor queued.
func (p *pass) requeue(keys []key) {
	for _, k := range keys {
		if !p.index.has(k) {
			p.queue.Forget(k)
		}
	}
	for _, w := range p.works {
		switch {
		case w.next.retry, w.next.later:
			p.queue.Retry(w.key(), w.priority, w.next.wait)
			continue
		case w.next.returned:
			p.queue.Add(w.priority, w.key())
			continue
		case w.next.after > 0:
			p.queue.AddAfter(w.key(), batch.Resync, w.next.after)
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
	p.c.opts.Metrics.Batch(p.cluster.Name, len(b.Keys), len(b.Keys)+b.Left, d)
	p.c.opts.Metrics.Reconciled(p.cluster.Name, counts)
	p.memories.forgetOld(p.now)
	ctrl.LoggerFrom(ctx).V(1).Info("Worked on a batch", "topics", len(b.Keys), "successful", counts.Successful,
		"failed", counts.Failed, "tryingAgain", counts.Retried, "setAside", b.SetAside, "left", b.Left, "duration", d.String())
}
