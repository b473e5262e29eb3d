package topic

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/discovery"
	toolscache "k8s.io/client-go/tools/cache"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kafkav1 "github.com/sluice-kafka/sluice/api/v1"
)

// turnLimit is how long a loop may work without getting on before the operator
// counts as unhealthy.
const turnLimit = 2 * time.Minute

// recorder records Events; the manager's does.
type recorder interface {
	Eventf(regarding, related runtime.Object, eventtype, reason, action, note string, args ...any)
}

// Controller keeps topics in step with their resources for as long as it leads.
type Controller struct {
	opts     Options
	client   client.Client
	cache    cache.Cache
	recorder recorder
	schema   *statusSchema
	dial     func(Cluster) (Connection, error)
	// live reads from the API server itself.
	live client.Reader
	// kafkas follows Kafka resources; nil where they are not looked for.
	kafkas     *kafkas
	identities identities

	// mu is held while a resource changes loops, and while loops come and go.
	mu sync.Mutex
	// loops in order of their clusters' IDs.
	loops []*loop
	// strays are the resources that no loop works on, as the informer has them: their
	// cluster may be served later.
	strays  map[key]*kafkav1.KafkaTopic
	running *running
	// unserved looks after those of them that are being deleted.
	unserved *unserved
	// watch brings the resources; nil before the controller leads.
	watch stopper
}

// stopper is the part of an informer that tells whether it has ended.
type stopper interface{ IsStopped() bool }

// Add adds the topic controller and its health check to a manager. dial makes what
// a cluster is worked on through; it should not connect.
func Add(mgr ctrl.Manager, opts Options, dial func(Cluster) (Connection, error)) error {
	documents, err := discovery.NewDiscoveryClientForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return fmt.Errorf("setting up the topic controller: %w", err)
	}
	var events recorder = logged{mgr.GetLogger()}
	if !opts.Standalone {
		events = mgr.GetEventRecorder("sluice-topic")
	}
	c, err := newController(mgr.GetClient(), events, documents.OpenAPIV3WithContext(context.Background()), opts, dial)
	if err != nil {
		return fmt.Errorf("setting up the topic controller: %w", err)
	}
	c.cache, c.live = mgr.GetCache(), mgr.GetAPIReader()
	if opts.Kafkas {
		c.kafkas = newKafkas(c, mgr.GetCache(), mgr.GetRESTMapper())
		if err := c.kafkas.prepare(); err != nil {
			return fmt.Errorf("setting up the topic controller: %w", err)
		}
	}
	// The manager starts, and waits for, the informers that are known by then.
	if _, err := c.informer(context.Background()); err != nil {
		return fmt.Errorf("setting up the topic controller: %w", err)
	}
	if err := mgr.AddHealthzCheck("topic-controller", func(*http.Request) error { return c.Healthy() }); err != nil {
		return fmt.Errorf("setting up the topic controller: %w", err)
	}
	if opts.Standalone {
		if err := mgr.AddReadyzCheck("topic-controller", func(*http.Request) error { return c.Running() }); err != nil {
			return fmt.Errorf("setting up the topic controller: %w", err)
		}
	}
	if c.opts.Debug {
		if err := mgr.AddMetricsServerExtraHandler(pathResync, c.debugResync()); err != nil {
			return fmt.Errorf("setting up the topic controller: %w", err)
		}
	}
	return mgr.Add(c)
}

func newController(c client.Client, r recorder, d documents, opts Options, dial func(Cluster) (Connection, error)) (*Controller, error) {
	opts, err := opts.complete()
	if err != nil {
		return nil, err
	}
	controller := &Controller{
		opts: opts, client: c, live: c, recorder: r, schema: newStatusSchema(d, opts.Clock), dial: dial,
		strays: map[key]*kafkav1.KafkaTopic{},
	}
	controller.unserved = newUnserved(controller)
	for _, cluster := range opts.Clusters {
		controller.serve(cluster, nil)
	}
	return controller, nil
}

// NeedLeaderElection implements manager.LeaderElectionRunnable: two controllers
// must not write to the same topics.
func (c *Controller) NeedLeaderElection() bool { return true }

// Start implements manager.Runnable. It returns after all of its work has ended.
func (c *Controller) Start(ctx context.Context) error {
	informer, err := c.informer(ctx)
	if err != nil {
		return err
	}
	c.mu.Lock()
	c.watch = informer
	c.mu.Unlock()
	// A standby holds nothing: the handler is told of all there is when added.
	registration, err := informer.AddEventHandler(c.handler())
	if err != nil {
		return fmt.Errorf("watching KafkaTopics: %w", err)
	}
	defer func() {
		if err := informer.RemoveEventHandler(registration); err != nil {
			ctrl.LoggerFrom(ctx).Error(err, "Failed to stop watching KafkaTopics")
		}
	}()
	if !toolscache.WaitForCacheSync(ctx.Done(), registration.HasSynced) {
		return nil // stopped before it began
	}
	c.warnOfMissedDeletions(ctx)
	return c.run(ctx)
}

// warnOfMissedDeletions says what goes without finalizers: nothing tells of a
// resource that went while nobody watched.
func (c *Controller) warnOfMissedDeletions(ctx context.Context) {
	if !c.opts.UseFinalizers {
		ctrl.LoggerFrom(ctx).Info("Finalizers are switched off: topics whose KafkaTopics are deleted while no operator leads stay in Kafka")
	}
}

func (c *Controller) run(ctx context.Context) error {
	// The first statuses should be whole; where the schema cannot be read, they
	// are completed later.
	pause := c.schema.look(ctx)
	var work sync.WaitGroup
	defer work.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	work.Go(func() { c.schema.follow(ctx, pause) })
	work.Go(func() { c.unserved.run(ctx) })
	c.begin(ctx, &work)
	if c.kafkas != nil {
		return c.kafkas.run(ctx)
	}
	<-ctx.Done()
	return nil
}

// Running returns an error unless the resources were read and their loops work.
func (c *Controller) Running() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running == nil || c.running.ctx.Err() != nil {
		return errors.New("the topic controller does not run: it reads the KafkaTopics before it begins, and ends with the process")
	}
	return nil
}

// Healthy returns an error if a loop has not got on for two minutes while at
// work, or the resources are not watched any more. Waiting for work, for an
// unreachable Kafka or for leadership is healthy.
func (c *Controller) Healthy() error {
	var errs []error
	c.mu.Lock()
	if c.watch != nil && c.watch.IsStopped() {
		errs = append(errs, errors.New("KafkaTopics are not watched any more"))
	}
	c.mu.Unlock()
	for _, l := range c.all() {
		if err := l.healthy(); err != nil {
			errs = append(errs, fmt.Errorf("topics of the Kafka cluster %q: %w", l.id, err))
		}
	}
	return errors.Join(errs...)
}

func (c *Controller) informer(ctx context.Context) (cache.Informer, error) {
	informer, err := c.cache.GetInformer(ctx, &kafkav1.KafkaTopic{}, cache.BlockUntilSynced(false))
	if err != nil {
		return nil, fmt.Errorf("watching KafkaTopics: %w", err)
	}
	return informer, nil
}

func labelsOf(t *kafkav1.KafkaTopic) labels.Set { return t.Labels }
