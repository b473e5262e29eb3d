package cluster

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"

	kafkav1 "github.com/sluice-kafka/sluice/api/v1"
)

const (
	// turnLimit bounds one look at one cluster with all that is done about it: calls
	// to Kafka are bounded by themselves, and there may be several in a row.
	turnLimit = 5 * time.Minute
	// firstRetry and lastRetry frame the pauses after failures.
	firstRetry = time.Second
	lastRetry  = 10 * time.Second
	// servedInterval is how often to look for kinds that are not served.
	servedInterval = 30 * time.Second
)

// Controller runs clusters for as long as it leads.
type Controller struct {
	opts       Options
	dial       Dial
	config     *rest.Config
	httpClient *http.Client
	scheme     *runtime.Scheme
	mapper     meta.RESTMapper
	resources  cache.Cache
	live       client.Reader
	writer     client.Client
	recorder   recorder
}

// Add adds the cluster controller to a manager. dial makes the client of a cluster.
func Add(mgr ctrl.Manager, opts Options, dial Dial) error {
	return mgr.Add(&Controller{
		opts:       opts.complete(),
		dial:       dial,
		config:     mgr.GetConfig(),
		httpClient: mgr.GetHTTPClient(),
		scheme:     mgr.GetScheme(),
		mapper:     mgr.GetRESTMapper(),
		resources:  mgr.GetCache(),
		live:       mgr.GetAPIReader(),
		writer:     mgr.GetClient(),
		recorder:   mgr.GetEventRecorder("sluice-cluster"),
	})
}

// NeedLeaderElection implements manager.LeaderElectionRunnable: two controllers
// might stop two brokers at once.
func (c *Controller) NeedLeaderElection() bool { return true }

// Start implements manager.Runnable. Nothing is watched or held in memory until
// this replica leads. It returns after all of its work has ended.
func (c *Controller) Start(ctx context.Context) error {
	if !c.waitServed(ctx) {
		return nil // stopped before it began
	}
	objects, err := c.newObjectCache()
	if err != nil {
		return fmt.Errorf("watching what clusters are made of: %w", err)
	}
	admins := newAdmins(c.dial)
	defer admins.closeAll()
	work, err := controller.NewTypedUnmanaged("cluster", controller.TypedOptions[key]{
		Reconciler: &reconciler{
			opts:   c.opts,
			cached: gatherer{resources: c.resources, objects: objects, live: c.live, mapper: c.mapper},
			live:   gatherer{resources: c.live, objects: c.live, live: c.live, mapper: c.mapper},
			writer: c.writer, recorder: c.recorder, admins: admins, memories: newMemories(),
		},
		MaxConcurrentReconciles: c.opts.Workers,
		RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[key](firstRetry, lastRetry),
		ReconciliationTimeout:   turnLimit,
		Logger:                  ctrl.LoggerFrom(ctx),
	})
	if err != nil {
		return fmt.Errorf("setting up the cluster controller: %w", err)
	}
	for _, source := range c.sources(objects) {
		if err := work.Watch(source); err != nil {
			return fmt.Errorf("setting up the cluster controller: %w", err)
		}
	}
	stopped := make(chan error, 1)
	ctx, cancel := context.WithCancel(ctx)
	go func() { stopped <- objects.Start(ctx) }()
	err = work.Start(ctx)
	cancel()
	if cacheErr := <-stopped; err == nil {
		err = cacheErr
	}
	return err
}

// waitServed waits until the API server serves all kinds that are needed; false
// where ctx ended before.
func (c *Controller) waitServed(ctx context.Context) bool {
	log := ctrl.LoggerFrom(ctx)
	for told := ""; ; {
		err := c.served()
		if err == nil {
			return true
		}
		if text := err.Error(); text != told {
			told = text
			log.Info("Standing by until the API server serves all kinds that clusters need", "reason", text)
		}
		timer := c.opts.Clock.NewTimer(servedInterval)
		select {
		case <-timer.C():
		case <-ctx.Done():
			timer.Stop()
			return false
		}
	}
}

func (c *Controller) served() error {
	for _, kind := range []string{kafkav1.KindKafka, kafkav1.KindKafkaNodePool, kafkav1.KindKafkaRebalance} {
		if _, err := c.mapper.RESTMapping(schema.GroupKind{Group: kafkav1.Group, Kind: kind}); err != nil {
			return fmt.Errorf("looking for %s: %w", kind, err)
		}
	}
	return nil
}
