// Package controllers registers the controllers that were asked for.
package controllers

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/controllers/cluster"
	"github.com/sluice-kafka/sluice/controllers/topic"
	"github.com/sluice-kafka/sluice/controllers/volumes"
	"github.com/sluice-kafka/sluice/internal/kafka"
	sluicemetrics "github.com/sluice-kafka/sluice/internal/metrics"
	"github.com/sluice-kafka/sluice/internal/options"
	"github.com/sluice-kafka/sluice/internal/rebalance"
	"github.com/sluice-kafka/sluice/internal/topicplan"
)

// registrations by the name that --controllers knows.
var registrations = map[string]func(ctrl.Manager, options.Operator) error{
	options.ControllerTopic:   addTopic,
	options.ControllerCluster: addCluster,
	options.ControllerVolumes: addVolumes,
}

// Add registers the controllers that opts name.
func Add(mgr ctrl.Manager, opts options.Operator) error {
	for _, name := range opts.Controllers {
		register, ok := registrations[name]
		if !ok {
			return fmt.Errorf("registering the controllers: there is none named %q", name)
		}
		if err := register(mgr, opts); err != nil {
			return fmt.Errorf("registering controller %q: %w", name, err)
		}
	}
	return nil
}

func addTopic(mgr ctrl.Manager, opts options.Operator) error {
	topics, err := topicOptions(opts.Topics)
	if err != nil {
		return err
	}
	topics.Clusters, topics.Kafkas = externalClusters(opts), true
	topics.Debug = opts.Serving.EnableDebug
	return topic.Add(mgr, topics, dialTopics(mgr, topics.Metrics, ""))
}

// topicOptions are those that do not depend on where the clusters come from.
func topicOptions(opts options.Topics) (topic.Options, error) {
	selector, err := labels.Parse(opts.Selector)
	if err != nil {
		return topic.Options{}, fmt.Errorf("reading the selector of topics: %w", err)
	}
	alterable, err := topicplan.ParseAlterable(opts.AlterableConfig)
	if err != nil {
		return topic.Options{}, fmt.Errorf("reading which options of topics may be altered: %w", err)
	}
	return topic.Options{
		MaxBatchSize:     opts.MaxBatchSize,
		MaxBatchLinger:   opts.MaxBatchLinger,
		ResyncInterval:   opts.ResyncInterval,
		UnreachableAfter: opts.UnreachableAfter,
		Workers:          opts.Workers,
		Alterable:        alterable,
		UseFinalizers:    opts.UseFinalizers,
		Selector:         selector,

		OrphanUnreachable: opts.OnUnreachable == apiv1.OnUnreachableOrphan,
		OrphanAfter:       opts.OrphanAfter,

		SkipClusterConfigReview: opts.SkipClusterConfigReview,

		Metrics: sluicemetrics.NewTopic(metrics.Registry),
	}, nil
}

// dialTopics makes connections under a client's ID; the usual one where it is empty.
func dialTopics(mgr ctrl.Manager, measures *sluicemetrics.Topic, clientID string) func(topic.Cluster) (topic.Connection, error) {
	return func(c topic.Cluster) (topic.Connection, error) {
		client, err := kafka.New(kafka.Config{
			BootstrapServers: c.BootstrapServers, Security: c.Security, ClientID: clientID, Observe: measures.AdminObserver(c.ID()),
		})
		if err != nil {
			return topic.Connection{}, err
		}
		connection := topic.Connection{Admin: client}
		if c.NoEngine == "" {
			connection.Engine = rebalance.NewBuiltin(client, engineOptions(mgr, c))
		}
		return connection, nil
	}
}

// engineOptions has the engine of a cluster that has a Kafka keep off the brokers that
// are to take no new replicas.
func engineOptions(mgr ctrl.Manager, c topic.Cluster) rebalance.Options {
	if c.Kafka == nil {
		return rebalance.Options{}
	}
	return rebalance.Options{Cordons: topic.Cordons(mgr.GetAPIReader(), *c.Kafka)}
}

// externalClusters are those of the table; their Secrets are in the operator's own
// namespace.
func externalClusters(opts options.Operator) []topic.Cluster {
	clusters := make([]topic.Cluster, 0, len(opts.Topics.ExternalClusters))
	for _, c := range opts.Topics.ExternalClusters {
		cluster := topic.Cluster{
			Name: c.Name, Namespaces: c.Namespaces, BootstrapServers: c.BootstrapServers,
		}
		if c.ReplicasEngine == "" {
			cluster.NoEngine = topic.NoEngineExternal
		}
		if c.TLS.Enabled {
			cluster.Security.TLS = &kafka.TLS{}
			if ca := c.TLS.CA; ca.Secret != "" {
				cluster.CA = &topic.SecretKey{Key: ca.Key}
				cluster.CA.Namespace, cluster.CA.Name = opts.Namespace, ca.Secret
			}
		}
		if c.Credentials.Secret != "" {
			cluster.Credentials = &types.NamespacedName{Namespace: opts.Namespace, Name: c.Credentials.Secret}
		}
		clusters = append(clusters, cluster)
	}
	return clusters
}

// brokerTimeout bounds a call to a broker: a look waits for the slowest of them, and
// one that hangs should not keep the others waiting for long.
const brokerTimeout = 10 * time.Second

func addCluster(mgr ctrl.Manager, opts options.Operator) error {
	measures := sluicemetrics.NewCluster(metrics.Registry)
	dial := func(e cluster.Endpoints) (cluster.Admin, error) {
		return kafka.New(kafka.Config{
			BootstrapServers: e.Brokers, Controllers: e.Controllers, Resolve: e.Resolve,
			Timeout: brokerTimeout, Observe: measures.AdminObserver(e.Namespace, e.Name),
		})
	}
	return cluster.Add(mgr, cluster.Options{
		LookInterval:       opts.Clusters.LookInterval,
		EmptyFor:           opts.Clusters.EmptyFor,
		EmptyForUncordoned: opts.Clusters.EmptyForUncordoned,
		Workers:            opts.Clusters.Workers,
		Metrics:            measures,
	}, dial)
}

func addVolumes(mgr ctrl.Manager, _ options.Operator) error {
	return volumes.Add(mgr, volumes.Options{})
}
