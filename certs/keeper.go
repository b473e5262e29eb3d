package certs

import (
	"context"
	"errors"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

const (
	// checkInterval makes up for events that were missed, and for time passing:
	// a certificate becomes due without any event.
	checkInterval = time.Minute
	// raceRetry is how soon a replica that lost a race looks again.
	raceRetry = 250 * time.Millisecond
)

// keeper keeps the Secret, the CA bundles and what the Source serves. It is
// run by one worker.
type keeper struct {
	Options
	// reader reads from the API server itself.
	reader client.Reader
	writer client.Writer
	source *Source

	// target is the pair in the Secret as last seen, and publishedSince is when
	// its CAs were first seen in all configurations.
	target         *pair
	publishedSince time.Time
	// othersTrusted is as in servingInput, of the time when target was first
	// seen.
	othersTrusted bool
	// strangers are the published CAs that nothing here needs.
	strangers strangers
	// missing are the kinds of configuration that were looked for and not found.
	missing map[string]bool
}

// Reconcile looks at everything once and does what is due.
func (k *keeper) Reconcile(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
	next, err := k.turn(ctx)
	if lostRace(err) {
		k.logger(ctx).V(1).Info("Another replica was faster, looking again", "cause", err.Error())
		return reconcile.Result{RequeueAfter: raceRetry}, nil
	}
	if err != nil {
		return reconcile.Result{}, err
	}
	return reconcile.Result{RequeueAfter: next}, nil
}

// turn returns after how long to look again.
func (k *keeper) turn(ctx context.Context) (time.Duration, error) {
	// The configurations are read before the Secret: see publish.
	configurations, err := k.readConfigurations(ctx)
	if err != nil {
		return 0, err
	}
	target, secretErr := k.ensurePair(ctx)
	if lostRace(secretErr) {
		return 0, secretErr
	}
	k.observe(target, configurations)

	// Where the Secret cannot be used, what is served has to stay trusted.
	retireIn, err := k.keepPublished(ctx, configurations)
	if err := errors.Join(secretErr, err); err != nil {
		return 0, err
	}
	serveIn := k.keepServed(ctx)
	return soonest(checkInterval, retireIn, serveIn, k.renewIn()), nil
}

// observe takes note of the coming pair, and of what is published before this
// turn changes it.
func (k *keeper) observe(target *pair, configurations []configuration) {
	if target == nil {
		return
	}
	anywhere, everywhere := publishedIn(configurations)
	if !target.same(k.target) {
		k.target = target
		k.publishedSince = time.Time{}
		own := bundleOf(target.cas...)
		k.othersTrusted = false
		for fp, ca := range anywhere {
			if _, ok := own[fp]; !ok && !k.Clock.Now().After(ca.NotAfter) {
				k.othersTrusted = true
			}
		}
	}
	if len(configurations) > 0 && !everywhere.contains(target.cas) {
		// New, or overwritten by someone: the delay starts with its publication.
		k.publishedSince = time.Time{}
	}
}

func (k *keeper) keepPublished(ctx context.Context, configurations []configuration) (next time.Duration, err error) {
	needed := bundle{}
	for _, p := range []*pair{k.source.served(), k.target} {
		if p != nil {
			needed.add(p.cas)
		}
	}
	if len(needed) > 0 {
		anywhere, _ := publishedIn(configurations)
		var want bundle
		want, k.strangers, next = planBundle(k.Clock.Now(), k.RetireAfter, needed, anywhere, k.strangers)
		if err := k.publish(ctx, configurations, want); err != nil {
			return 0, err
		}
	}
	if k.publishedSince.IsZero() {
		// Taken after the write, however long that took.
		k.publishedSince = k.Clock.Now()
	}
	return next, nil
}

func (k *keeper) keepServed(ctx context.Context) (wait time.Duration) {
	if k.target == nil {
		return 0
	}
	serve, wait, reason := planServing(servingInput{
		now:              k.Clock.Now(),
		served:           k.source.served(),
		target:           k.target,
		publishedSince:   k.publishedSince,
		othersTrusted:    k.othersTrusted,
		propagationDelay: k.PropagationDelay,
	})
	if serve {
		k.source.serve(k.target)
		k.logger(ctx).Info("Serving a new certificate", "reason", reason,
			"hosts", k.target.hosts(), "notAfter", k.target.leaf().NotAfter.UTC())
		// The retirement of the CAs that are no longer needed begins now.
		return raceRetry
	}
	return wait
}

// renewIn is how long until the pair is due for renewal; zero where that is not
// this replica's to do.
func (k *keeper) renewIn() time.Duration {
	if k.target == nil || k.Mode != ModeSelfSigned {
		return 0
	}
	return renewalTime(k.target).Sub(k.Clock.Now())
}

func (k *keeper) logger(ctx context.Context) logr.Logger { return log.FromContext(ctx) }

// lostRace tells whether all that went wrong is that someone else was faster.
func lostRace(err error) bool {
	if err == nil {
		return false
	}
	var joined interface{ Unwrap() []error }
	if errors.As(err, &joined) {
		for _, e := range joined.Unwrap() {
			if !lostRace(e) {
				return false
			}
		}
		return true
	}
	return apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err)
}

// soonest is the shortest of the durations that are not zero.
func soonest(first time.Duration, others ...time.Duration) time.Duration {
	for _, d := range others {
		if d > 0 && d < first {
			first = d
		}
	}
	return first
}
