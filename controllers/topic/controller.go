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
	loops    []*loop
}

// Add adds the topic controller and its health check to a manager. dial makes what
// a cluster is worked on through; it should not connect.
func Add(mgr ctrl.Manager, opts Options, dial func(Cluster) (Connection, error)) error {
	documents, err := discovery.NewDiscoveryClientForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return fmt.Errorf("setting up the topic controller: %w", err)
	}
	c, err := newController(mgr.GetClient(), mgr.GetEventRecorder("sluice-topic"), documents.OpenAPIV3WithContext(context.Background()), opts, dial)
	if err != nil {
		return fmt.Errorf("setting up the topic controller: %w", err)
	}
	c.cache = mgr.GetCache()
	// The manager starts, and waits for, the informers that are known by then.
	if _, err := c.informer(context.Background()); err != nil {
		return fmt.Errorf("setting up the topic controller: %w", err)
	}
	if err := mgr.AddHealthzCheck("topic-controller", func(*http.Request) error { return c.Healthy() }); err != nil {
		return fmt.Errorf("setting up the topic controller: %w", err)
	}
	if c.opts.Debug {
		if err := mgr.AddMetricsServerExtraHandler(PathResync, c.debugResync()); err != nil {
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
	controller := &Controller{opts: opts, client: c, recorder: r, schema: newStatusSchema(d, opts.Clock)}
	for _, cluster := range opts.Clusters {
		controller.loops = append(controller.loops, newLoop(controller, cluster, dial))
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
	c.warnOfSharedServers(ctx)
	c.run(ctx)
	return nil
}

// warnOfSharedServers says which clusters look like one Kafka under two names.
// Each name has an index of its own of who manages which topic, so two resources
// could manage one topic unseen, and deleting either would delete the other's.
func (c *Controller) warnOfSharedServers(ctx context.Context) {
	first := map[string]string{}
	for _, cluster := range c.opts.Clusters {
		for _, server := range cluster.BootstrapServers {
			if other, taken := first[server]; taken && other != cluster.Name {
				ctrl.LoggerFrom(ctx).Info("Two clusters have a bootstrap server in common: topics of one name would be managed, and deleted, "+
					"by resources of both. Give a Kafka cluster one name, with all of its namespaces",
					"server", server, "kafkaCluster", cluster.Name, "otherKafkaCluster", other)
				continue
			}
			first[server] = cluster.Name
		}
	}
}

func (c *Controller) run(ctx context.Context) {
	// The first statuses should be whole; where the schema cannot be read, they
	// are completed later.
	pause := c.schema.look(ctx)
	var loops sync.WaitGroup
	loops.Go(func() { c.schema.follow(ctx, pause) })
	for _, l := range c.loops {
		loops.Go(func() { l.run(ctx) })
	}
	loops.Wait()
}

// Healthy returns an error if a loop has not got on for two minutes while at
// work. Waiting for work, for an unreachable Kafka or for leadership is healthy.
func (c *Controller) Healthy() error {
	var errs []error
	for _, l := range c.loops {
		if err := l.healthy(); err != nil {
			errs = append(errs, fmt.Errorf("topics of the Kafka cluster %q: %w", l.cluster.Name, err))
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
