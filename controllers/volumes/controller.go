// Package volumes brings the pods that Strimzi made the templated volumes that
// they are wanted to have. Volumes are added at a pod's admission, so a pod that
// lives on keeps the old ones: it has to be restarted. What is known of a cluster
// is gathered, a pure function decides which pod may be restarted next, and
// Strimzi is asked to do so.
package volumes

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
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"

	kafkav1 "github.com/sluice-kafka/sluice/api/v1"
)

const (
	// turnLimit bounds one look at one cluster, its writes included.
	turnLimit = time.Minute
	// firstRetry and lastRetry frame the pauses after failures.
	firstRetry = 200 * time.Millisecond
	lastRetry  = time.Minute
)

// Options of the volumes controller. What is zero gets its default.
type Options struct {
	// LookInterval is how often to look for StrimziPodSets where the API server
	// does not serve them; 30 s.
	LookInterval time.Duration
	// Clock; the real one if nil.
	Clock clock.Clock
}

// recorder records Events; the manager's does.
type recorder interface {
	Eventf(regarding, related runtime.Object, eventtype, reason, action, note string, args ...any)
}

// Controller restarts pods for as long as it leads.
type Controller struct {
	opts       Options
	config     *rest.Config
	httpClient *http.Client
	scheme     *runtime.Scheme
	mapper     meta.RESTMapper
	owners     cache.Cache
	live       client.Reader
	writer     client.Client
	recorder   recorder
}

// Add adds the volumes controller to a manager.
func Add(mgr ctrl.Manager, opts Options) error {
	if opts.LookInterval <= 0 {
		opts.LookInterval = 30 * time.Second
	}
	if opts.Clock == nil {
		opts.Clock = clock.RealClock{}
	}
	return mgr.Add(&Controller{
		opts:       opts,
		config:     mgr.GetConfig(),
		httpClient: mgr.GetHTTPClient(),
		scheme:     mgr.GetScheme(),
		mapper:     mgr.GetRESTMapper(),
		owners:     mgr.GetCache(),
		live:       mgr.GetAPIReader(),
		writer:     mgr.GetClient(),
		recorder:   mgr.GetEventRecorder("sluice-volumes"),
	})
}

// NeedLeaderElection implements manager.LeaderElectionRunnable: two controllers
// might restart two pods at once.
func (c *Controller) NeedLeaderElection() bool { return true }

// Start implements manager.Runnable. Nothing is watched or held in memory until
// this replica leads and StrimziPodSets are served: without them no pod is
// Strimzi's. It returns after all of its work has ended.
func (c *Controller) Start(ctx context.Context) error {
	podSets, ok := c.waitServed(ctx)
	if !ok {
		return nil // stopped before it began
	}
	pods, err := c.newPodCache(podSets)
	if err != nil {
		return fmt.Errorf("watching pods and StrimziPodSets: %w", err)
	}
	work, err := controller.NewTypedUnmanaged("volumes", controller.TypedOptions[key]{
		Reconciler: &reconciler{
			cached:   gatherer{owners: c.owners, pods: pods, podSets: podSets},
			live:     gatherer{owners: c.live, pods: c.live, podSets: podSets},
			writer:   c.writer,
			recorder: c.recorder,
			said:     newMemory(),
		},
		RateLimiter:           workqueue.NewTypedItemExponentialFailureRateLimiter[key](firstRetry, lastRetry),
		ReconciliationTimeout: turnLimit,
		Logger:                ctrl.LoggerFrom(ctx),
	})
	if err != nil {
		return fmt.Errorf("setting up the volumes controller: %w", err)
	}
	for _, source := range c.sources(pods, podSets) {
		if err := work.Watch(source); err != nil {
			return fmt.Errorf("setting up the volumes controller: %w", err)
		}
	}
	stopped := make(chan error, 1)
	ctx, cancel := context.WithCancel(ctx)
	go func() { stopped <- pods.Start(ctx) }()
	err = work.Start(ctx)
	cancel()
	if cacheErr := <-stopped; err == nil {
		err = cacheErr
	}
	return err
}

// waitServed waits until the API server serves all kinds that are needed, and
// returns how it calls StrimziPodSets; false where ctx ended before.
func (c *Controller) waitServed(ctx context.Context) (schema.GroupVersionKind, bool) {
	needed := []schema.GroupKind{{Group: kafkav1.GroupStrimziPodSet, Kind: kafkav1.KindStrimziPodSet}}
	for _, kind := range []string{kafkav1.KindKafka, kafkav1.KindKafkaNodePool, kafkav1.KindKafkaConnect, kafkav1.KindKafkaMirrorMaker2} {
		needed = append(needed, schema.GroupKind{Group: kafkav1.Group, Kind: kind})
	}
	log := ctrl.LoggerFrom(ctx)
	for told := ""; ; {
		podSets, err := c.served(needed)
		if err == nil {
			return podSets, true
		}
		if text := err.Error(); text != told {
			told = text
			log.Info("Standing by until the API server serves all kinds that templated volumes need", "reason", text)
		}
		timer := c.opts.Clock.NewTimer(c.opts.LookInterval)
		select {
		case <-timer.C():
		case <-ctx.Done():
			timer.Stop()
			return schema.GroupVersionKind{}, false
		}
	}
}

// served returns what the first of the kinds is called, if all of them are
// served.
func (c *Controller) served(kinds []schema.GroupKind) (first schema.GroupVersionKind, err error) {
	for i, kind := range kinds {
		mapping, err := c.mapper.RESTMapping(kind)
		if err != nil {
			return first, fmt.Errorf("looking for %s: %w", kind, err)
		}
		if i == 0 {
			first = mapping.GroupVersionKind
		}
	}
	return first, nil
}
