package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/healthz"

	"github.com/sluice-kafka/sluice/certs"
	"github.com/sluice-kafka/sluice/internal/options"
)

// syncWait bounds how long a readiness probe waits for the caches.
const syncWait = 200 * time.Millisecond

var errNotSynced = errors.New("the caches are not synced yet")

// health answers whether the process may be sent requests (ready) and whether
// it has to be restarted (alive). Neither asks Kafka or for leadership: these
// same pods admit Kafka's own pods, and would wait for each other for ever.
type health struct {
	alive, ready map[string]healthz.Checker
}

func newHealth(mgr ctrl.Manager, opts options.Operator, source *certs.Source) health {
	h := health{
		alive: map[string]healthz.Checker{"ping": healthz.Ping},
		ready: map[string]healthz.Checker{"caches": cachesSynced(mgr.GetCache())},
	}
	if opts.Webhooks.Enabled {
		h.ready["certificate"] = source.Ready
		h.ready["webhooks"] = mgr.GetWebhookServer().StartedChecker()
	}
	return h
}

func (h health) register(mgr ctrl.Manager) error {
	for name, check := range h.alive {
		if err := mgr.AddHealthzCheck(name, check); err != nil {
			return fmt.Errorf("adding health check %q: %w", name, err)
		}
	}
	for name, check := range h.ready {
		if err := mgr.AddReadyzCheck(name, check); err != nil {
			return fmt.Errorf("adding readiness check %q: %w", name, err)
		}
	}
	return nil
}

// syncWaiter is the part of a cache that tells whether it is synced.
type syncWaiter interface {
	WaitForCacheSync(ctx context.Context) bool
}

// cachesSynced fails until the caches were synced once. It stays well after
// that: a replica that begins to lead starts more informers, and serves its
// webhooks meanwhile as before.
func cachesSynced(c syncWaiter) healthz.Checker {
	var synced atomic.Bool
	return func(req *http.Request) error {
		if synced.Load() {
			return nil
		}
		ctx, cancel := context.WithTimeout(req.Context(), syncWait)
		defer cancel()
		if !c.WaitForCacheSync(ctx) {
			return errNotSynced
		}
		synced.Store(true)
		return nil
	}
}
